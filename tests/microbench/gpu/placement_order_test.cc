// Two placements are one order exactly when each element lies at the same place; a change of order moves each there.
#include "microbench/gpu/placement_order.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/microbench/gpu/run_on_host.h"

namespace infimum::cuda {
namespace {

using cpu::kRowMajorOrder;
using cpu::OrderId;

const Shape kShape{{2, 6, 4, 5}};

TEST(PlacementOrders, AreTheSameInWhateverShapeATensorIsSeen) {
  PlacementOrders orders;
  EXPECT_EQ(orders.Add(TensorPlacement::RowMajor(kShape)), kRowMajorOrder);
  EXPECT_EQ(orders.Add(TensorPlacement::RowMajor(Shape{{240}})), kRowMajorOrder);
  const OrderId last = orders.Add(TensorPlacement::WithChannels(kShape, true));
  EXPECT_NE(last, kRowMajorOrder);
  EXPECT_EQ(orders.Add({Shape{{2, 6, 20}}, Shape{{2, 6, 20}}, {120, 1, 6}}), last);
  EXPECT_NE(orders.Add(TensorPlacement::WithChannels(kShape, true, 8)), last);
  // One image with one channel lies alike either way.
  EXPECT_EQ(orders.Add(TensorPlacement::WithChannels(Shape{{1, 1, 4, 5}}, true)), kRowMajorOrder);
}

TEST(PlacementOrders, OnlyThoseWithoutGapsAreDense) {
  PlacementOrders orders;
  EXPECT_TRUE(orders.IsDense(kRowMajorOrder));
  EXPECT_TRUE(orders.IsDense(orders.Add(TensorPlacement::WithChannels(kShape, true))));
  EXPECT_FALSE(orders.IsDense(orders.Add(TensorPlacement::WithChannels(kShape, true, 8))));
}

TEST(PlacementOrders, AReorderMovesEachElementToItsPlace) {
  PlacementOrders orders;
  std::vector<OrderId> all = {kRowMajorOrder};
  for (const std::int64_t multiple : {1, 8}) {
    for (const bool last : {true, false})
      all.push_back(orders.Add(TensorPlacement::WithChannels(kShape, last, multiple)));
  }
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kS8}) {
    cpu::HostTensor tensor = *cpu::HostTensor::Make(kShape, type);
    for (std::int64_t i = 0; i < tensor.count(); ++i) tensor.Set(i, static_cast<double>(i % 120));
    for (const OrderId from : all) {
      for (const OrderId to : all) {
        ASSERT_TRUE(orders.HasReorder(from, to));
        const std::vector<std::byte> source = Packed(tensor, orders.PlacementOf(from, kShape), tensor.type());
        const TensorPlacement wanted = orders.PlacementOf(to, kShape);
        // Places that are no element's are zero before, and stay so.
        std::vector<std::byte> target(static_cast<std::size_t>(wanted.bytes(type).value));
        const auto calls = orders.Reorder(from, to, kShape, type, source.data(), target.data());
        ASSERT_TRUE(calls.ok());
        for (const KernelCall& call : *calls) RunOnHost(call);
        EXPECT_EQ(target, Packed(tensor, wanted, tensor.type())) << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace infimum::cuda
