#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "analyzer/bracket/bracket_parts.h"
#include "analyzer/findings/engine_layers.h"
#include "analyzer/findings/graph_optimization.h"
#include "analyzer/findings/rules.h"
#include "analyzer/findings/run_rows.h"
#include "infimum/base/quantity_text.h"
#include "src/core/graph/framework_names.h"

namespace infimum::findings {
namespace {

bool RunsOnGpu(const RunFacts& facts) { return facts.bracket.selection.device.text.starts_with("gpu"); }

// Whether MLAS, the kernels of ONNX Runtime's provider for processors, has a kernel in the blocked layout: for f32, and
// whole blocks of channels (16 at most; of the input of the first layer fewer are taken too).
bool HasBlockedKernel(const Layer& layer) {
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  const auto* convolution = config != nullptr ? std::get_if<ConvolutionConfig>(config) : nullptr;
  if (convolution == nullptr || convolution->types.input != DataType::kF32 || convolution->transposed ||
      convolution->input.dims.size() != 4)
    return false;
  constexpr std::int64_t kBlock = 16;
  const std::int64_t channels = convolution->input.dims[1];
  return convolution->output_channels % kBlock == 0 &&
         (channels % kBlock == 0 || (channels < kBlock && convolution->groups == 1));
}

// Whether the best candidates are oneDNN's, and of a kind that ONNX Runtime's provider of it takes: floating point, and
// none of its LSTM, Resize and quantized operators (onnxruntime/core/providers/dnnl/dnnl_op_manager.cc).
bool HasKernelOfOneDnn(const RunFacts& facts, const std::string& family, const std::vector<std::size_t>& rows) {
  constexpr std::array<std::string_view, 6> kTaken{"convolution",  "matmul",  "pooling",
                                                   "element-wise", "softmax", "reduction"};
  if (std::ranges::find(kTaken, family) == kTaken.end() || facts.bracket.contract == NumericContract::kInt8)
    return false;
  const std::vector<FindingCase> cases = LargestCases(facts, rows, 1);
  return !cases.empty() && cases.front().candidate.starts_with("onednn/");
}

// ONNX Runtime's provider for processors has one kernel for a layer; for convolutions another one in the blocked
// layout, which its highest level of optimization brings.
std::string OnProcessorOfOnnxRuntime(const RunFacts& facts, const std::string& family,
                                     const std::vector<std::size_t>& rows) {
  const std::optional<GraphOptimization> reported = ReportedOptimization(facts.run);
  if (family == "convolution" && InferredOptimization(facts.run) != GraphOptimization::kAll) {
    if (reported && *reported != GraphOptimization::kAll)
      return "set graph_optimization_level to ORT_ENABLE_ALL (it was " + std::string(Name(*reported)) +
             "): convolutions then run in the blocked layout (NCHWc), with faster kernels";
    const bool are_blocked = std::ranges::all_of(rows, [&facts](std::size_t row) {
      return HasBlockedKernel(facts.graph.layer(MainLayer(facts.graph, facts.waterfall.rows[row].layers)));
    });
    if (!reported && are_blocked)
      return "set graph_optimization_level to ORT_ENABLE_ALL, its default: none of these f32 convolutions ran in the "
             "blocked layout (NCHWc; names that end in _nchwc), for which the provider has faster kernels";
    return "no convolution ran in the blocked layout (NCHWc; its layers' names end in _nchwc): set "
           "graph_optimization_level to ORT_ENABLE_ALL" +
           std::string(reported ? "" : ", unless it was set already") +
           "; if it was, these layers are of a kind that MLAS has no blocked kernel for (channels that are no "
           "multiple of the block of 8 or 16, values that are not f32), and need one";
  }
  if (family == "element-wise" &&
      OptimizationOf(facts.run).value_or(GraphOptimization::kBasic) != GraphOptimization::kAll)
    return "set graph_optimization_level to ORT_ENABLE_ALL" +
           (reported ? " (it was " + std::string(Name(*reported)) + ")" : std::string(", unless it was set already")) +
           ": it makes element-wise layers part of the convolutions and matmuls before them; what is left then needs "
           "a faster kernel";
  return std::string(HasKernelOfOneDnn(facts, family, rows)
                         ? "build ONNX Runtime with the oneDNN provider (--use_dnnl), "
                           "or bring the provider's own kernel"
                         : "bring the provider's kernel") +
         " to what the candidates below reach on the same shapes; no option of a session chooses another kernel for "
         "such a layer";
}

std::string OnCudaOfOnnxRuntime(const RunFacts& facts) {
  const auto search = facts.run.settings.find("cudnn_conv_algo_search");
  if (search != facts.run.settings.end() && search->second != "EXHAUSTIVE")
    return "set cudnn_conv_algo_search=EXHAUSTIVE of the CUDA provider (it was " + search->second +
           "), so that it times cuDNN's algorithms";
  return "check that cudnn_conv_algo_search of the CUDA provider is EXHAUSTIVE and cudnn_conv_use_max_workspace is 1, "
         "their defaults: with HEURISTIC or DEFAULT cuDNN's algorithms are not timed; then try prefer_nhwc=1, and "
         "the TensorRT provider";
}

// Where the engine lets its user choose.
std::string ActionFor(const RunFacts& facts, const std::string& family, const std::vector<std::size_t>& rows) {
  const bool is_gpu = RunsOnGpu(facts);
  const std::string& framework = facts.run.framework;
  if (framework == framework::kOnnxRuntime) {
    if (!is_gpu) return OnProcessorOfOnnxRuntime(facts, family, rows);
    if (family == "convolution") return OnCudaOfOnnxRuntime(facts);
    return "compare with the TensorRT provider, which times its kernels for these layers";
  }
  if (framework == framework::kPyTorch && is_gpu && family == "convolution")
    return "set torch.backends.cudnn.benchmark = True, so that cuDNN's algorithms are timed, and try channels_last";
  if (framework == framework::kPyTorch && is_gpu) return "let torch.compile(mode=\"max-autotune\") time the kernels";
  if (framework == framework::kPyTorch)
    return "weights that are packed once are faster: torch.compile with freezing, and channels_last for convolutions";
  if (framework == framework::kTensorRt)
    return "build the engine with --builderOptimizationLevel=5 and a larger workspace (--memPoolSize=workspace:...), "
           "so that more tactics are timed";
  return "let the engine time its kernels for these shapes, or call the candidates below";
}

// What was observed of a row by itself; nullopt where a chain's finding has it.
std::optional<std::set<std::size_t>> EffectsOnRow(const RunFacts& facts, std::size_t row) {
  std::set<std::size_t> effects = EffectsOn(facts, {row});
  if (effects.empty()) return effects;
  if (const GapStep* step = facts.waterfall.Find(GapCause::kMissedFusion))
    for (const GapPart& chain : step->parts) {
      if (std::ranges::find(chain.rows, row) == chain.rows.end()) continue;
      const bool is_with_fusion =
          std::ranges::any_of(effects, [&facts](std::size_t effect) { return facts.effects[effect].is_fusion; });
      if (!is_with_fusion) return effects;
      if (!EffectsOnChain(facts, chain).empty()) return std::nullopt;
      return std::set<std::size_t>();
    }
  return effects;
}

bool AnyLacksScales(const RunFacts& facts, const std::vector<std::size_t>& rows) {
  return std::ranges::any_of(rows, [&facts](std::size_t row) {
    const Layer& layer = facts.graph.layer(MainLayer(facts.graph, facts.waterfall.rows[row].layers));
    return layer.workload && LacksScales(*layer.workload);
  });
}

}  // namespace

std::vector<Finding> SlowerAlgorithms(const RunFacts& facts, const LayerClaims& claims) {
  std::vector<Finding> found;
  const GapStep* step = facts.waterfall.Find(GapCause::kAlgorithmRegret);
  if (step == nullptr) return found;
  const std::vector<std::size_t> taken = RowsWithoutTensorCores(facts);
  struct Family {
    Latency gain{0}, measured{0}, best{0};
    std::vector<std::size_t> rows;
    std::set<std::size_t> effects;
  };
  std::map<std::pair<std::string, bool>, Family> families;  // what was observed by itself
  std::map<std::string, std::size_t> all;
  std::set<std::size_t> counted;
  for (const GapPart& part : step->parts) {
    const std::size_t r = part.rows.front();
    if (std::ranges::find(taken, r) != taken.end() || IsQuantizedInFloat(facts, r)) continue;
    const ComparedRow& row = facts.waterfall.rows[r];
    // What needs no work has no algorithm, nor have If, Loop and Scan.
    if (NeedsNoWork(facts, row) || !facts.graph.layer(MainLayer(facts.graph, row.layers)).bodies.empty()) continue;
    // What another finding is about is reported there.
    Latency claimed{0};
    for (const std::size_t layer : row.engine_layers)
      if (claims.IsTaken(layer)) claimed += TimeOf(facts.run.layers[layer]);
    const Latency gain = part.latency - claimed;
    std::optional<std::set<std::size_t>> effects = EffectsOnRow(facts, r);
    if (gain.count() <= 0 || !effects) continue;
    Family& family = families[{RowFamily(facts, row), !effects->empty()}];
    for (const std::size_t effect : *effects)
      if (counted.insert(effect).second) family.effects.insert(effect);
    family.gain += gain;
    family.measured += *row.measured - claimed;
    family.best += *row.measured - part.latency;
    family.rows.push_back(r);
  }
  for (const ComparedRow& row : facts.waterfall.rows)
    if (!row.layers.empty() && row.measured && !NeedsNoWork(facts, row)) ++all[RowFamily(facts, row)];
  for (const auto& [key, family] : families) {
    const auto& [name, is_observed] = key;
    Finding finding;
    finding.kind = kSlowerAlgorithm;
    finding.gain = family.gain;
    if (is_observed) SetObserved(facts, family.effects, finding);
    if (!IsWorthReporting(facts, finding.gain)) continue;
    SetCases(facts, family.rows, finding);
    finding.evidence = name + ": " + std::to_string(family.rows.size()) + " of " + std::to_string(all[name]) +
                       (all[name] == 1 ? " row" : " rows") + (family.rows.size() == 1 ? " takes " : " take ") +
                       FormatLatency(family.measured) + " where the best candidates known need " +
                       FormatLatency(family.best) +
                       (AnyLacksScales(facts, family.rows) ? " on plain integers, without scales" : "") +
                       ObservedText(finding) + "; " + CaseText(finding.cases.front());
    finding.action = ActionFor(facts, name, family.rows);
    found.push_back(std::move(finding));
  }
  return found;
}

}  // namespace infimum::findings
