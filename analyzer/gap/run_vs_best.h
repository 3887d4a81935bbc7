// A run's rows beside the best that is known for each: which layers an engine ran as one, what that took, and what the
// cheapest way to run exactly those layers takes, alone or as regions inside the row.
//
//   engine row "fused Conv_0" = {Conv_0 (at best 1.0 ms), Relu_1 (0.2 ms)}, 1.5 ms; region {Conv_0, Relu_1} 1.05 ms
//     -> {Conv_0, Relu_1}: measured 1.5 ms, best 1.05 ms
//
// Every layer that is not free stands in one row: those that the run does not show stand alone, or together where the
// fused bound runs them as one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/alignment/align_run.h"
#include "analyzer/bracket/bracket.h"

namespace infimum {

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
