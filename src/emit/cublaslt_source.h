// A matrix product as cuBLASLt runs it: one call with a bias, an addend and an activation behind it, or the reason why
// it cannot be one.
//
//   matmul bias=column, relu behind it                epilogue RELU_BIAS
//   matmul, add of a whole matrix, gelu by tanh       beta 1, epilogue GELU
//
//   Result<CublasLtProduct> product = DescribeProduct(workload);
//   Result<std::string> source = WriteProduct(*product, request);
#pragma once

#include <cstdint>
#include <string>

#include "infimum/base/result.h"
#include "infimum/layer/workload.h"
#include "src/emit/library.h"

namespace infimum::emit {

struct CublasLtProduct {
  OperandTypes types;
  std::int64_t rows = 1, columns = 1, depth = 1;
  std::int64_t batch = 1;
  bool same_a = false, same_b = false;  // one matrix for the whole batch
  bool constant_b = false;
  bool has_bias = false;    // a vector, one for each column
  bool has_addend = false;  // a matrix like the result
  DataType bias_type = DataType::kNone;
  std::string activation;  // "", "RELU", "GELU"
};

Result<CublasLtProduct> DescribeProduct(const Workload& workload);

Result<std::string> WriteProduct(const CublasLtProduct& product, const SourceRequest& request);

}  // namespace infimum::emit
