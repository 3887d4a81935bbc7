#include "analyzer/operator_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace infimum {
namespace {

struct Word {
  std::string_view part;  // of the operator's name in lower case
  OperatorKind kind;
};

// The first that is found decides: "avgpool" before "pool", "softmax" before "max".
constexpr std::array kWords = {
    Word{"dequantize", OperatorKind::kDequantization},
    Word{"quantizelinear", OperatorKind::kQuantization},
    Word{"attention", OperatorKind::kAttention},
    Word{"flash_fwd", OperatorKind::kAttention},
    Word{"attn_fwd", OperatorKind::kAttention},
    Word{"fmha", OperatorKind::kAttention},
    Word{"softmax", OperatorKind::kSoftmax},
    Word{"conv", OperatorKind::kConvolution},
    Word{"normaliz", OperatorKind::kNormalization},
    Word{"layernorm", OperatorKind::kNormalization},
    Word{"batchnorm", OperatorKind::kNormalization},
    Word{"layer_norm", OperatorKind::kNormalization},
    Word{"batch_norm", OperatorKind::kNormalization},
    Word{"rms_norm", OperatorKind::kNormalization},
    Word{"group_norm", OperatorKind::kNormalization},
    Word{"instance_norm", OperatorKind::kNormalization},
    Word{"lrn", OperatorKind::kNormalization},
    Word{"pool", OperatorKind::kPooling},
    Word{"gemm", OperatorKind::kProduct},
    Word{"matmul", OperatorKind::kProduct},
    Word{"matrixmultiply", OperatorKind::kProduct},
    Word{"linear", OperatorKind::kProduct},
    Word{"addmm", OperatorKind::kProduct},
    Word{"lstm", OperatorKind::kRecurrent},
    Word{"gru", OperatorKind::kRecurrent},
    Word{"rnn", OperatorKind::kRecurrent},
    Word{"reduce", OperatorKind::kReduction},
    Word{"argmax", OperatorKind::kReduction},
    Word{"resize", OperatorKind::kResample},
    Word{"upsample", OperatorKind::kResample},
    Word{"concat", OperatorKind::kConcatenation},
    Word{"relu", OperatorKind::kElementwise},
    Word{"sigmoid", OperatorKind::kElementwise},
    Word{"swish", OperatorKind::kElementwise},
    Word{"silu", OperatorKind::kElementwise},
    Word{"gelu", OperatorKind::kElementwise},
    Word{"tanh", OperatorKind::kElementwise},
    Word{"hardswish", OperatorKind::kElementwise},
    Word{"elu", OperatorKind::kElementwise},
    Word{"clip", OperatorKind::kElementwise},
    Word{"pointwise", OperatorKind::kElementwise},
    Word{"elementwise", OperatorKind::kElementwise},
};
// Too short to be looked for within a name.
constexpr std::array kNames = {
    Word{"add", OperatorKind::kElementwise}, Word{"sub", OperatorKind::kElementwise},
    Word{"mul", OperatorKind::kElementwise}, Word{"div", OperatorKind::kElementwise},
    Word{"sum", OperatorKind::kElementwise}, Word{"sqrt", OperatorKind::kElementwise},
    Word{"pow", OperatorKind::kElementwise}, Word{"erf", OperatorKind::kElementwise},
    Word{"exp", OperatorKind::kElementwise}, Word{"max", OperatorKind::kElementwise},
    Word{"pad", OperatorKind::kPadding},     Word{"padding", OperatorKind::kPadding},
    Word{"gather", OperatorKind::kGather},
};

// PyTorch's, without namespace and underscores.
constexpr std::array kPyTorchNames = {
    Word{"mm", OperatorKind::kProduct},           Word{"bmm", OperatorKind::kProduct},
    Word{"baddbmm", OperatorKind::kProduct},      Word{"sum", OperatorKind::kReduction},
    Word{"mean", OperatorKind::kReduction},       Word{"max", OperatorKind::kReduction},
    Word{"cat", OperatorKind::kConcatenation},    Word{"embedding", OperatorKind::kGather},
    Word{"index_select", OperatorKind::kGather},  Word{"constant_pad_nd", OperatorKind::kPadding},
    Word{"rsqrt", OperatorKind::kElementwise},    Word{"neg", OperatorKind::kElementwise},
    Word{"hardtanh", OperatorKind::kElementwise}, Word{"clamp", OperatorKind::kElementwise},
    Word{"where", OperatorKind::kElementwise},    Word{"masked_fill", OperatorKind::kElementwise},
};

struct Function {
  std::string_view op;
  std::string_view name;
};
constexpr std::array kFunctions = {
    Function{"add", "add"},
    Function{"sum", "add"},
    Function{"sub", "sub"},
    Function{"mul", "mul"},
    Function{"div", "div"},
    Function{"relu", "relu"},
    Function{"relu6", "clip"},
    Function{"clip", "clip"},
    Function{"clamp", "clip"},
    Function{"hardtanh", "clip"},
    Function{"gelu", "gelu"},
    Function{"silu", "silu"},
    Function{"swish", "silu"},
    Function{"sigmoid", "sigmoid"},
    Function{"tanh", "tanh"},
    Function{"erf", "erf"},
    Function{"exp", "exp"},
    Function{"sqrt", "sqrt"},
    Function{"pow", "pow"},
    Function{"neg", "neg"},
    Function{"hardswish", "hardswish"},
    // Exporters write a group normalization as an instance normalization of reshaped values.
    Function{"batch_norm", "batchnorm"},
    Function{"batchnormalization", "batchnorm"},
    Function{"layer_norm", "layernorm"},
    Function{"native_layer_norm", "layernorm"},
    Function{"layernormalization", "layernorm"},
    Function{"group_norm", "instancenorm"},
    Function{"native_group_norm", "instancenorm"},
    Function{"groupnormalization", "instancenorm"},
    Function{"instance_norm", "instancenorm"},
    Function{"instancenormalization", "instancenorm"},
};

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
  if (is_pytorch) {
    for (const Word& word : kPyTorchNames)
      if (name == word.part) return word.kind;
  }
  for (const Word& word : kNames)
    if (name == word.part) return word.kind;
  for (const Word& word : kWords)
    if (name.find(word.part) != std::string::npos) return word.kind;
  return OperatorKind::kOther;
}

std::string_view FunctionOf(std::string_view op) {
  bool is_pytorch = false;
  const std::string name = PlainName(op, is_pytorch);
  for (const Function& function : kFunctions)
    if (name == function.op) return function.name;
  return {};
}

}  // namespace infimum
