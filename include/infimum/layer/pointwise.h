// Element-wise operators with NumPy broadcasting: activations, arithmetic, comparison, Where, Cast,
// QuantizeLinear.
//
//   pointwise kind=relu dtype=f32:-:f32 in=802816
//   pointwise kind=add dtype=f32:f32:f32 in=128x768,768
//   pointwise kind=where dtype=f32:bool:f32 in=12x128x128,12x128x128,1
//
// Canonicalize() merges neighbouring dimensions over which every operand is whole or every operand is
// broadcast, so that equal costs have equal texts; leading ones are dropped.
// dtype=in:second:out. `where` names its condition's type second; a comparison's output is bool.
// Operands: `in`, in order (a `where`: condition, x, y).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/work.h"

namespace infimum {

// One line each in pointwise_kinds.def, with names, operands, FLOPs and formulas.
enum class PointwiseKind {
#define INFIMUM_POINTWISE(kind, ...) kind,
#include "src/core/layer/pointwise_kinds.def"
};
std::span<const NamedValue<PointwiseKind>> NamesOf(PointwiseKind);

// What formulas leave open because it changes results, not cost: the values that benchmarks use, unless a layer of a
// model has its own.
struct PointwiseParameters {
#define INFIMUM_PARAMETER(name, place, usual) double name = usual;
#include "src/core/layer/pointwise_kinds.def"

  friend bool operator==(const PointwiseParameters&, const PointwiseParameters&) = default;
};

struct PointwiseConfig {
  PointwiseKind kind = PointwiseKind::kRelu;
  OperandTypes types;
  std::vector<Shape> inputs;

  static constexpr std::string_view kName = "pointwise";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.inputs);
  }
  friend bool operator==(const PointwiseConfig&, const PointwiseConfig&) = default;
};

// How many operands a kind takes: {1, 1}, {2, 2}, {3, 3}, or {1, 64} for the variadic ones.
struct OperandRange {
  int least;
  int most;
};
OperandRange OperandsOf(PointwiseKind kind);

// The parameters in a kind's formula; most kinds have none. `onnx` is the attribute of the kind's operator, or "".
struct PointwiseParameter {
  PointwiseKind kind;
  double PointwiseParameters::*member;
  std::string_view name;
  std::string_view onnx;
};
std::span<const PointwiseParameter> ParametersOf(PointwiseKind kind);

// The ONNX operators that are one kind and nothing else: inputs are its operands, attributes its parameters.
struct PointwiseOperator {
  std::string_view onnx;
  PointwiseKind kind;
};
std::span<const PointwiseOperator> PointwiseOnnxOperators();

// What f32 arithmetic adds to a result: nothing, a few roundings, or the error of a polynomial.
enum class Rounding { kExact, kRounded, kApproximate };
Rounding RoundingOf(PointwiseKind kind);

bool IsActivation(PointwiseKind kind);  // relu to shrink
bool ReturnsTruth(PointwiseKind kind);  // logic and comparison
bool HasIntegerFormula(PointwiseKind kind);

// The kind's formula at a point: of real numbers, and of integers, whose sums wrap. A kind of several operands is
// folded from the left, two at a time; a mean is then a sum that is still to be divided. nullopt where the kind has no
// such formula: selections, quantization, and bits of real numbers.
std::optional<double> Evaluate(PointwiseKind kind, double x, const PointwiseParameters& p = {});
std::optional<double> Evaluate(PointwiseKind kind, double a, double b);
std::optional<std::int64_t> EvaluateInteger(PointwiseKind kind, std::int64_t x, const PointwiseParameters& p = {});
std::optional<std::int64_t> EvaluateInteger(PointwiseKind kind, std::int64_t a, std::int64_t b);

// The broadcast of all inputs.
Shape OutputShape(const PointwiseConfig& config);

// The merged form of `config` described above; equal costs become equal texts.
PointwiseConfig Canonicalize(PointwiseConfig config);

// An operand of a canonical layer in the rank of `output`, which `merged` is a coarser form of: {64, 1} of {64, 3136}
// is {1, 64, 1, 1} of {1, 64, 56, 56}. nullopt where a dimension of `merged` ends within one of `output`.
std::optional<Shape> Unmerged(const Shape& operand, const Shape& merged, const Shape& output);

// Nominal operations for each output element, the same for each implementation: one for a comparison,
// a conversion or an arithmetic operation, and fixed small numbers for transcendental functions
// (pointwise_kinds.def). conventional = direct.
Work WorkOf(const PointwiseConfig& config);
Status Validate(const PointwiseConfig& config);
std::vector<Operand> OperandsOfFamily(const PointwiseConfig& config);

}  // namespace infimum
