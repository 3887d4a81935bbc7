// A replay's tensors on the host: inputs and weights as they came, what its outputs should be, and how far off they
// are.
//
//   INFIMUM_ASSIGN_OR_RETURN(ReplayTensors tensors, ReplayTensors::Of(schedule, &folder, seed));
//   tensors.given(2)                      weight 2, row-major
//   tensors.Compared(9, found)            {"logits", error 3e-7}
#pragma once

#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "microbench/reference/host_tensor.h"
#include "src/core/results/replay_result.h"
#include "src/core/results/tensor_folder.h"

namespace infimum::cpu {

class ReplayTensors {
 public:
  // Of a schedule that was validated. Weights that its own steps make are there, as yet without their elements. Without
  // a folder inputs and weights are random, and nothing is expected yet: as each step that reads them likes them, and
  // weights of products so small that a deep model's intermediates stay about as large as its inputs.
  static Result<ReplayTensors> Of(const ReplaySchedule& schedule, const TensorFolder* folder, std::uint64_t seed);

  // Whether it is known what outputs should be; else what they were is said here.
  bool are_expected() const { return are_expected_; }
  Status Expect(std::size_t output, const HostTensor& elements);

  // By tensor of the schedule; empty ones for intermediates.
  HostTensor& given(std::size_t tensor) { return given_[tensor]; }
  const HostTensor& given(std::size_t tensor) const { return given_[tensor]; }

  // One of them as an operand of this shape and type.
  Result<HostTensor> View(std::size_t tensor, const Operand& as) const {
    return HostTensor::Over(given_[tensor].data(), as.shape, as.type);
  }

  // The step with the elements of its value tensors as numbers like all others.
  ReplayStep WithNumbers(const ReplayStep& step) const;

  // Over all elements of an output of the model: the largest difference, in parts of the largest that is expected.
  // Without a tolerance.
  ReplayOutput Compared(std::size_t tensor, const HostTensor& found) const;

 private:
  Status Fill(const ReplaySchedule& schedule, std::uint64_t seed);

  bool are_expected_ = false;
  std::vector<std::string> names_;
  std::vector<HostTensor> given_, expected_;
};

// The allowed error of a model's outputs: the sum, step by step, of what each layer's contract allows.
class OutputTolerance {
 public:
  void Add(const ReplayStep& step, double tolerance);
  // Both the replay and what it is compared with may be off by as much.
  double value() const;

 private:
  double squares_ = 0;
};

}  // namespace infimum::cpu
