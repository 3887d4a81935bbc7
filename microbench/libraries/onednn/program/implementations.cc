#include "microbench/libraries/onednn/program/implementations.h"

#include "microbench/libraries/onednn/program/element_runs.h"

namespace infimum::cpu {
namespace {

using onednn::Argument;

OrderOf OrderOfArgument(const onednn::Implementation& implementation, const Argument& argument) {
  const dnnl::memory::desc wanted = implementation.Wanted(argument.id);
  if (wanted.is_zero()) return nullptr;
  return std::make_shared<MemoryOrder>(argument.described, wanted);
}

Result<std::vector<Placement>> PlacementsOf(const PrimitiveCall& call) {
  std::vector<Placement> placements;
  const auto place = [&](const HostTensor* tensor, int argument, const dnnl::memory::desc& described) {
    auto order = std::make_shared<MemoryOrder>(described, WantedDesc(call, argument, described));
    if (!order->row_major()) placements.push_back({tensor, std::move(order)});
  };
  for (const PrimitiveCall::Input& input : call.inputs)
    if (!input.constant) place(input.tensor, input.argument, input.described);
  for (const PrimitiveCall::Output& output : call.outputs) place(output.tensor, output.argument, output.described);
  return placements;
}

Offer OfferOf(const onednn::Implementation& implementation, const CallMaker& make_call) {
  Offer offer;
  offer.candidate.library = "onednn";
  offer.candidate.algorithm = implementation.algorithm;
  offer.candidate.library_choice = implementation.library_choice;
  offer.candidate.input_layout = onednn::LayoutName(implementation.Wanted(implementation.first().id));
  offer.candidate.output_layout = onednn::LayoutName(implementation.Wanted(implementation.output().id));
  offer.reference = implementation.fallback;
  for (const Argument& argument : implementation.arguments)
    if (argument.declares && argument.kind != Argument::Kind::kOutput)
      offer.input_orders.push_back(OrderOfArgument(implementation, argument));
  offer.output_order = OrderOfArgument(implementation, implementation.output());
  offer.make = [make_call, implementation](const Problem& problem) -> MadeProgram {
    return Guarded([&]() -> MadeProgram {
      INFIMUM_ASSIGN_OR_RETURN(const PrimitiveCall call, make_call(problem, implementation));
      return MakePrimitiveProgram(call);
    });
  };
  offer.place = [make_call, implementation](const Problem& problem) -> Result<std::vector<Placement>> {
    return Guarded([&]() -> Result<std::vector<Placement>> {
      INFIMUM_ASSIGN_OR_RETURN(const PrimitiveCall call, make_call(problem, implementation));
      return PlacementsOf(call);
    });
  };
  return offer;
}

}  // namespace

Result<PrimitiveCall> BindOperands(const Problem& problem, const onednn::Implementation& implementation) {
  PrimitiveCall call;
  call.implementation = implementation.description;
  for (const Argument& argument : implementation.arguments) {
    switch (argument.kind) {
      case Argument::Kind::kInput:
      case Argument::Kind::kConstant:
        call.inputs.push_back({argument.id, problem.operands[argument.operand], argument.described,
                               argument.kind == Argument::Kind::kConstant});
        break;
      case Argument::Kind::kOutput:
        call.outputs.push_back({argument.id, problem.outputs[0], argument.described});
        break;
      case Argument::Kind::kNumbers:
        if (argument.integers()) {
          call.vectors.push_back({argument.id, {}, {argument.numbers.begin(), argument.numbers.end()}});
        } else {
          call.vectors.push_back({argument.id, argument.numbers, {}});
        }
        break;
    }
  }
  return call;
}

std::vector<Offer> OffersOf(const std::function<std::vector<onednn::Form>()>& forms, const CallMaker& make_call) {
  std::vector<Offer> offers;
  (void)Guarded([&]() -> Status {
    for (const onednn::Implementation& implementation : onednn::ImplementationsOf(forms()))
      offers.push_back(OfferOf(implementation, make_call));
    return {};
  });
  return offers;
}

dnnl::primitive_attr DefaultAttributes() { return onednn::PlainAttributes(); }

}  // namespace infimum::cpu
