#include "src/core/layer/family.h"

#include "infimum/base/text.h"

namespace infimum {

Result<Flops> ExactCount::AsFlops() const {
  if (overflowed_ || value_ >= kMaxFlops)
    return Error{"the layer has 2^62 operations or more, which no exact count here can hold"};
  return Flops{value_};
}

Status CheckTensor(std::string_view field, const Shape& shape) {
  const std::string name(field);
  if (shape.rank() > kMaxRank)
    return Error{name + " has " + std::to_string(shape.rank()) + " dimensions, at most " + std::to_string(kMaxRank) +
                 " are possible"};
  const Result<std::int64_t> count = CheckedElementCount(shape);
  if (!count.ok()) return Within(name, count.error());
  if (*count == 0)
    return Error{name + "=" + Format(shape) + " has no elements: such a layer costs nothing and is not measured"};
  return {};
}

Status CheckSpatial(std::string_view field, const Shape& shape, std::size_t rank) {
  const std::string name(field);
  if (shape.rank() != rank)
    return Error{name + "=" + Quoted(Format(shape)) + " has " + std::to_string(shape.rank()) +
                 " dimensions, but there are " + std::to_string(rank) + " spatial ones"};
  for (const std::int64_t dim : shape.dims) INFIMUM_RETURN_IF_ERROR(CheckRange(field, dim, 1, kMaxSpatialExtent));
  return {};
}

Status CheckRange(std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return Error{std::string(field) + " holds " + std::to_string(value) + ", it must be from " + std::to_string(least) +
               " to " + std::to_string(most)};
}

Status CheckTypes(const OperandTypes& types, bool weights) {
  if (types.input == DataType::kNone) return Error{"dtype has no input type, write it before the first ':'"};
  if (types.output == DataType::kNone) return Error{"dtype has no output type, write it after the second ':'"};
  if (weights && types.weights == DataType::kNone)
    return Error{"dtype has no type for the second operand, write it between the ':'"};
  if (!weights && types.weights != DataType::kNone)
    return Error{"dtype has a type for a second operand, which this layer does not have: write '-' between the ':'"};
  return {};
}

Bytes SizeOf(const Operand& operand) { return SizeOf(operand.type, ElementCount(operand.shape)); }

Work WholeWork(const std::vector<Operand>& operands, const std::vector<Operand>& outputs, Flops flops) {
  Work work;
  work.direct = work.conventional = flops;
  for (const Operand& operand : operands) work.operand_reads.push_back(SizeOf(operand));
  for (const Operand& output : outputs) work.written += SizeOf(output);
  return work;
}

Shape OuterAxisInner(const Shape& shape, std::size_t axis) {
  return Shape{{ElementsBetween(shape, 0, axis), shape.dims[axis], ElementsBetween(shape, axis + 1, shape.rank())}};
}

std::int64_t ElementsBetween(const Shape& shape, std::size_t first, std::size_t last) {
  std::int64_t count = 1;
  for (std::size_t i = first; i < last; ++i) count *= shape.dims[i];
  return count;
}

}  // namespace infimum
