// The values of a replay: what a layer's attributes and small constant inputs contain beyond its workload.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/layer/small_float.h"
#include "src/planner/replay_planner.h"
#include "src/planner/value_tensors.h"

namespace infimum {
namespace {

// Operators beside the element-wise ones whose workload is complete, or complete but for the values that are read
// below; as those of reductions are.
constexpr std::string_view kPlainMovements[] = {
    "Cast",    "Concat",          "DepthToSpace", "Expand",       "Gather", "GatherElements", "Identity",
    "Scatter", "ScatterElements", "ScatterND",    "SpaceToDepth", "Split",  "Tile",           "Transpose"};
constexpr std::string_view kPlain[] = {"AveragePool",   "Conv",    "ConvTranspose", "Gelu",   "GlobalAveragePool",
                                       "GlobalMaxPool", "Hardmax", "LogSoftmax",    "MatMul", "MaxPool",
                                       "PRelu",         "Pow",     "Softmax",       "Sum",    "Where"};
bool IsPlain(std::string_view op) {
  return op.starts_with("Reduce") || std::ranges::find(kPlain, op) != std::end(kPlain) ||
         std::ranges::find(kPlainMovements, op) != std::end(kPlainMovements);
}

// Others, whose workload is complete where this attribute, if there is one, has this value.
struct PlainUnless {
  std::string_view op, attribute;
  double value = 0;
};
constexpr PlainUnless kPlainUnless[] = {
    {"ArgMax", "select_last_index"}, {"ArgMin", "select_last_index"}, {"CumSum", "exclusive"},
    {"CumSum", "reverse"},           {"CumProd", "exclusive"},        {"CumProd", "reverse"},
    {"GatherND", "batch_dims"},      {"TopK", "largest", 1},          {"TopK", "sorted", 1}};

// Attributes of element-wise operators of old versions: how shapes match, which the workload contains.
constexpr std::string_view kOfShapes[] = {"axis", "broadcast", "consumed_inputs"};

constexpr double kLargestFloat = std::numeric_limits<float>::max();

// What a layer's attributes and constant inputs contain, as numbers and texts; nullopt where there is none, or it is of
// another type.
class LayerFacts {
 public:
  LayerFacts(const ModelGraph& graph, const Layer& layer) : graph_(graph), layer_(layer) {}

  std::optional<double> NumberAttribute(const std::string& name) const {
    const auto found = layer_.attributes.find(name);
    if (found == layer_.attributes.end()) return std::nullopt;
    if (const auto* number = std::get_if<double>(&found->second)) return *number;
    if (const auto* integer = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*integer);
    return std::nullopt;
  }
  std::optional<std::string> TextAttribute(const std::string& name) const {
    const auto found = layer_.attributes.find(name);
    const auto* text = found == layer_.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
    return text == nullptr ? std::nullopt : std::optional<std::string>(*text);
  }
  std::optional<std::vector<double>> ListAttribute(const std::string& name) const {
    const auto found = layer_.attributes.find(name);
    if (found == layer_.attributes.end()) return std::nullopt;
    if (const auto* numbers = std::get_if<std::vector<double>>(&found->second)) return *numbers;
    const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second);
    if (list == nullptr) return std::nullopt;
    return std::vector<double>(list->begin(), list->end());
  }

  bool HasAttribute(const std::string& name) const { return layer_.attributes.contains(name); }
  bool HasInput(std::size_t position) const { return position < layer_.inputs.size() && layer_.inputs[position]; }
  // The numbers of a constant input; nullopt where they are not known.
  std::optional<std::vector<double>> InputNumbers(std::size_t position) const {
    if (!HasInput(position)) return std::nullopt;
    const std::optional<Tensor>& constant = graph_.value(*layer_.inputs[position]).constant;
    return constant ? NumbersOf(&*constant) : std::nullopt;
  }
  std::optional<Shape> InputShape(std::size_t position) const {
    return HasInput(position) ? graph_.value(*layer_.inputs[position]).shape : std::nullopt;
  }
  std::optional<Shape> OutputShape(std::size_t position) const {
    if (position >= layer_.outputs.size() || !layer_.outputs[position]) return std::nullopt;
    return graph_.value(*layer_.outputs[position]).shape;
  }

 protected:
  const ModelGraph& graph_;
  const Layer& layer_;
};

bool GrowsByWholeNumbers(const Shape& input, const Shape& output) {
  for (std::size_t i = 0; i < input.rank(); ++i)
    if (output.dims[i] % input.dims[i] != 0) return false;
  return true;
}

// Whether the given scales match the shapes. Where an output's extent was rounded, coordinates follow the scale.
bool ScalesAgree(const std::vector<double>& scales, const Shape& input, const Shape& output) {
  if (scales.empty()) return true;
  if (scales.size() != input.rank()) return false;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] * static_cast<double>(input.dims[i]) != static_cast<double>(output.dims[i])) return false;
  }
  return true;
}

// Candidates interpolate at half-pixel coordinates, clamped at the edges. The nearest element they take at half pixels,
// or from the front, which is the same where a tensor grows by whole factors.
Result<ReplayValues> ReadResize(const ModelGraph& graph, const Layer& layer) {
  const LayerFacts facts(graph, layer);
  const std::optional<Shape> input = facts.InputShape(0), output = facts.OutputShape(0);
  if (!input || !output || input->rank() != output->rank()) return Error{"its shapes are not known"};
  // Before operator set 11 an element's place is its index divided by the scale.
  const bool is_old = layer.op == "Upsample" || (graph.opset > 0 && graph.opset < 11);
  const std::string mode = facts.TextAttribute("mode").value_or("nearest");
  const std::string coordinates =
      facts.TextAttribute("coordinate_transformation_mode").value_or(is_old ? "asymmetric" : "half_pixel");
  const std::string nearest = facts.TextAttribute("nearest_mode").value_or(is_old ? "floor" : "round_prefer_floor");
  const std::string policy = facts.TextAttribute("keep_aspect_ratio_policy").value_or("stretch");
  for (const char* const name : {"antialias", "exclude_outside"}) {
    if (facts.NumberAttribute(name).value_or(0) != 0) return Error{"its '" + std::string(name) + "' is not 0"};
  }
  if (facts.HasAttribute("axes") || policy != "stretch")
    return Error{"it resizes only some axes, or keeps the aspect ratio"};
  const std::size_t scales_at = is_old ? 1 : 2;
  const bool has_scales = facts.HasInput(scales_at) && facts.InputShape(scales_at) != Shape{{0}};
  const std::optional<std::vector<double>> scales =
      has_scales ? facts.InputNumbers(scales_at) : facts.ListAttribute("scales").value_or(std::vector<double>());
  if (!scales || !ScalesAgree(*scales, *input, *output)) return Error{"its scales do not match its shapes"};
  if (mode == "nearest") {
    const bool from_the_front = coordinates == "asymmetric" && nearest == "floor";
    const bool rounds = coordinates == "half_pixel" && nearest.starts_with("round_");
    if (GrowsByWholeNumbers(*input, *output) && (from_the_front || rounds)) return ReplayValues();
    if (from_the_front) return ReplayValues{{"nearest_shift", {0}}};
    return Error{"its rounding to the nearest element is not supported"};
  }
  if (mode == "cubic" && facts.NumberAttribute("cubic_coeff_a").value_or(-0.75) != -0.75) {
    return Error{"its 'cubic_coeff_a' is not -0.75"};
  }
  // PyTorch's differ where a dimension becomes one element.
  const bool shrinks_to_one = std::ranges::find(output->dims, 1) != output->dims.end() && output->rank() > 2 &&
                              *std::min_element(output->dims.begin() + 2, output->dims.end()) == 1;
  if (coordinates == "align_corners") return ReplayValues{{"aligned_corners", {1}}};
  if (coordinates != "half_pixel" && (coordinates != "pytorch_half_pixel" || shrinks_to_one))
    return Error{"its 'coordinate_transformation_mode' is '" + coordinates + "'"};
  return ReplayValues();
}

Result<ReplayValues> ReadGridSample(const ModelGraph& graph, const Layer& layer) {
  const LayerFacts facts(graph, layer);
  const std::string mode = facts.TextAttribute("mode").value_or("linear");
  const std::string padding = facts.TextAttribute("padding_mode").value_or("zeros");
  if (mode != "linear" && mode != "bilinear") return Error{"its 'mode' is '" + mode + "'"};
  if (padding != "zeros" && padding != "border") return Error{"its 'padding_mode' is '" + padding + "'"};
  const double aligned = facts.NumberAttribute("align_corners").value_or(0);
  return ReplayValues{{"aligned_corners", {aligned}}, {"border", {padding == "border" ? 1.0 : 0.0}}};
}

// Candidates run LSTM, GRU and RNN forward (and in reverse beside it) over whole sequences, with the standard
// activations. Whether the initial state is zero, as candidates have it, only the runner sees.
Status CheckRecurrent(const ModelGraph& graph, const Layer& layer) {
  const LayerFacts facts(graph, layer);
  for (const char* const name : {"clip", "input_forget", "layout"}) {
    if (facts.NumberAttribute(name).value_or(0) != 0) return Error{"its '" + std::string(name) + "' is not 0"};
  }
  if (facts.TextAttribute("direction").value_or("forward") == "reverse") return Error{"it runs in reverse only"};
  // The configuration names a plain RNN's activation and no other.
  if (layer.op != "RNN" && facts.HasAttribute("activations"))
    return Error{"it has other activations than the standard ones"};
  if (layer.op == "RNN" && facts.TextAttribute("direction") == "bidirectional" && facts.HasAttribute("activations")) {
    return Error{"it has activations of its own for each direction"};
  }
  if (facts.HasInput(4)) return Error{"its sequences differ in length"};
  if (facts.HasInput(7)) return Error{"it has peepholes"};
  return {};
}

class ValueReader : private LayerFacts {
 public:
  ValueReader(const ModelGraph& graph, const Layer& layer) : LayerFacts(graph, layer) {}

  Result<ReplayValues> Read() {
    const std::string& op = layer_.op;
    if ((op == "Conv" || op == "ConvTranspose" || op == "MatMul" || op == "Gemm") && HasQuantizedWeights()) {
      return Error{"quantized weights of a floating-point operator are not supported yet"};
    }
    // Their scales are no values of the candidates.
    if (HasSmallFloats()) return Error{"floats of 8 and 4 bits are not supported yet"};
    if (op == "Clip") return ReadClip();
    if (op == "Slice") return ReadSlice();
    if (op == "Pad") return ReadPad();
    if (op == "Gemm") return CheckGemm();
    if (op == "Resize" || op == "Upsample") return ReadResize(graph_, layer_);
    if (op == "GridSample") return ReadGridSample(graph_, layer_);
    if (op == "LSTM" || op == "GRU" || op == "RNN") return Plain(CheckRecurrent(graph_, layer_));
    if (op == "LRN") {
      return Scalars({{"alpha", "response_alpha", 1e-4}, {"beta", "response_beta", 0.75}, {"bias", "response_k", 1}});
    }
    if (op == "LayerNormalization" || op == "GroupNormalization" || op == "InstanceNormalization" ||
        op == "BatchNormalization" || op == "RMSNormalization" || op == "SimplifiedLayerNormalization") {
      return Scalars({{"epsilon", "epsilon", 1e-5}});
    }
    if (const std::optional<ValueTensors> given = ValueTensorsOf(layer_)) return ReadQuantized(*given);
    const auto operators = PointwiseOnnxOperators();
    const auto element_wise = std::ranges::find(operators, op, &PointwiseOperator::onnx);
    if (element_wise != operators.end()) return ReadParameters(element_wise->kind);
    if (std::ranges::find(kPlainUnless, op, &PlainUnless::op) != std::end(kPlainUnless)) return CheckAttributes();
    if (op == "Trilu") return CheckTriangle();
    if (op == "OneHot") return CheckOneHot();
    if (TextAttribute("reduction").value_or("none") != "none") return Error{"its 'reduction' is not 'none'"};
    if (!IsPlain(op)) return Error{"operator " + op + " is not supported yet"};
    // A split with unread parts becomes a slice, with starts of its own.
    const auto* config = layer_.workload ? std::get_if<LayerConfig>(&*layer_.workload) : nullptr;
    const auto* movement = config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
    if (op == "Split" && (movement == nullptr || movement->kind != MovementKind::kSplit)) {
      return Error{"a split with unread parts is not supported yet"};
    }
    return ReplayValues();
  }

 private:
  struct Scalar {
    const char* attribute;
    const char* value;
    double otherwise;
  };

  bool HasSmallFloats() const {
    const auto* config = layer_.workload ? std::get_if<LayerConfig>(&*layer_.workload) : nullptr;
    if (config == nullptr || std::holds_alternative<MovementConfig>(*config)) return false;
    const OperandTypes& types = TypesOf(*config);
    return IsSmallFloat(types.input) || IsSmallFloat(types.weights) || IsSmallFloat(types.output);
  }

  // Their scale went with the DequantizeLinear that a rewrite took in.
  bool HasQuantizedWeights() const {
    const auto* config = layer_.workload ? std::get_if<LayerConfig>(&*layer_.workload) : nullptr;
    if (config == nullptr) return false;
    const OperandTypes& types = TypesOf(*config);
    return IsFloatingPoint(types.input) && IsInteger(types.weights);
  }

  Result<ReplayValues> CheckAttributes() const {
    for (const PlainUnless& one : kPlainUnless)
      if (one.op == layer_.op && NumberAttribute(std::string(one.attribute)).value_or(one.value) != one.value)
        return Error{"its '" + std::string(one.attribute) + "' is not " + (one.value == 0 ? "0" : "1")};
    return ReplayValues();
  }

  // Candidates keep what lies on and below the diagonal.
  Result<ReplayValues> CheckTriangle() const {
    const bool is_shifted = HasInput(1) && InputNumbers(1) != std::vector<double>{0};
    if (NumberAttribute("upper").value_or(1) != 0 || is_shifted) return Error{"it is not the lower triangle"};
    return ReplayValues();
  }

  // Candidates write 0 and 1 along the last dimension.
  Result<ReplayValues> CheckOneHot() const {
    if (InputNumbers(2) != std::vector<double>{0, 1}) return Error{"its values are not 0 and 1"};
    const std::optional<Shape> output = OutputShape(0);
    const double axis = NumberAttribute("axis").value_or(-1);
    if (!output || (axis != -1 && axis != static_cast<double>(output->rank()) - 1))
      return Error{"its 'axis' is not the last"};
    return ReplayValues();
  }

  static Result<ReplayValues> Plain(const Status& status) {
    return status.ok() ? Result<ReplayValues>(ReplayValues()) : Result<ReplayValues>(status.error());
  }

  // Of an element-wise operator. An attribute that is no parameter of the formula asks for another function.
  Result<ReplayValues> ReadParameters(PointwiseKind kind) const {
    const auto parameters = ParametersOf(kind);
    for (const auto& [name, value] : layer_.attributes) {
      if (std::ranges::find(parameters, name, &PointwiseParameter::onnx) == parameters.end() &&
          std::ranges::find(kOfShapes, name) == std::end(kOfShapes)) {
        return Error{"its '" + name + "' is not carried over yet"};
      }
    }
    ReplayValues values;
    for (const PointwiseParameter& parameter : parameters) {
      const std::optional<double> own = NumberAttribute(std::string(parameter.onnx));
      values[std::string(parameter.name)] = {own.value_or(PointwiseParameters().*parameter.member)};
    }
    return values;
  }

  Result<ReplayValues> Scalars(std::initializer_list<Scalar> scalars) const {
    ReplayValues values;
    for (const Scalar& scalar : scalars) {
      values[scalar.value] = {NumberAttribute(scalar.attribute).value_or(scalar.otherwise)};
    }
    return values;
  }

  // A bound as input since operator set 11, as attribute before.
  Result<double> Bound(std::size_t position, const char* attribute, double otherwise) const {
    if (!HasInput(position)) return NumberAttribute(attribute).value_or(otherwise);
    const std::optional<std::vector<double>> numbers = InputNumbers(position);
    if (!numbers || numbers->size() != 1) return Error{std::string("its '") + attribute + "' is not a constant"};
    return (*numbers)[0];
  }

  Result<ReplayValues> ReadClip() const {
    INFIMUM_ASSIGN_OR_RETURN(const double low, Bound(1, "min", -kLargestFloat));
    INFIMUM_ASSIGN_OR_RETURN(const double high, Bound(2, "max", kLargestFloat));
    return ReplayValues{{"clip_low", {low}}, {"clip_high", {high}}};
  }

  // Where it starts in each dimension of the canonical shape, which merges dimensions that are taken whole. Where it
  // leaves elements out between others: in each of the model's own dimensions, with the steps.
  Result<ReplayValues> ReadSlice() const {
    const auto* config = layer_.workload ? std::get_if<LayerConfig>(&*layer_.workload) : nullptr;
    const auto* movement = config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
    if (movement == nullptr || movement->kind != MovementKind::kSlice) return Error{"it has a negative step"};
    const std::optional<Shape>& from = graph_.value(*layer_.inputs[0]).shape;
    const std::optional<Shape>& to = graph_.value(*layer_.outputs[0]).shape;
    std::optional<std::vector<double>> given = HasInput(1) ? InputNumbers(1) : ListAttribute("starts");
    std::optional<std::vector<double>> axes = HasInput(3) ? InputNumbers(3) : ListAttribute("axes");
    const std::optional<std::vector<double>> steps = HasInput(4) ? InputNumbers(4) : std::vector<double>();
    if (!from || !to || !given || !steps || (HasInput(3) && !axes))
      return Error{"its starts or ends are known only at run time"};
    if (std::any_of(steps->begin(), steps->end(), [](double step) { return !(step >= 1); })) {
      return Error{"it has a negative step"};
    }
    if (!axes) {
      axes.emplace();
      for (std::size_t i = 0; i < given->size(); ++i) axes->push_back(static_cast<double>(i));
    }
    const auto rank = static_cast<double>(from->rank());
    std::vector<std::int64_t> starts(from->rank(), 0), apart(from->rank(), 1);
    if (axes->size() != given->size() || (HasInput(4) && steps->size() != given->size())) {
      return Error{"its starts, axes and steps differ in number"};
    }
    for (std::size_t i = 0; i < given->size(); ++i) {
      const double axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
      if (!(axis >= 0) || axis >= rank) return Error{"an axis is out of range"};
      const auto place = static_cast<std::size_t>(axis);
      const auto extent = static_cast<double>(from->dims[place]);
      const double start = (*given)[i] < 0 ? (*given)[i] + extent : (*given)[i];
      starts[place] = static_cast<std::int64_t>(std::clamp(start, 0.0, extent));
      // The step does not matter for one element.
      if (HasInput(4) && to->dims[place] > 1) apart[place] = static_cast<std::int64_t>((*steps)[i]);
    }
    if (std::ranges::any_of(apart, [](std::int64_t step) { return step != 1; })) {
      return ReplayValues{{"starts", {starts.begin(), starts.end()}}, {"steps", {apart.begin(), apart.end()}}};
    }
    return Merged(*from, *to, starts, movement->inputs[0], movement->outputs[0]);
  }

  static Result<ReplayValues> Merged(const Shape& from, const Shape& to, const std::vector<std::int64_t>& starts,
                                     const Shape& merged_from, const Shape& merged_to) {
    std::vector<double> merged(merged_from.rank(), 0);
    std::size_t at = from.rank();
    for (std::size_t i = merged_from.rank(); i-- > 0;) {
      std::int64_t in = 1, out = 1, start = 0;
      while (at > 0 && (in != merged_from.dims[i] || out != merged_to.dims[i])) {
        --at;
        start += starts[at] * in;
        in *= from.dims[at];
        out *= to.dims[at];
      }
      if (in != merged_from.dims[i] || out != merged_to.dims[i]) return Error{"its shape does not match its layer's"};
      merged[i] = static_cast<double>(start);
    }
    for (; at > 0; --at) {
      if (from.dims[at - 1] != 1) return Error{"its shape does not match its layer's"};
    }
    return ReplayValues{{"starts", merged}};
  }

  // In zeros: half of them before, or as many as `starts` are below 0.
  Result<ReplayValues> ReadPad() const {
    const auto mode = layer_.attributes.find("mode");
    if (mode != layer_.attributes.end()) {
      const auto* text = std::get_if<std::string>(&mode->second);
      if (text == nullptr || *text != "constant") return Error{"it does not pad with zeros"};
    }
    const std::optional<std::vector<double>> pads = HasInput(1) ? InputNumbers(1) : ListAttribute("pads");
    if (!pads || HasInput(3)) return Error{"its pads are known only at run time, or cover only some axes"};
    if (HasInput(2)) {
      const std::optional<std::vector<double>> value = InputNumbers(2);
      if (!value || value->size() != 1 || (*value)[0] != 0) return Error{"it does not pad with zeros"};
    }
    if (NumberAttribute("value").value_or(0) != 0) return Error{"it does not pad with zeros"};
    std::vector<std::int64_t> starts;
    bool is_symmetric = true;
    for (std::size_t i = 0; i < pads->size() / 2; ++i) {
      starts.push_back(-static_cast<std::int64_t>((*pads)[i]));
      is_symmetric = is_symmetric && (*pads)[i] == (*pads)[i + pads->size() / 2];
    }
    if (is_symmetric) return ReplayValues();
    const auto* config = layer_.workload ? std::get_if<LayerConfig>(&*layer_.workload) : nullptr;
    const auto* movement = config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
    const std::optional<Shape> from = InputShape(0), to = OutputShape(0);
    if (movement == nullptr || movement->kind != MovementKind::kPad || !from || !to || from->rank() != starts.size())
      return Error{"its shapes do not match its pads"};
    return Merged(*from, *to, starts, movement->inputs[0], movement->outputs[0]);
  }

  Result<ReplayValues> CheckGemm() const {
    // A Gemm's own factors go into its weights (replay_weights.h).
    if (layer_.op != "Gemm" && NumberAttribute("alpha").value_or(1) != 1) return Error{"its 'alpha' is not 1"};
    if (NumberAttribute("transA").value_or(0) != 0) return Error{"its first matrix is transposed"};
    return ReplayValues();
  }

  // Scales are tensors; these are the operator's other attributes.
  Result<ReplayValues> ReadQuantized(const ValueTensors& given) const {
    if (NumberAttribute("channels_last").value_or(0) != 0) return Error{"its channels are the last dimension"};
    if (layer_.op == "com.microsoft.QGemm") INFIMUM_RETURN_IF_ERROR(CheckGemm());
    ReplayValues values = given.numbers;
    if (layer_.op == "com.microsoft.QLinearLeakyRelu")
      values["leaky_slope"] = {NumberAttribute("alpha").value_or(0.01)};
    return values;
  }
};

}  // namespace

Result<ReplayValues> ReplayValuesOf(const ModelGraph& graph, const Layer& layer) {
  return ValueReader(graph, layer).Read();
}

}  // namespace infimum
