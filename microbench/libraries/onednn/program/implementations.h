// From the forms of a layer (primitives/form.h) to its candidates, each with the program that runs it.
//
//   onednn/jit:avx2             implementation "jit:avx2", layouts as the library likes best
//   onednn/jit:avx2/nhwc        the same, input and output with the channels last
//   onednn/jit_1x1:avx2/winograd ...
#pragma once

#include <functional>
#include <vector>

#include "microbench/libraries/onednn/primitives/form.h"
#include "microbench/libraries/onednn/program/primitive_program.h"
#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {

// What to bind for a problem, given the implementation.
using CallMaker = std::function<Result<PrimitiveCall>(const Problem&, const onednn::Implementation&)>;

// Each argument to the operand that it names.
Result<PrimitiveCall> BindOperands(const Problem& problem, const onednn::Implementation& implementation);

// In the order of the forms; the first without a prefix and with the library's own layouts is the library's choice.
// None where the library refuses even to describe the layer's tensors.
std::vector<Offer> OffersOf(const std::function<std::vector<onednn::Form>()>& forms,
                            const CallMaker& make_call = BindOperands);

// Attributes that every primitive here has: scratch memory is ours, so that Run() allocates nothing.
dnnl::primitive_attr DefaultAttributes();

}  // namespace infimum::cpu
