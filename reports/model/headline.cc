#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/quantity_text.h"
#include "infimum/base/utf8.h"
#include "reports/model/report_forms.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

// Each kernel may have its own layout in the main bound: where changing them between layers takes much, it is said.
std::string LayoutsPhrase(const ReportModel& report, const Bound& bound) {
  constexpr double kMuch = 0.05;
  const Bound* with_layouts = report.bracket.Find(BoundVariant::kWithLayouts);
  if (with_layouts == nullptr || with_layouts->latency < bound.latency * (1 + kMuch)) return "";
  return fmt::format(", {} with the changes of layout between them", FormatLatency(with_layouts->latency));
}

std::string BoundPhrase(const ReportModel& report, const Bound& bound) {
  const double missing = report.bracket.coverage.Lacking();
  if (LacksMuch(report))
    return fmt::format("{} has no time yet, and what is known needs {} at least", LackingText(report.bracket.coverage),
                       FormatLatency(bound.latency));
  if (!IsMeasured(report))
    return fmt::format("kernels measured for {} of its work, and the rest by the bytes that it moves, would need {}{}",
                       PercentText(report.bracket.coverage.measured), missing > 0 ? "at least " : "",
                       FormatLatency(bound.latency));
  const char* known =
      missing > 0 ? "the kernels measured so far would need at least " : "the best measured kernels would need ";
  return known + FormatLatency(bound.latency) + LayoutsPhrase(report, bound);
}

std::string GapText(const ReportModel& report, Latency gap) {
  const std::optional<PossibleGap> known = GapOf(report);
  return WithInterval(gap, known ? known->interval : std::nullopt);
}

// Layers that were timed with warm caches may together need less than the floor, which reads all weights from
// memory: then the floor says what is left to win.
std::string FloorPhrase(const ReportModel& report, Latency measured, Latency floor) {
  return fmt::format("one by one with warm caches, which is below the floor; at most {} could be won ({})",
                     PercentText((measured - floor) / measured), GapText(report, measured - floor));
}

std::string GapPhrase(const ReportModel& report, Latency bound) {
  const Latency measured = report.run->latency;
  if (!PromisesGains(report)) return "how much could be won is not known before more of its layers are measured";
  const bool missing = report.bracket.coverage.Lacking() > 0;
  double share = (measured - bound) / measured;
  if (share < -0.005) {
    return fmt::format("the run is {} faster than that: a kernel is missing from our candidates", PercentText(-share));
  }
  if (share < 0.005) return "nothing is left to win with them";
  return fmt::format("{}{} could be won ({})", missing ? "at most " : "", PercentText(share),
                     GapText(report, measured - bound));
}

}  // namespace

std::string Headline(const ReportModel& report) {
  std::string name = report.model_name.empty() ? std::string("The model") : ValidUtf8(report.model_name);
  const Bound* bound = MainBound(report);
  std::string text;
  if (report.run && bound != nullptr) {
    const bool below_floor = PromisesGains(report) && bound->latency < report.bracket.floor.latency &&
                             report.bracket.floor.latency < report.run->latency;
    text = fmt::format("{} runs in {} on {} {}; {}{}.", name, FormatLatency(report.run->latency),
                       ValidUtf8(report.run->profile.framework), ValidUtf8(report.run->profile.framework_version),
                       BoundPhrase(report, *bound),
                       below_floor ? " " + FloorPhrase(report, report.run->latency, report.bracket.floor.latency)
                                   : ": " + GapPhrase(report, bound->latency));
  } else if (report.run) {
    text = fmt::format("{} runs in {} on {} {}.", name, FormatLatency(report.run->latency),
                       ValidUtf8(report.run->profile.framework), ValidUtf8(report.run->profile.framework_version));
  } else if (bound != nullptr) {
    text = fmt::format("{}: {}.", name, BoundPhrase(report, *bound));
  } else {
    text = fmt::format("{}: nothing was measured yet.", name);
  }
  if (report.run && report.waterfall && report.waterfall->DisagreesWithItself() && bound != nullptr)
    text += fmt::format(" Under the profiler its layers make {}: measure again before believing the gap.",
                        FormatLatency(report.waterfall->measured - report.waterfall->scatter));
  if (report.bracket.floor.latency > Latency(0)) {
    // Without a data sheet the peaks are the best rates seen: strong evidence, not a proof.
    bool estimated = std::find(report.bracket.floor.assumptions.begin(), report.bracket.floor.assumptions.end(),
                               "estimated") != report.bracket.floor.assumptions.end();
    text += fmt::format(" No program can be faster than {} on this device{}.",
                        FormatLatency(report.bracket.floor.latency), estimated ? ", by its measured peaks" : "");
  }
  return text;
}

}  // namespace infimum
