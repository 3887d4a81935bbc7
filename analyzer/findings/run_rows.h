// The rules that hold a run against its model and bound. Each returns nothing where its cause is not there, or where it
// is less than a hundredth of the time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/findings/layer_claims.h"

namespace infimum::findings {

// A family of layers whose kernels are slower than the best known ones; one finding a family.
std::vector<Finding> SlowerAlgorithms(const RunFacts& facts, const LayerClaims& claims);
// Layers run apart that a library runs faster as one.
std::optional<Finding> UnfusedChains(const RunFacts& facts, const LayerClaims& claims);
// Layers that need not run at all: constants that could be computed once, views, what another layer could absorb.
std::optional<Finding> NeedlessLayers(const RunFacts& facts, const LayerClaims& claims);
// Independent layers run one after the other.
std::optional<Finding> SerialBranches(const RunFacts& facts);
// Layers computed in wider arithmetic than the contract has it.
std::optional<Finding> WiderArithmetic(const RunFacts& facts);
// Those of its rows; none where it says nothing.
LayerClaims LayersInWiderArithmetic(const RunFacts& facts);
// Whether a row of a model on 8 bits was computed in wider arithmetic: that rule tells all that such a row loses.
bool IsQuantizedInFloat(const RunFacts& facts, std::size_t row);
// Products that Tensor Cores could run, and do not.
std::optional<Finding> TensorCoresUnused(const RunFacts& facts);
// The device idle between layers, or a framework's own time around them.
std::optional<Finding> HostGapsOfRun(const RunFacts& facts);
// Layers faster than the best candidate known: the bound is too high there.
std::optional<Finding> LayersUnderTheirBound(const RunFacts& facts);

// What rules have in common.

// "Conv_0", "Conv_0 (+2)"; of a row without layers the engine's name.
std::string RowName(const RunFacts& facts, const ComparedRow& row);
// The engine's kernel where it tells it, else its layer.
std::string EngineName(const RunFacts& facts, const ComparedRow& row);
FindingCase CaseOf(const RunFacts& facts, std::size_t row);
// The `count` largest by how much the measured time is above the best.
std::vector<FindingCase> LargestCases(const RunFacts& facts, const std::vector<std::size_t>& rows, std::size_t count);
// Whether all layers of a row are free: constants, views, folded into others. False of If, Loop and Scan.
bool NeedsNoWork(const RunFacts& facts, const ComparedRow& row);
// "fc2 takes 75.0 us with sgemm, 30.0 us with onednn/brgemm"
std::string CaseText(const FindingCase& one);
bool IsWorthTelling(const RunFacts& facts, Latency gain);
// The main layer's family, "convolution"; rows of element-wise and similar work together as "element-wise".
std::string RowFamily(const RunFacts& facts, const ComparedRow& row);
// Rows that the rule about Tensor Cores takes, so that others leave them alone.
std::vector<std::size_t> RowsWithoutTensorCores(const RunFacts& facts);
// Whether a kernel of NVIDIA's libraries multiplies on Tensor Cores, as its name tells; nullopt: it does not tell.
std::optional<bool> UsesTensorCores(std::string_view kernel);

}  // namespace infimum::findings
