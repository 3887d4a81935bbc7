// Which layers of the model an engine's executed layers cover, fused or not, so that bound and measured
// time stand side by side.
//
//   model                                 ONNX Runtime ran             rows
//   conv1 -> bn1(folded) -> relu1 -> pool  relu1_out_nchwc  (Conv)      {conv1, relu1}  1.30 ms, fused
//                                          pool_out_nchwc   (MaxPool)   {pool}          0.20 ms
//                                          ReorderOutput                {}              0.05 ms, the engine's own
//
// The clues, the surest first: a person declared it; a value that the engine layer makes bears the name of a value of
// the model; the engine says which nodes it covers; its name is a node's or a value's, possibly decorated
// ("fused Conv_0", "r2_nchwc", "conv1_token_3"); it does the same on the same shapes, and its turn is the same. From
// there an engine layer covers what is between its outputs and the values that other engine layers make. What is left
// over belongs to its neighbour: a dequantization or transposition to the layer that reads it, anything else to the
// layer that makes its input. A model layer is in one row at most. See README.md for the exact order.
//
// A row without layers is the engine's own work (engine_work.h), or it could not be matched: the two are distinguished,
// and the time of neither is spread over other rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/alignment/engine_work.h"
#include "analyzer/types/layer_time.h"
#include "infimum/graph/alignment_overrides.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

enum class AlignmentClue {
  kNone,      // "none": the engine's own work (a reorder)
  kOverride,  // "stated": an override says so
  kValue,     // "value": by the name of a value
  kNode,      // "node": by the name of a node
  kOrder,     // "order": by what it does, its shapes and its place among the others
  kNeighbor,  // "neighbor": one of its layers is there only because nothing else covers it
  kUnmatched  // "unmatched": a row without layers that nothing says is the engine's own work
};
std::string_view Name(AlignmentClue clue);

struct AlignedRow {
  std::vector<LayerId> layers;                // ascending; empty for the engine's own work, or where none was found
  std::vector<std::size_t> engine_layers;     // indices into RunProfile::layers
  std::optional<Latency> measured;            // sum of the engine layers' medians; absent without samples
  bool fused = false;                         // several layers of the model that are not free
  bool inside_body = false;                   // its time is part of the row of an If, Loop or Scan as well
  AlignmentClue clue = AlignmentClue::kNone;  // the least sure of the row's clues
  EngineWork own_work = EngineWork::kNone;    // of a row without layers: what its name says that the engine did

  bool is_unmatched() const { return clue == AlignmentClue::kUnmatched; }
  // Work beside the model's layers, also where only an override says so.
  bool is_own() const { return layers.empty() && !inside_body && !is_unmatched(); }
};

struct Alignment {
  std::vector<AlignedRow> rows;           // in the engine's order of execution
  std::vector<LayerId> unmatched_layers;  // not free, and in no row
  Latency measured{0};                    // sum over rows that are not inside a body
  Latency own{0};                         // of it the engine's own work
  Latency unmatched{0};                   // of it what no layer could be found for
  // How many times as much as the model's the run's layers with the same weights read, where that is not once: it ran
  // in other dimensions.
  std::optional<double> scale;
  std::vector<std::string> remarks;  // what the user could do: a model bound to another batch than the run's
};

Alignment AlignRun(const ModelGraph& graph, const RunProfile& run);

// The same with what a person declared; an error names the override whose names are unknown or contradict another.
Result<Alignment> AlignRun(const ModelGraph& graph, const RunProfile& run,
                           std::span<const AlignmentOverride> overrides);

// A framework's own layers as candidates: what it ran in one piece, it can run again.
//
//   profile of onnxruntime 1.31.1: "fused Conv_0" (Conv_0, Relu_1) 1.10 ms, "MaxPool_2" 0.20 ms
//   ->  {Conv_0, Relu_1} 1.10 ms and {MaxPool_2} 0.20 ms, candidate "observed/onnxruntime-1.31.1"
//
// A profiler's times are no benchmark: it runs in the middle of a model, with its own overhead, caches as they come. So
// such candidates are asked for (`infimum bound --observed`), never taken unasked, and count in
// best-known-or-observed alone.
//
// One for each aligned row (align_run.h) that covers layers which take time, that was seen in at least one sample
// and whose clues are sure: by names, or by shapes and order where the run's layers have shapes and its dimensions are
// the model's. Rows that hold a layer only because nothing else covers it are left out.
std::vector<ObservedNode> ObservedIn(const ModelGraph& graph, const RunProfile& run);

}  // namespace infimum
