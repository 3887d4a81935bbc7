// What an engine does by itself, beside the model's layers: known by the layer's operator and name.
//
//   ReorderOutput                                              layout change
//   "Reformatting CopyNode for Input Tensor 0 to Conv_0"       layout change (TensorRT's Reformat; the type may change
//   too) Transpose_token_115                                        layout change: ONNX Runtime added and named it
//   InsertedPrecisionFreeCast_x (Cast)                         type change
//   MemcpyFromHost, "reshape_after_Gemm_48" (NoOp), aten::copy_, Memcpy DtoD      copy
//   QuantizeLinear_2 (Reformat, nodes: QuantizeLinear_2)       none: it is a node of the model
//
// "None" does not mean that it is a layer of the model: only that nothing says it is the engine's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "infimum/graph/run_profile.h"

namespace infimum {

enum class EngineWork : std::uint8_t {
  kNone,          // "none"
  kLayoutChange,  // "layout change": the order of elements in memory, for kernels that want another
  kTypeChange,    // "type change": a cast or a quantization that is no node of the model
  kCopy,          // "copy": between memories, or of a value that looks different and is the same
};
std::string_view Name(EngineWork work);

// Of a layer that no node of the model bears the name of.
EngineWork OwnWorkOf(const ProfiledLayer& layer);

// What of an engine's names are its own words, and what may be the user's: a report that is to be shared keeps the ones
// and loses the others, and rules that read names still find what they look for.
//
//   "FusedConv", "aten::addmm", "sm80_xmma_fprop_implicit_gemm_f16f16"   the engine's own: IsOfLibraries
//   "AcmeSecretConv"                                                     not: as an operator it becomes "convolution"
//   "acme/conv1_nchwc" with "engine-7" in its place                      "engine-7_nchwc"
//
// Whether every word in it, numbers and single letters apart, is one of libraries' kernels and operators.
bool IsOfLibraries(std::string_view text);

// An operator of the same kind, for which rules decide alike, without the layer's own words; empty where it is of no
// kind.
std::string PlainOperatorOf(const ProfiledLayer& layer);

// `replacement` with what ONNX Runtime's optimizer had put around `name`.
std::string DecoratedLike(std::string_view name, std::string_view replacement);

}  // namespace infimum
