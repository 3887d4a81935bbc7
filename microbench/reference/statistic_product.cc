#include "microbench/reference/statistic_product.h"

#include <bit>

namespace infimum::cpu {
namespace {

constexpr std::int64_t kLongestScan = 512;

bool IsSummed(const OperandTypes& types) {
  return IsFloatingPoint(types.input) && types.input == types.output && BitsPerElement(types.input) >= 16 &&
         BitsPerElement(types.input) <= 32;
}

// Of outer x length x inner elements: length x width sums of each line, by a constant of its own type.
StatisticProduct ProductOf(DataType type, std::int64_t outer, std::int64_t length, std::int64_t inner,
                           std::int64_t width) {
  StatisticProduct made;
  made.product.types = {type, type, type};
  if (inner == 1) {
    made.product.a = Shape{{1, outer, length}};
    made.product.b = Shape{{1, length, width}};
  } else {
    made.constant = 0;
    made.product.a = Shape{{1, width, length}};
    made.product.b = Shape{{outer, length, inner}};
    made.product.weights = Constness::kVariable;
  }
  return made;
}

std::optional<StatisticProduct> Of(const ReductionConfig& config) {
  const bool is_mean = config.kind == ReductionKind::kMean;
  if ((config.kind != ReductionKind::kSum && !is_mean) || config.axes.size() != 1) return std::nullopt;
  std::int64_t outer = 1, inner = 1;
  const auto axis = static_cast<std::size_t>(config.axes[0]);
  for (std::size_t d = 0; d < config.input.rank(); ++d)
    if (d != axis) (d < axis ? outer : inner) *= config.input.dims[d];
  const std::int64_t length = config.input.dims[axis];
  // A power of two that is no subnormal in f16.
  const bool holds_factor = config.types.input == DataType::kF32 ||
                            (length <= 1 << 14 && std::has_single_bit(static_cast<std::uint64_t>(length)));
  if (!IsSummed(config.types) || (is_mean && !holds_factor)) return std::nullopt;
  StatisticProduct made = ProductOf(config.types.input, outer, length, inner, 1);
  if (is_mean) made.value = 1 / static_cast<double>(length);
  return made;
}

std::optional<StatisticProduct> Of(const ScanConfig& config) {
  const std::vector<std::int64_t>& dims = config.input.dims;
  if (config.kind != ScanKind::kSum || !IsSummed(config.types) || dims.size() != 3 || config.axis != 1 ||
      dims[1] > kLongestScan)
    return std::nullopt;
  StatisticProduct made = ProductOf(config.types.input, dims[0], dims[1], dims[2], dims[1]);
  made.is_triangle = true;
  return made;
}

}  // namespace

Result<HostTensor> StatisticProduct::Constant() const {
  const Shape& shape = constant == 0 ? product.a : product.b;
  INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::Make(shape, product.types.input));
  const std::int64_t columns = shape.dims[2];
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const std::int64_t row = i / columns, column = i % columns;
    const bool is_summed = !is_triangle || (constant == 1 ? row <= column : column <= row);
    if (is_summed) tensor.Set(i, value);
  }
  return tensor;
}

std::optional<StatisticProduct> StatisticProductOf(const LayerConfig& config) {
  if (const auto* reduction = std::get_if<ReductionConfig>(&config)) return Of(*reduction);
  if (const auto* scan = std::get_if<ScanConfig>(&config)) return Of(*scan);
  return std::nullopt;
}

std::optional<Candidate> StatisticCandidate(const Candidate& product) {
  const bool lies_so = product.input_layout == "abc" || product.input_layout == "abc,abc";
  if (!lies_so || product.output_layout != "abc") return std::nullopt;
  Candidate candidate = product;
  candidate.algorithm = std::string(kAsMatMul) + product.algorithm;
  candidate.input_layout = candidate.output_layout = "plain";
  candidate.library_choice = false;
  return candidate;
}

}  // namespace infimum::cpu
