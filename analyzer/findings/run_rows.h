// What the rules about a run with its model and bound ask about rows of the waterfall.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/findings/finding.h"

namespace infimum::findings {

// "Conv_0", "Conv_0 (+2)"; the engine's name for a row without layers.
std::string RowName(const RunFacts& facts, const ComparedRow& row);
// "Conv_0"; empty where all are free.
std::string BusyLayerName(const RunFacts& facts, const std::vector<LayerId>& layers);
// The engine's kernel where it is reported, else its layer.
std::string EngineName(const RunFacts& facts, const ComparedRow& row);
// The main layer's family, "convolution"; rows of element-wise and similar work together as "element-wise".
std::string RowFamily(const RunFacts& facts, const ComparedRow& row);
// Whether all layers of a row are free: constants, views, folded into others. False for If, Loop and Scan.
bool NeedsNoWork(const RunFacts& facts, const ComparedRow& row);
// Whether a row of a model on 8 bits was computed in wider arithmetic: WiderArithmetic reports all that it loses.
bool IsQuantizedInFloat(const RunFacts& facts, std::size_t row);
// Rows that TensorCoresUnused takes, so that other rules leave them out.
std::vector<std::size_t> RowsWithoutTensorCores(const RunFacts& facts);
// Whether a kernel of NVIDIA's libraries multiplies on Tensor Cores, by its name; nullopt: the name does not show it.
std::optional<bool> UsesTensorCores(std::string_view kernel);

// What rows take above the best of each.
Latency LostBy(const RunFacts& facts, const std::vector<std::size_t>& rows);
// The effects that were observed of all layers of these rows which take time, indices into RunFacts::effects. None
// where a layer was not switched, and where they tell nothing of `lost`, what the rows take above their best: where
// they are less certain than that is large, or surely larger, so that what was switched is slower than what ran.
std::set<std::size_t> EffectsOn(const RunFacts& facts, const std::vector<std::size_t>& rows, Latency lost);
// The same of a chain's rows; none where its fusion was not switched.
std::set<std::size_t> EffectsOnChain(const RunFacts& facts, const GapPart& chain);
bool AnyIsFusion(const RunFacts& facts, const std::set<std::size_t>& effects);
// Their sum and its interval become the finding's gain.
void SetObserved(const RunFacts& facts, const std::set<std::size_t>& effects, Finding& finding);
// What its evidence says of that; empty where the gain was not observed.
std::string ObservedText(const Finding& finding);

FindingCase CaseOf(const RunFacts& facts, std::size_t row);
// The `count` largest by how much the measured time is above the best.
std::vector<FindingCase> LargestCases(const RunFacts& facts, const std::vector<std::size_t>& rows, std::size_t count);
// Five of them as the cases of a finding, whose layers are theirs.
void SetCases(const RunFacts& facts, const std::vector<std::size_t>& rows, Finding& finding);
// All of these were measured; the longest first.
void SortByTime(const RunFacts& facts, std::vector<std::size_t>& rows);
// "fc2 takes 75.0 us with sgemm, 30.0 us with onednn/brgemm"
std::string CaseText(const FindingCase& one);
bool IsWorthReporting(const RunFacts& facts, Latency gain);

}  // namespace infimum::findings
