// What became of every candidate of every layer and region of a model, beside the time that a bound takes from them:
// the evidence behind a bound's numbers.
//
//   convolution in=1x64x56x56 ...   onednn/brgconv:avx512_core   98.1 us   the best, which the bound counts
//                                   onednn/jit:avx512_core      104.7 us   the library's own choice: regret 6.4 us
//                                   onednn/gemm:jit             212.3 us
//                                   onednn/jit_dw:avx512_core   unsupported: depthwise only
//
// The rows are those that ComputeBracket looks at, found by the same question and judged by the same rules: the best
// one here is the one there, whatever other environments a store has rows of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

struct KnownCandidate {
  Measurement row;
  std::optional<Latency> latency;    // by the selection's statistic; measured only
  std::optional<Interval> interval;  // of this candidate's own true time; that of the least of many is another
};

struct WorkloadCandidates {
  WorkloadKey workload;
  NumericContract contract = NumericContract::kStrictF32;
  std::vector<KnownCandidate> candidates;  // the fastest first, then those without a time, by outcome and name
  std::optional<std::size_t> best;         // the one that the bound counts; absent where none was measured
  std::optional<std::size_t> choice;       // what its library would have run, where the rows say it
  std::optional<Latency> regret;           // of that choice, as LibraryChoice has it
  bool regret_is_validated = false;
};

struct CandidatesOfModel {
  std::vector<WorkloadCandidates> workloads;  // that have any row, by their keys
  std::string newest;                         // when the newest of the rows was measured; empty where there are none
};

// Of the layers and fusable regions of a graph and its bodies. Asks `source` as ComputeBracket does; an error only
// where the source fails.
Result<CandidatesOfModel> CandidatesOf(const ModelGraph& graph, MeasurementSource& source, const Selection& selection);

}  // namespace infimum
