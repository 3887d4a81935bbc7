// In how wide a type an engine computes, by what its layers read, or by the contract that the run says it kept.
//
//   engine layer "MatMul_3" reads f32 and f32; the model's layer is of f16   ->  4 bytes, wider than the layer has it
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/gap/run_vs_best.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/contract.h"

namespace infimum {

// Bytes of an element: 4 for strict-f32 and tf32.
std::size_t WidthOf(NumericContract contract);

// Of these engine layers, indices into RunProfile::layers, the one that takes most by its median; null of none.
const ProfiledLayer* LongestLayer(const RunProfile& run, const std::vector<std::size_t>& engine_layers);

// Bytes of the narrowest operand of the engine layer that takes most of these; 0 where the engine reports no types.
std::size_t ComputedWidth(const RunProfile& run, const std::vector<std::size_t>& engine_layers);

// Whether these engine layers compute `layer` in a wider type than its workload has; where the engine does not report
// its types, whether the run's contract is stricter than `contract`.
bool ComputesWider(const RunProfile& run, const std::vector<std::size_t>& engine_layers, const Layer& layer,
                   NumericContract contract);

// The width that most of the time at layers of the model is computed in; 0 where the engine reports no types.
std::size_t ComputedWidth(const RunProfile& run, const std::vector<ComparedRow>& rows);

// Of a whole run: its contract's, else the width that most of the time at layers of the model is computed in; 0 where
// neither is known.
std::size_t WidthOf(const RunProfile& run, const std::vector<ComparedRow>& rows);

}  // namespace infimum
