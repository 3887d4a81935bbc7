// Faults of a fake backend, each for the candidates that its pattern names:
//
//   crash=gemm                every candidate with the algorithm gemm is killed by SIGSEGV
//   hang=gemm@1x64x56x56      only for workloads whose text contains that
//
// Kinds: crash, abort, exit (code 3), hang, out-of-memory (allocates without end), leak (touches shared
// memory without end, which no allocation limit counts), fail (an error), wrong (numeric error 0.3),
// compile (works for five seconds before it is prepared, which is no fault),
// crash-listing (while candidates are listed; its pattern is of the workload's text), crash-peaks (while peaks are
// measured; its pattern is of the probe's name).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"

namespace infimum {

enum class FakeFault {
  kCrash,
  kAbort,
  kExit,
  kHang,
  kOutOfMemory,
  kLeak,
  kFail,
  kWrong,
  kCompile,
  kCrashListing,
  kCrashPeaks
};
std::optional<FakeFault> FindFakeFault(std::string_view name);

class FakeFaults {
 public:
  void Add(FakeFault fault, std::string pattern) { patterns_[fault] = std::move(pattern); }
  bool Has(FakeFault fault, std::string_view workload, const Candidate& candidate) const;

  // Does what kills, hangs or exhausts this process, if this candidate is to; an error for kFail.
  Status Strike(std::string_view workload, const Candidate& candidate) const;
  // Kills this process if `fault` (one of those with a pattern of its own) was asked for `text`.
  void Strike(FakeFault fault, std::string_view text) const;

 private:
  std::map<FakeFault, std::string> patterns_;
};

}  // namespace infimum
