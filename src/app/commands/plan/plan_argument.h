// What bench and emit work on: a plan's file, or one workload's text.
//
//   infimum bench plan.txt    infimum bench -    infimum emit --layer 'pointwise kind=relu dtype=f32:-:f32 in=64' -o
//   relu
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "infimum/measurement/plan.h"

namespace infimum::cli {

struct PlanArgument {
  std::string file;  // - for standard input
  std::string layer;

  // `contract`: of the one workload; absent: its own types'.
  Result<Plan> Read(std::optional<NumericContract> contract = std::nullopt) const;
};

// Exactly one of PLAN and --layer; `what` is their heading in the help.
void AddPlanArgument(CLI::App* command, PlanArgument& argument, const std::string& what);

}  // namespace infimum::cli
