// One table over a model's layers and several runs: what each engine took for each of them, through fusion.
//
//   layer    operator   ort.json    engine/
//   Conv_0   Conv        1.30 ms    229 µs
//   Relu_1   Relu        (Conv_0)   (Conv_0)      ran within Conv_0's row
//   only in the engine     50 µs     47 µs        reorders, reformats
//   aligned                96.1 %    98.9 %       of the time in the run's layers
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "infimum/analyzer/run_alignment.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

struct NodeCell {
  std::optional<Latency> measured;         // of the row that this layer stands for
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
  Latency engine_only{0};     // of those that no layer of the model accounts for
  std::size_t unmatched = 0;  // layers of the model that are not free and stand in no row

  // Of the time in the run's layers what stands at layers of the model.
  double aligned_share() const { return measured.count() > 0 ? 1 - engine_only / measured : 1; }
};

struct NodeTable {
  std::string model;
  std::vector<NodeColumn> columns;
  std::vector<NodeRow> rows;  // the model's layers that are not free, or that a run shows
};

struct NamedRun {
  std::string source;
  const RunProfile* run = nullptr;
};

NodeTable NodeTableOf(const ModelGraph& graph, const std::vector<NamedRun>& runs);

// `width` 0: as wide as needed.
std::string NodeTableText(const NodeTable& table, std::size_t width);
// Schema infimum.compare/1: "layers" with a list of "runs" each, in the order of the columns.
std::string NodeTableJson(const NodeTable& table);
std::string NodeTableCsv(const NodeTable& table);

}  // namespace infimum
