#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "microbench/reference/index_map.h"
#include "microbench/reference/reference.h"
#include "microbench/reference/values.h"
#include "src/core/layer/family.h"

namespace infimum::cpu {

std::unique_ptr<Reference> MakeFamilyReference(const PoolingConfig& config) {
  const std::vector<WindowAxis> axes = AxesOf(config);
  const std::int64_t taps = ElementCount(config.kernel);
  const auto formula = FormulaOf<double>(ReductionOf(config.kind));
  const auto at = [=](std::size_t number, std::int64_t element, const Sources& operands) -> Expected {
    const std::vector<std::int64_t> position = Unravel(element, config.output);
    double total = formula.start, largest = -INFINITY;
    std::int64_t largest_at = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::vector<std::int64_t> offset = Unravel(tap, config.kernel);
      std::vector<std::int64_t> from{position[0], position[1]};
      bool inside = true;
      for (std::size_t i = 0; i < axes.size(); ++i) {
        from.push_back(axes[i].Position(position[2 + i], offset[i]));
        inside = inside && from.back() >= 0 && from.back() < axes[i].in;
      }
      if (!inside) continue;
      const std::int64_t at_input = Ravel(from, config.input);
      const double x = (*operands[0])[at_input];
      total = formula.combined(total, formula.term(x));
      if (x > largest) {
        largest = x;
        largest_at = at_input;
      }
    }
    std::int64_t count = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) count *= axes[i].Taps(position[2 + i], CountsPadding(config.kind));
    double value = formula.result(total, static_cast<double>(std::max<std::int64_t>(1, count)));
    if (number == 1) value = static_cast<double>(largest_at);
    if (number == 0) value = StoreAs(config.types.output, value);
    return {value, std::fabs(value)};
  };
  return MakeReferenceOf(static_cast<double>(taps) * 4, at);
}

std::unique_ptr<Reference> MakeFamilyReference(const NormalizationConfig& config, const LayerValues& values) {
  const Shape& shape = config.input;
  const bool has_channels = shape.rank() >= 2;
  std::size_t next = 1;
  const std::size_t scale_at = config.scale ? next++ : 0;
  const std::size_t bias_at = config.bias ? next++ : 0;
  const std::size_t mean_at = next, variance_at = next + 1;
  const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, config.axis));
  const std::int64_t channels = has_channels ? shape.dims[1] : 1;
  const std::int64_t pixels = ElementsBetween(shape, 2, shape.rank()),
                     inner = ElementsBetween(shape, axis, shape.rank());
  // Scale and bias are of each place in the normalized row, or of each channel.
  const bool is_by_row = config.kind == NormalizationKind::kLayer || config.kind == NormalizationKind::kRms;
  // Neighbours that are normalized together.
  std::int64_t members = is_by_row ? inner : pixels;
  if (config.kind == NormalizationKind::kGroup) members *= channels / std::max<std::int64_t>(1, config.groups);
  struct Statistic {
    double mean, variance, squares;
  };
  auto memo = std::make_shared<std::map<std::int64_t, Statistic>>();
  // Mean and variance over `count` elements from `begin`, `stride` apart; remembered by `begin`.
  const auto statistic = [memo](const Source& x, std::int64_t begin, std::int64_t count, std::int64_t stride) {
    const auto found = memo->find(begin);
    if (found != memo->end()) return found->second;
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = x[begin + i * stride];
      sum += value;
      squares += value * value;
    }
    const double mean = sum / static_cast<double>(count);
    double variance = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double difference = x[begin + i * stride] - mean;
      variance += difference * difference;
    }
    return (*memo)[begin] = Statistic{mean, variance / static_cast<double>(count), squares};
  };
  const auto at = [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    const Source& x = *operands[0];
    const std::int64_t channel = element / pixels % channels;
    const std::int64_t image = element / pixels / channels;
    // The element of scale and bias.
    const std::int64_t parameter = is_by_row ? element % inner : channel;
    double value = 0;
    switch (config.kind) {
      case NormalizationKind::kBatch: {
        const double mean = (*operands[mean_at])[channel], variance = (*operands[variance_at])[channel];
        value = (x[element] - mean) / std::sqrt(variance + values.epsilon);
        break;
      }
      case NormalizationKind::kLayer:
      case NormalizationKind::kInstance:
      case NormalizationKind::kGroup: {
        const Statistic s = statistic(x, element / members * members, members, 1);
        value = (x[element] - s.mean) / std::sqrt(s.variance + values.epsilon);
        break;
      }
      case NormalizationKind::kRms: {
        const Statistic s = statistic(x, element / members * members, members, 1);
        value = x[element] / std::sqrt(s.squares / static_cast<double>(members) + values.epsilon);
        break;
      }
      case NormalizationKind::kLocalResponse: {
        double squares = 0;
        const std::int64_t before = (config.size - 1) / 2, after = config.size - 1 - before;
        for (std::int64_t c = std::max<std::int64_t>(0, channel - before); c <= std::min(channels - 1, channel + after);
             ++c) {
          const double v = x[(image * channels + c) * pixels + element % pixels];
          squares += v * v;
        }
        value = x[element] /
                std::pow(values.response_k + values.response_alpha * squares / static_cast<double>(config.size),
                         values.response_beta);
        break;
      }
      case NormalizationKind::kLp: {
        const std::int64_t length = shape.dims[axis], stride = inner / length;
        const std::int64_t line = element / inner * inner + element % stride;
        value = x[element] / std::sqrt(std::max(statistic(x, line, length, stride).squares, 1e-300));
        break;
      }
      case NormalizationKind::kMeanVariance: {
        // Over all images and pixels of a channel.
        const auto found = memo->find(channel);
        Statistic s{};
        if (found != memo->end()) {
          s = found->second;
        } else {
          const std::int64_t images = ElementCount(shape) / channels / pixels;
          const double count = static_cast<double>(images * pixels);
          for (int pass = 0; pass < 2; ++pass) {
            for (std::int64_t n = 0; n < images; ++n) {
              for (std::int64_t p = 0; p < pixels; ++p) {
                const double v = x[(n * channels + channel) * pixels + p];
                if (pass == 0) s.mean += v / count;
                if (pass == 1) s.variance += (v - s.mean) * (v - s.mean) / count;
              }
            }
          }
          (*memo)[channel] = s;
        }
        value = (x[element] - s.mean) / (std::sqrt(s.variance) + 1e-9);
        break;
      }
    }
    if (config.scale) value *= (*operands[scale_at])[parameter];
    if (config.bias) value += (*operands[bias_at])[parameter];
    return {value, std::fabs(value)};
  };
  return MakeReferenceOf(static_cast<double>(inner), at);
}

std::unique_ptr<Reference> MakeFamilyReference(const SoftmaxConfig& config) {
  const AxisLines lines = LinesOf(config.input, config.axis);
  const std::int64_t length = lines.length, stride = lines.inner;
  const auto at = [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    const Source& x = *operands[0];
    const std::int64_t begin = element / (length * stride) * (length * stride) + element % stride;
    double largest = -INFINITY, sum = 0;
    std::int64_t largest_at = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      if (x[begin + i * stride] > largest) {
        largest = x[begin + i * stride];
        largest_at = i;
      }
    }
    for (std::int64_t i = 0; i < length; ++i) sum += std::exp(x[begin + i * stride] - largest);
    double value = std::exp(x[element] - largest) / sum;
    if (config.kind == SoftmaxKind::kLogSoftmax) value = x[element] - largest - std::log(sum);
    if (config.kind == SoftmaxKind::kHardmax) value = element == begin + largest_at * stride ? 1 : 0;
    return {value, std::fabs(value)};
  };
  return MakeReferenceOf(static_cast<double>(length) * 3, at);
}

std::unique_ptr<Reference> MakeFamilyReference(const ReductionConfig& config) {
  Shape kept, reduced;
  std::vector<bool> is_reduced(config.input.rank(), false);
  for (std::int64_t axis : config.axes) is_reduced[static_cast<std::size_t>(axis)] = true;
  for (std::size_t i = 0; i < config.input.rank(); ++i) {
    (is_reduced[i] ? reduced : kept).dims.push_back(config.input.dims[i]);
  }
  const std::int64_t count = ElementCount(reduced);
  const auto formula = FormulaOf<double>(config.kind);
  const auto at = [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    const std::vector<std::int64_t> outer = Unravel(element, kept);
    double total = formula.start, absolutes = 0, extreme = 0;
    std::int64_t extreme_at = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::vector<std::int64_t> inner = Unravel(i, reduced);
      std::vector<std::int64_t> position;
      std::size_t next_kept = 0, next_reduced = 0;
      for (std::size_t d = 0; d < is_reduced.size(); ++d) {
        position.push_back(is_reduced[d] ? inner[next_reduced++] : outer[next_kept++]);
      }
      const double x = (*operands[0])[Ravel(position, config.input)];
      absolutes += std::fabs(x);
      if (!IsArgument(config.kind)) {
        total = formula.combined(total, formula.term(x));
      } else if (i == 0 || (config.kind == ReductionKind::kArgMax ? x > extreme : x < extreme)) {
        extreme = x;
        extreme_at = i;
      }
    }
    double value = static_cast<double>(extreme_at);
    if (!IsArgument(config.kind)) value = formula.result(total, static_cast<double>(count));
    if (config.kind == ReductionKind::kMean && IsInteger(config.types.output)) value = std::trunc(value);
    return {StoreAs(config.types.output, value), std::max(std::fabs(value), absolutes)};
  };
  return MakeReferenceOf(static_cast<double>(count) * 8, at);
}

std::unique_ptr<Reference> MakeFamilyReference(const ScanConfig& config) {
  const AxisLines lines = LinesOf(config.input, config.axis);
  const std::int64_t length = lines.length, stride = lines.inner;
  const auto at = [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    double value = config.kind == ScanKind::kSum ? 0 : 1, magnitude = 0;
    const std::int64_t place = element / stride % length;
    for (std::int64_t i = 0; i <= place; ++i) {
      const double x = (*operands[0])[element - (place - i) * stride];
      value = config.kind == ScanKind::kSum ? value + x : value * x;
      magnitude += std::fabs(x);
    }
    return {StoreAs(config.types.output, value), std::max(magnitude, std::fabs(value))};
  };
  return MakeReferenceOf(static_cast<double>(length), at);
}

std::unique_ptr<Reference> MakeFamilyReference(const SortConfig& config) {
  const AxisLines lines = LinesOf(config.input, config.axis);
  const std::int64_t length = lines.length, stride = lines.inner;
  const std::int64_t kept = config.k;
  // Top-k is largest first, a sort smallest first; equal elements keep their order.
  struct Line {
    std::int64_t begin = -1;
    std::vector<std::int64_t> order;
  };
  auto line = std::make_shared<Line>();
  const auto at = [=](std::size_t number, std::int64_t element, const Sources& operands) -> Expected {
    const std::int64_t outer = element / (kept * stride), place = element / stride % kept;
    const std::int64_t begin = outer * length * stride + element % stride;
    if (line->begin != begin) {
      line->begin = begin;
      line->order.resize(static_cast<std::size_t>(length));
      std::iota(line->order.begin(), line->order.end(), 0);
      const Source& x = *operands[0];
      std::ranges::stable_sort(line->order, [&](std::int64_t a, std::int64_t b) {
        const double va = x[begin + a * stride], vb = x[begin + b * stride];
        return config.kind == SortKind::kTopK ? va > vb : va < vb;
      });
    }
    const std::int64_t from = line->order[static_cast<std::size_t>(place)];
    const double value = number == 0 ? (*operands[0])[begin + from * stride] : static_cast<double>(from);
    return {value, std::fabs(value)};
  };
  return MakeReferenceOf(static_cast<double>(length) * 30, at);
}

}  // namespace infimum::cpu
