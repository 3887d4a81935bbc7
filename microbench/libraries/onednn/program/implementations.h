// Walks the implementations that oneDNN has for a primitive, under several layout policies, and names
// each one as a candidate:
//
//   onednn/jit:avx2             implementation "jit:avx2", layouts as the library likes best
//   onednn/jit:avx2/nhwc        the same, input and output with the channels last
//   onednn/jit_1x1:avx2/winograd ...
//
// Two that come to the same implementation and the same layouts are one candidate.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/libraries/onednn/program/primitive_program.h"
#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {

// What to bind for a problem, given the implementation.
using CallMaker = std::function<Result<PrimitiveCall>(const Problem&, const dnnl::primitive_desc_base&)>;

class ImplementationWalk {
 public:
  explicit ImplementationWalk(CallMaker make_call, std::string prefix = "")
      : make_call_(std::move(make_call)), prefix_(std::move(prefix)) {}

  // Adds every implementation of what `describe` makes (a primitive descriptor created with
  // allow_empty, or throwing). `policy` is "" for the library's own layouts. `input_argument` and
  // `output_argument` are those whose layouts the candidate reports.
  void Add(const std::string& policy, const std::function<dnnl::primitive_desc()>& describe,
           int input_argument = DNNL_ARG_SRC, int output_argument = DNNL_ARG_DST);

  // For reorder, concat and sum, which have one implementation each.
  void AddOnly(const std::string& policy, const std::function<dnnl::primitive_desc_base()>& describe,
               int input_argument = DNNL_ARG_SRC, int output_argument = DNNL_ARG_DST);

  // How row-major memory of the layer's tensor looks to the primitive's argument, where its dimensions are not the
  // tensor's in their order (a product that sees channels as columns).
  void Sees(int argument, dnnl::memory::desc described) { seen_as_[argument] = std::move(described); }

  // A second operand of the layer that varies, beside the input.
  void Reads(int argument) { also_reads_ = argument; }

  // In the order added; the first of the "" policy is the library's choice.
  std::vector<Offer> Take();

 private:
  void AddOne(const std::string& policy, dnnl::primitive_desc_base implementation, int input_argument,
              int output_argument);

  // Those of the operands that vary: the input (all of several), a second one, post-operations'.
  std::vector<OrderOf> InputOrders(const dnnl::primitive_desc_base& implementation, int input_argument) const;
  OrderOf OrderOfArgument(const dnnl::primitive_desc_base& implementation, int argument) const;

  CallMaker make_call_;
  std::string prefix_;
  std::vector<Offer> offers_;
  std::vector<std::string> seen_;
  std::map<int, dnnl::memory::desc> seen_as_;
  std::optional<int> also_reads_;
};

// Attributes that every primitive here has: scratch memory is ours, so that Run() allocates nothing.
dnnl::primitive_attr DefaultAttributes();

}  // namespace infimum::cpu
