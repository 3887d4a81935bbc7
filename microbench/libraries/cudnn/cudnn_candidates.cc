#include "microbench/libraries/cudnn/cudnn_candidates.h"

#include "microbench/gpu/device/symmetric_values.h"
#include "src/core/measurement/cudnn_operations.h"

namespace infimum::cuda {
namespace {

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
  const cpu::ValuedRegion problem = BenchmarkedRegion(workload);
  const bool is_product = HasFloatProduct(problem.region);
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
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<cudnn::Plan> plans, graph->Plans(tier, most_of_a_form));
    std::size_t count = 0;
    for (const cudnn::Plan& plan : plans) {
      if (!cudnn::MayMeet(plan.notes, std::string(Name(contract)), is_product)) continue;
      ++count;
      OfferedCandidate offered;
      offered.candidate = {std::string(kCudnnGraph), plan.name + Suffix(workload, form), InputLayouts(workload, form),
                           OutputLayout(workload, form), list.candidates.empty()};
      offered.notes = cudnn::Format(plan.notes);
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
    list.refusal += (list.refusal.empty() ? "" : "; ") + std::to_string(cut_forms) +
                    (cut_forms == 1 ? " form" : " forms") + " may have more settings than the " +
                    std::to_string(most_of_a_form) + " that are listed";
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
