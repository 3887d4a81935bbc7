#include "microbench/libraries/cudnn/cudnn_candidates.h"

#include <set>

#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/libraries/cudnn/cudnn_graph.h"

namespace infimum::cuda {
namespace {

// For floating point: integer products are exact under every contract.
bool IsProduct(const Workload& workload) {
  const auto is_product = [](const LayerConfig& config) {
    const bool multiplies = std::holds_alternative<ConvolutionConfig>(config) ||
                            std::holds_alternative<MatMulConfig>(config) ||
                            std::holds_alternative<AttentionConfig>(config);
    return multiplies && IsFloatingPoint(TypesOf(config).input);
  };
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return is_product(*config);
  for (const RegionMember& member : std::get<Region>(workload).members)
    if (is_product(member.config)) return true;
  return false;
}

// Whether an engine with these notes can meet the contract. Element-wise engines carry the note of the Tensor Cores
// too, which says nothing of sums and copies.
bool MayMeet(const CudnnNotes& notes, NumericContract contract, bool is_product) {
  if (!is_product) return true;
  const bool cuts_operands = notes.tensor_core || notes.down_converts_inputs;
  if (contract == NumericContract::kStrictF32) return !cuts_operands && !notes.reduced_precision_sums;
  if (contract == NumericContract::kTf32) return cuts_operands;
  return true;
}

// The best plan of each engine: cuDNN's list is in its order of preference.
Result<std::vector<CudnnPlan>> BestOfEngines(CudnnGraph& graph) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<CudnnPlan> plans, graph.Heuristic());
  std::set<std::int64_t> known;
  std::erase_if(plans, [&](const CudnnPlan& plan) { return !known.insert(plan.engine).second; });
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<CudnnPlan> others, graph.Engines());
  for (const CudnnPlan& plan : others)
    if (known.insert(plan.engine).second) plans.push_back(plan);
  return plans;
}

Result<std::vector<CudnnPlan>> PlansOf(CudnnGraph& graph, CandidateTier tier, std::size_t most) {
  switch (tier) {
    case CandidateTier::kHeuristic:
      return graph.Heuristic();
    case CandidateTier::kEngine:
      return BestOfEngines(graph);
    case CandidateTier::kExhaustive:
      return graph.Exhaustive(most);
  }
  return std::vector<CudnnPlan>();
}

std::string NameOf(const CudnnForm& form, const Workload& workload) {
  return "in=" + InputLayouts(workload, form) + " out=" + OutputLayout(workload, form) + Suffix(workload, form);
}

}  // namespace

CudnnTarget CudnnTarget::Of(const GpuProperties& gpu) {
  return {gpu.name(), [gpu](const cpu::ValuedRegion& problem, const CudnnForm& form) {
            return CudnnGraph::Build(problem, form, gpu);
          }};
}

CudnnTarget CudnnTarget::Of(std::string device, std::shared_ptr<CudnnHandle> handle) {
  return {std::move(device), [handle = std::move(handle)](const cpu::ValuedRegion& problem, const CudnnForm& form) {
            return CudnnGraph::Build(problem, form, *handle);
          }};
}

Result<CandidateList> CudnnCandidates(const Workload& workload, NumericContract contract, CandidateTier tier,
                                      const CudnnTarget& target, std::size_t most_of_a_form) {
  CandidateList list;
  list.workload = KeyOf(workload).text;
  list.contract = contract;
  list.tier = tier;
  list.device = target.device;
  list.refusal = ContractRefusal(contract, workload);
  if (!list.refusal.empty()) return list;
  const bool is_product = IsProduct(workload);
  const cpu::ValuedRegion problem = BenchmarkedRegion(workload);
  const auto refuse = [&](const CudnnForm& form, const std::string& why) {
    // A family that the graph lacks is refused in every form with the same words.
    if (list.refusal.find(why) != std::string::npos) return;
    list.refusal += (list.refusal.empty() ? "" : "; ") + NameOf(form, workload) + ": " + why;
  };
  std::size_t cut_forms = 0;
  for (const CudnnForm& form : FormsOf(workload, contract, tier)) {
    Result<CudnnGraph> graph = target.build(problem, form);
    if (!graph.ok()) {
      if (!graph.error().message.starts_with("unsupported: ")) return graph.error();
      refuse(form, graph.error().message.substr(std::string_view("unsupported: ").size()));
      continue;
    }
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<CudnnPlan> plans, PlansOf(*graph, tier, most_of_a_form));
    std::size_t count = 0;
    for (const CudnnPlan& plan : plans) {
      if (!MayMeet(plan.notes, contract, is_product)) continue;
      ++count;
      OfferedCandidate offered;
      offered.candidate = {std::string(kCudnnGraph), plan.name + Suffix(workload, form), InputLayouts(workload, form),
                           OutputLayout(workload, form), list.candidates.empty()};
      offered.notes = Format(plan.notes);
      list.candidates.push_back(std::move(offered));
    }
    if (tier == CandidateTier::kExhaustive && plans.size() >= most_of_a_form) ++cut_forms;
    if (plans.empty()) {
      refuse(form, "no engine of cuDNN takes it on this device");
    } else if (count == 0) {
      refuse(form, "all " + std::to_string(plans.size()) + " engines are of other arithmetic than " +
                       std::string(Name(contract)));
    }
  }
  if (cut_forms > 0) {
    list.refusal += (list.refusal.empty() ? "" : "; ") + ("what " + std::to_string(cut_forms)) +
                    (cut_forms == 1 ? " form has" : " forms have each") + " beyond the first " +
                    std::to_string(most_of_a_form) + " settings, the most that are asked for";
  }
  return list;
}

std::optional<CudnnChoice> FindChoice(const Workload& workload, NumericContract contract, const Candidate& candidate) {
  if (candidate.library != kCudnnGraph) return std::nullopt;
  const std::size_t end = std::min(candidate.algorithm.find('/'), candidate.algorithm.size());
  for (const CudnnForm& form : FormsOf(workload, contract, CandidateTier::kExhaustive)) {
    if (candidate.algorithm.substr(end) == Suffix(workload, form) &&
        candidate.input_layout == InputLayouts(workload, form) &&
        candidate.output_layout == OutputLayout(workload, form))
      return CudnnChoice{form, candidate.algorithm.substr(0, end)};
  }
  return std::nullopt;
}

}  // namespace infimum::cuda
