#include "reports/model/possible_gains.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/quantity_text.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

// The tag that says what keeps layers from running at once: "core-time-decides".
std::string DeciderOf(const Bound& parallel) {
  for (const std::string& tag : parallel.assumptions)
    if (tag.ends_with("-decides")) return tag;
  return "";
}

void AddWhatIfs(const ReportModel& report, const Bound& main, std::vector<PossibleGain>& gains) {
  for (const WhatIfOutcome& outcome : report.bracket.what_ifs) {
    // Other caches are no change that anybody could make.
    if (outcome.name.starts_with("cache:")) continue;
    for (const WhatIfBound& bound : outcome.bounds) {
      if (bound.variant != main.variant || !bound.gain) continue;
      // What lacks layers that the bound has would seem to win them.
      if (outcome.coverage && outcome.coverage->missing > report.bracket.coverage.missing) continue;
      gains.push_back({"what if " + outcome.name, *bound.gain,
                       fmt::format("{}, {} {}{}", CountText(outcome.layers, "layer"), Name(bound.variant),
                                   FormatLatency(bound.latency),
                                   outcome.coverage ? ", measured " + PercentText(outcome.coverage->measured) : "")});
    }
  }
}

}  // namespace

std::vector<PossibleGain> PossibleGains(const ReportModel& report) {
  std::vector<PossibleGain> gains;
  const Bound* main = MainBound(report);
  const Bound* sequential = report.bracket.Find(BoundVariant::kSequential);
  if (main == nullptr || sequential == nullptr) return gains;
  if (const Bound* fused = report.bracket.Find(BoundVariant::kFusedSequential);
      fused && !report.bracket.regions.empty()) {
    const auto chosen = std::ranges::count_if(report.bracket.regions, &RegionLatency::is_chosen);
    gains.push_back({"run the measured fused kernels", sequential->latency - fused->latency,
                     CountText(static_cast<std::size_t>(chosen), "region") + ", against each layer alone"});
  }
  if (const Bound* ideal = report.bracket.Find(BoundVariant::kIdealFusion))
    gains.push_back({"fuse every element-wise and layout layer", main->latency - ideal->latency,
                     "kernels that need not exist yet, against the bound"});
  if (const Bound* parallel = report.bracket.Find(BoundVariant::kParallel))
    gains.push_back({"run independent layers at once", sequential->latency - parallel->latency, DeciderOf(*parallel)});
  if (report.bracket.regret)
    gains.push_back(
        {"the best algorithm in place of the library’s choice", std::max(report.bracket.regret->sum, Latency(0)),
         !(report.bracket.regret->sum.count() > 0)
             ? RegretText(*report.bracket.regret)
             : CountText(report.bracket.regret->layers, "layer") +
                   (report.bracket.regret->is_validated ? ", measured on repetitions that did not choose the winner"
                                                        : ", not told from noise")});
  AddWhatIfs(report, *main, gains);
  return gains;
}

}  // namespace infimum
