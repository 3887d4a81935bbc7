// What a person knows about an engine's layers: which of the model's they are. It wins over every rule of the alignment
// (analyzer/alignment/align_run.h), and a row of it holds what it states and nothing else.
//
//   {{"fused_17", "fused_18"}, {"Conv_5", "Relu_6"}, "rows.json: row 1"}   both engine layers are these two nodes, one
//   row
//   {{"__myl_Move_3"}, {}, "rows.json: row 2"}                             the engine's own work
#pragma once

#include <string>
#include <vector>

namespace infimum {

struct AlignmentOverride {
  std::vector<std::string> engine_layers;  // by name; of several layers with one name all are meant
  std::vector<std::string> nodes;          // names of the model's layers or nodes; none: the engine's own work
  std::string origin;                      // where it is written, for errors: "rows.json: row 2"

  friend bool operator==(const AlignmentOverride&, const AlignmentOverride&) = default;
};

}  // namespace infimum
