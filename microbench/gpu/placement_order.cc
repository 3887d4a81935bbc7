#include "microbench/gpu/placement_order.h"

#include "microbench/kernels/cuda/kernel_offers.h"

namespace infimum::cuda {
namespace {

std::vector<ElementRun> RunsOf(const TensorPlacement& placement) {
  std::vector<ElementRun> runs;
  std::int64_t logical = 1;
  for (std::size_t i = placement.shape.rank(); i-- > 0;) {
    runs.push_back({placement.shape.dims[i], logical, placement.strides[i]});
    logical *= placement.shape.dims[i];
  }
  return Normalized(std::move(runs));
}

}  // namespace

cpu::OrderId PlacementOrders::Add(const TensorPlacement& placement) {
  if (placement.is_row_major()) return cpu::kRowMajorOrder;
  Known added{placement, RunsOf(placement)};
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (known_[i].runs == added.runs && known_[i].placement.elements() == placement.elements()) return i + 1;
  }
  known_.push_back(std::move(added));
  return known_.size();
}

bool PlacementOrders::IsDense(cpu::OrderId order) const {
  return order == cpu::kRowMajorOrder || At(order).placement.shape == At(order).placement.room;
}

std::vector<ElementRun> PlacementOrders::RunsIn(cpu::OrderId order, const Shape& shape) const {
  return order == cpu::kRowMajorOrder ? RowMajorOrder(shape).runs : At(order).runs;
}

bool PlacementOrders::HasReorder(cpu::OrderId from, cpu::OrderId to) const {
  if (from == cpu::kRowMajorOrder || to == cpu::kRowMajorOrder) return true;
  return OverCommonDimensions(At(from).runs, At(to).runs).has_value();
}

TensorPlacement PlacementOrders::PlacementOf(cpu::OrderId order, const Shape& shape) const {
  return order == cpu::kRowMajorOrder ? TensorPlacement::RowMajor(shape) : At(order).placement;
}

Result<std::vector<KernelCall>> PlacementOrders::Reorder(cpu::OrderId from, cpu::OrderId to, const Shape& shape,
                                                         DataType type, const void* source, void* target) const {
  const std::optional<CommonDimensions> common = OverCommonDimensions(RunsIn(from, shape), RunsIn(to, shape));
  if (!common) return Error{"unsupported: no direct reorder between these layouts"};
  const std::vector<KernelOffer> offers = KernelsForReorder(type, *common);
  if (offers.empty()) return Error{"unsupported: no reorder for this type and size"};
  // Through tiles where there are any: the two sides' neighbours differ.
  const auto is_tiled = [](const KernelOffer& offer) { return offer.algorithm.find(":tile") != std::string::npos; };
  const KernelOffer* chosen = &offers.front();
  for (const KernelOffer& offer : offers) {
    if (!is_tiled(offer)) continue;
    chosen = &offer;
    break;
  }
  return chosen->make({{source}, {target}, nullptr});
}

}  // namespace infimum::cuda
