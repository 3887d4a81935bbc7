#include "src/app/commands/plan/plan_argument.h"

namespace infimum::cli {

Result<Plan> PlanArgument::Read(std::optional<NumericContract> contract) const {
  if (!layer.empty()) {
    const Result<Workload> workload = ParseWorkload(layer);
    if (!workload) return Within("--layer", workload.error());
    PlanEntry entry;
    entry.workload = *workload;
    entry.contract = contract.value_or(NativeContract(*workload));
    return Plan{{}, {std::move(entry)}};
  }
  return ReadPlan(file);
}

void AddPlanArgument(CLI::App* command, PlanArgument& argument, const std::string& what) {
  auto* const group = command->add_option_group("what", what);
  group->add_option("PLAN", argument.file, "a plan from `infimum plan`; - for standard input");
  group->add_option("--layer", argument.layer, "one workload's canonical text")
      ->type_name("TEXT")
      ->check([](const std::string& text) {
        const Result<Workload> workload = ParseWorkload(text);
        return workload.ok() ? std::string() : workload.error().message;
      });
  group->require_option(1);
}

}  // namespace infimum::cli
