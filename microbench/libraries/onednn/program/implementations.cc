#include "microbench/libraries/onednn/program/implementations.h"

#include <algorithm>

#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "oneapi/dnnl/dnnl.h"

namespace infimum::cpu {
namespace {

// The walk changes a descriptor in place: a candidate keeps a copy.
dnnl::primitive_desc_base Copy(const dnnl::primitive_desc_base& original) {
  dnnl_primitive_desc_t copy = nullptr;
  dnnl::error::wrap_c_api(dnnl_primitive_desc_clone(&copy, original.get()), "could not copy a descriptor");
  return dnnl::primitive_desc_base(copy);
}

// Plain loops, and code for instruction sets that are older than AVX2 on a processor that has it: the same
// kernel with shorter vectors, never faster.
bool IsFallback(const std::string& name) {
  if (name.rfind("ref", 0) == 0 || name.rfind("simple", 0) == 0) return true;
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  return Features().avx2 && (ends_with(":sse41") || ends_with(":avx"));
}

}  // namespace

dnnl::primitive_attr DefaultAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void ImplementationWalk::Add(const std::string& policy, const std::function<dnnl::primitive_desc()>& describe,
                             int input_argument, int output_argument) {
  // A policy that the library refuses offers nothing.
  (void)Guarded([&]() -> Status {
    dnnl::primitive_desc implementation = describe();
    if (!implementation) return {};
    do {
      AddOne(policy, Copy(implementation), input_argument, output_argument);
    } while (implementation.next_impl());
    return {};
  });
}

void ImplementationWalk::AddOnly(const std::string& policy, const std::function<dnnl::primitive_desc_base()>& describe,
                                 int input_argument, int output_argument) {
  (void)Guarded([&]() -> Status {
    dnnl::primitive_desc_base implementation = describe();
    if (implementation) AddOne(policy, implementation, input_argument, output_argument);
    return {};
  });
}

void ImplementationWalk::AddOne(const std::string& policy, dnnl::primitive_desc_base implementation, int input_argument,
                                int output_argument) {
  const auto layout = [&](int argument) {
    return LayoutName(implementation.query_md(dnnl::query::exec_arg_md, argument));
  };
  const std::string name = implementation.impl_info_str();
  Offer offer;
  offer.candidate.library = "onednn";
  offer.candidate.algorithm = prefix_ + name + (policy.empty() ? "" : "/" + policy);
  offer.candidate.input_layout = layout(input_argument);
  offer.candidate.output_layout = layout(output_argument);
  offer.reference = IsFallback(name);
  const std::string identity = name + " " + offer.candidate.input_layout + " " + offer.candidate.output_layout + " " +
                               layout(DNNL_ARG_WEIGHTS) + " " + layout(DNNL_ARG_SRC_1);
  if (std::find(seen_.begin(), seen_.end(), identity) != seen_.end()) return;
  seen_.push_back(identity);
  const auto taken = [&](const std::string& algorithm) {
    return std::any_of(offers_.begin(), offers_.end(),
                       [&](const Offer& other) { return other.candidate.algorithm == algorithm; });
  };
  const std::string base = offer.candidate.algorithm;
  for (int number = 2; taken(offer.candidate.algorithm); ++number) {
    offer.candidate.algorithm = base + "/" + std::to_string(number);
  }
  offer.candidate.library_choice = prefix_.empty() && policy.empty() && offers_.empty();
  offer.input_orders = InputOrders(implementation, input_argument);
  offer.output_order = OrderOfArgument(implementation, output_argument);
  offer.make = [make_call = make_call_, implementation](const Problem& problem) -> Result<std::unique_ptr<Program>> {
    return Guarded([&]() -> Result<std::unique_ptr<Program>> {
      INFIMUM_ASSIGN_OR_RETURN(const PrimitiveCall call, make_call(problem, implementation));
      return MakePrimitiveProgram(call);
    });
  };
  offer.place = [make_call = make_call_, implementation](const Problem& problem) -> Result<std::vector<Placement>> {
    return Guarded([&]() -> Result<std::vector<Placement>> {
      INFIMUM_ASSIGN_OR_RETURN(const PrimitiveCall call, make_call(problem, implementation));
      std::vector<Placement> placements;
      const auto place = [&](const HostTensor* tensor, int argument, const dnnl::memory::desc& described) {
        auto order = std::make_shared<MemoryOrder>(described, WantedDesc(call, argument, described));
        if (!order->row_major()) placements.push_back({tensor, std::move(order)});
      };
      for (const PrimitiveCall::Input& input : call.inputs) {
        if (!input.constant) place(input.tensor, input.argument, input.described);
      }
      for (const PrimitiveCall::Output& output : call.outputs) place(output.tensor, output.argument, output.described);
      return placements;
    });
  };
  offers_.push_back(std::move(offer));
}

OrderOf ImplementationWalk::OrderOfArgument(const dnnl::primitive_desc_base& implementation, int argument) const {
  const dnnl::memory::desc wanted = implementation.query_md(dnnl::query::exec_arg_md, argument);
  if (wanted.is_zero()) return nullptr;
  const auto seen_as = seen_as_.find(argument);
  const dnnl::memory::desc described = seen_as != seen_as_.end() ? seen_as->second : RowMajorLike(wanted);
  return std::make_shared<MemoryOrder>(described, wanted);
}

std::vector<OrderOf> ImplementationWalk::InputOrders(const dnnl::primitive_desc_base& implementation,
                                                     int input_argument) const {
  std::vector<OrderOf> orders;
  if (input_argument == DNNL_ARG_MULTIPLE_SRC) {
    for (int i = 0; OrderOf order = OrderOfArgument(implementation, DNNL_ARG_MULTIPLE_SRC + i); ++i)
      orders.push_back(std::move(order));
    return orders;
  }
  orders.push_back(OrderOfArgument(implementation, input_argument));
  if (also_reads_) orders.push_back(OrderOfArgument(implementation, *also_reads_));
  if (implementation.get_kind() == dnnl::primitive::kind::binary)
    orders.push_back(OrderOfArgument(implementation, DNNL_ARG_SRC_1));
  const dnnl::post_ops steps = implementation.get_primitive_attr().get_post_ops();
  for (int i = 0; i < steps.len(); ++i)
    if (steps.kind(i) == dnnl::primitive::kind::binary)
      orders.push_back(OrderOfArgument(implementation, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1));
  return orders;
}

std::vector<Offer> ImplementationWalk::Take() { return std::move(offers_); }

}  // namespace infimum::cpu
