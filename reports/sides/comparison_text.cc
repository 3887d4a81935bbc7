// The sections of a comparison for a terminal and as Markdown.
#include <fmt/format.h>

#include "infimum/base/text.h"
#include "reports/sides/comparison_report.h"
#include "reports/sides/comparison_sections.h"
#include "reports/text/markdown_text.h"
#include "reports/text/wrapped_text.h"

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

}  // namespace infimum
