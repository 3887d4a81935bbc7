// Orders of device memory as a replay's layout tells them apart (reference/replay_layout.h): two placements of a tensor
// are one order exactly when each element lies at the same place, in whatever shapes they are described.
//
//   PlacementOrders orders;
//   orders.Add(TensorPlacement::WithChannels({1x64x56x56}, true))     channels last
//   orders.Add({3136x64 transposed})                                  the same number
//   orders.Add(TensorPlacement::RowMajor(any shape))                  kRowMajorOrder
#pragma once

#include <vector>

#include "infimum/layer/element_order.h"
#include "microbench/gpu/device/gpu.h"
#include "microbench/gpu/device/tensor_placement.h"
#include "microbench/reference/replay_layout.h"

namespace infimum::cuda {

class PlacementOrders : public cpu::ReplayOrders {
 public:
  cpu::OrderId Add(const TensorPlacement& placement);

  bool IsDense(cpu::OrderId order) const override;
  bool HasReorder(cpu::OrderId from, cpu::OrderId to) const override;

  // Of a tensor in that order.
  TensorPlacement PlacementOf(cpu::OrderId order, const Shape& shape) const;

  // Kernels that copy a tensor's elements from the one to the other; places that are none's stay as they are.
  Result<std::vector<KernelCall>> Reorder(cpu::OrderId from, cpu::OrderId to, const Shape& shape, DataType type,
                                          const void* source, void* target) const;

 private:
  struct Known {
    TensorPlacement placement;     // the first that was added
    std::vector<ElementRun> runs;  // normalized
  };
  const Known& At(cpu::OrderId order) const { return known_[order - 1]; }
  std::vector<ElementRun> RunsIn(cpu::OrderId order, const Shape& shape) const;

  std::vector<Known> known_;  // from 1 on; kRowMajorOrder has no entry
};

}  // namespace infimum::cuda
