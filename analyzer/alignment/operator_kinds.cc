#include "analyzer/alignment/operator_kinds.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

namespace infimum {
namespace {

// What words in lower case say.
template <class Meaning>
struct Words {
  Meaning meaning;
  std::vector<std::string_view> words;
};

// Parts of an operator's name. The first that is found decides: "softmax" before "max".
const std::vector<Words<OperatorKind>> kParts = {
    {OperatorKind::kDequantization, {"dequantize"}},
    {OperatorKind::kQuantization, {"quantizelinear"}},
    {OperatorKind::kAttention, {"attention", "flash_fwd", "attn_fwd", "fmha"}},
    {OperatorKind::kSoftmax, {"softmax"}},
    {OperatorKind::kConvolution, {"conv"}},
    {OperatorKind::kNormalization,
     {"normaliz", "layernorm", "batchnorm", "layer_norm", "batch_norm", "rms_norm", "group_norm", "instance_norm",
      "lrn", "mvn"}},
    {OperatorKind::kPooling, {"pool"}},
    {OperatorKind::kProduct, {"gemm", "matmul", "matrixmultiply", "linear", "addmm", "fullyconnected"}},
    {OperatorKind::kRecurrent, {"lstm", "gru", "rnn"}},
    {OperatorKind::kReduction, {"reduce", "argmax"}},
    {OperatorKind::kResample, {"resize", "upsample", "interpolate"}},
    {OperatorKind::kConcatenation, {"concat"}},
    {OperatorKind::kElementwise,
     {"relu", "sigmoid", "swish", "silu", "gelu", "tanh", "hardswish", "elu", "clip", "pointwise", "elementwise",
      "subgraph"}},
};
// Too short to be looked for within a name.
const std::vector<Words<OperatorKind>> kNames = {
    {OperatorKind::kElementwise, {"add", "sub", "mul", "div", "sum", "sqrt", "pow", "erf", "exp", "max"}},
    {OperatorKind::kPadding, {"pad", "padding"}},
    {OperatorKind::kGather, {"gather"}},
};
// PyTorch's, without namespace and underscores.
const std::vector<Words<OperatorKind>> kPyTorchNames = {
    {OperatorKind::kProduct, {"mm", "bmm", "baddbmm"}},
    {OperatorKind::kReduction, {"sum", "mean", "max"}},
    {OperatorKind::kConcatenation, {"cat"}},
    {OperatorKind::kGather, {"embedding", "index_select"}},
    {OperatorKind::kPadding, {"constant_pad_nd"}},
    {OperatorKind::kElementwise, {"rsqrt", "neg", "hardtanh", "clamp", "where", "masked_fill"}},
};

const std::vector<Words<std::string_view>> kFunctions = {
    {"add", {"add", "sum"}},
    {"sub", {"sub"}},
    {"mul", {"mul"}},
    {"div", {"div"}},
    {"relu", {"relu"}},
    {"clip", {"relu6", "clip", "clamp", "hardtanh"}},
    {"gelu", {"gelu"}},
    {"silu", {"silu", "swish"}},
    {"sigmoid", {"sigmoid"}},
    {"tanh", {"tanh"}},
    {"erf", {"erf"}},
    {"exp", {"exp"}},
    {"sqrt", {"sqrt"}},
    {"pow", {"pow"}},
    {"neg", {"neg"}},
    {"hardswish", {"hardswish"}},
    // Exporters write a group normalization as an instance normalization of reshaped values.
    {"batchnorm", {"batch_norm", "batchnormalization"}},
    {"layernorm", {"layer_norm", "native_layer_norm", "layernormalization"}},
    {"instancenorm",
     {"group_norm", "native_group_norm", "groupnormalization", "instance_norm", "instancenormalization"}},
};

// By the first word for which `is_it` holds.
template <class Meaning, class IsIt>
std::optional<Meaning> Find(const std::vector<Words<Meaning>>& table, const IsIt& is_it) {
  for (const Words<Meaning>& row : table)
    if (std::ranges::any_of(row.words, is_it)) return row.meaning;
  return std::nullopt;
}

// Small letters, without domain or namespace: "add" of "aten::add_.Tensor".
std::string PlainName(std::string_view op, bool& is_pytorch) {
  const std::size_t colons = op.rfind("::");
  is_pytorch = colons != std::string_view::npos;
  if (is_pytorch) {
    op.remove_prefix(colons + 2);
    op = op.substr(0, op.find('.'));
    while (op.starts_with('_')) op.remove_prefix(1);
    while (op.ends_with('_')) op.remove_suffix(1);
  } else if (const std::size_t dot = op.rfind('.'); dot != std::string_view::npos) {
    op.remove_prefix(dot + 1);
  }
  std::string name(op);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace

OperatorKind KindOf(std::string_view op) {
  bool is_pytorch = false;
  const std::string name = PlainName(op, is_pytorch);
  if (name.starts_with("convert")) return OperatorKind::kOther;  // no convolution
  if (name.find("backward") != std::string::npos) return OperatorKind::kOther;
  const auto is_name = [&name](std::string_view word) { return name == word; };
  if (const std::optional<OperatorKind> kind = is_pytorch ? Find(kPyTorchNames, is_name) : std::nullopt) return *kind;
  if (const std::optional<OperatorKind> kind = Find(kNames, is_name)) return *kind;
  return Find(kParts, [&name](std::string_view word) { return name.find(word) != std::string::npos; })
      .value_or(OperatorKind::kOther);
}

std::string_view FunctionOf(std::string_view op) {
  bool is_pytorch = false;
  const std::string name = PlainName(op, is_pytorch);
  return Find(kFunctions, [&name](std::string_view word) { return name == word; }).value_or("");
}

}  // namespace infimum
