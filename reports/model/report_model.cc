#include "reports/model/report_model.h"

#include <algorithm>

#include "infimum/base/check.h"
#include "infimum/base/text.h"
#include "reports/text/utf8.h"

namespace infimum {

std::string_view Name(RowStatus status) {
  switch (status) {
    case RowStatus::kMeasured:
      return "measured";
    case RowStatus::kEstimated:
      return "estimated";
    case RowStatus::kFree:
      return "free";
    case RowStatus::kMissing:
      return "missing";
    case RowStatus::kUnknown:
      return "unknown";
  }
  INFIMUM_CHECK(false, "a row status without a name");
}

const Bound* FindBound(const ReportModel& report, BoundVariant variant) {
  const auto found = std::ranges::find(report.bounds, variant, &Bound::variant);
  return found != report.bounds.end() ? &*found : nullptr;
}

const Bound* MainBound(const ReportModel& report) {
  for (const BoundVariant variant : {BoundVariant::kFusedSequential, BoundVariant::kSequential})
    if (const Bound* bound = FindBound(report, variant)) return bound;
  return report.bounds.empty() ? nullptr : &report.bounds.front();
}

std::optional<PossibleGap> GapOf(const ReportModel& report) {
  const Bound* bound = MainBound(report);
  if (!report.run || bound == nullptr) return std::nullopt;
  const Latency measured = report.run->latency;
  // Layers that were timed with warm caches may need less than the floor: then the floor says what is left.
  const Latency floor = std::min(report.floor.latency, measured);
  PossibleGap gap{measured - std::max(bound->latency, floor), std::nullopt};
  if (report.run->interval && bound->interval.high > bound->interval.low)
    gap.interval = Interval{report.run->interval->low - std::max(bound->interval.high, floor),
                            report.run->interval->high - std::max(bound->interval.low, floor)};
  return gap;
}

Latency FindingsBasis(const ReportModel& report) {
  if (!report.run) return Latency(0);
  const Latency profiled = report.waterfall ? report.waterfall->measured - report.waterfall->scatter : Latency(0);
  return std::max(report.run->latency, profiled);
}

std::string DataAsOf(const ReportModel& report) {
  return report.data_as_of.empty() ? "No measurements" : "Data of " + report.data_as_of;
}

bool IsMeasured(const ReportModel& report) { return report.coverage.measured >= 0.9 && !LacksMuch(report); }

bool LacksMuch(const ReportModel& report) { return report.coverage.Lacking() > 0.1; }

bool PromisesGains(const ReportModel& report) {
  return report.coverage.measured > 0.5 && report.coverage.Lacking() < 0.5;
}

std::string ReproductionCommand(std::string_view config, std::string_view options) {
  std::string command = "infimum bench --layer " + ShellQuoted(ValidUtf8(config));
  if (!options.empty()) command += " " + std::string(options);
  return command;
}

}  // namespace infimum
