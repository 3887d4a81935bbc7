#include "analyzer/findings/graph_optimization.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "infimum/base/enum_names.h"
#include "infimum/base/text.h"
#include "src/core/graph/framework_names.h"

namespace infimum::findings {
namespace {

constexpr EnumNames<GraphOptimization::kAll> kNames = {"disabled", "basic", "extended", "all"};

}  // namespace

std::string_view Name(GraphOptimization level) { return kNames[level]; }

std::optional<GraphOptimization> ReportedOptimization(const RunProfile& run) {
  const auto setting = run.settings.find("graph_optimization_level");
  if (setting == run.settings.end()) return std::nullopt;
  std::string word = setting->second;
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view prefix : {"graphoptimizationlevel.", "ort_", "enable_"})
    if (word.starts_with(prefix)) word.erase(0, prefix.size());
  // The numbers are those of the C interface's GraphOptimizationLevel.
  if (IsOneOf(word, {"disabled", "disable_all", "0"})) return GraphOptimization::kDisabled;
  if (IsOneOf(word, {"basic", "1"})) return GraphOptimization::kBasic;
  if (IsOneOf(word, {"extended", "2"})) return GraphOptimization::kExtended;
  if (IsOneOf(word, {"all", "layout", "3", "99"})) return GraphOptimization::kAll;
  return std::nullopt;
}

std::optional<GraphOptimization> InferredOptimization(const RunProfile& run) {
  if (run.framework != framework::kOnnxRuntime) return std::nullopt;
  std::optional<GraphOptimization> seen;
  for (const ProfiledLayer& layer : run.layers) {
    if (layer.name.ends_with("_nchwc") || IsOneOf(layer.op, {"ReorderInput", "ReorderOutput"}))
      return GraphOptimization::kAll;
    // Operators of no exporter: a fusion made them.
    if (IsOneOf(layer.op, {"FusedConv", "FusedGemm", "FusedMatMul", "FusedMatMulActivation", "BiasGelu",
                           "SkipLayerNormalization", "QuickGelu", "BiasSplitGelu"}))
      seen = GraphOptimization::kExtended;
  }
  return seen;
}

std::optional<GraphOptimization> OptimizationOf(const RunProfile& run) {
  const std::optional<GraphOptimization> reported = ReportedOptimization(run);
  return reported ? reported : InferredOptimization(run);
}

}  // namespace infimum::findings
