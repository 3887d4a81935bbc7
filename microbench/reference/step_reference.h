// The reference of a replay's step: its values, its tensors as those of a region, and the error of its results.
//
//   INFIMUM_ASSIGN_OR_RETURN(const std::vector<LayerValues> values, ValuesOf(step));
//   StepError(step, operands, outputs, seed);   // 3e-7 in the contract's measure
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "infimum/measurement/contract.h"
#include "microbench/reference/region_tensors.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {

using Operands = std::vector<const HostTensor*>;
using Outputs = std::vector<HostTensor*>;

// That of the workload's own types or, where they leave it open, the schedule's.
NumericContract ContractOf(const Workload& workload, const ReplaySchedule& schedule);

// One value set for each configuration of the step.
Result<std::vector<LayerValues>> ValuesOf(const ReplayStep& step);

// A region on a step's tensors, with places for what stays between its members. Kept where it was made: the problem
// points into it.
class StepProblem {
 public:
  StepProblem() = default;
  StepProblem(const StepProblem&) = delete;
  StepProblem& operator=(const StepProblem&) = delete;

  Status Make(const Region& region, const RegionValues& values, const Operands& operands, const Outputs& outputs);
  const RegionProblem& problem() const { return problem_; }

 private:
  std::deque<HostTensor> inner_;
  RegionProblem problem_;
};

// What a workload reads and writes: `read(i, operand)` and `write(i, output)` are Result<HostTensor>.
struct StepTensors {
  template <class Read, class Write>
  Status Take(const Workload& workload, const Read& read, const Write& write) {
    const std::vector<Operand> reads = OperandsOf(workload), writes = OutputsOf(workload);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, read(i, reads[i]));
      operands.push_back(&tensors.emplace_back(std::move(tensor)));
    }
    for (std::size_t i = 0; i < writes.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, write(i, writes[i]));
      outputs.push_back(&tensors.emplace_back(std::move(tensor)));
    }
    return {};
  }

  std::deque<HostTensor> tensors;
  Operands operands;
  Outputs outputs;
};

// What the contract allows of that error. A movement of bytes in several scales rounds, as one in a single scale does
// not.
double StepTolerance(const ReplayStep& step, NumericContract contract);

// The largest error of `outputs` against the f64 reference on `operands`, all row-major, in the measure of the
// contract; nullopt where a configuration has no reference.
Result<std::optional<double>> StepError(const ReplayStep& step, const Operands& operands, const Outputs& outputs,
                                        std::uint64_t seed);

// Every element of every output as the reference says. False where the layer has no reference.
bool ComputeReference(const LayerConfig& config, const LayerValues& values, const Operands& operands,
                      const Outputs& outputs);

}  // namespace infimum::cpu
