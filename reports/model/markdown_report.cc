#include <fmt/format.h>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/bound/bound_table.h"
#include "reports/model/answers.h"
#include "reports/model/model_sections.h"
#include "reports/model/report_forms.h"
#include "reports/run/finding_writers.h"
#include "reports/text/fact_text.h"
#include "reports/text/markdown.h"

namespace infimum {
namespace {

void AddBracket(const ReportModel& report, std::string& out) {
  out += SectionMarkdownTable(BoundsSection(report));
  if (report.bracket.regret)
    out += fmt::format("\nWhat the libraries' own choices cost: {}.\n", RegretText(*report.bracket.regret));
  for (const Inversion& inversion : report.bracket.inversions)
    out += fmt::format("\nInversion: {} is {} above {}{}.\n", inversion.bound, FormatLatency(inversion.excess),
                       MarkdownProse(inversion.name), inversion.is_beyond_noise ? "" : ", within noise");
}

void AddGap(const ReportModel& report, std::string& out) {
  if (report.waterfall) out += SectionMarkdown(StepsSection(*report.waterfall, {}));
  if (report.findings.empty()) return;
  out += fmt::format("\n## What to change first\n\n{}.\n\n", MarkdownProse(std::string(KnownLegend())));
  std::size_t number = 0;
  for (const Finding& finding : report.findings) {
    out += fmt::format("{}. **{}**{}: {}. To do: {}.\n", ++number, MarkdownProse(finding.kind),
                       finding.gain.count() > 0 ? " (" + KnownGainText(finding) + ")" : std::string(),
                       MarkdownProse(finding.evidence), MarkdownProse(finding.action));
    for (const FindingCommand& command : finding.commands)
      out += fmt::format("   - {}: {}\n", MarkdownProse(command.what), MarkdownCode(command.command));
    if (finding.cases.empty() || finding.cases.front().candidates == 0) continue;
    const FindingCase& largest = finding.cases.front();
    out += fmt::format("   - evidence: {} of {} ran{}\n", largest.measured_candidates,
                       CountText(largest.candidates, "candidate"),
                       largest.interval ? ", the best one in " + IntervalText(*largest.interval) : std::string());
  }
  std::vector<std::string> in_vain;
  for (const AbsentCause& one : AbsentCausesOf(report)) in_vain.emplace_back(one.what);
  if (!in_vain.empty())
    out +=
        fmt::format("\nLooked for and not found, each less than a hundredth of the time: {}.\n", Join(in_vain, "; "));
}

void AddAnswers(const ReportModel& report, std::string& out) {
  out += "\n## Ten questions\n\n";
  for (const Answer& answer : AnswersOf(report)) {
    out += fmt::format("{}. **{}** {}", answer.number, MarkdownProse(answer.question), MarkdownProse(answer.text));
    out += answer.command.empty() ? "\n" : " " + MarkdownCode(answer.command) + "\n";
  }
}

}  // namespace

std::string MarkdownReport(const ReportModel& report) {
  std::string out =
      fmt::format("# {}\n\n{}\n\n", MarkdownProse(report.title.empty() ? report.model_name : report.title),
                  MarkdownProse(Headline(report)));
  AddBracket(report, out);
  AddGap(report, out);
  for (const Section& section : TablesOf(report, ReportForm::kMarkdown)) out += SectionMarkdown(section);
  const bool has_times = !HasFloorsAlone(report);
  if (has_times) AddAnswers(report, out);
  out += "\n## What this rests on\n\n";
  if (has_times) out += fmt::format("- Coverage: {}\n", CoverageText(report.bracket.coverage));
  out += fmt::format("- Device: {} ({})\n", MarkdownProse(report.device_name), MarkdownCode(report.device_key));
  out += has_times
             ? fmt::format("- Selection: {}; contract {}\n", MarkdownProse(SelectionText(report.bracket.selection)),
                           MarkdownProse(Name(report.bracket.contract)))
             : fmt::format("- Contract: {}\n", MarkdownProse(Name(report.bracket.contract)));
  for (const Advice& advice : report.advice) {
    out += "- " + MarkdownProse(advice.text);
    out += has_times || advice.command.empty() ? "\n" : fmt::format(": {}\n", MarkdownCode(advice.command));
  }
  if (has_times && !report.missing.empty()) {
    out += "\n## What is missing\n\n";
    for (const MissingItem& item : report.missing) {
      out += fmt::format("- {}, {}, {}", MarkdownCode(item.what), ShareText(item.share, item.flops),
                         MarkdownProse(item.reason));
      out += item.command.empty() ? "\n" : fmt::format(": {}\n", MarkdownCode(item.command));
    }
  }
  return out +=
         fmt::format("\n{}, by infimum {}.\n", MarkdownProse(DataAsOf(report)), MarkdownProse(report.infimum_version));
}

}  // namespace infimum
