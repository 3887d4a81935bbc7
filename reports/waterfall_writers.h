// A waterfall as a chart for a terminal and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "infimum/analyzer/waterfall.h"
#include "reports/json_values.h"

namespace infimum {

// A line for each level and each step, with bars that lead from one to the next. `width` 0: 100.
std::string WaterfallText(const Waterfall& waterfall, std::size_t width);

// [{"step","latency_us","parts":[{"name","latency_us"}]}], parts the largest first, at most 20 of a step.
Json WaterfallJson(const Waterfall& waterfall);

}  // namespace infimum
