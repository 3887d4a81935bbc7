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

#include "infimum/layer/workload.h"
#include "infimum/measurement/candidate.h"
#include "infimum/measurement/contract.h"
#include "src/readers/benchmarks/benchmark_stream.h"

namespace infimum::ingest {

struct LabelledLayer {
  Workload workload;
  Candidate candidate;  // the executable's name without its folder, and the rest of the entry's name or "default"
  // Of programs that state it; absent: the workload's own.
  std::optional<NumericContract> contract = std::nullopt;
  std::vector<std::string> flags = {};  // "uncaptured"
};

std::optional<LabelledLayer> FindLabelledLayer(const BenchmarkEntry& entry, std::string_view executable);

}  // namespace infimum::ingest
