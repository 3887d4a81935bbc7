// The orders of memory that a replay's steps want (memory_order.h), as numbers that its layout goes by.
//
//   OrderTable orders;
//   INFIMUM_ASSIGN_OR_RETURN(const std::vector<StepOrders> wanted, WantedOrders(schedule, offers, tensors, orders));
//   INFIMUM_ASSIGN_OR_RETURN(const ReplayLayout layout, LayOut(schedule, wanted, orders));
//   orders.OrderAt(layout.buffers[5].order)
#pragma once

#include <vector>

#include "microbench/cpu/step_offer.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/reference/replay_layout.h"
#include "microbench/reference/replay_tensors.h"

namespace infimum::cpu {

class OrderTable : public ReplayOrders {
 public:
  OrderId Add(const OrderOf& order);
  const OrderOf& OrderAt(OrderId id) const { return orders_[id]; }
  bool IsDense(OrderId order) const override { return orders_[order] == nullptr || orders_[order]->dense(); }
  bool HasReorder(OrderId from, OrderId to) const override { return cpu::HasReorder(orders_[from], orders_[to]); }

 private:
  std::vector<OrderOf> orders_ = {nullptr};  // kRowMajorOrder
};

// `offers`: one for each step, those that run once left empty. Weights have their data, since constants may decide a
// layout.
Result<std::vector<StepOrders>> WantedOrders(const ReplaySchedule& schedule, const std::vector<StepOffer>& offers,
                                             const ReplayTensors& tensors, OrderTable& orders);

}  // namespace infimum::cpu
