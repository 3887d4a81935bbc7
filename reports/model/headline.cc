#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/quantity_text.h"
#include "infimum/base/utf8.h"
#include "reports/model/report_forms.h"
#include "reports/text/fact_text.h"

namespace infimum {
namespace {

// Each kernel may have its own layout in the main bound: where changing them between layers takes much, it is said.
std::string LayoutsPhrase(const ReportModel& report, const Bound& bound) {
  constexpr double kMuch = 0.05;
  const Bound* with_layouts = report.bracket.Find(BoundVariant::kWithLayouts);
  if (with_layouts == nullptr || with_layouts->latency < bound.latency * (1 + kMuch)) return "";
  return fmt::format(", {} with the changes of layout between them", FormatLatency(with_layouts->latency));
}

// What the best known kernels add up to.
std::string KnownPhrase(const ReportModel& report, const Bound& known) {
  const std::string latency = FormatLatency(known.latency);
  if (LacksMuch(report))
    return fmt::format("{} has no time yet, and what is known adds up to {}", LackingText(report.bracket.coverage),
                       latency);
  if (!IsMeasured(report))
    return fmt::format("kernels measured for {} of its work, and the rest by the bytes that it moves, add up to {}",
                       PercentText(report.bracket.coverage.measured), latency);
  const bool missing = report.bracket.coverage.Lacking() > 0;
  return fmt::format("the {} add up to {}{}", missing ? "kernels measured so far" : "best known kernels", latency,
                     LayoutsPhrase(report, known));
}

// "13 % could be won (9.10 ms, between 8.2 ms and 9.9 ms)"
std::string GapText(const ReportModel& report, std::string_view verb) {
  const PossibleGap gap = GapOf(report).value_or(PossibleGap{});
  return fmt::format("{} {} ({})", PercentText(gap.latency / report.run->latency), verb,
                     WithInterval(gap.latency, gap.interval));
}

// The sums of layers that were timed with warm caches may be below the dense-read floor, which reads all weights: then
// the floor says what is left to win.
std::string NotShownPhrase(const ReportModel& report, const Bound& known) {
  const Latency floor = report.bracket.dense_read().latency;
  const bool is_below_floor = known.latency < floor && floor < report.run->latency;
  const bool is_most = is_below_floor || report.bracket.coverage.Lacking() > 0;
  const std::string shown = report.bracket.demonstrated ? fmt::format(", and run as one program they took {}",
                                                                      FormatLatency(*report.bracket.demonstrated))
                                                        : ", not shown yet";
  return fmt::format("{}{}{}: {}{}", KnownPhrase(report, known),
                     is_below_floor ? " one by one, which is below the dense-read floor" : "", shown,
                     is_most ? "at most " : "", GapText(report, "could be won"));
}

// The verb follows the evidence.
std::string VerdictPhrase(const ReportModel& report, const Bound& known) {
  if (!PromisesGains(report))
    return KnownPhrase(report, known) + ": how much could be won is not known before more of its layers are measured";
  const std::optional<GapVerdict> verdict = VerdictOf(report);
  if (verdict == GapVerdict::kShown)
    return fmt::format("a program of the best known kernels was shown to run it in {}, its outputs checked: {}",
                       FormatLatency(*report.bracket.demonstrated), GapText(report, "less"));
  if (verdict == GapVerdict::kNotShown) return NotShownPhrase(report, known);
  if (verdict == GapVerdict::kInversion)
    return fmt::format("{}: the run is {} faster than that: a kernel is missing from our candidates",
                       KnownPhrase(report, known),
                       PercentText((known.latency - report.run->latency) / report.run->latency));
  return KnownPhrase(report, known) + ": no gap can be told from noise";
}

// A floor that is below what starting one kernel takes says nothing.
std::string FloorSentence(const ReportModel& report) {
  const Floor& floor = report.bracket.dense_read();
  if (floor.latency <= FloorOf(report.bracket.floors, ProgramClass::kLaunched).latency) return "";
  // Without a data sheet the peaks are the best rates seen: strong evidence, not a proof.
  const bool estimated = std::ranges::count(floor.assumptions, std::string("estimated")) > 0;
  return fmt::format(" A program that reads every weight once takes at least {} on this device{}.",
                     FormatLatency(floor.latency), estimated ? ", by its measured rates" : "");
}

}  // namespace

std::string Headline(const ReportModel& report) {
  std::string name = report.model_name.empty() ? std::string("The model") : ValidUtf8(report.model_name);
  const Bound* known = report.bracket.BestKnown();
  std::string text;
  if (report.run) {
    text = fmt::format("{} runs in {} on {} {}", name, FormatLatency(report.run->latency),
                       ValidUtf8(report.run->profile.framework), ValidUtf8(report.run->profile.framework_version));
    text += known != nullptr ? "; " + VerdictPhrase(report, *known) + "." : ".";
  } else if (known != nullptr) {
    text = fmt::format("{}: {}.", name, KnownPhrase(report, *known));
  } else if (const Floor& floor = report.bracket.textbook(); floor.latency > Latency(0)) {
    text = fmt::format("{} was not measured on {} yet; a program of the textbook’s sums takes at least {} there, {}.",
                       name, ValidUtf8(report.device_name), FormatLatency(floor.latency),
                       "decided by " + floor.decided_by);
  } else {
    text = fmt::format("{}: nothing was measured yet.", name);
  }
  if (report.run && report.waterfall && report.waterfall->DisagreesWithItself() && known != nullptr)
    text += fmt::format(" Under the profiler its layers make {}: measure again before believing the gap.",
                        FormatLatency(report.waterfall->measured - report.waterfall->scatter));
  return text + FloorSentence(report);
}

}  // namespace infimum
