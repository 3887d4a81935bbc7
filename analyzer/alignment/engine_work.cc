#include "analyzer/alignment/engine_work.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analyzer/alignment/onnxruntime_names.h"
#include "analyzer/alignment/operator_kinds.h"
#include "infimum/base/enum_names.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

// Transposes that ONNX Runtime adds are called so, with a number.
bool IsAddedTranspose(const ProfiledLayer& layer) {
  return layer.op == "Transpose" && (layer.name == "Transpose" || layer.name.starts_with("Transpose_token_"));
}

// What TensorRT and OpenVINO do without a kernel of a node's: where it stands for one, they say so. A NoOp moves
// nothing.
EngineWork WorkOfEngine(std::string_view op) {
  if (op == "Reformat" || op == "Reorder") return EngineWork::kLayoutChange;
  if (op == "Convert") return EngineWork::kTypeChange;
  return op == "NoOp" || op == "Shuffle" ? EngineWork::kCopy : EngineWork::kNone;
}

// Of PyTorch what makes no value, or the same value elsewhere; of a trace what no operator started.
EngineWork WorkOfTrace(std::string_view op) {
  if (IsOneOf(op,
              {"aten::copy_",      "aten::to",      "aten::_to_copy",   "aten::contiguous", "aten::clone",
               "aten::reshape",    "aten::view",    "aten::as_strided", "aten::t",          "aten::transpose",
               "aten::permute",    "aten::expand",  "aten::slice",      "aten::select",     "aten::unsqueeze",
               "aten::squeeze",    "aten::flatten", "aten::empty",      "aten::empty_like", "aten::empty_strided",
               "aten::resize_",    "aten::detach",  "aten::item",       "aten::is_nonzero", "aten::_local_scalar_dense",
               "aten::lift_fresh", "aten::unbind",  "aten::split",      "aten::chunk",      "aten::narrow",
               "aten::alias"})) {
    return EngineWork::kCopy;
  }
  if (op.starts_with("Memcpy") || op.starts_with("Memset") || op.starts_with("Copy")) return EngineWork::kCopy;
  const bool turns = op.find("nchwToNhwc") != op.npos || op.find("nhwcToNchw") != op.npos;
  return turns ? EngineWork::kLayoutChange : EngineWork::kNone;
}

}  // namespace

std::string_view Name(EngineWork work) {
  constexpr EnumNames<EngineWork::kCopy> kNames = {"none", "layout change", "type change", "copy"};
  return kNames[work];
}

EngineWork OwnWorkOf(const ProfiledLayer& layer) {
  const std::string_view core = CoreOf(layer.op);
  if (IsOneOf(core, {"ReorderInput", "ReorderOutput"}) || IsAddedTranspose(layer)) return EngineWork::kLayoutChange;
  if (IsOneOf(core, {"MemcpyFromHost", "MemcpyToHost", "Identity"})) return EngineWork::kCopy;
  const bool was_inserted =
      layer.name.starts_with("InsertedPrecisionFreeCast_") || layer.name.starts_with("InsertedCast_");
  if (core == "Cast" && was_inserted) return EngineWork::kTypeChange;
  if (!layer.nodes.empty()) return EngineWork::kNone;
  EngineWork work = WorkOfEngine(layer.op);
  if (work == EngineWork::kNone) work = WorkOfTrace(layer.op);
  return work == EngineWork::kNone && !layer.serves.empty() ? EngineWork::kCopy : work;
}

namespace {

// In small letters, in their order. Of operators (ONNX, ONNX Runtime, PyTorch, TensorRT) and of kernels (cuDNN, cuBLAS,
// CUTLASS, oneDNN, MLAS), but for what is a common part of a layer's or project's name.
constexpr std::array kWords = std::to_array<std::string_view>({
    "abs",           "acc",         "activation",  "ada",          "add",
    "addmm",         "aligned",     "alignment",   "all",          "ampere",
    "amx",           "and",         "any",         "arg",          "argmax",
    "argmin",        "as",          "aten",        "attention",    "attn",
    "average",       "avg",         "avgpool",     "avx",          "baddbmm",
    "basic",         "batch",       "bf",          "bias",         "bilinear",
    "blackwell",     "blocked",     "bmm",         "brgconv",      "brgemm",
    "bwd",           "cask",        "cast",        "cat",          "ceil",
    "channels",      "clamp",       "clip",        "cluster",      "col",
    "com",           "concat",      "constant",    "contiguous",   "conv",
    "convert",       "convolution", "convolve",    "copy",         "core",
    "cos",           "cpu",         "cross",       "cublas",       "cublaslt",
    "cuda",          "cudnn",       "cumsum",      "cutlass",      "deconv",
    "deep",          "deformable",  "depth",       "depthwise",    "dequantize",
    "dilated",       "direct",      "disable",     "disabled",     "div",
    "dnnl",          "double",      "dropout",     "dw",           "dynamic",
    "einsum",        "element",     "elementwise", "elu",          "embedding",
    "empty",         "enable",      "eng",         "engine",       "equal",
    "erf",           "execution",   "exhaustive",  "exp",          "expand",
    "extended",      "false",       "fast",        "ffma",         "fft",
    "fill",          "first",       "flash",       "flatten",      "float",
    "floor",         "fma",         "fmha",        "forward",      "fp",
    "fprop",         "from",        "fully",       "fused",        "fusion",
    "fwd",           "gather",      "gelu",        "gemm",         "gemv",
    "generic",       "global",      "gmma",        "graph",        "grid",
    "group",         "grouped",     "gru",         "half",         "hard",
    "hardswish",     "hardtanh",    "heuristic",   "hgemm",        "hmma",
    "hopper",        "host",        "identity",    "igemm",        "im",
    "imma",          "implicit",    "index",       "input",        "instance",
    "int",           "integer",     "interleaved", "inverse",      "jit",
    "kcrs",          "kernel",      "kernels",     "krsc",         "layer",
    "layernorm",     "layout",      "ldg",         "leaky",        "less",
    "level",         "like",        "linear",      "local",        "log",
    "loop",          "lrn",         "lstm",        "mat",          "matmul",
    "matrix",        "max",         "maxpool",     "maxwell",      "mean",
    "memcpy",        "memset",      "microsoft",   "min",          "mish",
    "mlas",          "mm",          "mma",         "mmad",         "mode",
    "mul",           "multi",       "multihead",   "multiply",     "myelin",
    "myl",           "native",      "ncdhw",       "nchw",         "nchwc",
    "ncxhw",         "ndhwc",       "neg",         "nhwc",         "nhwckrsc",
    "non",           "none",        "nonfused",    "nop",          "norm",
    "normalization", "not",         "off",         "on",           "one",
    "only",          "onnx",        "op",          "optimization", "or",
    "ort",           "out",         "output",      "pack",         "packed",
    "pad",           "padding",     "parallel",    "permute",      "plugin",
    "point",         "pointwise",   "pool",        "pooling",      "pow",
    "precomp",       "precomputed", "prelu",       "provider",     "qgemm",
    "qkv",           "quantize",    "quick",       "range",        "reciprocal",
    "ref",           "reformat",    "relu",        "reorder",      "reshape",
    "resize",        "rms",         "rnn",         "roi",          "rotary",
    "round",         "row",         "rsqrt",       "runtime",      "scalar",
    "scale",         "scatter",     "select",      "self",         "selu",
    "separable",     "sequential",  "sgemm",       "shape",        "shuffle",
    "sigmoid",       "sign",        "silu",        "simd",         "simplified",
    "simt",          "sin",         "skip",        "slice",        "sliced",
    "sliding",       "sm",          "softcap",     "softmax",      "softplus",
    "sort",          "spatial",     "split",       "splitk",       "splitkreduce",
    "sqrt",          "squeeze",     "stages",      "static",       "stride",
    "strided",       "sub",         "sum",         "swish",        "tanh",
    "tensor",        "tensorop",    "tensorrt",    "tf",           "tile",
    "tiled",         "tilesize",    "to",          "token",        "top",
    "transform",     "transpose",   "transposed",  "triton",       "true",
    "turing",        "unary",       "uni",         "unpool",       "unspecified",
    "unsqueeze",     "upsample",    "value",       "vec",          "vectorized",
    "view",          "vnni",        "volta",       "warp",         "warpspecialized",
    "weight",        "weights",     "wgmma",       "where",        "window",
    "wino",          "winograd",    "xmma",
});

static_assert(std::ranges::is_sorted(kWords), "words are looked up by halves");

bool IsWord(std::string_view word) {
  std::string small(word);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::binary_search(kWords, small);
}

bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Where the word that begins at `start` ends: "QLinearConv" is Q, Linear and Conv, "LSTM" one word.
std::size_t EndOfWord(std::string_view text, std::size_t start) {
  std::size_t end = start + 1;
  const auto is_upper = [&](std::size_t at) { return at < text.size() && IsUpper(text[at]); };
  const auto is_lower = [&](std::size_t at) { return at < text.size() && IsLetter(text[at]) && !IsUpper(text[at]); };
  if (is_upper(start) && is_upper(end)) {
    while (is_upper(end) && !is_lower(end + 1)) ++end;
    return end;
  }
  while (is_lower(end)) ++end;
  return end;
}

// Of each kind an operator that KindOf sees as one.
constexpr EnumNames<OperatorKind::kOther> kWordsOfKinds = {
    "convolution", "matmul", "pool",    "softmax", "normalization",  "reduce",           "rnn", "attention", "resize",
    "pointwise",   "concat", "padding", "gather",  "QuantizeLinear", "DequantizeLinear", ""};

}  // namespace

bool IsOfLibraries(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) >= 0x80) return false;
    if (!IsLetter(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = EndOfWord(text, at);
    if (end - at > 1 && !IsWord(text.substr(at, end - at))) return false;
    at = end;
  }
  return true;
}

std::string PlainOperatorOf(const ProfiledLayer& layer) {
  switch (OwnWorkOf(layer)) {
    case EngineWork::kLayoutChange:
      return "Reformat";
    case EngineWork::kTypeChange:
      return "Cast";
    case EngineWork::kCopy:
      return "Copy";
    case EngineWork::kNone:
      break;
  }
  return std::string(kWordsOfKinds[KindOf(layer.op)]);
}

std::string DecoratedLike(std::string_view name, std::string_view replacement) {
  for (const std::string_view inserted : {"InsertedPrecisionFreeCast_", "InsertedCast_"})
    if (name.find(inserted) != std::string_view::npos) return std::string(inserted) + std::string(replacement);
  if (name == "Transpose" || name.starts_with("Transpose_token_")) return "Transpose_token_" + std::string(replacement);
  return std::string(replacement) + (name.ends_with("_nchwc") ? "_nchwc" : "");
}

}  // namespace infimum
