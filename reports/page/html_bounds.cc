// What the numbers rest on: the bounds and what they assume, what single changes win, the regions, model and machine.
#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/bound/bound_table.h"
#include "reports/model/glossary.h"
#include "reports/model/model_sections.h"
#include "reports/page/html_sections.h"
#include "reports/page/html_table.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

constexpr std::size_t kRewritesShown = 200;

// The table, what is not shown at once below a button.
void AddFolded(const Section& section, HtmlWriter& html) {
  if (section.rows.empty()) return;
  const auto part = [&section](std::size_t begin, std::size_t end) {
    Section cut = section;
    const auto at = [&section](std::size_t row) { return section.rows.begin() + static_cast<std::ptrdiff_t>(row); };
    cut.rows.assign(at(begin), at(end));
    return cut;
  };
  const std::size_t all = section.rows.size(), shown = section.shown > 0 ? std::min(section.shown, all) : all;
  const std::string table = section.id + "-table", label = "Table: " + section.title;
  AddTable(part(0, shown), {.id = table, .classes = section.id, .label = label}, html);
  if (shown == all) return;
  html.Open("details").Element("summary", fmt::format("The other {}", all - shown));
  AddTable(part(shown, all), {.classes = section.id, .label = label + ", the others"}, html);
  html.Close();
}

template <typename Map>
std::string PairsText(const Map& pairs) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : pairs) texts.push_back(key + " " + value);
  return Join(texts, ", ");
}

void AddFact(std::string_view term, std::string_view value, HtmlWriter& html) {
  if (!value.empty()) html.Element("dt", term).Element("dd", value);
}

void AddRun(const ReportRun& run, HtmlWriter& html) {
  AddFact("Measured run",
          fmt::format("{} {}, median {}, minimum {}, p95 {}, {} in {}", run.profile.framework,
                      run.profile.framework_version, FormatLatency(run.median), FormatLatency(run.minimum),
                      FormatLatency(run.p95), CountText(static_cast<std::size_t>(run.samples), "sample"),
                      CountText(static_cast<std::size_t>(run.repetitions), "repetition")),
          html);
  AddFact("Its settings", PairsText(run.profile.settings), html);
}

}  // namespace

std::string BracketHtml(const ReportModel& report) {
  HtmlWriter html;
  std::string lead = "A floor is what every program of its class needs at least.";
  if (!HasFloorsAlone(report))
    lead +=
        " The bound is what the best known kernels add up to; the space between bound and measured run is what "
        "engineering can win. A bar ends at the point value; its whisker is the 95 % interval.";
  OpenSection("bracket", HasFloorsAlone(report) ? "The floors" : "The bracket", lead, html);
  html.Open("div", {{"class", "chart"}, {"id", "bracket-chart"}}).Close().Close();
  return html.Take();
}

std::string TableLinksHtml(const ReportModel& report) {
  HtmlWriter html;
  for (const Section& section : TablesOf(report, ReportForm::kPage))
    if (!section.is_part) html.Element("a", {{"href", "#" + section.id}}, section.title).Text(" ");
  return html.Take();
}

std::string TablesHtml(const ReportModel& report) {
  HtmlWriter html;
  bool is_open = false;
  for (const Section& section : TablesOf(report, ReportForm::kPage)) {
    if (section.is_part && is_open) {
      html.Element("h3", {{"id", section.id + "-title"}}, section.title);
      if (!section.note.empty()) html.Element("p", {{"class", "lead"}}, section.note);
    } else {
      if (is_open) html.Close();
      OpenSection(section.id, section.title, section.note, html);
      is_open = true;
    }
    AddFolded(section, html);
  }
  if (is_open) html.Close();
  return html.Take();
}

std::string BoundsHtml(const ReportModel& report) {
  HtmlWriter html;
  AddTable(BoundsSection(report), {.id = "bounds-table", .label = "Table of bounds"}, html);
  html.Open("dl", {{"id", "glossary"}, {"class", "glossary"}});
  for (const GlossaryEntry& entry : GlossaryOf(report))
    html.Element("dt", {{"class", "mono"}}, entry.tag).Element("dd", entry.meaning);
  html.Close();
  return html.Take();
}

std::string RoofsHtml(const ReportModel& report) {
  const Section roofs = RoofsSection(report);
  if (roofs.rows.empty()) return "";
  HtmlWriter html;
  html.Open("details").Element("summary", roofs.title);
  AddTable(roofs, {.id = "roofs-table"}, html);
  html.Close();
  return html.Take();
}

// The table of layers for readers without scripts: every row, in the model's order. A browser that runs scripts never
// makes elements of it, so that thousands of layers cost nothing there.
std::string LayersHtml(const ReportModel& report) {
  HtmlWriter html;
  html.Open("div", {{"class", "scroll"}});
  AddTable(LayersSection(report), {.id = "plain-layers", .heading = 1}, html);
  html.Close();
  return html.Take();
}

std::string EnvironmentHtml(const ReportModel& report) {
  HtmlWriter html;
  html.Open("dl", {{"id", "environment-list"}, {"class", "facts-list"}});
  AddFact("Model", report.model_name, html);
  AddFact("SHA-256", report.graph.sha256, html);
  AddFact("Opset", report.graph.opset > 0 ? std::to_string(report.graph.opset) : "", html);
  std::vector<std::string> inputs;
  for (const ValueId id : report.graph.inputs) {
    const Value& input = report.graph.value(id);
    inputs.push_back(fmt::format("{} {} {}", input.name, Name(input.type), ShapeText(input)));
  }
  AddFact("Inputs", Join(inputs, ", "), html);
  AddFact("Device", report.device_name + (report.generation.empty() ? "" : ", " + report.generation), html);
  AddFact("Device key", report.device_key, html);
  AddFact("Libraries", PairsText(report.environment.libraries), html);
  const Evidence& facts = report.environment.evidence;
  const std::string& affinity = FactOf(facts, evidence::kAffinity);
  if (IsProcessor(report))
    AddFact("Threads", std::to_string(report.environment.threads) + (affinity.empty() ? "" : ", " + affinity), html);
  AddFact("Clocks", FactOf(facts, evidence::kClocks), html);
  AddFact("System", FactOf(facts, evidence::kSystem), html);
  AddFact("Contract", Name(report.bracket.contract), html);
  if (!HasFloorsAlone(report)) AddFact("Selection", SelectionText(report.bracket.selection), html);
  if (report.run) AddRun(*report.run, html);
  html.Close();
  for (const RewritePass& pass : report.graph.passes) {
    html.Open("details");
    html.Element("summary", fmt::format("Rewrite {}, {}: {}", pass.name, CountText(pass.rewrites.size(), "time"),
                                        pass.description));
    html.Open("ul");
    for (std::size_t i = 0; i < std::min(kRewritesShown, pass.rewrites.size()); ++i)
      html.Element("li", pass.rewrites[i]);
    if (pass.rewrites.size() > kRewritesShown)
      html.Element("li", fmt::format("and {} more", pass.rewrites.size() - kRewritesShown));
    html.Close().Close();
  }
  return html.Take();
}

}  // namespace infimum
