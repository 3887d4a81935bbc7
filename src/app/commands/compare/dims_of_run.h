// Symbolic dimensions that a run's own shapes tell: a profile holds what ran, not what it was bound to.
//
//   input f32 [batch, 3, 224, 224], a layer of the run reads f32 4x3x224x224   ->   {batch: 4}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "infimum/graph/run_profile.h"
#include "src/readers/onnx/parse/model_inputs.h"

namespace infimum {

// Symbols that `dims` does not bind, where all tensors that could be the input agree: operands of layers whose operator
// reads the input in the model ("FusedConv" where it is a Conv), of its type, rank and sizes that are known. An input
// of floats without any known size looks like every tensor and is left out.
std::map<std::string, std::int64_t> DimsOfRun(const std::vector<DeclaredInput>& inputs, const RunProfile& run,
                                              const std::map<std::string, std::int64_t>& dims);

}  // namespace infimum
