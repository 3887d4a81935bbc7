// Element by element, with broadcasting.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/readers/onnx/folding/elements.h"
#include "src/readers/onnx/folding/fold.h"

namespace infimum {
namespace {

using Integer = std::int64_t;
constexpr Integer kLeast = std::numeric_limits<Integer>::min();

// An operation on one pair: of integers, where it may fail (overflow, division by zero), and of numbers.
struct Binary {
  std::optional<Integer> (*integers)(Integer a, Integer b);
  double (*numbers)(double a, double b);
};

std::optional<Integer> Checked(bool overflowed, Integer value) {
  return overflowed ? std::nullopt : std::optional<Integer>(value);
}

std::optional<Integer> Power(Integer base, Integer exponent) {
  if (exponent < 0) return std::nullopt;
  Integer result = 1;
  // At most 63 factors other than -1, 0 and 1 fit.
  if (exponent > 64) {
    if (base != 0 && base != 1 && base != -1) return std::nullopt;
    exponent = 2 + exponent % 2;
  }
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  return result;
}

// ONNX's Mod with fmod=0 takes the divisor's sign, as Python's % does.
std::optional<Integer> Modulo(Integer a, Integer b) {
  if (b == 0 || (a == kLeast && b == -1)) return std::nullopt;
  const Integer rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

const std::unordered_map<std::string_view, Binary>& BinaryOperations() {
  static const std::unordered_map<std::string_view, Binary> operations = {
      {"Add",
       {[](Integer a, Integer b) {
          Integer c = 0;
          const bool bad = __builtin_add_overflow(a, b, &c);
          return Checked(bad, c);
        },
        [](double a, double b) { return a + b; }}},
      {"Sub",
       {[](Integer a, Integer b) {
          Integer c = 0;
          const bool bad = __builtin_sub_overflow(a, b, &c);
          return Checked(bad, c);
        },
        [](double a, double b) { return a - b; }}},
      {"Mul",
       {[](Integer a, Integer b) {
          Integer c = 0;
          const bool bad = __builtin_mul_overflow(a, b, &c);
          return Checked(bad, c);
        },
        [](double a, double b) { return a * b; }}},
      {"Div",
       {[](Integer a, Integer b) {
          return b == 0 || (a == kLeast && b == -1) ? std::nullopt : std::optional<Integer>(a / b);
        },
        [](double a, double b) { return a / b; }}},
      {"Mod", {Modulo, [](double a, double b) { return std::fmod(a, b); }}},
      {"Pow", {Power, [](double a, double b) { return std::pow(a, b); }}},
      {"Min",
       {[](Integer a, Integer b) { return std::optional<Integer>(std::min(a, b)); },
        [](double a, double b) { return std::fmin(a, b); }}},
      {"Max",
       {[](Integer a, Integer b) { return std::optional<Integer>(std::max(a, b)); },
        [](double a, double b) { return std::fmax(a, b); }}},
      {"And", {[](Integer a, Integer b) { return std::optional<Integer>(a != 0 && b != 0); }, nullptr}},
      {"Or", {[](Integer a, Integer b) { return std::optional<Integer>(a != 0 || b != 0); }, nullptr}},
      {"Xor", {[](Integer a, Integer b) { return std::optional<Integer>((a != 0) != (b != 0)); }, nullptr}},
      {"BitwiseAnd", {[](Integer a, Integer b) { return std::optional<Integer>(a & b); }, nullptr}},
      {"BitwiseOr", {[](Integer a, Integer b) { return std::optional<Integer>(a | b); }, nullptr}},
      {"BitwiseXor", {[](Integer a, Integer b) { return std::optional<Integer>(a ^ b); }, nullptr}},
  };
  return operations;
}

// Comparisons: their result is bool whatever they compare.
struct Comparison {
  bool (*integers)(Integer a, Integer b);
  bool (*numbers)(double a, double b);
};

const std::unordered_map<std::string_view, Comparison>& Comparisons() {
  static const std::unordered_map<std::string_view, Comparison> comparisons = {
      {"Equal", {[](Integer a, Integer b) { return a == b; }, [](double a, double b) { return a == b; }}},
      {"Less", {[](Integer a, Integer b) { return a < b; }, [](double a, double b) { return a < b; }}},
      {"LessOrEqual", {[](Integer a, Integer b) { return a <= b; }, [](double a, double b) { return a <= b; }}},
      {"Greater", {[](Integer a, Integer b) { return a > b; }, [](double a, double b) { return a > b; }}},
      {"GreaterOrEqual", {[](Integer a, Integer b) { return a >= b; }, [](double a, double b) { return a >= b; }}},
  };
  return comparisons;
}

struct Unary {
  Integer (*integers)(Integer a);  // null: not for integers
  double (*numbers)(double a);
};

const std::unordered_map<std::string_view, Unary>& UnaryOperations() {
  static const std::unordered_map<std::string_view, Unary> operations = {
      {"Neg", {[](Integer a) { return a == kLeast ? a : -a; }, [](double a) { return -a; }}},
      {"Abs", {[](Integer a) { return a < 0 && a != kLeast ? -a : a; }, [](double a) { return std::fabs(a); }}},
      {"Sign",
       {[](Integer a) { return Integer{a > 0} - Integer{a < 0}; },
        [](double a) { return double(a > 0) - double(a < 0); }}},
      {"Not", {[](Integer a) { return Integer{a == 0}; }, nullptr}},
      {"BitwiseNot", {[](Integer a) { return ~a; }, nullptr}},
      {"Relu", {[](Integer a) { return std::max(a, Integer{0}); }, [](double a) { return std::fmax(a, 0.0); }}},
      {"Floor", {nullptr, [](double a) { return std::floor(a); }}},
      {"Ceil", {nullptr, [](double a) { return std::ceil(a); }}},
      {"Round", {nullptr, [](double a) { return std::nearbyint(a); }}},
      {"Sqrt", {nullptr, [](double a) { return std::sqrt(a); }}},
      {"Exp", {nullptr, [](double a) { return std::exp(a); }}},
      {"Log", {nullptr, [](double a) { return std::log(a); }}},
      {"Reciprocal", {nullptr, [](double a) { return 1 / a; }}},
      {"Sin", {nullptr, [](double a) { return std::sin(a); }}},
      {"Cos", {nullptr, [](double a) { return std::cos(a); }}},
      {"Tanh", {nullptr, [](double a) { return std::tanh(a); }}},
      {"Erf", {nullptr, [](double a) { return std::erf(a); }}},
      {"Sigmoid", {nullptr, [](double a) { return 1 / (1 + std::exp(-a)); }}},
  };
  return operations;
}

// An input stretched to the output's shape.
struct Stretched {
  Elements elements;
  Indices indices;
};

std::optional<Stretched> Stretch(const Tensor& tensor, const Shape& to) {
  std::optional<Elements> elements = Decode(tensor);
  std::optional<Indices> indices = BroadcastIndices(tensor.shape, to);
  if (!elements || !indices) return std::nullopt;
  return Stretched{std::move(*elements), std::move(*indices)};
}

std::optional<Shape> CommonShape(const NodeView& node) {
  Shape shape;
  for (const std::optional<OperandView>& input : node.inputs) {
    if (!input) return std::nullopt;
    Result<Shape> wider = Broadcast(shape, input->value->shape);
    if (!wider.ok() || !SmallCount(*wider)) return std::nullopt;
    shape = std::move(*wider);
  }
  return shape;
}

std::optional<Tensor> Combine(const NodeView& node, const Binary& operation) {
  const std::optional<Shape> shape = CommonShape(node);
  if (!shape) return std::nullopt;
  const std::optional<Stretched> first = Stretch(*node.inputs[0]->value, *shape);
  if (!first) return std::nullopt;
  Elements sum;
  sum.floating = first->elements.floating;
  for (const std::size_t index : first->indices) {
    if (sum.floating)
      sum.numbers.push_back(first->elements.numbers[index]);
    else
      sum.integers.push_back(first->elements.integers[index]);
  }
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const std::optional<Stretched> next = Stretch(*node.inputs[i]->value, *shape);
    if (!next || (sum.floating && operation.numbers == nullptr)) return std::nullopt;
    // Pow alone may mix kinds: an integer base with a floating point exponent is left alone.
    if (!sum.floating && next->elements.floating) return std::nullopt;
    for (std::size_t at = 0; at < next->indices.size(); ++at) {
      if (sum.floating) {
        sum.numbers[at] = operation.numbers(sum.numbers[at], next->elements.number(next->indices[at]));
      } else {
        const std::optional<Integer> value =
            operation.integers(sum.integers[at], next->elements.integers[next->indices[at]]);
        if (!value) return std::nullopt;
        sum.integers[at] = *value;
      }
    }
  }
  return Encode(sum, node.inputs[0]->value->type, *shape);
}

std::vector<Tensor> FoldBinary(const NodeView& node) {
  // Mod with fmod=1 differs from ours for integers of unlike sign; it is rare, so it is not evaluated.
  if (node.op == "Mod" && IntegerAttribute(node, "fmod", 0) != 0) return {};
  return ListOf(Combine(node, BinaryOperations().at(node.op)));
}

std::vector<Tensor> FoldComparison(const NodeView& node) {
  const Comparison& comparison = Comparisons().at(node.op);
  const std::optional<Shape> shape = CommonShape(node);
  if (!shape || node.inputs.size() != 2) return {};
  const std::optional<Stretched> a = Stretch(*node.inputs[0]->value, *shape);
  const std::optional<Stretched> b = Stretch(*node.inputs[1]->value, *shape);
  if (!a || !b || a->elements.floating != b->elements.floating) return {};
  Elements result;
  for (std::size_t i = 0; i < a->indices.size(); ++i)
    result.integers.push_back(
        a->elements.floating
            ? comparison.numbers(a->elements.numbers[a->indices[i]], b->elements.numbers[b->indices[i]])
            : comparison.integers(a->elements.integers[a->indices[i]], b->elements.integers[b->indices[i]]));
  return ListOf(Encode(result, DataType::kBool, *shape));
}

std::vector<Tensor> FoldUnary(const NodeView& node) {
  const Unary& operation = UnaryOperations().at(node.op);
  const Tensor& input = *node.inputs[0]->value;
  std::optional<Elements> elements = Decode(input);
  if (!elements) return {};
  if (elements->floating ? operation.numbers == nullptr : operation.integers == nullptr) return {};
  for (double& number : elements->numbers) number = operation.numbers(number);
  for (Integer& integer : elements->integers) integer = operation.integers(integer);
  return ListOf(Encode(*elements, input.type, input.shape));
}

std::vector<Tensor> FoldCast(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  const OperandView* output = node.output(0);
  if (output == nullptr || output->type == DataType::kNone) return {};
  const std::optional<Elements> elements = Decode(input);
  return elements ? ListOf(Encode(*elements, output->type, input.shape)) : std::vector<Tensor>();
}

std::vector<Tensor> FoldWhere(const NodeView& node) {
  const std::optional<Shape> shape = CommonShape(node);
  if (!shape || node.inputs.size() != 3) return {};
  const std::optional<Stretched> condition = Stretch(*node.inputs[0]->value, *shape);
  const std::optional<Stretched> yes = Stretch(*node.inputs[1]->value, *shape);
  const std::optional<Stretched> no = Stretch(*node.inputs[2]->value, *shape);
  if (!condition || !yes || !no || condition->elements.floating || yes->elements.floating != no->elements.floating)
    return {};
  Elements result;
  result.floating = yes->elements.floating;
  for (std::size_t i = 0; i < condition->indices.size(); ++i) {
    const Stretched& chosen = condition->elements.integers[condition->indices[i]] != 0 ? *yes : *no;
    if (result.floating)
      result.numbers.push_back(chosen.elements.numbers[chosen.indices[i]]);
    else
      result.integers.push_back(chosen.elements.integers[chosen.indices[i]]);
  }
  return ListOf(Encode(result, node.inputs[1]->value->type, *shape));
}

std::vector<Tensor> FoldClip(const NodeView& node) {
  const Tensor& input = *node.inputs[0]->value;
  std::optional<Elements> elements = Decode(input);
  if (!elements || node.opset < 11) return {};
  for (std::size_t bound : {1, 2}) {
    const OperandView* operand = node.input(bound);
    if (operand == nullptr) continue;
    const std::optional<Elements> limit = Decode(*operand->value);
    if (!limit || limit->size() != 1 || limit->floating != elements->floating) return {};
    for (double& number : elements->numbers)
      number = bound == 1 ? std::fmax(number, limit->numbers[0]) : std::fmin(number, limit->numbers[0]);
    for (Integer& integer : elements->integers)
      integer = bound == 1 ? std::max(integer, limit->integers[0]) : std::min(integer, limit->integers[0]);
  }
  return ListOf(Encode(*elements, input.type, input.shape));
}

}  // namespace

Folder FindArithmeticFolder(std::string_view op) {
  if (BinaryOperations().contains(op)) return FoldBinary;
  if (Comparisons().contains(op)) return FoldComparison;
  if (UnaryOperations().contains(op)) return FoldUnary;
  if (op == "Cast") return FoldCast;
  if (op == "Where") return FoldWhere;
  if (op == "Clip") return FoldClip;
  return nullptr;
}

}  // namespace infimum
