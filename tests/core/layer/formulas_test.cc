// The formulas of pointwise_kinds.def and reduction_kinds.def against values that were worked out elsewhere (Python's
// math): kernels are compared with the reference, and both are made of these formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "infimum/layer/pointwise.h"
#include "src/core/layer/field_text.h"
#include "src/core/layer/reduction.h"

namespace infimum {
namespace {

using Values = std::vector<double>;

// At kPoints, with the usual parameters.
constexpr double kPoints[] = {-1.75, -0.25, 1.25};
const std::map<std::string_view, Values> kUnary = {
    {"absolute", {1.75, 0.25, 1.25}},
    {"arc_hyperbolic_sine", {-1.32589776690114, -0.247466461547263, 1.04759301264926}},
    {"arc_tangent", {-1.05165021254837, -0.244978663126864, 0.896055384571344}},
    {"cast", {-1.75, -0.25, 1.25}},
    {"ceil", {-1, 0, 2}},
    {"celu", {-0.826226056549555, -0.221199216928595, 1.25}},
    {"clip", {0, 0, 1.25}},
    {"cosine", {-0.178246055649492, 0.968912421710645, 0.315322362395269}},
    {"cube", {-5.359375, -0.015625, 1.953125}},
    {"elu", {-0.826226056549555, -0.221199216928595, 1.25}},
    {"error_function", {-0.986671671219182, -0.276326390168237, 0.922900128256458}},
    {"exponential", {0.173773943450445, 0.778800783071405, 3.49034295746184}},
    {"floor", {-2, -1, 1}},
    {"gelu_erf", {-0.0701035245116799, -0.100323418579269, 1.11793778291643}},
    {"gelu_tanh", {-0.0702046176587487, -0.100324649298315, 1.11771420296971}},
    {"hard_sigmoid", {0.15, 0.45, 0.75}},
    {"hard_swish", {-0.364583333333333, -0.114583333333333, 0.885416666666667}},
    {"hyperbolic_cosine", {2.96418830972809, 1.03141309987957, 1.88842387716102}},
    {"hyperbolic_sine", {-2.79041436627764, -0.252612316808168, 1.60191908030083}},
    {"identity", {-1.75, -0.25, 1.25}},
    {"is_inf", {0, 0, 0}},
    {"is_nan", {0, 0, 0}},
    {"leaky_relu", {-0.0175, -0.0025, 1.25}},
    {"mish", {-0.278017259172492, -0.129926963679141, 1.13187030424104}},
    {"negative", {1.75, 0.25, -1.25}},
    {"not", {0, 0, 0}},
    {"quick_gelu", {-0.0847116849956529, -0.0988003500998058, 1.11693430144317}},
    {"reciprocal", {-0.571428571428571, -4, 0.8}},
    {"relu", {0, 0, 1.25}},
    {"round", {-2, 0, 1}},
    {"selu", {-1.45258748995135, -0.388890198693753, 1.31337627768517}},
    {"shrink", {-1.75, 0, 1.25}},
    {"sigmoid", {0.148047198031689, 0.437823499114202, 0.777299861174691}},
    {"sign", {-1, -1, 1}},
    {"sine", {-0.983985946873937, -0.247403959254523, 0.948984619355586}},
    {"softplus", {0.160224150438087, 0.575939419878844, 1.50192908134537}},
    {"softsign", {-0.636363636363636, -0.2, 0.555555555555556}},
    {"square", {3.0625, 0.0625, 1.5625}},
    {"swish", {-0.259082596555457, -0.10945587477855, 0.971624826468364}},
    {"tangent", {5.52037992250933, -0.255341921221036, 3.00956967386283}},
    {"tanh", {-0.941375538497287, -0.244918662403709, 0.848283639957513}},
    {"thresholded_relu", {0, 0, 1.25}},
};

// Of functions that are not defined everywhere: at a point of their own.
struct PointValue {
  double x, value;
};
const std::map<std::string_view, PointValue> kUnaryAtOnePoint = {
    {"arc_cosine", {0.25, 1.31811607165282}},
    {"arc_hyperbolic_cosine", {1.25, 0.693147180559945}},
    {"arc_hyperbolic_tangent", {0.25, 0.255412811882995}},
    {"arc_sine", {0.25, 0.252680255142079}},
    {"logarithm", {0.25, -1.38629436111989}},
    {"square_root", {0.25, 0.5}},
};

// Of -5.5 and 2, and of 3 and 3.
const std::map<std::string_view, Values> kBinary = {
    {"add", {-3.5, 6}},      {"and", {1, 1}},     {"divide", {-2.75, 1}},       {"equal", {0, 1}},
    {"greater", {0, 0}},     {"less", {1, 0}},    {"greater_or_equal", {0, 1}}, {"less_or_equal", {1, 1}},
    {"maximum", {2, 3}},     {"mean", {-3.5, 6}}, {"minimum", {-5.5, 3}},       {"modulo", {0.5, 0}},
    {"multiply", {-11, 9}},  {"or", {1, 1}},      {"power", {30.25, 27}},       {"prelu", {-11, 3}},
    {"subtract", {-7.5, 0}}, {"xor", {0, 0}},
};

// Of -5 and 2, and of 12 and 10.
const std::map<std::string_view, Values> kIntegerBinary = {
    {"add", {-3, 22}},
    {"and", {1, 1}},
    {"bit_shift", {-20, 12288}},
    {"bitwise_and", {2, 8}},
    {"bitwise_or", {-5, 14}},
    {"bitwise_xor", {-7, 6}},
    {"divide", {-2, 1}},
    {"equal", {0, 0}},
    {"greater", {0, 1}},
    {"greater_or_equal", {0, 1}},
    {"less", {1, 0}},
    {"less_or_equal", {1, 0}},
    {"maximum", {2, 12}},
    {"mean", {-3, 22}},
    {"minimum", {-5, 10}},
    {"modulo", {1, 2}},
    {"multiply", {-10, 120}},
    {"or", {1, 1}},
    {"power", {25, 61917364224}},
    {"prelu", {-10, 12}},
    {"subtract", {-7, 2}},
    {"xor", {0, 0}},
};

// Of -5 and 7.
const std::map<std::string_view, Values> kIntegerUnary = {
    {"absolute", {5, 7}},  {"bitwise_not", {4, -8}}, {"cast", {-5, 7}},     {"ceil", {-5, 7}},     {"clip", {0, 6}},
    {"cube", {-125, 343}}, {"floor", {-5, 7}},       {"identity", {-5, 7}}, {"negative", {5, -7}}, {"not", {0, 0}},
    {"relu", {0, 7}},      {"round", {-5, 7}},       {"sign", {-1, 1}},     {"square", {25, 49}},
};

TEST(PointwiseFormulas, HaveTheValuesOfRealNumbers) {
  for (const auto& [kind, name] : NamesOf(PointwiseKind{})) {
    SCOPED_TRACE(name);
    if (const auto values = kUnary.find(name); values != kUnary.end()) {
      for (std::size_t i = 0; i < std::size(kPoints); ++i) {
        EXPECT_NEAR(Evaluate(kind, kPoints[i]).value_or(NAN), values->second[i], 1e-13);
      }
    } else if (const auto point = kUnaryAtOnePoint.find(name); point != kUnaryAtOnePoint.end()) {
      EXPECT_NEAR(Evaluate(kind, point->second.x).value_or(NAN), point->second.value, 1e-13);
    } else {
      EXPECT_FALSE(Evaluate(kind, 1)) << "a formula without values here";
    }
    const auto values = kBinary.find(name);
    ASSERT_EQ(Evaluate(kind, 1, 1).has_value(), values != kBinary.end());
    if (values == kBinary.end()) continue;
    EXPECT_NEAR(*Evaluate(kind, -5.5, 2), values->second[0], 1e-13);
    EXPECT_NEAR(*Evaluate(kind, 3, 3), values->second[1], 1e-13);
  }
}

TEST(PointwiseFormulas, HaveTheValuesOfIntegers) {
  for (const auto& [kind, name] : NamesOf(PointwiseKind{})) {
    SCOPED_TRACE(name);
    const auto unary = kIntegerUnary.find(name);
    ASSERT_EQ(EvaluateInteger(kind, 1).has_value(), unary != kIntegerUnary.end());
    if (unary != kIntegerUnary.end()) {
      EXPECT_EQ(*EvaluateInteger(kind, -5), unary->second[0]);
      EXPECT_EQ(*EvaluateInteger(kind, 7), unary->second[1]);
    }
    const auto binary = kIntegerBinary.find(name);
    ASSERT_EQ(EvaluateInteger(kind, 1, 1).has_value(), binary != kIntegerBinary.end());
    if (binary == kIntegerBinary.end()) continue;
    EXPECT_EQ(*EvaluateInteger(kind, -5, 2), binary->second[0]);
    EXPECT_EQ(*EvaluateInteger(kind, 12, 10), binary->second[1]);
  }
}

TEST(PointwiseFormulas, KeepNotANumberAndFindIt) {
  for (const PointwiseKind kind : {PointwiseKind::kRelu, PointwiseKind::kClip, PointwiseKind::kSigmoid,
                                   PointwiseKind::kHardSwish, PointwiseKind::kSoftplus}) {
    EXPECT_TRUE(std::isnan(*Evaluate(kind, NAN)));
  }
  EXPECT_EQ(Evaluate(PointwiseKind::kIsNaN, NAN), 1);
  EXPECT_EQ(Evaluate(PointwiseKind::kIsInf, -INFINITY), 1);
  EXPECT_EQ(Evaluate(PointwiseKind::kNot, 0), 1);
}

TEST(PointwiseFormulas, UseTheirParameters) {
  PointwiseParameters p;
  p.clip_low = -0.5;
  p.clip_high = 0.5;
  p.elu_alpha = 2;
  EXPECT_EQ(Evaluate(PointwiseKind::kClip, -3, p), -0.5);
  EXPECT_EQ(Evaluate(PointwiseKind::kClip, 3, p), 0.5);
  EXPECT_NEAR(*Evaluate(PointwiseKind::kElu, -1.75, p), 2 * -0.826226056549555, 1e-13);
  EXPECT_NEAR(*Evaluate(PointwiseKind::kCelu, -1.75, p), 2 * (std::exp(-0.875) - 1), 1e-13);
}

TEST(PointwiseFormulas, OfIntegersWrapAndNeverStop) {
  const std::int64_t most = INT64_MAX, least = INT64_MIN;
  EXPECT_EQ(EvaluateInteger(PointwiseKind::kAdd, most, std::int64_t{1}), least);
  EXPECT_EQ(EvaluateInteger(PointwiseKind::kNegative, least), least);
  EXPECT_EQ(EvaluateInteger(PointwiseKind::kAbsolute, least), least);
  EXPECT_EQ(EvaluateInteger(PointwiseKind::kDivide, most, std::int64_t{0}), 0);
  EXPECT_EQ(EvaluateInteger(PointwiseKind::kDivide, least, std::int64_t{-1}), least);
  EXPECT_EQ(EvaluateInteger(PointwiseKind::kModulo, least, std::int64_t{-1}), 0);
  EXPECT_EQ(EvaluateInteger(PointwiseKind::kModulo, std::int64_t{5}, std::int64_t{-3}), -1);
  EXPECT_EQ(EvaluateInteger(PointwiseKind::kPower, std::int64_t{-1}, std::int64_t{-3}), -1);
}

double Reduced(ReductionKind kind, const std::vector<double>& elements) {
  const auto formula = FormulaOf<double>(kind);
  double total = formula.start;
  for (const double x : elements) total = formula.combined(total, formula.term(x));
  return formula.result(total, static_cast<double>(elements.size()));
}

TEST(ReductionFormulas, HaveTheirValues) {
  const std::vector<double> elements{0.5, -1.5, 4};
  const std::map<ReductionKind, double> values = {
      {ReductionKind::kSum, 3},
      {ReductionKind::kMean, 1},
      {ReductionKind::kMax, 4},
      {ReductionKind::kMaxAbs, 4},
      {ReductionKind::kMin, -1.5},
      {ReductionKind::kProduct, -3},
      {ReductionKind::kL1, 6},
      {ReductionKind::kL2, 4.30116263352131},
      {ReductionKind::kSumSquare, 18.5},
      {ReductionKind::kLogSum, 1.09861228866811},
      {ReductionKind::kLogSumExp, 4.03370954960989},
      {ReductionKind::kArgMax, 4},
      {ReductionKind::kArgMin, -1.5},
  };
  for (const auto& [kind, name] : NamesOf(ReductionKind{})) {
    ASSERT_TRUE(values.contains(kind)) << name;
    EXPECT_NEAR(Reduced(kind, elements), values.at(kind), 1e-13) << name;
  }
}

}  // namespace
}  // namespace infimum
