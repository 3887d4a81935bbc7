// What of an engine's names are its own words, and what may be the user's: a report that is to be shared keeps the ones
// and loses the others, and rules that read names still find what they look for.
//
//   "FusedConv", "aten::addmm", "sm80_xmma_fprop_implicit_gemm_f16f16"   the engine's own: IsOfLibraries
//   "AcmeSecretConv"                                                     not: as an operator it becomes "convolution"
//   "acme/conv1_nchwc" with "engine-7" in its place                      "engine-7_nchwc"
#pragma once

#include <string>
#include <string_view>

#include "infimum/graph/run_profile.h"

namespace infimum {

// Whether every word in it, numbers and single letters apart, is one of libraries' kernels and operators.
bool IsOfLibraries(std::string_view text);

// An operator of the same kind, for which rules decide alike, without the layer's own words; empty where it is of no
// kind.
std::string PlainOperatorOf(const ProfiledLayer& layer);

// `replacement` with what ONNX Runtime's optimizer had put around `name`.
std::string DecoratedLike(std::string_view name, std::string_view replacement);

}  // namespace infimum
