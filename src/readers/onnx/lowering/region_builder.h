// Builds the workload of an operator that does several things at once. Operands of the region are
// numbered by first use, constants as `w`, everything else as `in`.
//
//   RegionBuilder region(node);
//   const auto sum = region.Add(add, {region.Input(0), region.Input(1)});
//   region.Add(relu, {sum});
//   return region.Finish();
//     ->  region [pointwise kind=add ...](in0,in1) ; [pointwise kind=relu ...](%0)
//
// One member alone becomes a plain configuration.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "infimum/layer/region.h"
#include "src/readers/onnx/parse/node_view.h"

namespace infimum::lowering {

class RegionBuilder {
 public:
  // Where a member's operand comes from: an input of the node or an earlier member.
  struct Source {
    bool is_member = false;
    std::size_t index = 0;
  };

  explicit RegionBuilder(const NodeView& node) : node_(node) {}

  static Source Input(std::size_t position) { return {false, position}; }
  Source Add(LayerConfig config, const std::vector<Source>& operands);

  // The common member: an element-wise operation on shapes that broadcast, made canonical.
  Result<Source> AddPointwise(PointwiseKind kind, OperandTypes types, const std::vector<Shape>& shapes,
                              const std::vector<Source>& operands);

  // `outputs` are members whose result leaves the region; the last member is always one.
  Result<Lowering> Finish(const std::vector<Source>& outputs = {});

 private:
  const NodeView& node_;
  std::vector<RegionMember> members_;
  std::vector<std::size_t> operand_inputs_;   // of the region, in order of first use
  std::vector<RegionOperand> operand_names_;  // beside it: in<i> or w<i>
  std::int64_t inputs_ = 0;
  std::int64_t weights_ = 0;
};

// Of an operator that no workload expresses: it reads these inputs whole at the least, where they are there, and writes
// results of these shapes. Unknown for `reason`, with that as its least.
struct Written {
  DataType type;
  Shape shape;
};
Result<Lowering> UnknownThatMoves(const NodeView& node, const std::vector<std::size_t>& reads,
                                  const std::vector<Written>& writes, std::string reason);

}  // namespace infimum::lowering
