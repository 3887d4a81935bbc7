// What a product does to its result before it writes it: oneDNN's post-operations, as a region asks
// for them.
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
    Shape shape;              // binary: in the rank of the output, 1 where it broadcasts
    DataType type = DataType::kF32;
    bool constant = false;
  };
  std::vector<Step> steps;

  bool empty() const { return steps.empty(); }
};

// Adds the steps to a primitive's attributes; `any` leaves the operands' layouts to the library.
void Append(const Epilogue& epilogue, dnnl::primitive_attr& attributes);

// Binds the operands of the steps.
void Bind(const Epilogue& epilogue, const Problem& problem, PrimitiveCall& call);

}  // namespace infimum::cpu
