#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <string_view>
#include <vector>

#include "infimum/base/quantity_text.h"
#include "reports/bound/bound_table.h"
#include "reports/model/model_sections.h"
#include "reports/model/report_forms.h"
#include "reports/text/fact_text.h"
#include "reports/text/section.h"
#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kHeight = 24;
constexpr std::size_t kNameWidth = 30;
constexpr std::size_t kBarWidth = kWidth - kNameWidth - 13;
constexpr std::size_t kGaps = 5;
constexpr std::size_t kSteps = 5;
constexpr std::string_view kSummaryIndent = "            ";  // as wide as "  next      "

// ANSI's numbers.
enum class Tone { kStrong = 1, kQuiet = 2, kDemonstrated = 32, kMeasured = 33, kBound = 34 };

std::string Colored(std::string_view text, Tone tone, bool color) {
  return color ? fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(tone), text) : std::string(text);
}

struct Bar {
  std::string name;
  Latency latency{0};
  Tone tone = Tone::kQuiet;
  std::string note;  // behind it
};

std::vector<Bar> BarsOf(const ReportModel& report) {
  std::vector<Bar> bars;
  // What is below one launch of the device is not worth a line.
  const Latency launched = FloorOf(report.bracket.floors, ProgramClass::kLaunched).latency;
  for (const Floor& floor : report.bracket.floors) {
    const bool is_shown = HasFloorsAlone(report) || floor.program_class == ProgramClass::kDenseRead ||
                          floor.program_class == ProgramClass::kTextbook;
    if (is_shown && floor.latency > launched)
      bars.push_back({FloorName(floor.program_class), floor.latency, Tone::kQuiet, ""});
  }
  std::vector<Bound> bounds;
  // Where two variants say the same, the simpler one says it.
  for (const Bound& bound : report.bracket.bounds) {
    const bool is_said = std::ranges::any_of(bounds, [&](const Bound& other) {
      return std::abs(other.latency.count() - bound.latency.count()) <= 1e-3 * other.latency.count();
    });
    if (!is_said) bounds.push_back(bound);
  }
  if (bounds.size() > 4) bounds.resize(4);
  std::ranges::stable_sort(bounds, {}, &Bound::latency);
  // A sum without what was never measured is below what is least.
  const double lacking = report.bracket.coverage.Lacking();
  for (const Bound& bound : bounds) {
    const bool is_below = lacking > 0 && bound.latency < report.bracket.textbook().latency;
    bars.push_back({"bound, " + std::string(Name(bound.variant)), bound.latency, Tone::kBound,
                    is_below ? fmt::format("incomplete, {} is missing", PercentText(lacking)) : ""});
  }
  if (report.bracket.demonstrated)
    bars.push_back({"demonstrated", *report.bracket.demonstrated, Tone::kDemonstrated, ""});
  if (report.run)
    bars.push_back({report.run->profile.framework + " " + report.run->profile.framework_version, report.run->latency,
                    Tone::kMeasured, ""});
  for (const UpperLimit& other : OtherRunsOf(report)) bars.push_back({other.name, other.latency, Tone::kMeasured, ""});
  return bars;
}

void AddBars(const ReportModel& report, bool color, std::vector<std::string>& lines) {
  std::vector<Bar> bars = BarsOf(report);
  Latency longest{0};
  std::size_t width = kBarWidth;
  for (const Bar& bar : bars) {
    longest = std::max(longest, bar.latency);
    if (!bar.note.empty()) width = std::min(width, kBarWidth - DisplayWidth(bar.note) - 1);
  }
  for (const Bar& bar : bars) {
    std::string name = CutToWidth(Printable(bar.name), kNameWidth - 2);
    name.append(kNameWidth - 2 - std::min(kNameWidth - 2, DisplayWidth(name)), ' ');
    double share = longest > Latency(0) ? bar.latency / longest : 0;
    auto size = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
    std::string blocks;
    for (std::size_t i = 0; i < std::clamp<std::size_t>(size, 1, width); ++i) blocks += "█";
    std::string value = FormatLatency(bar.latency);
    value.insert(0, 9 - std::min<std::size_t>(9, DisplayWidth(value)), ' ');
    lines.push_back(fmt::format("  {}{}  {}{}", name, value, Colored(blocks, bar.tone, color),
                                bar.note.empty() ? "" : " " + bar.note));
  }
}

void AddLargest(const ReportModel& report, std::size_t count, std::vector<std::string>& lines) {
  Section section = LargestSection(report, count, true);
  if (section.rows.empty()) return;
  section.left_out = 0;  // the page has them
  section.columns.front().title = section.title;
  section.columns.front().title.front() = static_cast<char>(std::tolower(section.title.front()));
  std::istringstream text(SectionTable(section, kWidth, 2));
  lines.emplace_back();
  for (std::string line; std::getline(text, line);) lines.push_back(line);
}

// A command that was cut would be copied and fail: it stands whole on a line of its own, or not at all.
void AddStep(std::string_view text, std::string_view command, std::vector<std::string>& steps,
             bool may_exceed = false) {
  std::string shown = Printable(command);
  bool fits =
      !command.empty() && shown == command && (may_exceed || DisplayWidth(shown) + kSummaryIndent.size() + 2 <= kWidth);
  steps.push_back(CutToWidth(Printable(text), kWidth - kSummaryIndent.size() - (fits ? 1 : 0)) + (fits ? ":" : ""));
  if (fits) steps.push_back("  " + shown);
}

std::vector<std::string> NextSteps(const ReportModel& report, const SummaryOptions& options) {
  std::vector<std::string> steps;
  if (!options.report_path.empty()) AddStep("open " + options.report_path, "", steps);
  // Where nothing else is known of a device, how to measure it is part of the answer.
  for (const Advice& advice : report.advice) AddStep(advice.text, advice.command, steps, HasFloorsAlone(report));
  if (!report.missing.empty() && !HasFloorsAlone(report)) {
    AddStep(CountText(report.missing.size(), "workload") + " without a time", report.missing.front().command, steps);
  }
  return steps;
}

}  // namespace

std::string Summary(const ReportModel& report, const SummaryOptions& options) {
  std::vector<std::string> lines;
  std::string about = fmt::format("{} on {}", report.model_name, report.device_name);
  if (IsProcessor(report)) about += ", " + CountText(static_cast<std::size_t>(report.environment.threads), "thread");
  about += fmt::format(", {}", Name(report.bracket.contract));
  lines.push_back(Colored(CutToWidth(Printable(about), kWidth), Tone::kStrong, options.color));
  lines.emplace_back();
  AddBars(report, options.color, lines);
  lines.emplace_back();
  std::vector<std::string> answer = Wrapped(Headline(report), kWidth);
  if (answer.size() > 4) {  // a hostile name must not push the rest off the screen
    answer.resize(4);
    answer.back() = CutToWidth(answer.back() + " " + std::string(kWidth, ' '), kWidth);
  }
  for (const std::string& line : answer) lines.push_back(Colored(line, Tone::kStrong, options.color));

  std::vector<std::string> steps = NextSteps(report, options);
  if (steps.size() > kSteps) {
    bool torn = steps[kSteps].starts_with(' ');  // a command whose text would stand alone
    steps.resize(kSteps - (torn ? 1 : 0));
  }
  std::size_t tail = 2 + steps.size();
  std::size_t room = kHeight - std::min(kHeight, lines.size() + tail);
  if (room > 2) AddLargest(report, std::min(kGaps, room - 2), lines);

  lines.emplace_back();
  if (!HasFloorsAlone(report)) lines.push_back("  coverage  " + CoverageText(report.bracket.coverage));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    lines.push_back(std::string(i == 0 ? std::string_view("  next      ") : kSummaryIndent) + steps[i]);
  }
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace infimum
