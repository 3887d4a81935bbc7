// What runs one step of a replay on a GPU, and which of the step's tensors each of its bindings is.
//
//   INFIMUM_ASSIGN_OR_RETURN(StepProgram program, FindStepProgram(gpu, libraries, step, contract));
//   program.candidate                         "cudnn/eng0_k24=5"
//   program.roles[1]                          {kOperand, 1}: the step's second operand
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "microbench/gpu/device/gpu_libraries.h"
#include "microbench/reference/step_reference.h"

namespace infimum::cuda {

struct StepProgram {
  struct Role {
    enum class Kind { kOperand, kOutput, kInner } kind = Kind::kInner;  // inner: stays between a region's members
    std::size_t index = 0;                                              // of the step's operands or outputs
  };

  std::string candidate;
  std::unique_ptr<GpuProgram> program;
  std::vector<Role> roles;  // by binding
  // Element-wise, over memory as it lies: any order serves that is the same for all its tensors.
  bool any_order = false;
};

// The step's candidate with the step's values; where it names none, or one that is not offered with them, the first
// that is. "unsupported: ..." where nothing here runs it.
Result<StepProgram> FindStepProgram(Gpu& gpu, GpuLibraries& libraries, const ReplayStep& step,
                                    NumericContract contract);

}  // namespace infimum::cuda
