#include "microbench/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "microbench/reference/dequantized_form.h"
#include "microbench/reference/random_fill.h"
#include "src/core/layer/small_float.h"

namespace infimum::cpu {

std::unique_ptr<Reference> MakeReference(const LayerConfig& config, const LayerValues& values) {
  if (std::unique_ptr<Reference> dequantized = MakeDequantizedReference(config, values)) return dequantized;
  return std::visit(
      [&](const auto& c) {
        if constexpr (requires { MakeFamilyReference(c, values); }) {
          return MakeFamilyReference(c, values);
        } else {
          return MakeFamilyReference(c);
        }
      },
      config);
}

double StoreAs(DataType type, double value) {
  if (type == DataType::kBool) return value != 0 ? 1 : 0;
  if (const SmallFloat* small = SmallFloatOf(type); small != nullptr && small->saturates) {
    const double largest = small->ValueOf(small->BitsOf(INFINITY));
    return std::clamp(value, -largest, largest);
  }
  // The next power of two is as far away as the number is large: no tolerance has room for that.
  if (type == DataType::kF8E8M0) return PowerOfScale(ScaleOfPower(value));
  if (!IsInteger(type)) return value;
  const IntegerRange range = RangeOf(type);
  return std::clamp(std::nearbyint(value), range.least, range.most);
}

std::vector<std::int64_t> Unravel(std::int64_t element, const Shape& shape) {
  std::vector<std::int64_t> position(shape.rank());
  for (std::size_t i = shape.rank(); i-- > 0;) {
    position[i] = element % shape.dims[i];
    element /= shape.dims[i];
  }
  return position;
}

std::int64_t Ravel(const std::vector<std::int64_t>& position, const Shape& shape) {
  std::int64_t element = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i) element = element * shape.dims[i] + position[i];
  return element;
}

std::int64_t BroadcastElement(std::int64_t element, const Shape& output, const Shape& operand) {
  const std::vector<std::int64_t> position = Unravel(element, output);
  std::int64_t result = 0;
  const std::size_t offset = output.rank() - operand.rank();
  for (std::size_t i = 0; i < operand.rank(); ++i) {
    result = result * operand.dims[i] + (operand.dims[i] == 1 ? 0 : position[offset + i]);
  }
  return result;
}

double LargestError(const Reference& reference, ErrorMeasure measure, const Sources& sources,
                    const std::vector<HostTensor*>& outputs, std::uint64_t seed, KnownValues* known) {
  // About a fifth of a second; never fewer than 64 elements of each output.
  const double affordable = 2e7 / std::max(1.0, reference.cost());
  const std::int64_t most = static_cast<std::int64_t>(std::clamp(affordable, 64.0, 4096.0));
  double largest = 0;
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    const HostTensor& tensor = *outputs[output];
    const std::int64_t count = tensor.count();
    const std::int64_t checked = std::min(count, most);
    double largest_reference = 0, largest_difference = 0;
    for (std::int64_t i = 0; i < checked; ++i) {
      // All elements of a small output; of a large one the corners and a random rest.
      std::int64_t element = i;
      if (count > most && i >= 2) {
        element =
            static_cast<std::int64_t>(HashOf(seed, static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(count));
      } else if (count > most) {
        element = i == 0 ? 0 : count - 1;
      }
      const auto compute = [&] { return reference.At(output, element, sources); };
      const Expected expected = known != nullptr ? known->Next(compute) : compute();
      const double value = tensor.Get(element);
      if (std::isnan(value) && std::isnan(expected.value)) continue;
      double difference = value == expected.value ? 0 : std::fabs(value - expected.value);
      if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
      switch (measure) {
        case ErrorMeasure::kProduct:
          difference /= std::max(expected.magnitude, 1e-30);
          break;
        case ErrorMeasure::kRelative:
          difference /= std::max(std::fabs(expected.value), 1.0);
          break;
        case ErrorMeasure::kMaximum:
          if (std::isfinite(expected.value)) {
            largest_reference = std::max(largest_reference, std::fabs(expected.value));
          }
          break;
        case ErrorMeasure::kSteps:
          break;
      }
      largest_difference = std::max(largest_difference, difference);
    }
    if (measure == ErrorMeasure::kMaximum && largest_difference > 0) {
      largest_difference /= std::max(largest_reference, 1e-30);
    }
    largest = std::max(largest, largest_difference);
  }
  return largest;
}

}  // namespace infimum::cpu
