// The sections of a comparison for a terminal and as Markdown; its layers as CSV.
#include <fmt/format.h>

#include "infimum/base/text.h"
#include "reports/sides/comparison_report.h"
#include "reports/text/csv.h"
#include "reports/text/markdown.h"
#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

// Rows of a table that lists layers: a screen, and what a reader of a pull request still reads.
constexpr std::size_t kRowsOnScreen = 10, kRowsInMarkdown = 25;

}  // namespace

std::string ComparisonText(const ComparisonReport& report, std::size_t width) {
  std::string out = IndentedText("", ComparisonHeadline(report), 0, width);
  if (!report.conditions.empty()) out += IndentedText("", Join(report.conditions, ", "), 0, width);
  for (const std::string& caution : report.cautions) out += IndentedText("caution: ", caution, 2, width);
  for (const Section& section : ComparisonSections(report, kRowsOnScreen)) out += '\n' + SectionText(section, width);
  if (!report.remarks.empty()) out += '\n';
  for (const std::string& remark : report.remarks) out += IndentedText("note: ", remark, 2, width);
  return out;
}

std::string ComparisonMarkdown(const ComparisonReport& report) {
  std::string out =
      fmt::format("# {}\n\n{}\n", MarkdownProse(ComparisonTitle(report)), MarkdownProse(ComparisonHeadline(report)));
  if (!report.conditions.empty()) out += fmt::format("\n{}\n", MarkdownProse(Join(report.conditions, ", ")));
  for (const std::string& caution : report.cautions) out += fmt::format("\n> {}\n", MarkdownProse(caution));
  for (const Section& section : ComparisonSections(report, kRowsInMarkdown)) out += SectionMarkdown(section);
  if (!report.remarks.empty()) out += "\n## What this rests on\n\n";
  for (const std::string& remark : report.remarks) out += fmt::format("- {}\n", MarkdownProse(remark));
  const std::string data = DataAsOf(report);
  return out + fmt::format("\n{} infimum {}.\n", data.empty() ? "Written by" : MarkdownProse(data) + ", by",
                           MarkdownProse(report.infimum_version));
}

std::string ComparisonCsv(const ComparisonReport& report) {
  Section section{.columns = {"layer", "model", "class", "uses", "side", "latency_us", "low_us", "high_us", "ratio",
                              "ratio_low", "ratio_high", "verdict", "spread_known", "compared", "candidate", "config"}};
  for (const SetLayer& layer : report.comparison.layers) {
    const SetLayer::Use& use = layer.uses.front();
    for (std::size_t side = 0; side < report.sides.size(); ++side) {
      const SideTime& time = layer.times[side];
      TableRow& row = section.rows.emplace_back(
          TableRow{use.name, report.comparison.models[use.model].name, layer.family, std::to_string(layer.uses.size()),
                   report.sides[side].label, CsvTime(time.latency), CsvLow(time.interval), CsvHigh(time.interval)});
      if (const std::optional<Difference>& difference = layer.differences[side]) {
        for (const double ratio : {difference->ratio, difference->between.low, difference->between.high})
          row.emplace_back(FormatNumber(ratio));
        row.emplace_back(Name(difference->verdict));
        row.emplace_back(difference->is_spread_known ? "yes" : "no");
      } else {
        row.resize(row.size() + 5);
      }
      for (const std::string& text : {std::string(layer.is_common ? "yes" : "no"), time.candidate, layer.config})
        row.emplace_back(text);
    }
  }
  return SectionCsv(section);
}

}  // namespace infimum
