// A waterfall as a chart for a terminal and as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/gap/waterfall.h"
#include "reports/text/json_values.h"

namespace infimum {

// What a step is, in words for people who have not read the manual: "slower kernels than known".
std::string_view TitleOf(GapCause cause);

// Where the times of a run's layers and of the run itself do not fit together; else empty.
std::string ScatterText(const Waterfall& waterfall);

// A line for each level and each step, with bars that lead from one to the next. `width` 0: 100.
std::string WaterfallText(const Waterfall& waterfall, std::size_t width);

// {"step","title","latency_us","count","parts":[{"name","latency_us"}],"rest":{"count","latency_us"}}, parts the
// largest first, at most 20 of a step; the rest of them together, null where there is none.
void to_json(OrderedJson& json, const GapStep& step);

}  // namespace infimum
