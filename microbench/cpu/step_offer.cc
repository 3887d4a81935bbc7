#include "microbench/cpu/step_offer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "infimum/base/text.h"
#include "microbench/cpu/offers.h"
#include "microbench/cpu/row_major.h"
#include "microbench/libraries/onednn/program/region_problem.h"
#include "microbench/reference/dequantized_form.h"
#include "microbench/reference/reference.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

// Pack, run and unpack as one: for programs that keep copies of their own.
class PackedProgram : public Program {
 public:
  explicit PackedProgram(std::unique_ptr<Program> inner) : inner_(std::move(inner)) {}
  Status Run() override { return RunRowMajor(*inner_); }
  Bytes footprint() const override { return inner_->footprint(); }
  std::vector<ConstantBlock> Constants() override { return inner_->Constants(); }

 private:
  std::unique_ptr<Program> inner_;
};

std::unique_ptr<Program> Packed(std::unique_ptr<Program> program) {
  if (program->in_place()) return program;
  return std::make_unique<PackedProgram>(std::move(program));
}

// A region's program with the tensors between its members.
class RegionProgram : public Program {
 public:
  Status Prepare(const Region& region, const RegionValues& values, const RegionOffer& offer, const Operands& operands,
                 const Outputs& outputs) {
    INFIMUM_RETURN_IF_ERROR(tensors_.Make(region, values, operands, outputs));
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, offer.make(tensors_.problem()));
    program_ = Packed(std::move(program));
    return {};
  }
  Status Run() override { return program_->Run(); }
  Bytes footprint() const override { return program_->footprint(); }
  std::vector<ConstantBlock> Constants() override { return program_->Constants(); }

 private:
  StepProblem tensors_;
  std::unique_ptr<Program> program_;
};

// Every element as the reference says.
class ReferenceProgram : public Program {
 public:
  ReferenceProgram(LayerConfig config, LayerValues values, Operands operands, Outputs outputs)
      : config_(std::move(config)),
        values_(std::move(values)),
        operands_(std::move(operands)),
        outputs_(std::move(outputs)) {}
  Status Run() override {
    ComputeReference(config_, values_, operands_, outputs_);
    return {};
  }
  Bytes footprint() const override {
    Bytes bytes;
    for (const HostTensor* operand : operands_) bytes += Bytes{static_cast<std::int64_t>(operand->bytes())};
    return bytes;
  }

 private:
  LayerConfig config_;
  LayerValues values_;
  Operands operands_;
  Outputs outputs_;
};

Result<std::vector<Placement>> AllRowMajor(const Operands&, const Outputs&) { return std::vector<Placement>(); }

StepOffer FromLayer(const LayerConfig& config, const Offer& offer) {
  StepOffer result{offer.candidate.name(), AllRowMajor, nullptr, IsElementwise(config)};
  if (offer.place && !result.any_order) {
    result.place = [config, place = offer.place](const Operands& operands, const Outputs& outputs) {
      return place(Problem{config, operands, outputs});
    };
  }
  result.make = [config, make = offer.make](const Operands& operands, const Outputs& outputs) -> MadeProgram {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, make(Problem{config, operands, outputs}));
    return Packed(std::move(program));
  };
  return result;
}

bool IsCandidate(std::string own, const std::string& name) {
  if (own == name) return true;
  const std::size_t at = own.find(kDequantized);
  return at != std::string::npos && own.erase(at, kDequantized.size()) == name;
}

Result<StepOffer> FindLayerOffer(const ReplayStep& step, const LayerConfig& config, const LayerValues& values) {
  const std::vector<Offer> offers = OffersFor(config, CandidateTier::kExhaustive, values);
  for (const Offer& offer : offers) {
    if (IsCandidate(offer.candidate.name(), step.candidate.name)) return FromLayer(config, offer);
  }
  if (!offers.empty()) {
    const auto fallback = [](const Offer& offer) { return offer.reference; };
    const auto first = std::ranges::find_if_not(offers, fallback);
    return FromLayer(config, first != offers.end() ? *first : offers.front());
  }
  if (MakeReference(config, values) == nullptr) return Error{"unsupported: nothing here runs this layer"};
  StepOffer result{"infimum/reference", AllRowMajor, nullptr, IsElementwise(config)};
  result.make = [config, values](const Operands& operands, const Outputs& outputs) -> MadeProgram {
    return std::unique_ptr<Program>(std::make_unique<ReferenceProgram>(config, values, operands, outputs));
  };
  return result;
}

Result<StepOffer> FindRegionOffer(const ReplayStep& step, const Region& region, const RegionValues& values) {
  std::vector<RegionOffer> offers = RegionOffersFor(region, CandidateTier::kExhaustive, values);
  if (offers.empty()) return Error{"unsupported: nothing here runs this region"};
  const auto named = std::ranges::find_if(
      offers, [&](const RegionOffer& offer) { return offer.candidate.name() == step.candidate.name; });
  const RegionOffer offer = named != offers.end() ? *named : offers.back();
  StepOffer result{offer.candidate.name(), AllRowMajor, nullptr, IsElementwise(region)};
  if (offer.place && !result.any_order) {
    result.place = [=](const Operands& operands, const Outputs& outputs) -> Result<std::vector<Placement>> {
      StepProblem tensors;
      INFIMUM_RETURN_IF_ERROR(tensors.Make(region, values, operands, outputs));
      return offer.place(tensors.problem());
    };
  }
  result.make = [=](const Operands& operands, const Outputs& outputs) -> MadeProgram {
    return Prepared<Program>(std::make_unique<RegionProgram>(), region, values, offer, operands, outputs);
  };
  return result;
}

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
  if (offer.view != nullptr && offer.view->kind == MovementKind::kConcat) {
    wanted.joined = orders.Joined(*offer.view, step.candidate.output_layout);
  } else if (offer.view != nullptr) {
    wanted.view = [&orders, view = offer.view](OrderId order) { return orders.ViewsIn(order, *view); };
  }
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

Result<StepOffer> FindStepOffer(const ReplayStep& step) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<LayerValues> values, ValuesOf(step));
  if (const auto* config = std::get_if<LayerConfig>(&step.workload)) {
    INFIMUM_ASSIGN_OR_RETURN(StepOffer offer, FindLayerOffer(step, *config, values[0]));
    const auto* movement = std::get_if<MovementConfig>(config);
    const bool changes = DequantizedForm(*config, values[0]).has_value();
    const bool may_stay = movement != nullptr && MayStayInPlace(*movement) && !changes;
    if (may_stay && step.candidate.name == kViewCandidate) offer.view = movement;
    return offer;
  }
  return FindRegionOffer(step, std::get<Region>(step.workload), values);
}

bool IsScheduled(const StepOffer& offer, const std::string& name) {
  return name == kViewCandidate ? offer.view != nullptr : IsCandidate(offer.candidate, name);
}

OrderId OrderTable::Add(const OrderOf& order) {
  for (OrderId id = 0; id < orders_.size(); ++id) {
    if (SameOrder(orders_[id], order)) return id;
  }
  orders_.push_back(order);
  return orders_.size() - 1;
}

std::vector<StepOrders::Part> OrderTable::PartsOf(const InPlaceMovement& in_place) {
  std::vector<StepOrders::Part> parts;
  for (std::size_t i = 0; i < in_place.orders.size(); ++i) {
    if (in_place.orders[i].size() > DNNL_MAX_NDIMS) return {};
    parts.push_back({Add(OrderOfRuns(in_place.orders[i])), in_place.offsets[i]});
  }
  return parts;
}

std::vector<StepOrders::Part> OrderTable::ViewsIn(OrderId id, const MovementConfig& movement) {
  const Shape& shape = movement.inputs[0];
  const OrderOf& order = orders_[id];
  if (order != nullptr && !order->exact) return {};
  const std::vector<ElementRun>& runs = order != nullptr ? order->runs : RowMajorOrder(shape).runs;
  std::optional<InPlaceMovement> in_place;
  if (movement.kind == MovementKind::kSplit) {
    in_place = InPlace(movement, runs);
  } else if (auto moved = TransposedInPlace(runs, shape, movement.permutation)) {
    in_place = {{*std::move(moved)}, {0}};
  }
  return in_place ? PartsOf(*in_place) : std::vector<StepOrders::Part>();
}

std::optional<StepOrders::Joined> OrderTable::Joined(const MovementConfig& concat, std::string_view layout) {
  const std::optional<ElementOrder> order = ParseLayout(layout, concat.outputs[0]);
  if (!order || !order->is_dense() || order->runs.size() > DNNL_MAX_NDIMS) return std::nullopt;
  const std::optional<InPlaceMovement> in_place = InPlace(concat, order->runs);
  StepOrders::Joined joined;
  if (in_place) joined = {Add(OrderOfRuns(order->runs)), PartsOf(*in_place)};
  return joined.parts.empty() ? std::nullopt : std::optional(std::move(joined));
}

Result<std::vector<StepOrders>> WantedOrders(const ReplaySchedule& schedule, const std::vector<StepOffer>& offers,
                                             const ReplayTensors& tensors, OrderTable& orders) {
  std::vector<StepOrders> wanted(schedule.steps.size());
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const ReplayStep& step = schedule.steps[i];
    if (RunsOnce(schedule, step)) continue;
    INFIMUM_ASSIGN_OR_RETURN(wanted[i],
                             Within("step " + Quoted(step.name), OrdersOf(step, offers[i], tensors, orders)));
  }
  return wanted;
}

}  // namespace infimum::cpu
