// Types, element-wise operations and reductions of ours in the words of cuDNN's graph; nullopt where it has none. For
// cudnn_operations.cc alone: the frontend's headers take half a minute to compile.
#pragma once

#include <cudnn_frontend.h>

#include <optional>

#include "infimum/layer/data_type.h"
#include "infimum/layer/pointwise.h"
#include "src/core/layer/reduction.h"

namespace infimum::cuda {

inline std::optional<cudnn_frontend::DataType_t> TypeIn(DataType type) {
  switch (type) {
    case DataType::kF64:
      return cudnn_frontend::DataType_t::DOUBLE;
    case DataType::kF32:
      return cudnn_frontend::DataType_t::FLOAT;
    case DataType::kF16:
      return cudnn_frontend::DataType_t::HALF;
    case DataType::kBF16:
      return cudnn_frontend::DataType_t::BFLOAT16;
    case DataType::kF8E4M3:
      return cudnn_frontend::DataType_t::FP8_E4M3;
    case DataType::kF8E5M2:
      return cudnn_frontend::DataType_t::FP8_E5M2;
    case DataType::kS8:
      return cudnn_frontend::DataType_t::INT8;
    case DataType::kS32:
      return cudnn_frontend::DataType_t::INT32;
    case DataType::kS64:
      return cudnn_frontend::DataType_t::INT64;
    case DataType::kBool:
      return cudnn_frontend::DataType_t::BOOLEAN;
    default:
      return std::nullopt;
  }
}

inline std::optional<cudnn_frontend::PointwiseMode_t> ModeOf(PointwiseKind kind) {
  using Mode = cudnn_frontend::PointwiseMode_t;
  static constexpr Mode kModes[] = {
#define INFIMUM_POINTWISE(kind, name, least, most, flops, provable, onnx, cudnn) Mode::cudnn,
#include "src/core/layer/pointwise_kinds.def"
  };
  const Mode mode = kModes[static_cast<std::size_t>(kind)];
  return mode == Mode::NOT_SET ? std::nullopt : std::optional(mode);
}

inline std::optional<cudnn_frontend::ReductionMode_t> ModeOf(ReductionKind kind) {
  using Mode = cudnn_frontend::ReductionMode_t;
  static constexpr Mode kModes[] = {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) Mode::cudnn,
#define INFIMUM_ARGUMENT(kind, name, fold) Mode::NOT_SET,
#include "src/core/layer/reduction_kinds.def"
  };
  const Mode mode = kModes[static_cast<std::size_t>(kind)];
  return mode == Mode::NOT_SET ? std::nullopt : std::optional(mode);
}

}  // namespace infimum::cuda
