#include "src/readers/benchmarks/scope_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "infimum/base/text.h"

namespace infimum::ingest {
namespace {

constexpr std::string_view kPrefix = "LAYER_";
constexpr std::string_view kBatch = "__BatchSize_";
constexpr std::size_t kMostArguments = 64;

bool IsScopeDigit(char c) { return c >= '0' && c <= '9'; }

// Capitals, digits and underscores: what C's macros and scope's types are made of.
bool IsWord(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || IsScopeDigit(c) || c == '_'; });
}

Error At(std::size_t offset, std::string_view expected) {
  return Error{fmt::format("column {}: expected {}", offset + 1, expected)};
}

std::size_t SkipDigits(std::string_view name, std::size_t at) {
  while (at < name.size() && IsScopeDigit(name[at])) ++at;
  return at;
}

// "CUDNN_CONV_FWD_0_FLOAT32" into API and type.
Status ReadHead(std::string_view head, ScopeName& result) {
  const std::size_t last = head.rfind('_');
  if (!IsWord(head) || last == std::string_view::npos || last == 0 || last + 1 == head.size())
    return At(kPrefix.size(), "an API and an element type, such as CUDNN_CONV_FWD_FLOAT32");
  result.type = head.substr(last + 1);
  std::string_view api = head.substr(0, last);
  if (api.size() > 2 && api[api.size() - 2] == '_' && IsScopeDigit(api.back())) api.remove_suffix(2);
  result.api = api;
  return {};
}

// Pieces without a colon ("manual_time") and values that are no whole numbers ("min_time:0.500") are Google
// Benchmark's.
Status ReadArguments(std::string_view name, std::size_t at, ScopeName& result) {
  for (const std::string_view piece : Split(name.substr(at), '/')) {
    const std::size_t colon = piece.find(':');
    const std::optional<std::int64_t> value =
        colon == std::string_view::npos ? std::nullopt : ParseInteger(piece.substr(colon + 1));
    if (value) {
      if (colon == 0) return At(at, "an argument's name before ':'");
      if (!result.arguments.emplace(piece.substr(0, colon), *value).second)
        return At(at, fmt::format("no second {}", Quoted(piece.substr(0, colon))));
      if (result.arguments.size() > kMostArguments) return At(at, fmt::format("at most {} arguments", kMostArguments));
    }
    at += piece.size() + 1;
  }
  return {};
}

}  // namespace

bool IsScopeName(std::string_view name) { return name.starts_with(kPrefix); }

Result<ScopeName> ParseScopeName(std::string_view name) {
  if (!IsScopeName(name)) return At(0, "'LAYER_'");
  const std::size_t batch = name.find(kBatch);
  if (batch == std::string_view::npos) return At(kPrefix.size(), "an API, an element type and '__BatchSize_'");
  ScopeName result;
  INFIMUM_RETURN_IF_ERROR(ReadHead(name.substr(kPrefix.size(), batch - kPrefix.size()), result));
  std::size_t at = batch + kBatch.size();
  const std::size_t batch_end = SkipDigits(name, at);
  if (batch_end == at || name.substr(batch_end, 2) != "__") return At(at, "a batch size and '__'");
  at = batch_end + 2;
  const std::size_t id_end = SkipDigits(name, at);
  if (id_end == at) return At(at, "an id of digits");
  at = id_end;
  if (at < name.size() && name[at] == '<') {
    const std::size_t end = name.find('>', at);
    if (end == std::string_view::npos) return At(at, "'>' after the modes");
    for (const std::string_view mode : Split(name.substr(at + 1, end - at - 1), ',')) {
      if (!IsWord(TrimSpace(mode))) return At(at + 1, "modes such as CUDNN_POOLING_MAX");
      result.modes.emplace_back(TrimSpace(mode));
    }
    at = end + 1;
  }
  if (at >= name.size() || name[at] != '/') return At(at, "'/' and arguments");
  INFIMUM_RETURN_IF_ERROR(ReadArguments(name, at + 1, result));
  return result;
}

namespace {

constexpr std::string_view kCudnn = "cudnn-legacy";
constexpr std::string_view kCublas = "cublas";
constexpr std::string_view kAlgorithm = "CUDNN_CONVOLUTION_FWD_ALGO_";

// A layer before it is checked, or why there is none.
struct Draft {
  Workload workload;
  std::string algorithm;
  std::string_view library = kCudnn;
  bool may_use_tensor_cores = false;
};
using Meaning = std::variant<Draft, UnexpressedLayer>;

Result<std::int64_t> Argument(const ScopeName& name, std::string_view key) {
  const auto found = name.arguments.find(key);
  if (found == name.arguments.end()) return Error{fmt::format("has no argument '{}'", key)};
  return found->second;
}

// "input[0]", "input[1]" ... as far as they are written; -1 means no such dimension.
Result<Shape> Dimensions(const ScopeName& name, std::string_view tensor) {
  Shape shape;
  for (int i = 0; i < 8; ++i) {
    const auto found = name.arguments.find(fmt::format("{}[{}]", tensor, i));
    if (found != name.arguments.end() && found->second != -1) shape.dims.push_back(found->second);
  }
  if (shape.dims.empty()) return Error{fmt::format("has no argument '{}[0]'", tensor)};
  return shape;
}

// From "<what>_height" and "<what>_width"; -1 as above.
Result<Shape> Extents(const ScopeName& name, std::string_view what) {
  Shape shape;
  for (const std::string_view direction : {"height", "width"}) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t extent, Argument(name, fmt::format("{}_{}", what, direction)));
    if (extent != -1) shape.dims.push_back(extent);
  }
  return shape;
}

// The same at the end as at the beginning: cuDNN's descriptors know nothing else.
std::vector<std::int64_t> Twice(const Shape& shape) {
  std::vector<std::int64_t> padding = shape.dims;
  padding.insert(padding.end(), shape.dims.begin(), shape.dims.end());
  return padding;
}

// A workload may have no extents below one; products of these must not overflow before Validate sees them.
bool IsTensor(const Shape& shape) {
  const Result<std::int64_t> count = CheckedElementCount(shape);
  return count.ok() && *count > 0;
}

UnexpressedLayer NoTensor(const Shape& shape) { return {Format(shape) + " has an invalid extent"}; }

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lowered;
}

std::optional<std::string> WithoutPrefix(std::string_view mode, std::string_view prefix) {
  if (!mode.starts_with(prefix) || mode.size() == prefix.size()) return std::nullopt;
  return Lowered(mode.substr(prefix.size()));
}

Result<std::string> ModeAt(const ScopeName& name, std::size_t index, std::string_view prefix) {
  std::optional<std::string> mode;
  if (index < name.modes.size()) mode = WithoutPrefix(name.modes[index], prefix);
  if (!mode) return Error{fmt::format("has no mode {}... at place {} of its <...>", prefix, index + 1)};
  return *std::move(mode);
}

DataType TypeOf(const ScopeName& name) { return name.type == "FLOAT32" ? DataType::kF32 : DataType::kF16; }
OperandTypes Unary(const ScopeName& name) { return {TypeOf(name), DataType::kNone, TypeOf(name)}; }
OperandTypes Binary(const ScopeName& name) { return {TypeOf(name), TypeOf(name), TypeOf(name)}; }

struct Activation {
  std::string_view mode;
  std::optional<PointwiseKind> kind;  // absent: none at all
};

// A clipped ReLU with an infinite ceiling is a ReLU, and as such the original tool counted it.
std::optional<Activation> FindActivation(std::string_view mode) {
  constexpr std::array kActivations = {
      Activation{"identity", std::nullopt},
      Activation{"relu", PointwiseKind::kRelu},
      Activation{"clipped_relu", PointwiseKind::kRelu},
      Activation{"sigmoid", PointwiseKind::kSigmoid},
      Activation{"tanh", PointwiseKind::kTanh},
      Activation{"elu", PointwiseKind::kElu},
  };
  const auto found = std::ranges::find(kActivations, mode, &Activation::mode);
  return found == kActivations.end() ? std::nullopt : std::optional(*found);
}

UnexpressedLayer UnknownMode(std::string_view mode) { return {fmt::format("mode '{}' is not supported", mode)}; }

PointwiseConfig Pointwise(PointwiseKind kind, OperandTypes types, std::vector<Shape> inputs) {
  return Canonicalize(PointwiseConfig{kind, types, std::move(inputs)});
}

Result<ConvolutionConfig> ReadConvolution(const ScopeName& name, bool bias) {
  ConvolutionConfig config;
  config.types = Binary(name);
  INFIMUM_ASSIGN_OR_RETURN(config.input, Dimensions(name, "input"));
  INFIMUM_ASSIGN_OR_RETURN(config.output_channels, Argument(name, "filter_count"));
  INFIMUM_ASSIGN_OR_RETURN(config.kernel, Extents(name, "filter"));
  INFIMUM_ASSIGN_OR_RETURN(config.stride, Extents(name, "stride"));
  INFIMUM_ASSIGN_OR_RETURN(config.dilation, Extents(name, "dilation"));
  INFIMUM_ASSIGN_OR_RETURN(const Shape padding, Extents(name, "pad"));
  config.padding = Twice(padding);
  INFIMUM_ASSIGN_OR_RETURN(config.groups, Argument(name, "group"));
  config.bias = bias;
  return config;
}

Result<Meaning> Convolution(const ScopeName& name) {
  INFIMUM_ASSIGN_OR_RETURN(const ConvolutionConfig config, ReadConvolution(name, false));
  INFIMUM_ASSIGN_OR_RETURN(const std::string algorithm, ModeAt(name, 0, kAlgorithm));
  return Meaning(Draft{LayerConfig(config), algorithm, kCudnn, true});
}

Result<Meaning> FusedConvolution(const ScopeName& name) {
  INFIMUM_ASSIGN_OR_RETURN(const ConvolutionConfig config, ReadConvolution(name, true));
  INFIMUM_ASSIGN_OR_RETURN(std::string algorithm, ModeAt(name, 0, kAlgorithm));
  INFIMUM_ASSIGN_OR_RETURN(const std::string mode, ModeAt(name, 1, "CUDNN_ACTIVATION_"));
  const std::optional<Activation> activation = FindActivation(mode);
  if (!activation) return Meaning(UnknownMode(mode));
  if (!activation->kind) return Meaning(Draft{LayerConfig(config), algorithm, kCudnn, true});
  if (const Status status = Validate(LayerConfig(config)); !status.ok())
    return Meaning(UnexpressedLayer{status.error().message});
  if (mode == "clipped_relu") algorithm += "/clipped_relu";  // beside the ReLU of the same algorithm
  using Source = RegionOperand::Source;
  Region region;
  region.members.push_back({config, {{Source::kInput, 0}, {Source::kWeight, 0}, {Source::kWeight, 1}}});
  region.members.push_back({Pointwise(*activation->kind, Unary(name), {OutputShape(config)}), {{Source::kMember, 0}}});
  region.outputs = {1};
  return Meaning(Draft{region, algorithm, kCudnn, true});
}

Result<Meaning> ActivationOf(const ScopeName& name) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, Dimensions(name, "input"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string mode, ModeAt(name, 0, "CUDNN_ACTIVATION_"));
  const std::optional<Activation> activation = FindActivation(mode);
  if (!activation) return Meaning(UnknownMode(mode));
  const PointwiseKind kind = activation->kind.value_or(PointwiseKind::kIdentity);
  return Meaning(Draft{LayerConfig(Pointwise(kind, Unary(name), {input})), "activation/" + mode});
}

Result<Meaning> AddTensor(const ScopeName& name) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, Dimensions(name, "input"));
  INFIMUM_ASSIGN_OR_RETURN(const Shape bias, Dimensions(name, "bias"));
  return Meaning(Draft{LayerConfig(Pointwise(PointwiseKind::kAdd, Binary(name), {input, bias})), "add_tensor"});
}

template <PointwiseKind kKind>
Result<Meaning> OpTensor(const ScopeName& name) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, Dimensions(name, "input"));
  constexpr std::string_view kName = kKind == PointwiseKind::kAdd        ? "add"
                                     : kKind == PointwiseKind::kMultiply ? "mul"
                                     : kKind == PointwiseKind::kMinimum  ? "min"
                                                                         : "max";
  return Meaning(
      Draft{LayerConfig(Pointwise(kKind, Binary(name), {input, input})), fmt::format("op_tensor/{}", kName)});
}

// Scale, bias and statistics are one a channel in a model; the mode "per activation" takes them expanded, which may be
// done before the first inference.
Result<Meaning> BatchNormalization(const ScopeName& name) {
  NormalizationConfig config;
  config.kind = NormalizationKind::kBatch;
  config.types = Binary(name);
  config.scale = config.bias = true;
  INFIMUM_ASSIGN_OR_RETURN(config.input, Dimensions(name, "input"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string mode, ModeAt(name, 0, "CUDNN_BATCHNORM_"));
  return Meaning(Draft{LayerConfig(config), "batchnorm/" + mode});
}

Result<Meaning> Pooling(const ScopeName& name) {
  PoolingConfig config;
  config.types = Unary(name);
  INFIMUM_ASSIGN_OR_RETURN(config.input, Dimensions(name, "input"));
  INFIMUM_ASSIGN_OR_RETURN(config.kernel, Extents(name, "filter"));
  INFIMUM_ASSIGN_OR_RETURN(config.stride, Extents(name, "stride"));
  INFIMUM_ASSIGN_OR_RETURN(const Shape padding, Extents(name, "pad"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string mode, ModeAt(name, 0, "CUDNN_POOLING_"));
  const bool padded = std::ranges::any_of(padding.dims, [](std::int64_t pad) { return pad != 0; });
  std::string algorithm;
  if (mode == "max" || mode == "max_deterministic") {
    config.kind = PoolingKind::kMax;
    algorithm = "pooling/" + mode;
  } else if (mode == "average_count_include_padding") {
    // Without padding both averages are the same, and the model's layer is written as the plain one.
    config.kind = padded ? PoolingKind::kAverageWithPad : PoolingKind::kAverageWithoutPad;
    algorithm = "pooling/average_include_padding";
  } else if (mode == "average_count_exclude_padding") {
    config.kind = PoolingKind::kAverageWithoutPad;
    algorithm = "pooling/average_exclude_padding";
  } else {
    return Meaning(UnknownMode(mode));
  }
  const std::size_t rank = config.kernel.rank();
  if (config.input.rank() != rank + 2 || config.stride.rank() != rank || padding.rank() != rank)
    return Meaning(UnexpressedLayer{"input, window, stride and padding have different ranks"});
  if (!IsTensor(config.input)) return Meaning(NoTensor(config.input));
  config.padding = Twice(padding);
  config.output = Shape{{config.input.dims[0], config.input.dims[1]}};
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = config.input.dims[d + 2], window = config.kernel.dims[d];
    const bool sane = window >= 1 && window < kMaxElements && config.stride.dims[d] >= 1 && padding.dims[d] >= 0 &&
                      padding.dims[d] < kMaxElements;
    if (!sane || extent + 2 * padding.dims[d] < window)
      return Meaning(UnexpressedLayer{fmt::format("a window of {} does not fit an extent of {}", window, extent)});
    // cuDNN rounds down.
    config.output.dims.push_back((extent + 2 * padding.dims[d] - window) / config.stride.dims[d] + 1);
    config.dilation.dims.push_back(1);
  }
  return Meaning(Draft{LayerConfig(config), algorithm});
}

Result<Meaning> Softmax(const ScopeName& name) {
  INFIMUM_ASSIGN_OR_RETURN(Shape input, Dimensions(name, "input"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string mode, ModeAt(name, 1, "CUDNN_SOFTMAX_MODE_"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string algorithm, ModeAt(name, 0, "CUDNN_SOFTMAX_"));
  if (mode != "instance" && mode != "channel") return Meaning(UnknownMode(mode));
  if (!IsTensor(input)) return Meaning(NoTensor(input));
  if (input.rank() < 2) return Meaning(UnexpressedLayer{"a softmax over one dimension has no channels"});
  if (mode == "instance") input = Shape{{input.dims[0], ElementCount(input) / input.dims[0]}};
  const SoftmaxKind kind = algorithm == "log" ? SoftmaxKind::kLogSoftmax : SoftmaxKind::kSoftmax;
  return Meaning(
      Draft{LayerConfig(MakeSoftmax(kind, Unary(name), input, 1)), fmt::format("softmax/{}/{}", algorithm, mode)});
}

// c := alpha op(a) op(b) + beta c, so with a beta the old result is read whole; a single row of it is a column bias.
Result<Meaning> Product(const ScopeName& name, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t beta,
                        std::string algorithm) {
  const MatMulBias bias = beta == 0 ? MatMulBias::kNone : m == 1 ? MatMulBias::kColumn : MatMulBias::kFull;
  const Result<MatMulConfig> config =
      MakeMatMul(Binary(name), Shape{{1, m, k}}, Shape{{1, k, n}}, bias, Constness::kConstant);
  if (!config.ok()) return Meaning(UnexpressedLayer{config.error().message});
  return Meaning(Draft{LayerConfig(*config), std::move(algorithm), kCublas, true});
}

// m, n, k, transposed a, transposed b, alpha, beta.
Result<Meaning> Gemm(const ScopeName& name) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t m, Argument(name, "input[0]"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t n, Argument(name, "input[1]"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t k, Argument(name, "input[2]"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t beta, Argument(name, "input[6]"));
  return Product(name, m, n, k, beta, "gemm");
}

// Rows and columns of the matrix, transposed, alpha, beta: one row times the matrix's transpose in our terms.
Result<Meaning> Gemv(const ScopeName& name) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t n, Argument(name, "input[0]"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t k, Argument(name, "input[1]"));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t beta, Argument(name, "input[4]"));
  return Product(name, 1, n, k, beta, "gemv");
}

Result<Meaning> TrainingNormalization(const ScopeName&) {
  return Meaning(UnexpressedLayer{"it computes batch statistics, as training does"});
}
Result<Meaning> Dropout(const ScopeName&) {
  return Meaning(UnexpressedLayer{"it draws random numbers in training; in inference it does nothing"});
}

struct Api {
  std::string_view name;
  Result<Meaning> (*read)(const ScopeName& name);
};

constexpr std::array kApis = {
    Api{"CUBLAS_GEMM_FWD", Gemm},
    Api{"CUBLAS_GEMV_FWD", Gemv},
    Api{"CUDNN_ACTIVATION_FWD", ActivationOf},
    Api{"CUDNN_ADD_TENSOR", AddTensor},
    Api{"CUDNN_BATCHNORM_FWD_INFERENCE", BatchNormalization},
    Api{"CUDNN_BATCHNORM_FWD_TRAINING", TrainingNormalization},
    Api{"CUDNN_CONV_BIAS_ACTIVATION_FWD", FusedConvolution},
    Api{"CUDNN_CONV_FWD", Convolution},
    Api{"CUDNN_DROPOUT_FWD", Dropout},
    Api{"CUDNN_OP_TENSOR_ADD_FWD", OpTensor<PointwiseKind::kAdd>},
    Api{"CUDNN_OP_TENSOR_MAX_FWD", OpTensor<PointwiseKind::kMaximum>},
    Api{"CUDNN_OP_TENSOR_MIN_FWD", OpTensor<PointwiseKind::kMinimum>},
    Api{"CUDNN_OP_TENSOR_MUL_FWD", OpTensor<PointwiseKind::kMultiply>},
    Api{"CUDNN_POOLING_FWD", Pooling},
    Api{"CUDNN_SOFTMAX_FWD", Softmax},
};

}  // namespace

Result<std::variant<ScopeLayer, UnexpressedLayer>> LayerOf(const ScopeName& name) {
  using Either = std::variant<ScopeLayer, UnexpressedLayer>;
  const auto api = std::ranges::find(kApis, name.api, &Api::name);
  if (api == kApis.end()) return Either(UnexpressedLayer{"this API is not supported"});
  const bool half = name.type == "TENSORCOREHALF";
  if (name.type != "FLOAT32" && !half)
    return Either(UnexpressedLayer{fmt::format("the type {} is not supported", name.type)});
  INFIMUM_ASSIGN_OR_RETURN(Meaning meaning, api->read(name));
  if (auto* unexpressed = std::get_if<UnexpressedLayer>(&meaning)) return Either(std::move(*unexpressed));
  Draft& draft = std::get<Draft>(meaning);
  if (const Status status = Validate(draft.workload); !status.ok())
    return Either(UnexpressedLayer{"no layer has these arguments: " + status.error().message});
  ScopeLayer layer;
  layer.workload = std::move(draft.workload);
  layer.candidate.library = draft.library;
  layer.candidate.algorithm = std::move(draft.algorithm);
  if (half && draft.may_use_tensor_cores) layer.candidate.algorithm += "/tensor_op";
  layer.contract = half ? NumericContract::kF16 : NumericContract::kStrictF32;
  return Either(std::move(layer));
}

Result<Workload> WrittenOutBias(const ScopeName& name) {
  MovementConfig config;
  config.kind = MovementKind::kExpand;
  config.types = Unary(name);
  INFIMUM_ASSIGN_OR_RETURN(const Shape bias, Dimensions(name, "bias"));
  INFIMUM_ASSIGN_OR_RETURN(const Shape tensor, Dimensions(name, "input"));
  config.inputs = {bias};
  config.outputs = {tensor};
  const Workload workload = LayerConfig(Canonicalize(config));
  INFIMUM_RETURN_IF_ERROR(Validate(workload));
  return workload;
}

}  // namespace infimum::ingest
