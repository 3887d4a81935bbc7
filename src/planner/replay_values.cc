// What a layer's attributes and small constant inputs say that its workload does not: the values of a replay.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "infimum/base/text.h"
#include "src/planner/layer_facts.h"
#include "src/planner/replay_forms.h"
#include "src/planner/replay_planner.h"
#include "src/planner/value_tensors.h"

namespace infimum {
namespace {

// Operators beside the element-wise ones of which the workload says everything, or all but what is read below.
constexpr std::string_view kPlain[] = {"AveragePool",
                                       "Cast",
                                       "Concat",
                                       "Conv",
                                       "ConvTranspose",
                                       "Expand",
                                       "Gather",
                                       "GatherElements",
                                       "GatherND",
                                       "Gelu",
                                       "GlobalAveragePool",
                                       "GlobalMaxPool",
                                       "Identity",
                                       "LogSoftmax",
                                       "MatMul",
                                       "MaxPool",
                                       "PRelu",
                                       "Pow",
                                       "ReduceMax",
                                       "ReduceMean",
                                       "ReduceMin",
                                       "ReduceProd",
                                       "ReduceSum",
                                       "Softmax",
                                       "Split",
                                       "Sum",
                                       "Tile",
                                       "Transpose",
                                       "Where"};

// Attributes of element-wise operators of old versions: they say how shapes match, which the workload says.
constexpr std::string_view kOfShapes[] = {"axis", "broadcast", "consumed_inputs"};

constexpr double kLargestFloat = std::numeric_limits<float>::max();

class ValueReader : private LayerFacts {
 public:
  ValueReader(const ModelGraph& graph, const Layer& layer) : LayerFacts(graph, layer) {}

  Result<ReplayValues> Read() {
    const std::string& op = layer_.op;
    if ((op == "Conv" || op == "ConvTranspose" || op == "MatMul" || op == "Gemm") && HasQuantizedWeights()) {
      return Error{"quantized weights of a floating point product are not carried over yet"};
    }
    if (op == "Clip") return ReadClip();
    if (op == "Slice") return ReadSlice();
    if (op == "Pad") return CheckPad();
    if (op == "Gemm") return CheckGemm();
    if (op == "Resize" || op == "Upsample") return Plain(CheckResize(graph_, layer_));
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
    if (std::find(std::begin(kPlain), std::end(kPlain), op) == std::end(kPlain)) {
      return Error{"the values of operator " + op + " are not carried over yet"};
    }
    // A part that nobody reads makes a slice of a split, with a place of its own.
    const auto* config = layer_.workload ? std::get_if<LayerConfig>(&*layer_.workload) : nullptr;
    const auto* movement = config != nullptr ? std::get_if<MovementConfig>(config) : nullptr;
    if (op == "Split" && (movement == nullptr || movement->kind != MovementKind::kSplit)) {
      return Error{"a split of which parts are unread is not carried over yet"};
    }
    return ReplayValues();
  }

 private:
  struct Scalar {
    const char* attribute;
    const char* value;
    double otherwise;
  };

  // Their scale went with the DequantizeLinear that a rewrite took in.
  bool HasQuantizedWeights() const {
    const auto* config = layer_.workload ? std::get_if<LayerConfig>(&*layer_.workload) : nullptr;
    if (config == nullptr) return false;
    const OperandTypes& types = TypesOf(*config);
    return IsFloatingPoint(types.input) && IsInteger(types.weights);
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
    if (!numbers || numbers->size() != 1) return Error{std::string("its '") + attribute + "' is no constant"};
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
    if (movement == nullptr || movement->kind != MovementKind::kSlice) return Error{"it goes backwards"};
    const std::optional<Shape>& from = graph_.value(*layer_.inputs[0]).shape;
    const std::optional<Shape>& to = graph_.value(*layer_.outputs[0]).shape;
    std::optional<std::vector<double>> given = HasInput(1) ? InputNumbers(1) : ListAttribute("starts");
    std::optional<std::vector<double>> axes = HasInput(3) ? InputNumbers(3) : ListAttribute("axes");
    const std::optional<std::vector<double>> steps = HasInput(4) ? InputNumbers(4) : std::vector<double>();
    if (!from || !to || !given || !steps || (HasInput(3) && !axes)) return Error{"its place is known at run time only"};
    if (std::any_of(steps->begin(), steps->end(), [](double step) { return !(step >= 1); })) {
      return Error{"it goes backwards"};
    }
    if (!axes) {
      axes.emplace();
      for (std::size_t i = 0; i < given->size(); ++i) axes->push_back(static_cast<double>(i));
    }
    const auto rank = static_cast<double>(from->rank());
    std::vector<std::int64_t> starts(from->rank(), 0), apart(from->rank(), 1);
    if (axes->size() != given->size() || (HasInput(4) && steps->size() != given->size())) {
      return Error{"it has not as many axes and steps as starts"};
    }
    for (std::size_t i = 0; i < given->size(); ++i) {
      const double axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
      if (!(axis >= 0) || axis >= rank) return Error{"an axis is out of range"};
      const auto place = static_cast<std::size_t>(axis);
      const auto extent = static_cast<double>(from->dims[place]);
      const double start = (*given)[i] < 0 ? (*given)[i] + extent : (*given)[i];
      starts[place] = static_cast<std::int64_t>(std::clamp(start, 0.0, extent));
      // Of one element it does not matter how far the next would be.
      if (HasInput(4) && to->dims[place] > 1) apart[place] = static_cast<std::int64_t>((*steps)[i]);
    }
    if (std::any_of(apart.begin(), apart.end(), [](std::int64_t step) { return step != 1; })) {
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
      if (in != merged_from.dims[i] || out != merged_to.dims[i]) return Error{"its shape cannot be followed"};
      merged[i] = static_cast<double>(start);
    }
    for (; at > 0; --at) {
      if (from.dims[at - 1] != 1) return Error{"its shape cannot be followed"};
    }
    return ReplayValues{{"starts", merged}};
  }

  // The kernels put the surplus half before and half after, in zeros.
  Result<ReplayValues> CheckPad() const {
    const auto mode = layer_.attributes.find("mode");
    if (mode != layer_.attributes.end()) {
      const auto* text = std::get_if<std::string>(&mode->second);
      if (text == nullptr || *text != "constant") return Error{"it pads with more than zeros"};
    }
    const std::optional<std::vector<double>> pads = HasInput(1) ? InputNumbers(1) : ListAttribute("pads");
    if (!pads || HasInput(3)) return Error{"its pads are known at run time only, or of some axes"};
    if (HasInput(2)) {
      const std::optional<std::vector<double>> value = InputNumbers(2);
      if (!value || value->size() != 1 || (*value)[0] != 0) return Error{"it pads with more than zeros"};
    }
    if (NumberAttribute("value").value_or(0) != 0) return Error{"it pads with more than zeros"};
    for (std::size_t i = 0; i < pads->size() / 2; ++i) {
      if ((*pads)[i] != (*pads)[i + pads->size() / 2]) return Error{"it pads more on one side than on the other"};
    }
    return ReplayValues();
  }

  Result<ReplayValues> CheckGemm() const {
    // A Gemm's own factors go into its weights (replay_weights.h).
    if (layer_.op != "Gemm" && NumberAttribute("alpha").value_or(1) != 1) return Error{"its 'alpha' is not 1"};
    if (NumberAttribute("transA").value_or(0) != 0) return Error{"its first matrix is transposed"};
    return ReplayValues();
  }

  // Scales are tensors; here stands what else such an operator may ask for.
  Result<ReplayValues> ReadQuantized(const ValueTensors& given) const {
    if (NumberAttribute("channels_last").value_or(0) != 0) return Error{"its channels come last"};
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
