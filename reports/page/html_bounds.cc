// What the numbers rest on: the bounds and what they assume, what single changes win, the regions, model and machine.
#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/bound/bound_table.h"
#include "reports/model/glossary.h"
#include "reports/model/possible_gains.h"
#include "reports/page/html_sections.h"
#include "reports/text/layer_words.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

constexpr std::size_t kRegionsShown = 12;
constexpr std::size_t kRewritesShown = 200;

void AddLine(std::string_view name, Latency latency, const std::optional<Interval>& interval,
             std::string_view assumptions, HtmlWriter& html) {
  html.Open("tr").Element("th", {{"scope", "row"}}, name);
  html.Element("td", {{"class", "number"}}, FormatLatency(latency));
  html.Element("td", {{"class", "number"}}, interval ? IntervalText(*interval) : "");
  html.Element("td", assumptions).Close();
}

std::string FloorText(const Floor& floor) {
  std::vector<std::string> notes;
  if (!floor.decided_by.empty()) notes.push_back("decided by " + floor.decided_by);
  notes.insert(notes.end(), floor.assumptions.begin(), floor.assumptions.end());
  return Join(notes, ", ");
}

void AddBounds(const ReportModel& report, HtmlWriter& html) {
  AddLine("floor F0", report.bracket.floor.latency, std::nullopt, FloorText(report.bracket.floor), html);
  AddLine("conventional floor Fc", report.bracket.conventional_floor.latency, std::nullopt,
          FloorText(report.bracket.conventional_floor), html);
  for (const Bound& bound : report.bracket.bounds)
    AddLine("bound F1, " + std::string(Name(bound.variant)), bound.latency, bound.interval,
            Join(bound.assumptions, ", "), html);
  const Bound* main = MainBound(report);
  for (const WhatIfOutcome& outcome : report.bracket.what_ifs) {
    if (!outcome.coverage || main == nullptr) continue;
    for (const WhatIfBound& bound : outcome.bounds)
      if (bound.variant == main->variant)
        AddLine(fmt::format("bound F1, {}, {}", Name(bound.variant), outcome.name), bound.latency, bound.interval,
                "other rows, of which measured " + PercentText(outcome.coverage->measured), html);
  }
  if (report.bracket.demonstrated)
    AddLine("demonstrated R", *report.bracket.demonstrated, std::nullopt,
            "chosen candidates replayed with real buffers" +
                (report.bracket.composition ? "; " + CompositionText(*report.bracket.composition) : std::string()),
            html);
  if (report.run)
    AddLine("measured T", report.run->latency, report.run->interval,
            fmt::format("{} {}, smallest repetition median", report.run->profile.framework,
                        report.run->profile.framework_version),
            html);
}

void AddRegions(const ReportModel& report, const std::vector<const RegionLatency*>& regions, HtmlWriter& html) {
  for (const RegionLatency* region : regions) {
    html.Open("tr", {{"title", ConfigOf(*region)}});
    html.Element("th", {{"scope", "row"}, {"class", "mono"}}, Join(LayerNames(report.graph, region->layers), " "));
    html.Element("td", {{"class", "number"}}, region->has_missing ? "?" : FormatLatency(region->unfused));
    html.Element("td", {{"class", "number"}}, FormatLatency(region->latency));
    html.Element("td", {{"class", "number"}},
                 region->has_missing ? "?" : FormatLatency(region->unfused - region->latency));
    html.Element("td", {{"class", "mono"}}, region->candidate.name()).Close();
  }
}

void OpenRegions(std::string_view label, HtmlWriter& html) {
  html.Open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", label}});
  html.Open("table", {{"class", "regions"}});
  AddHead({"Layers", "#Alone", "#Fused", "#Wins", "Kernel"}, html);
  html.Open("tbody");
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

std::string BracketHtml() {
  HtmlWriter html;
  html.Open("section", {{"id", "bracket"}, {"aria-labelledby", "bracket-title"}});
  html.Element("h2", {{"id", "bracket-title"}}, "The bracket");
  html.Element("p", {{"class", "lead"}},
               "Every correct program needs at least the floor. The bound is what the best measured kernels need "
               "together; the space between bound and measured run is what engineering can win. A bar is the best "
               "repetition’s time; its whisker is where the typical time lies with 95 %, and may begin to the right of "
               "it.");
  html.Open("div", {{"class", "chart"}, {"id", "bracket-chart"}}).Close().Close();
  return html.Take();
}

std::string GainsHtml(const ReportModel& report) {
  const Bound* main = MainBound(report);
  const std::vector<PossibleGain> gains = PossibleGains(report);
  HtmlWriter html;
  if (gains.empty()) {
    html.Element("p", {{"class", "lead"}}, "Nothing can be said yet: no layer of this model has a time here.");
    return html.Take();
  }
  html.Open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", "Table of changes"}});
  html.Open("table", {{"id", "wins-table"}});
  AddHead({"Change", "#Wins", "#Of the bound", "How it is known"}, html);
  html.Open("tbody");
  for (const PossibleGain& gain : gains) {
    html.Open("tr").Element("th", {{"scope", "row"}}, gain.what);
    html.Element("td", {{"class", "number"}}, FormatLatency(gain.gain));
    html.Element("td", {{"class", "number"}}, PercentText(gain.gain / main->latency));
    html.Element("td", gain.note).Close();
  }
  html.Close().Close().Close();
  return html.Take();
}

std::string RegionsHtml(const ReportModel& report) {
  std::vector<const RegionLatency*> chosen;
  for (const RegionLatency& region : report.bracket.regions)
    if (region.is_chosen) chosen.push_back(&region);
  if (chosen.empty()) return "";
  const auto gain = [](const RegionLatency* region) {
    return region->has_missing ? Latency(0) : region->unfused - region->latency;
  };
  std::ranges::stable_sort(chosen, std::ranges::greater(), gain);
  HtmlWriter html;
  html.Element("h3", {{"id", "regions-title"}}, "Fused regions that the bound chose");
  OpenRegions("Table of regions", html);
  const auto cut = chosen.begin() + static_cast<std::ptrdiff_t>(std::min(kRegionsShown, chosen.size()));
  AddRegions(report, {chosen.begin(), cut}, html);
  html.Close().Close().Close();
  if (cut != chosen.end()) {
    html.Open("details").Element("summary", fmt::format("The other {}", chosen.end() - cut));
    OpenRegions("Table of the other regions", html);
    AddRegions(report, {cut, chosen.end()}, html);
    html.Close().Close().Close().Close();
  }
  return html.Take();
}

std::string BoundsHtml(const ReportModel& report) {
  HtmlWriter html;
  html.Open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", "Table of bounds"}});
  html.Open("table", {{"id", "bounds-table"}});
  AddHead({"Bound", "#Latency", "#Typically", "Assumes"}, html);
  html.Open("tbody");
  AddBounds(report, html);
  html.Close().Close().Close();
  html.Open("dl", {{"id", "glossary"}, {"class", "glossary"}});
  for (const GlossaryEntry& entry : GlossaryOf(report))
    html.Element("dt", {{"class", "mono"}}, entry.tag).Element("dd", entry.meaning);
  html.Close();
  return html.Take();
}

std::string RoofsHtml(const ReportModel& report) {
  if (report.arithmetic_roofs.empty() && report.bandwidth_roofs.empty()) return "";
  HtmlWriter html;
  html.Open("details").Element("summary", "The measured peaks");
  html.Open("table", {{"id", "roofs-table"}});
  AddHead({"Peak", "#Rate"}, html);
  html.Open("tbody");
  const auto add = [&](const Roof& roof, std::string_view unit) {
    html.Open("tr").Element("th", {{"scope", "row"}}, roof.name);
    html.Element("td", {{"class", "number"}}, RateText(roof.per_second, unit)).Close();
  };
  for (const Roof& roof : report.arithmetic_roofs) add(roof, "FLOP/s");
  for (const Roof& roof : report.bandwidth_roofs) add(roof, "B/s");
  html.Close().Close().Close();
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
  AddFact("Threads", std::to_string(report.environment.threads) + (affinity.empty() ? "" : ", " + affinity), html);
  AddFact("Clocks", FactOf(facts, evidence::kClocks), html);
  AddFact("System", FactOf(facts, evidence::kSystem), html);
  AddFact("Contract", Name(report.bracket.contract), html);
  AddFact("Selection", SelectionText(report.bracket.selection), html);
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
