#include "form.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <exception>

namespace onednn {
namespace {

// The walk changes a descriptor in place, for all that share it: a candidate keeps a copy.
dnnl::primitive_desc_base Copy(const dnnl::primitive_desc_base& original) {
  dnnl_primitive_desc_t copy = nullptr;
  dnnl::error::wrap_c_api(dnnl_primitive_desc_clone(&copy, original.get()), "could not copy a descriptor");
  return dnnl::primitive_desc_base(copy);
}

bool ProcessorHasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

// Plain loops, which may take 1,000 times as long, and kernels for older instruction sets than the processor has: the
// same kernel with shorter vectors, never faster. What a concatenation calls simple copies whole pieces; nothing better
// can be asked of it.
bool IsFallback(const dnnl::primitive_desc_base& implementation) {
  const std::string name = implementation.impl_info_str();
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  if (name.rfind("ref", 0) == 0) return true;
  if (name.rfind("simple", 0) == 0) return implementation.get_kind() != dnnl::primitive::kind::concat;
  return ProcessorHasAvx2() && (ends_with(":sse41") || ends_with(":avx"));
}

std::string IdentityOf(const Form& form, const Implementation& found) {
  std::string identity = form.prefix + found.description.impl_info_str();
  for (const int argument : {found.first().id, found.output().id, DNNL_ARG_WEIGHTS, DNNL_ARG_SRC_1})
    identity += " " + LayoutName(found.Wanted(argument));
  return identity;
}

}  // namespace

bool IsInteger(memory::data_type type) {
  return type == memory::data_type::s8 || type == memory::data_type::u8 || type == memory::data_type::s32;
}

Argument Input(int id, std::size_t operand, const memory::desc& described) {
  return {Argument::Kind::kInput, id, operand, described, true};
}
Argument UndeclaredInput(int id, std::size_t operand, const memory::desc& described) {
  return {Argument::Kind::kInput, id, operand, described};
}
Argument Constant(int id, std::size_t operand, const memory::desc& described) {
  return {Argument::Kind::kConstant, id, operand, described};
}
Argument Output(int id, const memory::desc& described) { return {Argument::Kind::kOutput, id, 0, described, true}; }
Argument Numbers(int id, std::vector<float> numbers) {
  return {Argument::Kind::kNumbers, id, 0, {}, false, std::move(numbers)};
}

dnnl::primitive_attr PlainAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

std::vector<dnnl::primitive_desc_base> AllOf(dnnl::primitive_desc description) {
  std::vector<dnnl::primitive_desc_base> found;
  if (!description) return found;
  do {
    found.push_back(Copy(description));
  } while (description.next_impl());
  return found;
}

memory::desc Implementation::Wanted(int argument) const {
  return description.query_md(dnnl::query::exec_arg_md, argument);
}

const Argument& Implementation::output() const {
  return *std::find_if(arguments.begin(), arguments.end(),
                       [](const Argument& argument) { return argument.kind == Argument::Kind::kOutput; });
}

std::vector<Implementation> ImplementationsOf(const std::vector<Form>& forms) {
  std::vector<Implementation> all;
  std::vector<std::string> identities;
  for (const Form& form : forms) {
    std::vector<dnnl::primitive_desc_base> descriptions;
    try {
      descriptions = form.implementations();
    } catch (const std::exception&) {
      continue;  // layouts that the library refuses
    }
    for (const dnnl::primitive_desc_base& description : descriptions) {
      const std::string info = description.impl_info_str();
      const std::string base = form.prefix + info + (form.layouts.empty() ? "" : "/" + form.layouts);
      Implementation found{form.prefix,
                           base,
                           description,
                           form.arguments,
                           IsFallback(description),
                           all.empty() && form.prefix.empty() && form.layouts.empty()};
      const std::string identity = IdentityOf(form, found);
      if (std::find(identities.begin(), identities.end(), identity) != identities.end()) continue;
      identities.push_back(identity);
      const auto taken = [&] {
        return std::any_of(all.begin(), all.end(),
                           [&](const Implementation& other) { return other.algorithm == found.algorithm; });
      };
      for (int number = 2; taken(); ++number) found.algorithm = base + "/" + std::to_string(number);
      all.push_back(std::move(found));
    }
  }
  return all;
}

}  // namespace onednn
