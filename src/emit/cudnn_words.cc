#include "src/emit/cudnn_words.h"

#include <fmt/format.h>

#include <array>
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

constexpr std::pair<PointwiseKind, std::string_view> kPointwise[] = {{PointwiseKind::kAdd, "ADD"},
                                                                     {PointwiseKind::kSubtract, "SUB"},
                                                                     {PointwiseKind::kMultiply, "MUL"},
                                                                     {PointwiseKind::kDivide, "DIV"},
                                                                     {PointwiseKind::kPower, "POW"},
                                                                     {PointwiseKind::kModulo, "MOD"},
                                                                     {PointwiseKind::kMinimum, "MIN"},
                                                                     {PointwiseKind::kMaximum, "MAX"},
                                                                     {PointwiseKind::kIdentity, "IDENTITY"},
                                                                     {PointwiseKind::kCast, "IDENTITY"},
                                                                     {PointwiseKind::kAbsolute, "ABS"},
                                                                     {PointwiseKind::kNegative, "NEG"},
                                                                     {PointwiseKind::kCeil, "CEIL"},
                                                                     {PointwiseKind::kFloor, "FLOOR"},
                                                                     {PointwiseKind::kReciprocal, "RECIPROCAL"},
                                                                     {PointwiseKind::kSquareRoot, "SQRT"},
                                                                     {PointwiseKind::kExponential, "EXP"},
                                                                     {PointwiseKind::kLogarithm, "LOG"},
                                                                     {PointwiseKind::kErrorFunction, "ERF"},
                                                                     {PointwiseKind::kSine, "SIN"},
                                                                     {PointwiseKind::kCosine, "COS"},
                                                                     {PointwiseKind::kTangent, "TAN"},
                                                                     {PointwiseKind::kRelu, "RELU_FWD"},
                                                                     {PointwiseKind::kLeakyRelu, "RELU_FWD"},
                                                                     {PointwiseKind::kClip, "RELU_FWD"},
                                                                     {PointwiseKind::kElu, "ELU_FWD"},
                                                                     {PointwiseKind::kSigmoid, "SIGMOID_FWD"},
                                                                     {PointwiseKind::kTanh, "TANH_FWD"},
                                                                     {PointwiseKind::kSwish, "SWISH_FWD"},
                                                                     {PointwiseKind::kGeluErf, "GELU_FWD"},
                                                                     {PointwiseKind::kGeluTanh, "GELU_APPROX_TANH_FWD"},
                                                                     {PointwiseKind::kSoftplus, "SOFTPLUS_FWD"}};

// A mean is a sum of what was scaled before it.
constexpr std::pair<ReductionKind, std::string_view> kReductions[] = {
    {ReductionKind::kSum, "ADD"}, {ReductionKind::kMean, "ADD"},    {ReductionKind::kMax, "MAX"},
    {ReductionKind::kMin, "MIN"}, {ReductionKind::kProduct, "MUL"}, {ReductionKind::kL1, "NORM1"},
    {ReductionKind::kL2, "NORM2"}};

template <class Key, std::size_t kCount>
std::optional<std::string> Find(const std::pair<Key, std::string_view> (&words)[kCount], Key key,
                                std::string_view prefix) {
  for (const auto& [known, word] : words)
    if (known == key) return fmt::format("fe::{}::{}", prefix, word);
  return std::nullopt;
}

}  // namespace

Result<std::string> CudnnType(DataType type) {
  if (const auto word = Find(kTypes, type, "DataType_t")) return *word;
  return Error{fmt::format("cuDNN's graph has no tensors of {}", Name(type))};
}

std::string CudnnSumType(DataType input) {
  if (IsInteger(input)) return "fe::DataType_t::INT32";
  return input == DataType::kF64 ? "fe::DataType_t::DOUBLE" : "fe::DataType_t::FLOAT";
}

std::optional<std::string> CudnnMode(PointwiseKind kind) { return Find(kPointwise, kind, "PointwiseMode_t"); }
std::optional<std::string> CudnnMode(ReductionKind kind) { return Find(kReductions, kind, "ReductionMode_t"); }

std::string Setter(std::string_view name, const std::vector<std::int64_t>& numbers) {
  return fmt::format(".set_{}({})", name, Braced(numbers));
}

}  // namespace infimum::emit
