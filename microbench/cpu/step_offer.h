// What runs one step of a replay: its candidate with the model's values, or what is put in its place.
//
//   Result<StepOffer> offer = FindStepOffer(step);
//   (*offer).place(operands, outputs)   how they should lie in memory
//   (*offer).make(operands, outputs)    the program on these very tensors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "infimum/graph/replay_schedule.h"
#include "infimum/layer/layer_config.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/libraries/onednn/program/program.h"
#include "microbench/reference/replay_layout.h"
#include "microbench/reference/replay_tensors.h"
#include "microbench/reference/step_reference.h"

namespace infimum::cpu {

struct StepOffer {
  std::string candidate;
  std::function<Result<std::vector<Placement>>(const Operands&, const Outputs&)> place;
  std::function<MadeProgram(const Operands&, const Outputs&)> make;
  // An element-wise layer whose operands have the shape of its output: any order serves, if it is that of all.
  bool any_order = false;
  // A movement that layouts spare (kViewCandidate), where the replay's layout can do without it.
  const MovementConfig* view = nullptr;
};

// The step's candidate; where it names none, or one that is not offered with the step's values, the first that is;
// where there is none at all, the f64 reference as a plain kernel (small layers take no harm, large ones take long).
// `step` lives longer.
Result<StepOffer> FindStepOffer(const ReplayStep& step);

// Whether that is the candidate which a schedule names so. A benchmark, which gives 8-bit layers no scales, knows a
// kernel by its plain name.
bool IsScheduled(const StepOffer& offer, const std::string& name);

// The orders of memory that steps want, as numbers that the replay's layout goes by.
//
//   OrderTable orders;
//   INFIMUM_ASSIGN_OR_RETURN(const std::vector<StepOrders> wanted, WantedOrders(schedule, offers, tensors, orders));
//   INFIMUM_ASSIGN_OR_RETURN(const ReplayLayout layout, LayOut(schedule, wanted, orders));
//   orders.OrderAt(layout.buffers[5].order)
class OrderTable : public ReplayOrders {
 public:
  OrderId Add(const OrderOf& order);
  // Of results of a transpose or split that lie where the operand does; empty where the operand's order has gaps, or no
  // part of it is a result.
  std::vector<StepOrders::Part> ViewsIn(OrderId id, const MovementConfig& movement);
  // Of a concatenation's result in that layout and of the operands that lie in it; nullopt where they cannot.
  std::optional<StepOrders::Joined> Joined(const MovementConfig& concat, std::string_view layout);
  const OrderOf& OrderAt(OrderId id) const { return orders_[id]; }
  bool IsDense(OrderId order) const override { return orders_[order] == nullptr || orders_[order]->dense(); }
  bool HasReorder(OrderId from, OrderId to) const override { return cpu::HasReorder(orders_[from], orders_[to]); }

 private:
  // Empty where oneDNN cannot describe one of them.
  std::vector<StepOrders::Part> PartsOf(const InPlaceMovement& in_place);

  std::vector<OrderOf> orders_ = {nullptr};  // kRowMajorOrder
};

// `offers`: one for each step, those that run once left empty. Weights have their data, since constants may decide a
// layout.
Result<std::vector<StepOrders>> WantedOrders(const ReplaySchedule& schedule, const std::vector<StepOffer>& offers,
                                             const ReplayTensors& tensors, OrderTable& orders);

}  // namespace infimum::cpu
