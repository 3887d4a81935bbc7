// Findings as text and as JSON, the same wherever they stand.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
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

// "402 µs, between 380 µs and 424 µs" that was observed; "up to 5.31 ms" that is bounded, "4.19 ms and more" in part;
// "4.2 ms" that is guessed.
std::string GainText(const Finding& finding);
// "guessed: 4.2 ms"
std::string KnownGainText(const Finding& finding);
// What the three words mean, where gains are listed.
std::string_view KnownLegend();

// The layers that it is about, with what they took and the best that is known; at most `most` of them.
Section CasesSection(const Finding& finding, std::size_t most = static_cast<std::size_t>(-1));

// Numbered, each with its gain, evidence, place, action and cases; then the legend.
std::string FindingsText(const std::vector<Finding>& findings, const FindingStyle& style);

// {"kind","known","gain_us","gain_interval_us","gain_overlaps","gain_is_part","held_against","layers","evidence","action","cases","commands"}
void to_json(OrderedJson& json, const Finding& finding);

}  // namespace infimum
