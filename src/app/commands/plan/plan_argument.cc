#include "src/app/commands/plan/plan_argument.h"

#include <fstream>
#include <iostream>
#include <iterator>

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
  std::string text;
  if (file == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::ifstream input(file, std::ios::binary);
    if (!input) return Error{file + ": cannot be read; `infimum plan MODEL -o " + file + "` writes a plan"};
    text.assign(std::istreambuf_iterator<char>(input), {});
  }
  return ParsePlan(text, file);
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
