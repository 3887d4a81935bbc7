// Findings as text and as JSON, the same wherever they stand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/findings/finding.h"
#include "reports/text/json_values.h"
#include "reports/text/section.h"

namespace infimum {

struct FindingStyle {
  std::size_t width = 0;  // 0: as wide as needed
  std::size_t most = static_cast<std::size_t>(-1);
};

// The kind in words: "slower algorithm".
std::string TitleOf(const Finding& finding);

// "up to 5.31 ms"; "4.19 ms and more" of a gain that is known in part.
std::string GainText(const Finding& finding);

// The layers that it is about, with what they took and the best that is known; at most `most` of them.
Section CasesSection(const Finding& finding, std::size_t most = static_cast<std::size_t>(-1));

// Numbered, each with its gain, evidence, place, action and cases.
std::string FindingsText(const std::vector<Finding>& findings, const FindingStyle& style);

// {"kind","gain_us","gain_overlaps","held_against","layers","evidence","action","cases","commands"}
void to_json(Json& json, const Finding& finding);

}  // namespace infimum
