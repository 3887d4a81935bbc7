// The workload that an entry of any Google Benchmark program carries, if it does: the whole label, or the beginning of
// the name up to a '/' or a space, is a workload's text.
//
//   "name": "pointwise kind=relu dtype=f32:-:f32 in=64/vectorised/real_time", "executable": "./bin/my_bench"
//     ->  pointwise kind=relu dtype=f32:-:f32 in=64 by my_bench/vectorised
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/contract.h"
#include "infimum/measurement/device.h"
#include "infimum/measurement/measurement.h"
#include "src/readers/benchmarks/benchmark_stream.h"

namespace infimum::ingest {

struct LabelledLayer {
  Workload workload;
  Candidate candidate;  // the executable's name without its folder, and the rest of the entry's name or "default"
  // Declared by the program; absent: the workload's own.
  std::optional<NumericContract> contract = std::nullopt;
  std::vector<std::string> flags = {};  // "uncaptured"
};

std::optional<LabelledLayer> FindLabelledLayer(const BenchmarkEntry& entry, std::string_view executable);

// Entries of the programs that `infimum emit` writes: the workload and the candidate of each, its statistics, and the
// environment in the file's context.
//
//   "context": {"infimum_schema": "infimum.emit/1", "infimum_libraries": "onednn=3.2.0 omp", "infimum_threads": "1",
//   ...} "name": "pointwise kind=relu dtype=f32:-:f32 in=64/onednn/jit:avx2/iterations:1/manual_time", "label":
//   "onednn/jit:avx2 a->a", "min_us": 0.9, "median_us": 1.0, "p95_us": 1.2, "samples": 40, "library_choice": 1
//     ->  the relu by onednn/jit:avx2 with both layouts a, one repetition of 40 samples, what the library chooses
//
//   "label": "cudnn-graph/eng62_k2=5/acc=f16 acdb->acdb contract=f16 uncaptured"
//     ->  also the contract, where a workload has candidates under several, and that the time is no CUDA graph's

// Whether the file is one of those; an error where a newer infimum wrote the program.
Result<bool> IsEmitted(const BenchmarkContext& context);

// nullopt where the name does not begin with a workload and end with the label's candidate.
std::optional<LabelledLayer> FindEmittedLayer(const BenchmarkEntry& entry);

// For an entry that ran; an error for impossible times.
Result<Repetition> EmittedRepetition(const BenchmarkEntry& entry);

// The outcome and reason in the message of an entry that did not run.
struct EmittedFailure {
  Outcome outcome;
  std::string_view reason;
};
EmittedFailure FailureOf(std::string_view message);

Result<Environment> EmittedEnvironment(const BenchmarkContext& context);

}  // namespace infimum::ingest
