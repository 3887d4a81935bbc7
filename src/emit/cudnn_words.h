// cuDNN's words for the vocabulary's types and kinds, as its frontend spells them.
//
//   CudnnType(DataType::kF16)                 "fe::DataType_t::HALF"
//   CudnnMode(PointwiseKind::kGeluErf)        "fe::PointwiseMode_t::GELU_FWD"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/pointwise.h"
#include "src/core/layer/pooling.h"

namespace infimum::emit {

// An error where cuDNN's graph has no tensors of it.
Result<std::string> CudnnType(DataType type);

// What products of this type are added up in: "fe::DataType_t::INT32".
std::string CudnnSumType(DataType input);

// nullopt where cuDNN's graph has no such operation.
std::optional<std::string> CudnnMode(PointwiseKind kind);
std::optional<std::string> CudnnMode(ReductionKind kind);
std::optional<std::string> CudnnMode(PoolingKind kind);

// ".set_stride({2, 2})"
std::string Setter(std::string_view name, const std::vector<std::int64_t>& numbers);

}  // namespace infimum::emit
