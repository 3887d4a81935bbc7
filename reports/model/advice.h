// What a reader should know beside a report's numbers, and do about it: what the bound lacks and the command that would
// measure it, what is doubtful and what would settle it.
//
//   "The bound's interval is wide, as where other work disturbed the measuring; this measures again what decides it"
//   "infimum confirm net.onnx --db team.db --threads 1"
#pragma once

#include <string>
#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

// Fills `missing` and `advice` of a report that has all else. `warnings` come first, as they are; `last_level_cache` of
// the device decides whether the model's weights stay near the core.
void FillAdvice(const std::vector<std::string>& warnings, Bytes last_level_cache, ReportModel& report);

}  // namespace infimum
