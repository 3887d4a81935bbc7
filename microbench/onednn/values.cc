#include "microbench/onednn/values.h"

#include <cmath>

#include "infimum/base/text.h"

namespace infimum::cpu {
namespace {

struct NamedScalar {
  std::string_view name;
  double ScalarValues::*member;
};

constexpr NamedScalar kScalars[] = {
    {"epsilon", &ScalarValues::epsilon},
    {"leaky_slope", &ScalarValues::leaky_slope},
    {"elu_alpha", &ScalarValues::elu_alpha},
    {"selu_alpha", &ScalarValues::selu_alpha},
    {"selu_gamma", &ScalarValues::selu_gamma},
    {"hard_sigmoid_alpha", &ScalarValues::hard_sigmoid_alpha},
    {"hard_sigmoid_beta", &ScalarValues::hard_sigmoid_beta},
    {"clip_low", &ScalarValues::clip_low},
    {"clip_high", &ScalarValues::clip_high},
    {"threshold", &ScalarValues::threshold},
    {"shrink_lambda", &ScalarValues::shrink_lambda},
    {"quick_gelu_alpha", &ScalarValues::quick_gelu_alpha},
    {"response_alpha", &ScalarValues::response_alpha},
    {"response_beta", &ScalarValues::response_beta},
    {"response_k", &ScalarValues::response_k},
};

}  // namespace

Result<LayerValues> LayerValuesFrom(const ReplayValues& values) {
  LayerValues result;
  for (const auto& [name, numbers] : values) {
    if (name == "starts") {
      for (const double start : numbers) {
        if (!(start >= 0) || start > static_cast<double>(kMaxElements)) return Error{"value 'starts' is out of range"};
        result.starts.push_back(static_cast<std::int64_t>(start));
      }
      continue;
    }
    const NamedScalar* found = nullptr;
    for (const NamedScalar& scalar : kScalars) {
      if (scalar.name == name) found = &scalar;
    }
    if (found == nullptr) return Error{"value " + Quoted(name) + " is not known here"};
    if (numbers.size() != 1) {
      return Error{"value " + Quoted(name) + " has " + std::to_string(numbers.size()) + " numbers, not one"};
    }
    result.*(found->member) = numbers[0];
  }
  return result;
}

bool AreUsual(PointwiseKind kind, const LayerValues& values) {
  const auto usual = [&](auto... members) { return (... && (values.*members == kUsualValues.*members)); };
  using V = ScalarValues;
  switch (kind) {
    case PointwiseKind::kClip:
      return usual(&V::clip_low, &V::clip_high);
    case PointwiseKind::kLeakyRelu:
      return usual(&V::leaky_slope);
    case PointwiseKind::kElu:
    case PointwiseKind::kCelu:
      return usual(&V::elu_alpha);
    case PointwiseKind::kSelu:
      return usual(&V::selu_alpha, &V::selu_gamma);
    case PointwiseKind::kThresholdedRelu:
      return usual(&V::threshold);
    case PointwiseKind::kHardSigmoid:
      return usual(&V::hard_sigmoid_alpha, &V::hard_sigmoid_beta);
    case PointwiseKind::kShrink:
      return usual(&V::shrink_lambda);
    case PointwiseKind::kQuickGelu:
      return usual(&V::quick_gelu_alpha);
    default:
      return true;
  }
}

}  // namespace infimum::cpu
