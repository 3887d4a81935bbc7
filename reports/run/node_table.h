// One table over a model's layers and several runs: what each engine took for each of them, through fusion.
//
//   layer    operator   ort.json    engine/
//   Conv_0   Conv        1.30 ms    229 µs
//   Relu_1   Relu        (Conv_0)   (Conv_0)      ran within Conv_0's row
//   = only in the engine   50 µs     47 µs        reorders, reformats
//   = not matched           0 µs      9 µs
//   = at layers             100 %    98.9 %       of the time but the engine's own
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/gap/run_vs_best.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

struct NodeCell {
  std::optional<Latency> measured;         // of the row that this layer stands for
  std::optional<Latency> best;             // of the same row, alone; absent where it is not known
  std::string within;                      // the layer for whose row it ran; empty: its own, or none
  std::vector<std::string> engine_layers;  // of its row
  AlignmentClue clue = AlignmentClue::kNone;
};

struct NodeRow {
  std::string name;
  std::string op;
  std::vector<NodeCell> cells;  // one for each run
};

struct NodeColumn {
  std::string source;
  Latency measured{0};        // sum of the run's layers
  Latency engine_only{0};     // of it the engine's own work: reorders, reformats, copies
  Latency unmatched{0};       // of it what no layer of the model was found for
  std::size_t not_found = 0;  // layers of the model that are not free and stand in no row

  // Of the time in the run's layers but for the engine's own work what stands at layers of the model.
  double aligned_share() const {
    const Latency meant = measured - engine_only;
    return meant.count() > 0 ? 1 - unmatched / meant : 1;
  }
};

struct NodeTable {
  std::string model;
  std::vector<NodeColumn> columns;
  std::vector<NodeRow> rows;  // the model's layers that are not free, or that a run shows
};

struct NamedRun {
  std::string source;
  const RunProfile* run = nullptr;
  const std::vector<ComparedRow>* rows = nullptr;  // CompareRows of it
};

NodeTable NodeTableOf(const ModelGraph& graph, const std::vector<NamedRun>& runs);

// Of the layers at most `most` that took longest, in the model's order; 0: all. `width` 0: as wide as needed. Of one
// run with the best time known and how many times that it took.
std::string NodeTableText(const NodeTable& table, std::size_t width, std::size_t most);
std::string NodeTableCsv(const NodeTable& table);

}  // namespace infimum
