#pragma once

#include <CLI/CLI.hpp>

#include "src/app/command.h"

namespace infimum::cli {

void AddReportStoreCommand(CLI::App& report, Invocation& invocation);

}  // namespace infimum::cli
