// The end of an analysis: the run's gap, the candidates and the report, by the model's own names or without them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/db/store.h"
#include "src/app/commands/analyze/analysis.h"

namespace infimum {

// Something that went wrong on the way; of what libraries and files say nobody knows what it names.
struct AnalysisWarning {
  std::string text;
  bool may_hold_names = true;
};

struct AnalysisReport {
  const std::filesystem::path& model;
  const std::map<std::string, std::int64_t>& dims;
  std::optional<NumericContract> contract;
  std::string database;
  std::string backend;
  bool here = true;  // the device is this one
  bool anonymize = false;
  const Device& device;
  std::vector<AnalysisWarning> warnings;
};

// Fills Analysis::report, which takes graph, bracket and run of the analysis: they are empty there afterwards.
Status FillReportOf(AnalysisReport asked, const Selection& selection, Store& store, Analysis& analysis);

}  // namespace infimum
