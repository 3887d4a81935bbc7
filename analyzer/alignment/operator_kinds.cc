#include "analyzer/alignment/operator_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace infimum {
namespace {

struct KindWord {
  std::string_view part;  // of the operator's name in lower case
  OperatorKind kind;
};

// The first that is found decides: "avgpool" before "pool", "softmax" before "max".
constexpr std::array kKindWords = {
    KindWord{"dequantize", OperatorKind::kDequantization},
    KindWord{"quantizelinear", OperatorKind::kQuantization},
    KindWord{"attention", OperatorKind::kAttention},
    KindWord{"flash_fwd", OperatorKind::kAttention},
    KindWord{"attn_fwd", OperatorKind::kAttention},
    KindWord{"fmha", OperatorKind::kAttention},
    KindWord{"softmax", OperatorKind::kSoftmax},
    KindWord{"conv", OperatorKind::kConvolution},
    KindWord{"normaliz", OperatorKind::kNormalization},
    KindWord{"layernorm", OperatorKind::kNormalization},
    KindWord{"batchnorm", OperatorKind::kNormalization},
    KindWord{"layer_norm", OperatorKind::kNormalization},
    KindWord{"batch_norm", OperatorKind::kNormalization},
    KindWord{"rms_norm", OperatorKind::kNormalization},
    KindWord{"group_norm", OperatorKind::kNormalization},
    KindWord{"instance_norm", OperatorKind::kNormalization},
    KindWord{"lrn", OperatorKind::kNormalization},
    KindWord{"pool", OperatorKind::kPooling},
    KindWord{"gemm", OperatorKind::kProduct},
    KindWord{"matmul", OperatorKind::kProduct},
    KindWord{"matrixmultiply", OperatorKind::kProduct},
    KindWord{"linear", OperatorKind::kProduct},
    KindWord{"addmm", OperatorKind::kProduct},
    KindWord{"lstm", OperatorKind::kRecurrent},
    KindWord{"gru", OperatorKind::kRecurrent},
    KindWord{"rnn", OperatorKind::kRecurrent},
    KindWord{"reduce", OperatorKind::kReduction},
    KindWord{"argmax", OperatorKind::kReduction},
    KindWord{"resize", OperatorKind::kResample},
    KindWord{"upsample", OperatorKind::kResample},
    KindWord{"concat", OperatorKind::kConcatenation},
    KindWord{"relu", OperatorKind::kElementwise},
    KindWord{"sigmoid", OperatorKind::kElementwise},
    KindWord{"swish", OperatorKind::kElementwise},
    KindWord{"silu", OperatorKind::kElementwise},
    KindWord{"gelu", OperatorKind::kElementwise},
    KindWord{"tanh", OperatorKind::kElementwise},
    KindWord{"hardswish", OperatorKind::kElementwise},
    KindWord{"elu", OperatorKind::kElementwise},
    KindWord{"clip", OperatorKind::kElementwise},
    KindWord{"pointwise", OperatorKind::kElementwise},
    KindWord{"elementwise", OperatorKind::kElementwise},
};
// Too short to be looked for within a name.
constexpr std::array kNames = {
    KindWord{"add", OperatorKind::kElementwise}, KindWord{"sub", OperatorKind::kElementwise},
    KindWord{"mul", OperatorKind::kElementwise}, KindWord{"div", OperatorKind::kElementwise},
    KindWord{"sum", OperatorKind::kElementwise}, KindWord{"sqrt", OperatorKind::kElementwise},
    KindWord{"pow", OperatorKind::kElementwise}, KindWord{"erf", OperatorKind::kElementwise},
    KindWord{"exp", OperatorKind::kElementwise}, KindWord{"max", OperatorKind::kElementwise},
    KindWord{"pad", OperatorKind::kPadding},     KindWord{"padding", OperatorKind::kPadding},
    KindWord{"gather", OperatorKind::kGather},
};

// PyTorch's, without namespace and underscores.
constexpr std::array kPyTorchNames = {
    KindWord{"mm", OperatorKind::kProduct},           KindWord{"bmm", OperatorKind::kProduct},
    KindWord{"baddbmm", OperatorKind::kProduct},      KindWord{"sum", OperatorKind::kReduction},
    KindWord{"mean", OperatorKind::kReduction},       KindWord{"max", OperatorKind::kReduction},
    KindWord{"cat", OperatorKind::kConcatenation},    KindWord{"embedding", OperatorKind::kGather},
    KindWord{"index_select", OperatorKind::kGather},  KindWord{"constant_pad_nd", OperatorKind::kPadding},
    KindWord{"rsqrt", OperatorKind::kElementwise},    KindWord{"neg", OperatorKind::kElementwise},
    KindWord{"hardtanh", OperatorKind::kElementwise}, KindWord{"clamp", OperatorKind::kElementwise},
    KindWord{"where", OperatorKind::kElementwise},    KindWord{"masked_fill", OperatorKind::kElementwise},
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
    for (const KindWord& word : kPyTorchNames)
      if (name == word.part) return word.kind;
  }
  for (const KindWord& word : kNames)
    if (name == word.part) return word.kind;
  for (const KindWord& word : kKindWords)
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
