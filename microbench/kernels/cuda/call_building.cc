#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {

Element ElementOf(DataType type) {
  switch (type) {
    case DataType::kF64:
      return Element::kF64;
    case DataType::kF32:
      return Element::kF32;
    case DataType::kF16:
      return Element::kF16;
    case DataType::kBF16:
      return Element::kBF16;
    case DataType::kS64:
      return Element::kS64;
    case DataType::kS32:
      return Element::kS32;
    case DataType::kS16:
      return Element::kS16;
    case DataType::kS8:
      return Element::kS8;
    case DataType::kU64:
      return Element::kU64;
    case DataType::kU32:
      return Element::kU32;
    case DataType::kU16:
      return Element::kU16;
    case DataType::kU8:
      return Element::kU8;
    case DataType::kBool:
      return Element::kBool;
    default:
      return Element::kNone;
  }
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

std::vector<std::int64_t> PackedSteps(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> steps(dims.size());
  std::int64_t step = 1;
  for (std::size_t d = dims.size(); d-- > 0; step *= dims[d]) steps[d] = step;
  return steps;
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
