// infimum report compare, which is a part of `infimum report`.
#pragma once

#include "src/app/command.h"

namespace infimum::cli {

void AddReportCompareCommand(CLI::App& report, Invocation& invocation);

}  // namespace infimum::cli
