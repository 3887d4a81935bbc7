// One emitted oneDNN source: the layer's constants, as the struct of its family has them, what operands are filled
// with, and the registration.
//
//   const Pooling kPooling{
//       .kind = "max",
//       .dtype = {type::f32, type::undef, type::f32},
//       .in = {1, 64, 56, 56},
//       ...
//
// The structs and the calls of oneDNN behind them are those of the runner, microbench/libraries/onednn/primitives,
// which every project gets as they are. A struct's fields have the names and the order of those in the layer's text.
#pragma once

#include <string>

#include "infimum/base/result.h"
#include "src/emit/library.h"

namespace infimum::emit {

// The error says why there can be no source: "oneDNN has no type s64".
Result<std::string> WriteOneDnnSource(const SourceRequest& request);

}  // namespace infimum::emit
