// From a matrix product to its benchmarks: every algorithm that cuBLASLt has for it, under the name that infimum gives
// it.
//
//   cublaslt/algo=21_tile=20_stages=7_splitk=1_red=0_swz=0_custom=0_inner=0_cluster=0
//   cublaslt/algo=21_.../b=transposed/acc=f16    b lies by columns, products are added up in f16
#pragma once

#include <string>
#include <vector>

#include "cublaslt_algorithms.h"

namespace cublaslt {

struct Form {
  std::string suffix{};  // of the candidates' names
  std::string contract{};
  Problem::Types types{};
  bool b_transposed = false;  // a constant may be kept as one likes
};

struct Layer {
  std::string text;         // the layer as infimum writes it
  std::string layouts;      // of inputs and output, for `infimum import`
  std::vector<Form> forms;  // the usual one first
  Problem (*describe)(const Form&);
  double low = -1, high = 1;        // random numbers that operands are filled with
  std::vector<std::string> only{};  // candidates; empty: all that cuBLASLt offers
};

// At namespace scope of a source: `const Registration kRegistered({...});`
struct Registration {
  explicit Registration(Layer layer);
};

}  // namespace cublaslt
