// A critical path as a block of text for a terminal and as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "reports/run/path_view.h"
#include "reports/text/json_values.h"

namespace infimum {

// Its parts that take any time, and the five longest entries on it. `width` 0: as wide as needed.
std::string PathText(const PathView& view, std::size_t width);

// {"length_us","parts":[{"part","latency_us"}],"items":[{"name","part","count","latency_us"}]}: every part, also of 0,
// and at most 20 entries.
void to_json(Json& json, const PathView& view);

}  // namespace infimum
