#include "reports/model/report_model.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "infimum/base/text.h"
#include "infimum/base/utf8.h"

namespace infimum {
namespace {

Interval IntervalOf(const ReportRun& run) { return run.interval.value_or(Interval{run.latency, run.latency}); }

}  // namespace

std::optional<GapVerdict> VerdictOf(const ReportModel& report) {
  return report.run ? VerdictOn(IntervalOf(*report.run), report.bracket) : std::nullopt;
}

std::optional<PossibleGap> GapOf(const ReportModel& report) {
  const Bound* bound = report.bracket.BestKnown();
  if (!report.run || bound == nullptr) return std::nullopt;
  const Latency measured = report.run->latency;
  if (const UpperLimit* shown = report.bracket.Shown(); shown != nullptr && VerdictOf(report) == GapVerdict::kShown)
    return PossibleGap{measured - shown->latency, Interval{IntervalOf(*report.run).low - shown->interval.high,
                                                           IntervalOf(*report.run).high - shown->interval.low}};
  // Layers that were timed with warm caches may need less than the floor: then the floor says what is left.
  const Latency floor = std::min(report.bracket.dense_read().latency, measured);
  PossibleGap gap{measured - std::max(bound->latency, floor), std::nullopt};
  if (report.run->interval && bound->interval.high > bound->interval.low)
    gap.interval = Interval{report.run->interval->low - std::max(bound->interval.high, floor),
                            report.run->interval->high - std::max(bound->interval.low, floor)};
  // What was shown, or needs no more than the kernels and the changes of layout between them, may be all.
  const Bound* plan = report.bracket.Find(BoundVariant::kWithLayouts);
  const Latency least = report.bracket.demonstrated.value_or(plan != nullptr ? plan->latency : bound->latency);
  if (gap.interval) gap.interval->low = std::max(Latency(0), std::min(gap.interval->low, measured - least));
  return gap;
}

std::vector<UpperLimit> OtherRunsOf(const ReportModel& report) {
  std::set<std::string_view> known{kDemonstratedName};
  if (report.run) known.insert(report.run->profile.framework);
  std::vector<UpperLimit> others;
  for (const UpperLimit& limit : report.bracket.upper)
    if (known.insert(std::string_view(limit.name).substr(0, limit.name.find(' '))).second) others.push_back(limit);
  return others;
}

Latency FindingsBasis(const ReportModel& report) {
  if (!report.run) return Latency(0);
  const Latency profiled = report.waterfall ? report.waterfall->measured - report.waterfall->scatter : Latency(0);
  return std::max(report.run->latency, profiled);
}

std::string DataAsOf(const ReportModel& report) {
  return report.data_as_of.empty() ? "No measurements" : "Data of " + report.data_as_of;
}

bool IsMeasured(const ReportModel& report) { return report.bracket.coverage.measured >= 0.9 && !LacksMuch(report); }

bool LacksMuch(const ReportModel& report) { return report.bracket.coverage.Lacking() > 0.1; }

bool PromisesGains(const ReportModel& report) {
  return report.bracket.coverage.measured > 0.5 && report.bracket.coverage.Lacking() < 0.5;
}

bool IsProcessor(const ReportModel& report) { return report.device_key.starts_with("cpu/"); }

bool HasFloorsAlone(const ReportModel& report) { return !report.run && report.bracket.bounds.empty(); }

std::vector<AbsentCause> AbsentCausesOf(const ReportModel& report) {
  if (!report.waterfall) return {};
  return AbsentCauses(
      report.findings, *report.waterfall,
      {report.bracket.contract, IsProcessor(report), report.environment.threads, report.waterfall->bound.has_value()});
}

std::string ReproductionCommand(std::string_view config, std::string_view options) {
  std::string command = "infimum bench --layer " + ShellQuoted(ValidUtf8(config));
  if (!options.empty()) command += " " + std::string(options);
  return command;
}

}  // namespace infimum
