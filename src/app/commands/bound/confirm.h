// Measures what decides a bound again, until its interval is narrow: the candidates of fused-sequential's layers and
// regions, and those that cannot be told from them, in more and more repetitions.
//
//   ConfirmOptions options{.model = "resnet50.onnx", .width = 0.02};
//   Result<Confirmation> done = Confirm(options, talk);
//   done->converged    // or the budget was spent, or more repetitions no longer help
//
// Every round of it is an ordinary campaign: its rows are in the store as they come, and the next bound has them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "analyzer/bracket/bracket.h"
#include "infimum/graph/model_graph.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/campaign.h"

namespace infimum {

struct ConfirmOptions {
  std::filesystem::path model;
  std::map<std::string, std::int64_t> dims;
  std::string database = "infimum.db";
  CampaignOptions campaign;  // its budget is that of all rounds together
  std::optional<NumericContract> contract;
  double width = 0.02;            // of the interval, as a share of the bound
  std::int64_t repetitions = 64;  // maximum for one candidate
};

struct Confirmation {
  ModelGraph graph;
  Bracket bracket;
  double width = 0;  // reached
  bool converged = false;
  bool interrupted = false;
};

// The width of fused-sequential's interval as a share of it; 0 where there is no bound or nothing takes time.
double IntervalWidth(const Bracket& bracket);

// Of the deciders those that must be measured again so that the interval can become `width` wide: the most uncertain
// ones, until what the others add is a quarter of that.
std::vector<Decider> WorthConfirming(const Bracket& bracket, double width);

// Works on the device that it runs on, with what the store has of it; layers that nobody measured stay missing.
Result<Confirmation> Confirm(const ConfirmOptions& options, Talk& talk);

}  // namespace infimum
