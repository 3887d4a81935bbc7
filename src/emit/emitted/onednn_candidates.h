// From a layer to its benchmarks: every implementation that oneDNN has for it, under the name that infimum gives it.
//
//   onednn/brgconv:avx512_core        what oneDNN calls it, in the layouts that it likes best
//   onednn/brgconv:avx512_core/nhwc   the same with the channels last
//
// A source describes its layer's primitive in one or several forms; the star in a form's pattern is where the
// implementation's name stands. `next_impl` walks the implementations, the library's own choice first.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "onednn_layouts.h"

namespace onednn {

using Implementations = std::vector<dnnl::primitive_desc_base>;

// All implementations that `next_impl` finds for a descriptor made with allow_empty; none where it is empty.
Implementations ImplementationsOf(const dnnl::primitive_desc& description);

struct Form {
  // `describe` returns a primitive descriptor made with allow_empty. Reorder and concat have one implementation.
  template <class Describe>
  Form(std::string name_pattern, Describe describe) : pattern(std::move(name_pattern)) {
    implementations = [describe]() -> Implementations {
      const auto description = describe();
      if constexpr (std::is_base_of_v<dnnl::primitive_desc, decltype(describe())>) {
        return ImplementationsOf(description);
      } else {
        return {description};
      }
    };
  }
  std::string pattern;  // "*", "*/nhwc", "matmul-as-convolution/*"
  std::function<Implementations()> implementations;
};

// One argument of the primitive, in the layout that the implementation wants it in.
struct Argument {
  enum class Kind { kInput, kConstant, kOutput, kNumbers };
  Kind kind;
  int id;
  double low = -1, high = 1;     // random numbers
  std::vector<float> numbers{};  // given ones
  memory::data_type type = memory::data_type::f32;
};

inline Argument Input(int id, double low, double high) { return {Argument::Kind::kInput, id, low, high}; }
// Weights, which are packed before anything is timed.
inline Argument Constant(int id, double low, double high) { return {Argument::Kind::kConstant, id, low, high}; }
inline Argument Output(int id) { return {Argument::Kind::kOutput, id}; }
inline Argument Scales(int of, std::size_t count, float scale) {
  return {Argument::Kind::kNumbers, DNNL_ARG_ATTR_SCALES | of, 0, 0, std::vector<float>(count, scale)};
}
inline Argument ZeroPoint(int of, int zero) {
  return {Argument::Kind::kNumbers,   DNNL_ARG_ATTR_ZERO_POINTS | of, 0, 0,
          {static_cast<float>(zero)}, memory::data_type::s32};
}

struct Layer {
  std::string text;  // the layer as infimum writes it
  std::vector<Form> forms;
  std::vector<Argument> arguments;
  std::vector<std::string> only{};  // candidates; empty: all but the library's fallbacks
  // Of inputs and output, in the shapes of the layer's text: "*" as the primitive has them, "ab->a" always these, ""
  // where it sees other shapes.
  std::string layouts{};
  bool signed_input = false;  // 8-bit signed inputs
};

// At namespace scope of a source: `const Registration kRegistered({...});`
struct Registration {
  explicit Registration(Layer layer);
};

// "3.2.0 omp"
std::string Version();

// Of all layers that sources registered; call it once, from main.
void RegisterBenchmarks();

}  // namespace onednn
