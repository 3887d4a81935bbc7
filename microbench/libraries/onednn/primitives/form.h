// A layer as one of oneDNN's primitives: a function that describes it, and the arguments that it is run with. A family
// of layers has a header of its own, with a struct of the layer's constants and a function that lists its forms:
//
//   Pooling layer{.kind = "max", .dtype = {type::f32, type::undef, type::f32}, .in = {1, 64, 56, 56}, ...};
//   for (const Implementation& found : ImplementationsOf(FormsOf(layer))) found.algorithm;   // "jit:avx512_core/nhwc"
//
// The constants have the names that they have in the layer's text. infimum's runner is compiled from these files, and
// infimum emit copies them, so that both time the same primitives under the same names.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "layouts.h"

namespace onednn {

// The types of a layer's input, of its second operand (undef where there is none) and of its result.
struct Types {
  memory::data_type input = memory::data_type::f32;
  memory::data_type weights = memory::data_type::undef;
  memory::data_type output = memory::data_type::f32;
};

bool IsInteger(memory::data_type type);

// One argument of a primitive. The implementation says which layout it wants it in.
struct Argument {
  enum class Kind {
    kInput,
    kConstant,  // weights, which are packed before anything is timed
    kOutput,
    kNumbers,  // scales and zero points
  };
  Kind kind = Kind::kInput;
  int id = DNNL_ARG_SRC;
  std::size_t operand = 0;   // which of the layer's operands
  memory::desc described{};  // how that operand, row-major, looks to the primitive
  bool declares = false;     // whether its layout is one of those that the candidate declares
  std::vector<float> numbers{};

  bool integers() const { return (id & DNNL_ARG_ATTR_ZERO_POINTS) != 0; }  // the numbers, which else are f32
};

Argument Input(int id, std::size_t operand, const memory::desc& described);
Argument UndeclaredInput(int id, std::size_t operand, const memory::desc& described);
Argument Constant(int id, std::size_t operand, const memory::desc& described);
Argument Output(int id, const memory::desc& described);
Argument Numbers(int id, std::vector<float> numbers);

// Scratch memory is the caller's, so that running a primitive allocates nothing.
dnnl::primitive_attr PlainAttributes();

// Every implementation of a descriptor that was made with allow_empty, the library's own choice first.
std::vector<dnnl::primitive_desc_base> AllOf(dnnl::primitive_desc description);

// A candidate's name is `prefix`, the implementation's name, "/" and `layouts`: "matmul-as-convolution/jit:avx2/plain".
struct Form {
  std::string prefix;
  std::string layouts;              // empty: as the library likes them best
  std::vector<Argument> arguments;  // the layer's first operand first
  std::function<std::vector<dnnl::primitive_desc_base>()> implementations;
};

// `describe` returns a primitive descriptor made with allow_empty. Reorder and concat have one implementation.
template <class Describe>
Form MakeForm(std::string prefix, std::string layouts, std::vector<Argument> arguments, Describe describe) {
  return {std::move(prefix), std::move(layouts), std::move(arguments),
          [describe = std::move(describe)]() -> std::vector<dnnl::primitive_desc_base> {
            if constexpr (std::is_base_of_v<dnnl::primitive_desc, decltype(describe())>) {
              return AllOf(describe());
            } else {
              return {describe()};
            }
          }};
}

// One candidate.
struct Implementation {
  std::string prefix;  // of its form
  std::string algorithm;
  dnnl::primitive_desc_base description;
  std::vector<Argument> arguments;
  bool fallback = false;        // plain loops, or code for an older processor than this one
  bool library_choice = false;  // what oneDNN takes by itself

  memory::desc Wanted(int argument) const;
  const Argument& first() const { return arguments.front(); }
  const Argument& output() const;
};

// In the order of the forms. Forms that the library refuses have none; two that come to the same implementation in the
// same layouts are one candidate.
std::vector<Implementation> ImplementationsOf(const std::vector<Form>& forms);

}  // namespace onednn
