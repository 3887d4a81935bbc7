// Normalisations and softmax: a statistic over some elements, then one pass over all of them.
//
//   normalization kind=layer dtype=f32:f32:f32 in=128x768 axis=1 scale=yes bias=yes
//   normalization kind=batch dtype=f32:f32:f32 in=1x64x112x112 axis=1 scale=yes bias=yes
//   normalization kind=group dtype=f32:f32:f32 in=1x64x32x32 axis=1 groups=8 scale=yes bias=yes
//   softmax kind=softmax dtype=f32:-:f32 in=1536x128x1 axis=1
//
// Operands: input, then scale, bias, mean, variance as far as the kind has them (batch: all four).
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/work.h"

namespace infimum {

enum class NormalizationKind {
  kBatch,          // "batch": inference, statistics are given
  kLayer,          // "layer": over the dimensions from `axis` on
  kInstance,       // "instance"
  kGroup,          // "group": over `groups` groups of channels
  kRms,            // "rms": layer without mean
  kLocalResponse,  // "lrn": over `size` neighbouring channels
  kLp,             // "lp": LpNormalization over `axis`
  kMeanVariance,   // "mvn": MeanVarianceNormalization over all but the channels
};
std::span<const NamedValue<NormalizationKind>> NamesOf(NormalizationKind);

struct NormalizationConfig {
  NormalizationKind kind = NormalizationKind::kLayer;
  OperandTypes types;  // weights: the scale's and bias's type
  Shape input;
  std::int64_t axis = 1;
  std::int64_t groups = 0;  // kGroup only; written only when not 0
  std::int64_t size = 0;    // kLocalResponse only; written only when not 0
  bool scale = false;
  bool bias = false;

  static constexpr std::string_view kName = "normalization";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.input);
    visit("axis", self.axis);
    visit.Optional("groups", self.groups);
    visit.Optional("size", self.size);
    visit("scale", self.scale);
    visit("bias", self.bias);
  }
  friend bool operator==(const NormalizationConfig&, const NormalizationConfig&) = default;
};

enum class SoftmaxKind {
  kSoftmax,     // "softmax"
  kLogSoftmax,  // "log_softmax"
  kHardmax,     // "hardmax"
};
std::span<const NamedValue<SoftmaxKind>> NamesOf(SoftmaxKind);

// The input is canonically outer x axis x inner.
struct SoftmaxConfig {
  SoftmaxKind kind = SoftmaxKind::kSoftmax;
  OperandTypes types;
  Shape input;
  std::int64_t axis = 1;

  static constexpr std::string_view kName = "softmax";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.input);
    visit("axis", self.axis);
  }
  friend bool operator==(const SoftmaxConfig&, const SoftmaxConfig&) = default;
};

// batch: 2 operations for each element (scale and shift precomputed); layer, instance, group, mvn: 8;
// rms, lp: 5; lrn: 2 * size + 3. conventional = direct.
Work WorkOf(const NormalizationConfig& config);
Status Validate(const NormalizationConfig& config);
std::vector<Operand> OperandsOfFamily(const NormalizationConfig& config);

// softmax 5 for each element (maximum, subtraction, exponential, sum, division), log_softmax 5,
// hardmax 1. conventional = direct.
Work WorkOf(const SoftmaxConfig& config);
Status Validate(const SoftmaxConfig& config);

// outer x axis x inner of any shape; `axis` counts from the front.
SoftmaxConfig MakeSoftmax(SoftmaxKind kind, OperandTypes types, const Shape& shape, std::size_t axis);

}  // namespace infimum
