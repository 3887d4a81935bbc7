// What the tags of bounds and floors mean, for people: "warm-caches" is "Inputs and weights of a layer may already be
// in the caches."
#pragma once

#include <string>
#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

struct GlossaryEntry {
  std::string tag;
  std::string meaning;
};

// The classes of its floors, in their order; then of the tags that floors and bounds carry those that are explained,
// each once, by name.
std::vector<GlossaryEntry> GlossaryOf(const ReportModel& report);

}  // namespace infimum
