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
  switch (kind) {
    case PointwiseKind::kAdd:
      return Mode::ADD;
    case PointwiseKind::kSubtract:
      return Mode::SUB;
    case PointwiseKind::kMultiply:
      return Mode::MUL;
    case PointwiseKind::kDivide:
      return Mode::DIV;
    case PointwiseKind::kPower:
      return Mode::POW;
    case PointwiseKind::kModulo:
      return Mode::MOD;
    case PointwiseKind::kMinimum:
      return Mode::MIN;
    case PointwiseKind::kMaximum:
      return Mode::MAX;
    case PointwiseKind::kIdentity:
    case PointwiseKind::kCast:
      return Mode::IDENTITY;
    case PointwiseKind::kAbsolute:
      return Mode::ABS;
    case PointwiseKind::kNegative:
      return Mode::NEG;
    case PointwiseKind::kCeil:
      return Mode::CEIL;
    case PointwiseKind::kFloor:
      return Mode::FLOOR;
    case PointwiseKind::kReciprocal:
      return Mode::RECIPROCAL;
    case PointwiseKind::kSquareRoot:
      return Mode::SQRT;
    case PointwiseKind::kExponential:
      return Mode::EXP;
    case PointwiseKind::kLogarithm:
      return Mode::LOG;
    case PointwiseKind::kErrorFunction:
      return Mode::ERF;
    case PointwiseKind::kSine:
      return Mode::SIN;
    case PointwiseKind::kCosine:
      return Mode::COS;
    case PointwiseKind::kTangent:
      return Mode::TAN;
    case PointwiseKind::kRelu:
    case PointwiseKind::kLeakyRelu:
    case PointwiseKind::kClip:
      return Mode::RELU_FWD;
    case PointwiseKind::kElu:
      return Mode::ELU_FWD;
    case PointwiseKind::kSigmoid:
      return Mode::SIGMOID_FWD;
    case PointwiseKind::kTanh:
      return Mode::TANH_FWD;
    case PointwiseKind::kSwish:
      return Mode::SWISH_FWD;
    case PointwiseKind::kGeluErf:
      return Mode::GELU_FWD;
    case PointwiseKind::kGeluTanh:
      return Mode::GELU_APPROX_TANH_FWD;
    case PointwiseKind::kSoftplus:
      return Mode::SOFTPLUS_FWD;
    default:
      return std::nullopt;
  }
}

inline std::optional<cudnn_frontend::ReductionMode_t> ModeOf(ReductionKind kind) {
  using Mode = cudnn_frontend::ReductionMode_t;
  switch (kind) {
    case ReductionKind::kSum:
      return Mode::ADD;
    case ReductionKind::kMean:
      return Mode::ADD;
    case ReductionKind::kMax:
      return Mode::MAX;
    case ReductionKind::kMin:
      return Mode::MIN;
    case ReductionKind::kProduct:
      return Mode::MUL;
    case ReductionKind::kL1:
      return Mode::NORM1;
    case ReductionKind::kL2:
      return Mode::NORM2;
    default:
      return std::nullopt;
  }
}

}  // namespace infimum::cuda
