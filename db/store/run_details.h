// What of a framework's run is kept as one JSON text: settings, warnings, samples and layers. Written and read by the
// store alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

std::string FormatRunDetails(const RunProfile& run);
// The point value of the end-to-end samples and its interval; nullopt where there are none.
struct RunSummary {
  double best_us = 0, low_us = 0, high_us = 0;
};
std::optional<RunSummary> SummaryOf(const RunProfile& run);

Status ParseRunDetails(std::string_view text, RunProfile& run);

// {"batch":8}: the same dimensions give the same text.
std::string FormatDims(const std::map<std::string, std::int64_t>& dims);
Result<std::map<std::string, std::int64_t>> ParseDims(std::string_view text);

std::string FormatTexts(const std::map<std::string, std::string>& texts);
Result<std::map<std::string, std::string>> ParseTexts(std::string_view text);
std::string FormatList(const std::vector<std::string>& texts);
Result<std::vector<std::string>> ParseList(std::string_view text);

}  // namespace infimum
