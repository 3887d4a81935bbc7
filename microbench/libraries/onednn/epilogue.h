// What a GEMM or convolution does to its result before it writes it: oneDNN's post-operations, as a region has them.
//
//   add of a residual, then relu:  {kBinary binary_add operand 3}, {kEltwise eltwise_relu}
#pragma once

#include <cstddef>
#include <vector>

#include "microbench/libraries/onednn/program/primitive_program.h"

namespace infimum::cpu {

struct Epilogue {
  struct Step {
    dnnl::algorithm algorithm = dnnl::algorithm::undef;
    float alpha = 0;
    float beta = 0;
    bool binary = false;
    std::size_t operand = 0;  // binary: which of the problem's operands
    Shape shape = {};         // binary: in the rank of the output, 1 where it broadcasts
    DataType type = DataType::kF32;
    bool constant = false;
  };
  std::vector<Step> steps;

  bool empty() const { return steps.empty(); }
};

}  // namespace infimum::cpu
