#include "microbench/cpu/step_orders.h"

#include <deque>

#include "infimum/base/text.h"

namespace infimum::cpu {
namespace {

// Tensors that have shapes and types but, weights apart, no memory: to ask for placements.
Result<std::deque<HostTensor>> Described(const std::vector<std::size_t>& tensors, const std::vector<Operand>& seen_as,
                                         const ReplayTensors& given) {
  std::deque<HostTensor> described;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    INFIMUM_ASSIGN_OR_RETURN(HostTensor tensor,
                             HostTensor::Over(given.given(tensors[i]).data(), seen_as[i].shape, seen_as[i].type));
    described.push_back(std::move(tensor));
  }
  return described;
}

Result<StepOrders> OrdersOf(const ReplayStep& step, const StepOffer& offer, const ReplayTensors& given,
                            OrderTable& orders) {
  StepOrders wanted{offer.any_order, std::vector<OrderId>(step.operands.size(), kRowMajorOrder),
                    std::vector<OrderId>(step.outputs.size(), kRowMajorOrder)};
  if (offer.any_order) return wanted;
  INFIMUM_ASSIGN_OR_RETURN(std::deque<HostTensor> operands, Described(step.operands, OperandsOf(step.workload), given));
  INFIMUM_ASSIGN_OR_RETURN(std::deque<HostTensor> outputs, Described(step.outputs, OutputsOf(step.workload), given));
  Operands operand_pointers;
  Outputs output_pointers;
  for (const HostTensor& operand : operands) operand_pointers.push_back(&operand);
  for (HostTensor& output : outputs) output_pointers.push_back(&output);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Placement> placements, offer.place(operand_pointers, output_pointers));
  for (const Placement& placement : placements) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operand_pointers[i] == placement.tensor) wanted.reads[i] = orders.Add(placement.order);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (output_pointers[i] == placement.tensor) wanted.writes[i] = orders.Add(placement.order);
    }
  }
  return wanted;
}

}  // namespace

OrderId OrderTable::Add(const OrderOf& order) {
  for (OrderId id = 0; id < orders_.size(); ++id) {
    if (SameOrder(orders_[id], order)) return id;
  }
  orders_.push_back(order);
  return orders_.size() - 1;
}

Result<std::vector<StepOrders>> WantedOrders(const ReplaySchedule& schedule, const std::vector<StepOffer>& offers,
                                             const ReplayTensors& tensors, OrderTable& orders) {
  std::vector<StepOrders> wanted(schedule.steps.size());
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const ReplayStep& step = schedule.steps[i];
    if (RunsOnce(schedule, step)) continue;
    Result<StepOrders> of = OrdersOf(step, offers[i], tensors, orders);
    if (!of.ok()) return Within("step " + Quoted(step.name), of.error());
    wanted[i] = *std::move(of);
  }
  return wanted;
}

}  // namespace infimum::cpu
