// The top of the page: what a reader should know who reads nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "infimum/base/quantity_text.h"
#include "reports/model/answers.h"
#include "reports/model/report_forms.h"
#include "reports/page/html_sections.h"
#include "reports/run/finding_writers.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

void AddTile(std::string_view color, std::string_view name, std::string_view value, std::string_view note,
             HtmlWriter& html) {
  html.Open("div", {{"class", fmt::format("tile {}", color)}});
  html.Element("div", {{"class", "name"}}, name).Element("div", {{"class", "value"}}, value);
  html.Element("div", {{"class", "note"}}, note).Close();
}

void AddWinTile(const ReportModel& report, const PossibleGap& gap, HtmlWriter& html) {
  const Latency measured = report.run->latency;
  const std::optional<GapVerdict> verdict = VerdictOf(report);
  if (verdict == GapVerdict::kInversion) {
    AddTile("missing", "Inversion", PercentText(-gap.latency / measured), "the run beats our candidates", html);
  } else if (verdict == GapVerdict::kNoGap) {
    AddTile("measured", "Gap", "none told", "the intervals of run and kernels meet", html);
  } else {
    const std::string note = fmt::format("{:.2f}× speed-up: {}", measured / (measured - gap.latency),
                                         WithInterval(gap.latency, gap.interval));
    std::string_view name = "Could be won, not shown";
    if (report.bracket.coverage.Lacking() > 0) name = "Could be won, at most";
    if (verdict == GapVerdict::kShown) name = "Shown to be won";
    AddTile("measured", name, PercentText(gap.latency / measured), note, html);
  }
}

// Where a quantity of the sentence begins and ends: "36.9 ms", "< 0.1 %".
std::size_t QuantityLength(std::string_view text) {
  std::size_t at = text.starts_with("< ") || text.starts_with("> ") ? 2 : 0;
  const std::size_t digits = at;
  const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  if (!is_digit(at)) return 0;
  while (is_digit(at) || (at > digits && at < text.size() && text[at] == '.' && is_digit(at + 1))) ++at;
  for (const std::string_view unit : {" ns", " µs", " ms", " s", " %", " times"}) {
    if (!text.substr(at).starts_with(unit)) continue;
    const std::size_t end = at + unit.size();
    const bool ends = end >= text.size() || std::isalnum(static_cast<unsigned char>(text[end])) == 0;
    return ends ? end : 0;
  }
  return 0;
}

}  // namespace

std::string FactsHtml(const ReportModel& report) {
  constexpr std::size_t kInputs = 3;
  std::vector<std::string> facts{report.device_name, report.generation};
  if (IsProcessor(report)) facts.push_back(CountText(static_cast<std::size_t>(report.environment.threads), "thread"));
  facts.emplace_back(Name(report.bracket.contract));
  const std::vector<ValueId>& inputs = report.graph.inputs;
  for (std::size_t i = 0; i < std::min(kInputs, inputs.size()); ++i) {
    const Value& input = report.graph.value(inputs[i]);
    facts.push_back(fmt::format("{} {} {}", input.name, ShapeText(input), Name(input.type)));
  }
  if (inputs.size() > kInputs) facts.push_back(fmt::format("and {} more", CountText(inputs.size() - kInputs, "input")));
  HtmlWriter html;
  for (const std::string& fact : facts)
    if (!fact.empty()) html.Element("span", fact);
  return html.Take();
}

std::string HeadlineHtml(const ReportModel& report) { return SentenceHtml(Headline(report)); }

std::string SentenceHtml(std::string_view sentence) {
  HtmlWriter html;
  std::size_t start = 0;
  for (std::size_t i = 0; i < sentence.size();) {
    // Digits inside a word are a name's.
    const bool begins = i == 0 || sentence[i - 1] == ' ' || sentence[i - 1] == '(';
    const std::size_t length = begins ? QuantityLength(sentence.substr(i)) : 0;
    if (length == 0) {
      ++i;
      continue;
    }
    html.Text(sentence.substr(start, i - start));
    html.Element("strong", sentence.substr(i, length));
    start = i += length;
  }
  html.Text(sentence.substr(start));
  return html.Take();
}

std::string FirstChangeHtml(const ReportModel& report) {
  if (report.findings.empty() || report.findings.front().gain.count() <= 0) return "";
  const Finding& first = report.findings.front();
  HtmlWriter html;
  html.Open("p", {{"class", "first-change"}}).Element("strong", "Change first: " + TitleOf(first)).Text(": ");
  html.Text(first.action + ". ").Element("strong", fmt::format("It wins {} ({})", GainText(first), Name(first.known)));
  if (const Latency basis = FindingsBasis(report); basis.count() > 0)
    html.Text(fmt::format(
        ", {} of the time {}", PercentText(first.gain / basis),
        basis > report.run->latency && report.waterfall->DisagreesWithItself() ? "under the profiler" : "now"));
  html.Text(". ").Element("a", {{"href", "#finding-1"}}, "Why, and what else").Close();
  return html.Take();
}

std::string TilesHtml(const ReportModel& report) {
  HtmlWriter html;
  if (HasFloorsAlone(report)) {
    for (const Floor& floor : report.bracket.floors)
      if (floor.latency > Latency(0))
        AddTile("floor", "Floor, " + std::string(Name(floor.program_class)), FormatLatency(floor.latency),
                "by " + floor.decided_by, html);
    return html.Take();
  }
  const Bound* bound = report.bracket.BestKnown();
  if (report.run)
    AddTile("measured", "Measured", FormatLatency(report.run->latency),
            report.run->profile.framework + " " + report.run->profile.framework_version +
                (report.run->interval ? ", 95 % in " + IntervalText(*report.run->interval) : std::string()),
            html);
  if (report.bracket.demonstrated)
    AddTile("demonstrated", "Demonstrated", FormatLatency(*report.bracket.demonstrated),
            "best kernels, run as one program", html);
  const bool is_whole = report.bracket.coverage.Lacking() <= 0;
  if (bound != nullptr) {
    const bool has_spread = bound->interval.high > bound->interval.low;
    AddTile("bound", is_whole ? "Bound" : "Bound so far", FormatLatency(bound->latency),
            std::string(!is_whole             ? "of what is known"
                        : !IsMeasured(report) ? "measured and estimated"
                                              : "best measured kernels") +
                (has_spread ? ", 95 % in " + IntervalText(bound->interval) : std::string()),
            html);
  }
  if (const std::optional<PossibleGap> gap = GapOf(report); gap && PromisesGains(report))
    AddWinTile(report, *gap, html);
  if (const Floor& floor = report.bracket.dense_read();
      floor.latency > FloorOf(report.bracket.floors, ProgramClass::kLaunched).latency)
    AddTile("floor", "Floor, dense-read", FormatLatency(floor.latency), "by " + floor.decided_by, html);
  AddTile(is_whole ? "bound" : "missing", "Coverage", PercentText(report.bracket.coverage.measured),
          is_whole ? "measured, nothing missing"
                   : fmt::format("measured; {} missing", LackingText(report.bracket.coverage)),
          html);
  return html.Take();
}

std::string AdviceHtml(const ReportModel& report) {
  HtmlWriter html;
  for (const Advice& advice : report.advice) {
    html.Open("div", {{"class", "callout"}}).Text(advice.text);
    AddCommand(advice.command, html);
    html.Close();
  }
  return html.Take();
}

std::string AnswersHtml(const ReportModel& report) {
  HtmlWriter html;
  for (const Answer& answer : AnswersOf(report)) {
    html.Open("div", {{"class", answer.is_known ? "answer" : "answer open"}});
    html.Open("dt");
    html.Element("span", {{"class", "number"}}, std::to_string(answer.number)).Text(answer.question).Close();
    html.Open("dd").Text(answer.text);
    if (answer.is_known && !answer.section.empty())
      html.Text(" ").Element("a", {{"href", "#" + answer.section}}, "Details");
    AddCommand(answer.command, html);
    html.Close().Close();
  }
  return html.Take();
}

}  // namespace infimum
