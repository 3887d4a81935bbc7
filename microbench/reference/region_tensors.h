// A region's tensors on the host: random operands of its own, places for results, and how far results are from the f64
// reference. What every runner's benchmark of a region begins and ends with.
//
//   INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<RegionTensors> tensors, RegionTensors::Random(region, seed));
//   ... compute tensors->problem().members from tensors->problem().inputs and weights ...
//   RegionError(tensors->problem(), seed);   // 3e-7 in the contract's measure
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "infimum/layer/workload.h"
#include "microbench/reference/host_tensor.h"
#include "microbench/reference/reference.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

// For each member of a region what its configuration leaves open; empty where all have the usual values.
using RegionValues = std::vector<LayerValues>;

inline LayerValues ValuesOfMember(const RegionValues& values, std::size_t member) {
  return member < values.size() ? values[member] : LayerValues();
}

// A region with what its configurations leave open.
struct ValuedRegion {
  Region region;
  RegionValues values;
};

// Tensors by the region's own numbering. Those of members that are no output may stay unwritten.
struct RegionProblem {
  Region region;
  std::vector<const HostTensor*> inputs;
  std::vector<const HostTensor*> weights;
  std::vector<std::vector<HostTensor*>> members;  // all outputs of each
  RegionValues values;

  const HostTensor* Find(const RegionOperand& operand) const {
    const auto index = static_cast<std::size_t>(operand.index);
    switch (operand.source) {
      case RegionOperand::Source::kInput:
        return inputs[index];
      case RegionOperand::Source::kWeight:
        return weights[index];
      default:
        return members[index][0];
    }
  }
};

// The largest error of a region's outputs against the f64 reference on its inputs and weights, in the contract's
// measure; nullopt where a member has no reference. `known`: has begun with this region on these operands.
Result<std::optional<double>> RegionError(const RegionProblem& problem, std::uint64_t seed,
                                          KnownValues* known = nullptr);

class RegionTensors {
 public:
  // Inputs and weights filled by `seed`, members' results zeroed. "unsupported: ..." where two members see an operand
  // in different shapes or types.
  static Result<std::unique_ptr<RegionTensors>> Random(const Region& region, std::uint64_t seed);

  RegionProblem& problem() { return problem_; }
  const RegionProblem& problem() const { return problem_; }

  // Sets every byte of the results to nonsense, so that one left over from before cannot pass.
  void PoisonResults();

 private:
  Status AddOperands(const RegionMember& member, std::uint64_t seed);

  std::deque<HostTensor> tensors_;  // stable addresses: programs keep them
  RegionProblem problem_;
};

// A layer as a region of its own: operands in0, in1 ..., also those that are constant. A region as it is.
Region RegionOf(const Workload& workload);

}  // namespace infimum::cpu
