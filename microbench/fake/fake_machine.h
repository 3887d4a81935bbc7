// A pretended machine with exact times, for tests of everything that uses measurements.
//
//   roofline = max(compulsory bytes / 10 GB/s, direct FLOPs / (100 GFLOP/s x threads)) + 1 us
//   latency  = roofline x factor, in whole nanoseconds, rounded up
//
// where `factor` belongs to the candidate and is in a range of its own, drawn from a hash of the
// workload's text, the candidate's name and the machine's number:
//
//   products (convolution, matmul, recurrent, attention)
//     fake/direct      1.20 .. 1.60   the library's choice
//     fake/winograd    1.05 .. 1.20   3x3 convolutions of stride 1, dilation 1, one group
//     fake/gemm        1.10 .. 2.40
//     fake/sparse      unsupported: always offered, never runs
//     fake/ref         40
//   everything else
//     fake/simd        1.05 .. 1.30   the library's choice
//     fake/scalar      1.50 .. 3.00
//
// With its constants rotated through several copies a run takes their bytes / 10 GB/s more, in whole nanoseconds
// rounded up: what comes from memory is paid on top.
//
// So no time is below the roofline, candidates differ in a different order from workload to workload,
// one is always refused, and one is always too slow to be worth measuring.
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/base/clock.h"
#include "infimum/base/units.h"
#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/device.h"

namespace infimum {

inline constexpr double kFakeBytesPerSecond = 10e9;
inline constexpr double kFakeFlopsPerSecond = 100e9;  // of one thread

// In the library's order of preference.
std::vector<Candidate> FakeCandidates(const Workload& workload, CandidateTier tier);

// Exact; an error ("unsupported: ...") for what the machine refuses.
Result<Clock::Duration> FakeLatency(const Workload& workload, const Candidate& candidate, std::int64_t threads,
                                    std::uint64_t machine);

// Bytes of operands that are known before the first inference.
Bytes FakeConstants(const Workload& workload);
Clock::Duration FakeColdWeightsCost(Bytes constants);

Device FakeDevice(std::uint64_t machine);
std::vector<PeakRate> FakePeaks(std::int64_t threads);

}  // namespace infimum
