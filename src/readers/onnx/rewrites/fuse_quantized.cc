// A model quantized with QuantizeLinear and DequantizeLinear describes the computation in floating point, and
// means how: on 8 bits. Here the three become the one operator that runtimes run, in the form that
// ONNX and ONNX Runtime give it (QLinearConv, QGemm, QLinearAdd ...), so that lowering sees one thing.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "src/core/layer/small_float.h"
#include "src/readers/onnx/parse/node_view.h"
#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {
namespace {

using Ids = std::vector<std::optional<ValueId>>;

// A tensor on 8 bits, integers or floats, with what makes it a number again.
struct Quantized {
  Layer* dequantize = nullptr;
  // Behind it, where a product of floats reads it: to the product's type, and turned round.
  Layer *cast = nullptr, *transpose = nullptr;
  std::optional<ValueId> tensor;
  std::optional<ValueId> scale;
  std::optional<ValueId> zero_point;
};

// The end of a fused operator: the layers between it and the 8-bit result.
struct Ending {
  Layer* activation = nullptr;  // absorbed by the saturation of `quantize`
  Layer* view = nullptr;        // comes after the quantization, then
  Layer* quantize = nullptr;
};

class QuantizedFusion {
 public:
  explicit QuantizedFusion(ModelGraph& graph) : graph_(graph), edit_(graph) {}

  std::vector<std::string> Run() {
    std::vector<std::string> rewrites;
    for (Layer& layer : graph_.layers) {
      if (edit_.IsRemoved(layer) || !layer.reason.empty() || !layer.bodies.empty()) continue;
      const std::string before = layer.op;
      if (!Fuse(layer)) continue;
      rewrites.push_back(layer.name +
                         (layer.op == before ? " on its quantized operands" : " from " + before + " to " + layer.op));
    }
    edit_.Apply();
    return rewrites;
  }

 private:
  DataType TypeOf(std::optional<ValueId> id) const { return id ? graph_.value(*id).type : DataType::kNone; }
  bool Is8Bit(std::optional<ValueId> id) const {
    return TypeOf(id) == DataType::kU8 || TypeOf(id) == DataType::kS8 || IsFloat8(id);
  }
  bool IsFloat8(std::optional<ValueId> id) const { return infimum::IsFloat8(TypeOf(id)); }

  static bool IsWideFloat(DataType type) { return IsFloatingPoint(type) && !IsSmallFloat(type); }

  bool AnyFloat8(const Ids& ids) const {
    return std::ranges::any_of(ids, [&](std::optional<ValueId> id) { return IsFloat8(id); });
  }

  // What a DequantizeLinear made of an 8-bit tensor with constant scale and zero point; `of_product`: also where a Cast
  // and a Transpose are behind it, and by a scale that a run makes.
  std::optional<Quantized> Dequantized(std::optional<ValueId> value, bool whole_tensor, bool of_product = false) {
    Layer* layer = edit_.ProducerOf(value);
    const auto behind = [&](const char* op) -> Layer* {
      if (!of_product || layer == nullptr || layer->op != op) return nullptr;
      return std::exchange(layer, edit_.ProducerOf(InputOf(*layer, 0)));
    };
    Layer* const transpose = behind("Transpose");
    Layer* const cast = behind("Cast");
    if (layer == nullptr || (layer->op != "DequantizeLinear" && layer->op != "com.microsoft.DequantizeLinear"))
      return std::nullopt;
    const Quantized result{layer, cast, transpose, InputOf(*layer, 0), InputOf(*layer, 1), InputOf(*layer, 2)};
    // One number that a run makes scales a product of floats as well as a constant does.
    const bool may_vary = of_product && IsFloat8(result.tensor) && IsScalar(result.scale);
    if (!Is8Bit(result.tensor) || (!edit_.IsConstant(result.scale) && !may_vary)) return std::nullopt;
    if (result.zero_point && !edit_.IsConstant(result.zero_point)) return std::nullopt;
    if ((cast != nullptr || transpose != nullptr) && !IsFloat8(result.tensor)) return std::nullopt;
    if (cast != nullptr && !IsWideFloat(TypeOf(cast->outputs[0]))) return std::nullopt;
    if (transpose != nullptr && !edit_.OnlyReaderOf(*transpose->outputs[0])) return std::nullopt;
    if (whole_tensor && !IsScalar(result.scale)) return std::nullopt;
    // A scale for each block of a dimension is none of the product's.
    if (!IsScalar(result.scale) && graph_.value(*result.scale).shape->rank() != 1) return std::nullopt;
    return result;
  }

  // Whether its scale, if it is more than one number, is of dimension `axis`: a scale of another one cannot be taken
  // out of a product's sums.
  bool IsScaledBy(const Quantized& weights, std::int64_t axis) const {
    if (IsScalar(weights.scale)) return true;
    const std::optional<Shape>& shape = graph_.value(*weights.tensor).shape;
    if (!shape) return false;
    const auto found = weights.dequantize->attributes.find("axis");
    const auto* given =
        found == weights.dequantize->attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    const std::int64_t rank = std::ssize(shape->dims);
    std::int64_t own = given == nullptr ? 1 : *given, wanted = axis < 0 ? axis + rank : axis;
    if (own < 0) own += rank;
    if (weights.transpose == nullptr) return own == wanted;
    std::vector<std::int64_t> order;
    for (std::int64_t i = rank; i-- > 0;) order.push_back(i);
    order = IntegersOf(*weights.transpose, "perm", order);
    return wanted < std::ssize(order) && order[static_cast<std::size_t>(wanted)] == own;
  }

  bool IsScalar(std::optional<ValueId> id) const {
    return id && graph_.value(*id).shape && ElementCount(*graph_.value(*id).shape) == 1;
  }

  // A bias of 32 bits, or one that is a plain weight.
  std::optional<ValueId> Bias(std::optional<ValueId> value, std::vector<Layer*>& absorbed) {
    Layer* layer = edit_.ProducerOf(value);
    if (layer == nullptr || layer->op != "DequantizeLinear" || !edit_.IsConstant(InputOf(*layer, 0))) return value;
    absorbed.push_back(layer);
    return layer->inputs[0];
  }

  // Whether saturation does what the activation does: its limits are outside the 8-bit range.
  bool Saturates(const Layer& activation, const Layer& quantize) const {
    const std::optional<double> scale = edit_.NumberOf(InputOf(quantize, 1));
    const double zero = InputOf(quantize, 2) ? edit_.NumberOf(InputOf(quantize, 2)).value_or(NAN) : 0.0;
    if (IsFloat8(quantize.outputs[0])) return false;  // whose negative numbers remain
    const bool is_signed = graph_.value(*quantize.outputs[0]).type == DataType::kS8;
    const double least = scale.value_or(NAN) * ((is_signed ? -128 : 0) - zero);
    const double most = scale.value_or(NAN) * ((is_signed ? 127 : 255) - zero);
    const double step = scale.value_or(NAN) / 2;
    if (activation.op == "Relu") return least >= 0;
    if (activation.op != "Clip") return false;
    const auto limit = [&](std::size_t position, const char* attribute, double otherwise) {
      if (InputOf(activation, position)) return edit_.NumberOf(InputOf(activation, position)).value_or(NAN);
      const auto found = activation.attributes.find(attribute);
      const auto* given = found == activation.attributes.end() ? nullptr : std::get_if<double>(&found->second);
      return given == nullptr ? otherwise : *given;
    };
    return least >= limit(1, "min", -INFINITY) - step && most <= limit(2, "max", INFINITY) + step;
  }

  // Follows the one reader of each result to a QuantizeLinear of the whole tensor.
  std::optional<Ending> EndingOf(const Layer& layer) {
    Ending ending;
    if (layer.outputs.empty()) return std::nullopt;
    Layer* next = edit_.OnlyReaderOf(layer.outputs[0]);
    if (next != nullptr && (next->op == "Relu" || next->op == "Clip") && next->inputs[0] == layer.outputs[0]) {
      ending.activation = next;
      next = edit_.OnlyReaderOf(next->outputs[0]);
    }
    static constexpr std::string_view kViews[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};
    if (next != nullptr && std::find(std::begin(kViews), std::end(kViews), next->op) != std::end(kViews)) {
      ending.view = next;
      next = edit_.OnlyReaderOf(next->outputs[0]);
    }
    if (next == nullptr || (next->op != "QuantizeLinear" && next->op != "com.microsoft.QuantizeLinear"))
      return std::nullopt;
    ending.quantize = next;
    if (!Is8Bit(OutputOf(*next, 0)) || !IsScalar(InputOf(*next, 1)) || !edit_.IsConstant(InputOf(*next, 1)))
      return std::nullopt;
    if (InputOf(*next, 2) && !edit_.IsConstant(InputOf(*next, 2))) return std::nullopt;
    if (ending.activation != nullptr && !Saturates(*ending.activation, *next)) return std::nullopt;
    return ending;
  }

  bool SameQuantization(const Quantized& a, const Layer& quantize) const {
    const auto zero = [&](std::optional<ValueId> id) { return id ? edit_.NumberOf(id) : std::optional<double>(0); };
    const std::optional<double> scale = edit_.NumberOf(a.scale);
    return scale && scale == edit_.NumberOf(InputOf(quantize, 1)) && zero(a.zero_point) &&
           zero(a.zero_point) == zero(InputOf(quantize, 2)) &&
           graph_.value(*a.tensor).type == graph_.value(*quantize.outputs[0]).type;
  }

  // `layer` becomes `op` with `inputs`, writes what its ending wrote, and takes in what is absorbed.
  void Become(Layer& layer, std::string op, Ids inputs, const Ending& ending, const std::vector<Layer*>& before) {
    layer.op = std::move(op);
    edit_.SetInputs(layer, std::move(inputs));
    Finish(layer, ending);
    for (auto dequantize = before.rbegin(); dequantize != before.rend(); ++dequantize) {
      if (edit_.IsRemoved(**dequantize) || !edit_.IsUnread(*(*dequantize)->outputs[0])) continue;
      GraphEdit::PrependOrigins(layer, **dequantize);
      edit_.Remove(**dequantize);
    }
  }

  void Finish(Layer& layer, const Ending& ending) {
    if (ending.quantize == nullptr) return;
    const ValueId result = *ending.quantize->outputs[0];
    if (ending.activation != nullptr) GraphEdit::AppendOrigins(layer, *ending.activation);
    GraphEdit::AppendOrigins(layer, *ending.quantize);
    if (ending.view != nullptr) {
      // Quantized first, then seen in another shape.
      const Value& own = graph_.value(*layer.outputs[0]);
      const ValueId flat = edit_.AddIntermediate(own.name + "_quantized", graph_.value(result).type, own.shape);
      edit_.Remove(*ending.quantize);
      edit_.SetInput(*ending.view, 0, flat);
      edit_.SetOutput(*ending.view, 0, result);
      edit_.SetOutput(layer, 0, flat);
    } else {
      edit_.Remove(*ending.quantize);
      edit_.SetOutput(layer, 0, result);
    }
    if (ending.activation != nullptr) edit_.Remove(*ending.activation);
  }

  bool Fuse(Layer& layer) {
    if (layer.op == "Conv" || layer.op == "Gemm" || layer.op == "MatMul") return FuseProduct(layer);
    if (layer.op == "Add" || layer.op == "Mul") return FuseBinary(layer);
    if (layer.op == "Concat") return FuseConcat(layer);
    if (layer.op == "MaxPool" || layer.op == "Transpose" || layer.op == "Reshape" || layer.op == "Flatten" ||
        layer.op == "Squeeze" || layer.op == "Unsqueeze" || layer.op == "Slice" || layer.op == "Gather" ||
        layer.op == "DepthToSpace" || layer.op == "SpaceToDepth")
      return MoveQuantized(layer);
    return FuseUnary(layer);
  }

  // 8-bit floats are turned round as they are; a constant is stored as the product likes it.
  void Turn(Layer& product, Quantized& operand, std::vector<Layer*>& absorbed) {
    if (operand.transpose == nullptr) return;
    const Value& turned = graph_.value(*operand.transpose->outputs[0]);
    if (edit_.IsConstant(operand.tensor)) {
      product.attributes[kStoredShape] = turned.shape->dims;
      absorbed.push_back(operand.transpose);
      return;
    }
    const ValueId stored = edit_.AddIntermediate(turned.name + "_quantized", TypeOf(operand.tensor), turned.shape);
    edit_.SetInput(*operand.transpose, 0, operand.tensor);
    edit_.SetOutput(*operand.transpose, 0, stored);
    operand.tensor = stored;
  }

  bool FuseProduct(Layer& layer) {
    std::optional<Quantized> a = Dequantized(InputOf(layer, 0), true, true);
    std::optional<Quantized> b = Dequantized(InputOf(layer, 1), false, true);
    if (!a || !b) return false;
    std::vector<Layer*> absorbed = {a->dequantize, b->dequantize};
    for (Layer* const cast : {a->cast, b->cast})
      if (cast != nullptr) absorbed.push_back(cast);
    const std::optional<ValueId> bias = Bias(InputOf(layer, 2), absorbed);
    if (bias && !edit_.IsConstant(bias)) return false;
    // Products are of integers or of floats; of floats cuDNN and cuBLASLt have them as of integers.
    const bool is_float = IsFloat8(a->tensor);
    if (is_float != IsFloat8(b->tensor)) return false;
    // Of a product's b alone it is known in which shape a constant is read.
    const auto is_turned_constant = [&](const Quantized& one) {
      return one.transpose != nullptr && edit_.IsConstant(one.tensor);
    };
    if (is_turned_constant(*a) ||
        (is_turned_constant(*b) && (layer.op == "Conv" || !graph_.value(*b->transpose->outputs[0]).shape)))
      return false;
    const auto turned = layer.attributes.find("transB");
    const bool is_turned = turned != layer.attributes.end() && turned->second == AttributeValue(std::int64_t{1});
    if (!IsScaledBy(*b, layer.op == "Conv" || is_turned ? 0 : -1)) return false;
    std::optional<Ending> ending = EndingOf(layer);
    if (ending && IsFloat8(ending->quantize->outputs[0]) != is_float) ending.reset();
    Turn(layer, *a, absorbed);
    Turn(layer, *b, absorbed);
    if (!ending) {
      // No 8-bit result: integers are multiplied, and the sum becomes floating point at once.
      if (layer.op == "MatMul")
        Become(layer, "com.microsoft.MatMulIntegerToFloat",
               {a->tensor, b->tensor, a->scale, b->scale, a->zero_point, b->zero_point}, {}, absorbed);
      else if (layer.op == "Gemm")
        Become(layer, "com.microsoft.QGemm",
               {a->tensor, a->scale, a->zero_point, b->tensor, b->scale, b->zero_point, bias}, {}, absorbed);
      else if (is_float)
        Become(
            layer, "QLinearConv",
            {a->tensor, a->scale, a->zero_point, b->tensor, b->scale, b->zero_point, std::nullopt, std::nullopt, bias},
            {}, absorbed);
      else
        return false;
      return true;
    }
    const std::optional<ValueId> scale = ending->quantize->inputs[1];
    const std::optional<ValueId> zero = InputOf(*ending->quantize, 2);
    const Ids both = {a->tensor, a->scale, a->zero_point, b->tensor, b->scale, b->zero_point};
    Ids inputs = both;
    if (layer.op == "Gemm")
      inputs.insert(inputs.end(), {bias, scale, zero});
    else
      inputs.insert(inputs.end(), {scale, zero});
    if (layer.op == "Conv" && bias) inputs.push_back(bias);
    const std::string op = layer.op == "Conv"   ? "QLinearConv"
                           : layer.op == "Gemm" ? "com.microsoft.QGemm"
                                                : "QLinearMatMul";
    Become(layer, op, std::move(inputs), *ending, absorbed);
    return true;
  }

  bool FuseBinary(Layer& layer) {
    const std::optional<Quantized> a = Dequantized(InputOf(layer, 0), true);
    const std::optional<Quantized> b = Dequantized(InputOf(layer, 1), true);
    const std::optional<Ending> ending = EndingOf(layer);
    if (!a || !b || !ending || AnyFloat8({a->tensor, b->tensor, ending->quantize->outputs[0]})) return false;
    Become(layer, "com.microsoft.QLinear" + layer.op,
           {a->tensor, a->scale, a->zero_point, b->tensor, b->scale, b->zero_point, ending->quantize->inputs[1],
            InputOf(*ending->quantize, 2)},
           *ending, {a->dequantize, b->dequantize});
    return true;
  }

  bool FuseConcat(Layer& layer) {
    const std::optional<Ending> ending = EndingOf(layer);
    if (!ending || ending->activation != nullptr) return false;
    Ids inputs = {ending->quantize->inputs[1], InputOf(*ending->quantize, 2)};
    std::vector<Layer*> absorbed;
    for (const std::optional<ValueId>& input : layer.inputs) {
      const std::optional<Quantized> part = Dequantized(input, true);
      if (!part || AnyFloat8({part->tensor, ending->quantize->outputs[0]})) return false;
      inputs.insert(inputs.end(), {part->tensor, part->scale, part->zero_point});
      absorbed.push_back(part->dequantize);
    }
    Become(layer, "com.microsoft.QLinearConcat", std::move(inputs), *ending, absorbed);
    return true;
  }

  // Operators that only move elements, or choose among them, do so on 8 bits as well.
  bool MoveQuantized(Layer& layer) {
    const std::optional<Quantized> a = Dequantized(InputOf(layer, 0), true);
    const std::optional<Ending> ending = EndingOf(layer);
    if (!a || !ending || ending->activation != nullptr || !SameQuantization(*a, *ending->quantize)) return false;
    if (OutputOf(layer, 1)) return false;
    Ids inputs = layer.inputs;
    inputs[0] = a->tensor;
    Become(layer, layer.op, std::move(inputs), *ending, {a->dequantize});
    return true;
  }

  bool FuseUnary(Layer& layer) {
    static constexpr std::pair<std::string_view, std::string_view> kForms[] = {
        {"AveragePool", "QLinearAveragePool"}, {"GlobalAveragePool", "QLinearGlobalAveragePool"},
        {"ReduceMean", "QLinearReduceMean"},   {"LeakyRelu", "QLinearLeakyRelu"},
        {"Sigmoid", "QLinearSigmoid"},         {"Softmax", "QLinearSoftmax"},
    };
    const auto* form =
        std::find_if(std::begin(kForms), std::end(kForms), [&](const auto& f) { return f.first == layer.op; });
    if (form == std::end(kForms)) return false;
    const std::optional<Quantized> a = Dequantized(InputOf(layer, 0), true);
    const std::optional<Ending> ending = EndingOf(layer);
    if (!a || !ending || ending->activation != nullptr || AnyFloat8({a->tensor, ending->quantize->outputs[0]}))
      return false;
    if (layer.op == "ReduceMean" && InputOf(layer, 1)) {
      const std::optional<std::vector<std::int64_t>> axes = edit_.IntegersIn(InputOf(layer, 1));
      if (!axes) return false;
      layer.attributes["axes"] = *axes;
    }
    if (layer.op == "Softmax") layer.attributes["opset"] = graph_.opset;
    Become(layer, "com.microsoft." + std::string(form->second),
           {a->tensor, a->scale, a->zero_point, ending->quantize->inputs[1], InputOf(*ending->quantize, 2)}, *ending,
           {a->dequantize});
    return true;
  }

  ModelGraph& graph_;
  GraphEdit edit_;
};

}  // namespace

RewritePass FuseQuantized(ModelGraph& graph) {
  RewritePass pass{"fuse-quantized", "DequantizeLinear, operator and QuantizeLinear become the 8-bit operator", {}};
  if (HasOperator(graph, {"DequantizeLinear", "com.microsoft.DequantizeLinear"}))
    pass.rewrites = QuantizedFusion(graph).Run();
  return pass;
}

}  // namespace infimum
