// The program of an element-wise call as text, for the compiler that makes a kernel of it.
//
//   {Arithmetic(0), 8, 2, 1, 2, 1000000L, {1, {FastDivisor(1000000)}}, {{nullptr, Element(3), ...
#pragma once

#include <string>

#include "microbench/kernels/cuda/pointwise_call.h"

namespace infimum::cuda {

// An initializer of a PointwiseCall without its addresses; numbers are exact.
std::string ConstantText(const PointwiseCall& call);

}  // namespace infimum::cuda
