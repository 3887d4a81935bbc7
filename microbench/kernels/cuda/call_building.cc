#include "microbench/kernels/cuda/call_building.h"

#include <iterator>
#include <utility>

namespace infimum::cuda {

namespace {

constexpr std::pair<DataType, Element> kElements[] = {
#define INFIMUM_PAIR(name, stored) {DataType::name, Element::name},
    INFIMUM_ELEMENTS(INFIMUM_PAIR)
#undef INFIMUM_PAIR
};

}  // namespace

Element ElementOf(DataType type) {
  const auto* const row = std::ranges::find(kElements, type, &std::pair<DataType, Element>::first);
  return row != std::end(kElements) ? row->second : Element::kNone;
}

int ElementBytes(DataType type) {
  const int bits = BitsPerElement(type);
  return bits % 8 == 0 ? bits / 8 : 0;
}

std::optional<Arithmetic> RealArithmetic(DataType type) {
  switch (type) {
    case DataType::kF32:
    case DataType::kF16:
    case DataType::kBF16:
      return Arithmetic::kF32;
    case DataType::kF64:
      return Arithmetic::kF64;
    default:
      return std::nullopt;
  }
}

std::int64_t Iteration::count() const {
  std::int64_t result = 1;
  for (const std::int64_t dim : dims) result *= dim;
  return result;
}

void Iteration::Merge(std::vector<bool>* kept) {
  std::vector<bool> stay = kept != nullptr ? *kept : std::vector<bool>(dims.size(), false);
  Iteration merged;
  merged.steps.resize(steps.size());
  std::vector<bool> merged_stay;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1 && !stay[d]) continue;
    bool joins = !merged.dims.empty() && !stay[d] && !merged_stay.back();
    for (std::size_t t = 0; joins && t < steps.size(); ++t) joins = merged.steps[t].back() == steps[t][d] * dims[d];
    if (joins) {
      merged.dims.back() *= dims[d];
      for (std::size_t t = 0; t < steps.size(); ++t) merged.steps[t].back() = steps[t][d];
      continue;
    }
    merged.dims.push_back(dims[d]);
    merged_stay.push_back(stay[d]);
    for (std::size_t t = 0; t < steps.size(); ++t) merged.steps[t].push_back(steps[t][d]);
  }
  *this = std::move(merged);
  if (kept != nullptr) *kept = std::move(merged_stay);
}

std::vector<std::int64_t> BroadcastSteps(const Shape& operand, const std::vector<std::int64_t>& dims) {
  const std::vector<std::int64_t> own = PackedSteps(operand.dims);
  std::vector<std::int64_t> steps(dims.size(), 0);
  const std::size_t offset = dims.size() - operand.rank();
  for (std::size_t d = 0; d < operand.rank(); ++d) {
    if (operand.dims[d] != 1) steps[offset + d] = own[d];
  }
  return steps;
}

std::optional<Box> BoxOf(const std::vector<std::int64_t>& dims) {
  if (dims.size() > kMostDims) return std::nullopt;
  Box box;
  std::int64_t count = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] < 1 || !FitsCount(dims[d]) || !FitsCount(count *= dims[d])) return std::nullopt;
    box.size[box.rank++] = FastDivisor(dims[d]);
  }
  return box;
}

std::optional<Steps> StepsOf(const std::vector<std::int64_t>& steps) {
  if (steps.size() > kMostDims) return std::nullopt;
  Steps result;
  for (std::size_t d = 0; d < steps.size(); ++d) {
    const std::int64_t step = steps[steps.size() - 1 - d];
    if (!FitsCount(step) || !FitsCount(-step)) return std::nullopt;
    result.at[d] = static_cast<std::int32_t>(step);
  }
  return result;
}

}  // namespace infimum::cuda
