#include "src/emit/cudnn_words.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

constexpr std::pair<DataType, std::string_view> kTypes[] = {
    {DataType::kF64, "DOUBLE"},    {DataType::kF32, "FLOAT"},       {DataType::kF16, "HALF"},
    {DataType::kBF16, "BFLOAT16"}, {DataType::kF8E4M3, "FP8_E4M3"}, {DataType::kF8E5M2, "FP8_E5M2"},
    {DataType::kS8, "INT8"},       {DataType::kS32, "INT32"},       {DataType::kS64, "INT64"},
    {DataType::kBool, "BOOLEAN"}};

// "NOT_SET" where cuDNN has none.
std::optional<std::string> Mode(std::string_view prefix, std::string_view word) {
  if (word == "NOT_SET") return std::nullopt;
  return fmt::format("fe::{}::{}", prefix, word);
}

}  // namespace

Result<std::string> CudnnType(DataType type) {
  for (const auto& [known, word] : kTypes)
    if (known == type) return fmt::format("fe::DataType_t::{}", word);
  return Error{fmt::format("cuDNN's graph has no tensors of {}", Name(type))};
}

std::string CudnnSumType(DataType input) {
  if (IsInteger(input)) return "fe::DataType_t::INT32";
  return input == DataType::kF64 ? "fe::DataType_t::DOUBLE" : "fe::DataType_t::FLOAT";
}

std::optional<std::string> CudnnMode(PointwiseKind kind) {
  static constexpr std::string_view kModes[] = {
#define INFIMUM_POINTWISE(kind, name, least, most, flops, provable, rounding, onnx, cudnn) #cudnn,
#include "src/core/layer/pointwise_kinds.def"
  };
  return Mode("PointwiseMode_t", kModes[static_cast<std::size_t>(kind)]);
}

std::optional<std::string> CudnnMode(ReductionKind kind) {
  static constexpr std::string_view kModes[] = {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) #cudnn,
#define INFIMUM_ARGUMENT(kind, name, fold) "NOT_SET",
#include "src/core/layer/reduction_kinds.def"
  };
  return Mode("ReductionMode_t", kModes[static_cast<std::size_t>(kind)]);
}

std::optional<std::string> CudnnMode(PoolingKind kind) {
  static constexpr std::string_view kModes[] = {
#define INFIMUM_POOLING(kind, name, reduction, counts_padding, cudnn) #cudnn,
#include "src/core/layer/reduction_kinds.def"
  };
  return Mode("ResampleMode_t", kModes[static_cast<std::size_t>(kind)]);
}

std::string Setter(std::string_view name, const std::vector<std::int64_t>& numbers) {
  return fmt::format(".set_{}({})", name, Braced(numbers));
}

}  // namespace infimum::emit
