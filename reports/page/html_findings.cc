// What to change, and where the time goes: findings with their evidence, the steps of the gap, what is missing.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/model/model_sections.h"
#include "reports/model/report_commands.h"
#include "reports/page/html_page.h"
#include "reports/page/html_sections.h"
#include "reports/page/html_table.h"
#include "reports/run/finding_writers.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/fact_text.h"

namespace infimum {
namespace {

constexpr std::size_t kLayersShown = 3;  // in a finding's line
constexpr std::size_t kPartsShown = 5;   // of a step
constexpr std::size_t kMissingShown = 12;

void AddCases(const Finding& finding, HtmlWriter& html) {
  if (finding.cases.empty()) return;
  const Section cases = CasesSection(finding);
  AddTable(cases, {.label = cases.title, .heading = std::nullopt}, html);
}

void AddSource(const EmittedSource& source, HtmlWriter& html) {
  if (source.file_name.empty()) {
    html.Element("p", {{"class", "quiet"}}, "No stand-alone source: " + source.reason);
    return;
  }
  html.Open("details", {{"class", "source"}}).Element("summary", "Source: " + source.file_name);
  html.Element("button", {{"type", "button"}, {"class", "save"}, {"data-file", source.file_name}}, "Download");
  html.Element("p", {{"class", "quiet"}},
               "This is the layer’s own file. What it includes, and how all of it is compiled, is written by");
  AddCommand(source.command, html);
  html.Element(
      "pre",
      {{"class", "mono scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", "Source " + source.file_name}},
      source.text);
  html.Close();
}

// For each of its layers what was tried, the command that measures it again, and the source of its candidates: each
// source once in the page.
void AddEvidence(const ReportModel& report, const Finding& finding, std::set<std::string>& shown, HtmlWriter& html) {
  if (std::ranges::all_of(finding.cases, [](const FindingCase& one) { return one.workload.empty(); })) return;
  html.Open("details", {{"class", "evidence"}}).Element("summary", "Evidence, commands and sources");
  for (const FindingCase& one : finding.cases) {
    if (one.workload.empty()) continue;
    html.Open("p").Element("strong", one.layer);
    if (one.candidates > 0)
      html.Text(fmt::format(" · {} of {} measured", one.measured_candidates, CountText(one.candidates, "candidate")));
    if (one.interval) html.Text(" · the best in " + IntervalText(*one.interval));
    html.Close();
    if (one.command.empty()) {
      html.Element("p", {{"class", "mono"}}, one.workload);
    } else {
      AddCommand(one.command, html);
    }
    const auto source = std::ranges::find(report.sources, one.workload, &EmittedSource::config);
    if (source != report.sources.end() && shown.insert(one.workload).second) AddSource(*source, html);
  }
  html.Close();
}

void AddFinding(const ReportModel& report, const Finding& finding, std::set<std::string>& sources, HtmlWriter& html) {
  std::string gain = " · about the bound";
  if (finding.gain.count() > 0) {
    gain = " · " + KnownGainText(finding);
    if (const Latency basis = FindingsBasis(report); basis.count() > 0)
      gain += " (" + PercentText(finding.gain / basis) + ")";
    if (finding.overlaps) gain += ", gains of others among it";
  }
  html.Open("li", {{"id", fmt::format("finding-{}", &finding - report.findings.data() + 1)}});
  if (&finding == &report.findings.front()) {
    html.Open("details", {{"open", ""}});
  } else {
    html.Open("details");
  }
  html.Open("summary").Element("strong", TitleOf(finding)).Text(gain);
  if (!finding.layers.empty()) {
    const std::size_t shown = std::min(kLayersShown, finding.layers.size());
    html.Element("span", {{"class", "where"}},
                 Join(std::vector<std::string>(finding.layers.begin(),
                                               finding.layers.begin() + static_cast<std::ptrdiff_t>(shown)),
                      ", "));
  }
  html.Close().Element("p", finding.evidence);
  html.Element("p", {{"class", "todo"}}, finding.action);
  AddCases(finding, html);
  for (const FindingCommand& command : finding.commands) AddCommand(command.command, html);
  AddEvidence(report, finding, sources, html);
  html.Close().Close();
}

void AddMissing(const MissingItem& item, HtmlWriter& html) {
  html.Open("div", {{"class", "missing-item"}}).Open("div", {{"class", "what"}}).Element("strong", item.what);
  html.Text(fmt::format(" · {} · {}", ShareText(item.share, item.flops), item.reason)).Close();
  AddCommand(item.command, html);
  html.Close();
}

// What of the gap no finding is about, and what would show that the gains are real.
void AddRest(const ReportModel& report, HtmlWriter& html) {
  if (!report.waterfall || !report.waterfall->bound) return;
  Latency told{0};
  for (const Finding& finding : report.findings)
    if (!finding.overlaps) told += finding.gain;
  const Latency gap = report.waterfall->measured - *report.waterfall->bound;
  if (gap.count() <= 0) return;
  html.Open("p", {{"class", "quiet"}});
  html.Text(told > gap
                ? fmt::format("Together these are {}, more than the {} between the run and the bound: they are of the "
                              "layers’ times under the profiler, and other steps below are won back.",
                              FormatLatency(told), FormatLatency(gap))
                : fmt::format("Together these are {} of the {} between the run and the bound; the rest is in "
                              "kinds of layers that lose under a hundredth of the time each, and in the other "
                              "steps below.",
                              FormatLatency(told), FormatLatency(gap)));
  if (!report.bracket.demonstrated)
    html.Text(
        " The gains are of kernels that were timed alone: a demonstrated run, which is not there yet, shows what is "
        "left of them in the model.");
  html.Close();
  if (!report.bracket.demonstrated) AddCommand(ReplayCommand(report), html);
}

void AddLookedFor(const ReportModel& report, HtmlWriter& html) {
  const std::vector<AbsentCause> looked = AbsentCausesOf(report);
  if (looked.empty()) return;
  html.Open("details", {{"id", "looked-for"}});
  html.Element("summary", fmt::format("Looked for and not found: {} more", CountText(looked.size(), "cause")));
  html.Element("p", {{"class", "quiet"}}, "Each of these is less than a hundredth of the run’s time.");
  html.Open("ul");
  for (const AbsentCause& one : looked) html.Element("li", one.what);
  html.Close().Close();
}

// Where a chart has nothing to draw: why, and what would fill it.
std::string EmptyHtml(std::string_view why, std::string_view command) {
  HtmlWriter html;
  html.Element("p", {{"class", "empty"}}, why);
  AddCommand(command, html);
  return html.Take();
}

}  // namespace

void AddCommand(std::string_view command, HtmlWriter& html) {
  if (command.empty()) return;
  html.Open("div", {{"class", "command"}}).Element("code", command);
  html.Element("button", {{"type", "button"}, {"class", "copy"}, {"aria-label", "Copy the command"}}, "Copy").Close();
}

std::string FindingsHtml(const ReportModel& report) {
  HtmlWriter html;
  if (report.findings.empty()) {
    const bool is_little = report.run && !PromisesGains(report);
    html.Element("p", {{"class", "lead"}},
                 is_little ? "Nothing can be said yet: too little of the model was measured to hold the run against."
                 : report.run
                     ? "Nothing: no rule found time of this run that a change would win."
                     : "Nothing can be said without a framework’s run of this model: findings hold one against "
                       "the bound.");
    if (!report.run) AddCommand(RunCommand(report), html);
    if (is_little) AddCommand(AnalyzeCommand(report), html);
    if (!is_little) AddLookedFor(report, html);
    return html.Take();
  }
  html.Element("p", {{"class", "quiet"}, {"id", "known-legend"}}, std::string(KnownLegend()) + ".");
  html.Open("ol", {{"class", "findings"}, {"id", "findings-list"}});
  std::set<std::string> sources;
  for (const Finding& finding : report.findings) AddFinding(report, finding, sources, html);
  html.Close();
  AddRest(report, html);
  AddLookedFor(report, html);
  return html.Take();
}

std::string WaterfallHtml(const ReportModel& report) {
  if (!report.waterfall) return "";
  const Section steps = StepsSection(*report.waterfall, {.parts = kPartsShown, .has_share = true});
  std::vector<std::string> classes;  // a step leads from one level to the next
  for (const TableRow& row : steps.rows) {
    const bool is_step = std::ranges::any_of(
        report.waterfall->steps, [&row](const GapStep& step) { return TitleOf(step.cause) == row.front().text; });
    classes.emplace_back(is_step ? "step" : "level");
  }
  HtmlWriter html;
  html.Open("details").Element("summary", "The steps as a table");
  AddTable(steps, {.id = "waterfall-table", .label = "Table of steps", .row_classes = std::move(classes)}, html);
  html.Close();
  return html.Take();
}

std::string CoverageHtml(const ReportModel& report) {
  return EscapedHtml(fmt::format("Of the work {}; what is estimated is so by the bytes that it moves.",
                                 CoverageText(report.bracket.coverage)));
}

std::string MissingHtml(const ReportModel& report) {
  HtmlWriter html;
  if (report.missing.empty()) {
    html.Element("p", {{"class", "lead"}},
                 report.bracket.coverage.missing > 0 ? "Layers without a time are marked in the table below."
                                                     : "Nothing: every layer is measured, estimated or free.");
    return html.Take();
  }
  html.Element("p", {{"class", "lead"}},
               fmt::format("{} without a time; the bound is too low by what {}.{}",
                           report.missing.size() == 1 ? "1 entry" : fmt::format("{} entries", report.missing.size()),
                           report.missing.size() == 1 ? "it takes" : "they take",
                           report.missing.front().command.empty() ? "" : " Each command fills its gap."));
  for (std::size_t i = 0; i < std::min(kMissingShown, report.missing.size()); ++i) AddMissing(report.missing[i], html);
  if (report.missing.size() > kMissingShown) {
    html.Open("details").Element("summary", fmt::format("The other {}", report.missing.size() - kMissingShown));
    for (std::size_t i = kMissingShown; i < report.missing.size(); ++i) AddMissing(report.missing[i], html);
    html.Close();
  }
  return html.Take();
}

std::string NoLossesHtml(const ReportModel& report) {
  const bool has_steps = report.run && report.waterfall;
  if (has_steps && PromisesGains(report)) return "";
  if (has_steps)
    return EmptyHtml(
        "Too little of the model was measured yet: what is known is no bound that a run could be led down to.",
        AnalyzeCommand(report));
  return EmptyHtml(
      "No framework’s run of this model is known on this device. One that is measured, or imported, is led down to the "
      "bound here in steps.",
      RunCommand(report));
}

std::string NoTimesHtml(const ReportModel& report) {
  if (HasFloorsAlone(report) && report.bracket.roofline > Latency(0)) return "";  // which is drawn in place of times
  const bool has_times = std::ranges::any_of(
      report.bracket.layers, [](const LayerLatency& layer) { return layer.latency && layer.latency->count() > 0; });
  if (has_times || (report.run && !report.run->rows.empty())) return "";
  return EmptyHtml("No layer has a time here yet: measuring, or importing rows, fills this.", AnalyzeCommand(report));
}

std::string NoRooflineHtml(const ReportModel& report) {
  if (!report.arithmetic_roofs.empty() && !report.bandwidth_roofs.empty()) return "";
  return EmptyHtml("No peak of this device was measured with this many threads; measuring on it fills this.",
                   AnalyzeCommand(report));
}

}  // namespace infimum
