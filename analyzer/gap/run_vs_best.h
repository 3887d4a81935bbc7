// A run's rows beside the best that is known for each: which layers an engine ran as one, what that took, and what the
// cheapest cover of exactly those layers takes, alone or as regions inside the row.
//
//   engine row "fused Conv_0" = {Conv_0 (at best 1.0 ms), Relu_1 (0.2 ms)}, 1.5 ms; region {Conv_0, Relu_1} 1.05 ms
//     -> {Conv_0, Relu_1}: measured 1.5 ms, best 1.05 ms
//
// Every layer that is not free stands in one row: those that the run does not show stand alone, or together where the
// fused bound runs them as one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/alignment/align_run.h"
#include "analyzer/bounds/fusion_choice.h"
#include "analyzer/bracket/bracket.h"

namespace infimum {

// The cheapest cover of some layers of a model, one by one or in regions that were measured. Made once for a
// model, then asked for one row after the other.
//
//   layers  Conv_0 1.0 ms, Relu_1 0.2, Add_2 0.3       regions  {0, 1} 1.05 ms
//   Of({0, 1, 2})  ->  1.35 ms: region 0, and Add_2 alone
struct CheapestCover {
  Latency latency{0};
  std::vector<std::size_t> regions;  // places in the regions, by first layer; every other layer runs alone
};

class CheapestCovers {
 public:
  // A layer without a time is absent from its entry; layers of regions are indices into `times`.
  CheapestCovers(std::vector<std::optional<Latency>> times, std::vector<FusionCandidate> regions);

  // Of these layers, ascending; absent where one is unknown.
  std::optional<CheapestCover> Of(std::span<const std::size_t> layers) const;

 private:
  std::vector<std::optional<Latency>> times_;
  std::vector<FusionCandidate> regions_;
  std::vector<std::vector<std::size_t>> of_layer_;  // regions by their first layer
};

struct ComparedRow {
  std::vector<LayerId> layers;             // ascending; empty: no layer of the model, see AlignedRow
  std::vector<std::size_t> engine_layers;  // indices into RunProfile::layers; empty: the run does not show it
  std::optional<Latency> measured;         // absent where the run does not show it
  std::optional<Latency> best;             // absent where a layer of it has no time
  AlignmentClue clue = AlignmentClue::kNone;
  EngineWork own_work = EngineWork::kNone;  // as in AlignedRow

  // Nothing of the model was found for it, and nothing says that it is the engine's own.
  bool is_unmatched() const { return clue == AlignmentClue::kUnmatched; }
  // The engine's own work, beside the model's layers.
  bool is_own() const { return layers.empty() && !is_unmatched(); }
};

// The layer that a row is called by: the one with the most FLOPs, else the first that is not free. `layers` not empty.
LayerId MainLayer(const ModelGraph& graph, std::span<const LayerId> layers);

// `alignment` is AlignRun(graph, run). In the engine's order, then what the run does not show. Rows of
// a body, whose time is in the row of their If, Loop or Scan, are left out.
std::vector<ComparedRow> CompareRows(const ModelGraph& graph, const Bracket& bracket, const Alignment& alignment);

// What the layers of each of `rows` take at best by another bracket of the same layers (another contract, say).
std::vector<std::optional<Latency>> BestTimes(const std::vector<ComparedRow>& rows, const Bracket& bracket);

}  // namespace infimum
