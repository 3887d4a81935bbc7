// From a layer to its benchmarks: every implementation that oneDNN has for it, under the name that infimum gives it.
//
//   onednn/brgconv:avx512_core        what oneDNN calls it, in the layouts that it likes best
//   onednn/brgconv:avx512_core/nhwc   the same with the channels last
//
// A source gives its layer's constants to a function that lists its forms (form.h): convolution.cc, matmul.cc ... have
// the calls of oneDNN that describe them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "form.h"

namespace onednn {

// Of random numbers.
struct Range {
  double low = -1, high = 1;
};

struct Layer {
  std::string text;  // the layer as infimum writes it
  std::function<std::vector<Form>()> forms;
  std::vector<Range> ranges;        // what the layer's operands are filled with
  std::vector<std::string> only{};  // candidates; empty: all but the library's fallbacks
  // Of inputs and output, in the shapes of the layer's text: "*" as the primitive has them, "ab->a" always these, ""
  // where it sees other shapes.
  std::string layouts{};
  bool signed_input = false;  // 8-bit signed inputs
  bool sums_bytes = false;    // 8-bit unsigned ones, more than one product for each output channel
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
