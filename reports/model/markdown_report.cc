#include "reports/model/markdown_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/bound/bound_table.h"
#include "reports/model/answers.h"
#include "reports/model/looked_for.h"
#include "reports/model/model_rows.h"
#include "reports/model/summary.h"
#include "reports/run/finding_writers.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/markdown_text.h"
#include "reports/text/quantity_text.h"

namespace infimum {
namespace {

void AddLine(std::string_view name, Latency latency, const std::optional<Interval>& interval, std::string_view note,
             std::string& out) {
  out += fmt::format("| {} | {} | {} | {} |\n", MarkdownProse(name), FormatLatency(latency),
                     interval ? IntervalText(*interval) : "", MarkdownProse(note));
}

void AddFloor(std::string_view name, const Floor& floor, std::string& out) {
  std::vector<std::string> notes{"decided by " + floor.decided_by};
  notes.insert(notes.end(), floor.assumptions.begin(), floor.assumptions.end());
  AddLine(name, floor.latency, std::nullopt, Join(notes, ", "), out);
}

void AddBracket(const ReportModel& report, std::string& out) {
  out += "| | best repetition | typically (95 %) | |\n| --- | ---: | --- | --- |\n";
  AddFloor("floor", report.bracket.floor, out);
  AddFloor("conventional floor", report.bracket.conventional_floor, out);
  for (const Bound& bound : report.bracket.bounds) {
    AddLine("bound, " + std::string(Name(bound.variant)), bound.latency, bound.interval, Join(bound.assumptions, ", "),
            out);
  }
  const Bound* main = MainBound(report);
  for (const WhatIfOutcome& outcome : report.bracket.what_ifs) {
    if (!outcome.coverage || main == nullptr) continue;
    for (const WhatIfBound& bound : outcome.bounds) {
      if (bound.variant != main->variant) continue;
      AddLine(fmt::format("bound, {}, {}", Name(bound.variant), outcome.name), bound.latency, bound.interval,
              "measured " + PercentText(outcome.coverage->measured), out);
    }
  }
  if (report.bracket.demonstrated) {
    AddLine("demonstrated", *report.bracket.demonstrated, std::nullopt,
            "smallest repetition median" +
                (report.bracket.composition ? "; " + CompositionText(*report.bracket.composition) : std::string()),
            out);
  }
  if (report.run)
    AddLine(report.run->profile.framework + " " + report.run->profile.framework_version, report.run->latency,
            report.run->interval, "measured, smallest repetition median", out);
  if (report.bracket.regret)
    out += fmt::format("\nWhat the libraries' own choices cost: {}.\n", RegretText(*report.bracket.regret));
  for (const Inversion& inversion : report.bracket.inversions)
    out += fmt::format("\nInversion: {} is {} above {}{}.\n", inversion.bound, FormatLatency(inversion.excess),
                       MarkdownProse(inversion.name), inversion.is_beyond_noise ? "" : ", within noise");
}

void AddLargest(const ReportModel& report, std::string& out) {
  const std::vector<ModelRow> rows = ModelRows(report);
  std::vector<std::size_t> largest = LargestRows(rows, 10);
  if (largest.empty()) return;
  bool compared = rows[largest.front()].gap().has_value();
  out += compared
             ? "\n## Largest gaps\n\n| layer | family | bound | measured | gap |\n| --- | --- | ---: | ---: | ---: |\n"
             : "\n## Most expensive layers\n\n| layer | family | bound |\n| --- | --- | ---: |\n";
  for (std::size_t index : largest) {
    const ModelRow& row = rows[index];
    out += fmt::format("| {} | {} | {} |", MarkdownCode(RowLabel(report, row)), MarkdownProse(row.family),
                       FormatLatency(row.best.value_or(Latency(0))));
    if (compared && row.gap())
      out += fmt::format(" {} | {} |", FormatLatency(*row.measured), SignedLatencyText(*row.gap()));
    out += '\n';
  }
}

void AddGap(const ReportModel& report, std::string& out) {
  if (report.waterfall) {
    out += "\n## Where the time goes\n\n| | time | largest part |\n| --- | ---: | --- |\n";
    out += fmt::format("| measured | {} | |\n", FormatLatency(report.waterfall->measured));
    for (const GapStep& step : report.waterfall->steps) {
      if (step.cause == GapCause::kAboveFloor && report.waterfall->bound)
        out += fmt::format("| bound, {} | {} | |\n", Name(report.waterfall->variant),
                           FormatLatency(*report.waterfall->bound));
      const bool has_part = !step.parts.empty() && step.cause != GapCause::kAboveFloor;
      out += fmt::format(
          "| {} | {} | {} |\n", TitleOf(step.cause), SignedLatencyText(step.latency),
          has_part ? MarkdownCode(step.parts.front().name) + " " + SignedLatencyText(step.parts.front().latency)
                   : std::string());
    }
    out += fmt::format("| floor | {} | |\n", FormatLatency(report.waterfall->floor));
  }
  if (report.findings.empty()) return;
  out += "\n## What to change first\n\n";
  std::size_t number = 0;
  for (const Finding& finding : report.findings) {
    out += fmt::format("{}. **{}**{}: {}. To do: {}.\n", ++number, MarkdownProse(finding.kind),
                       finding.gain.count() > 0 ? ", " + GainText(finding) : std::string(),
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
  for (const LookedFor& one : LookedForInVain(report)) in_vain.emplace_back(one.what);
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
  AddLargest(report, out);
  AddAnswers(report, out);
  out += fmt::format("\n## What this rests on\n\n- Coverage: {}\n", CoverageText(report.bracket.coverage));
  out += fmt::format("- Device: {} ({})\n", MarkdownProse(report.device_name), MarkdownCode(report.device_key));
  out += fmt::format("- Selection: {}; contract {}\n", MarkdownProse(SelectionText(report.bracket.selection)),
                     MarkdownProse(Name(report.bracket.contract)));
  for (const Advice& advice : report.advice) out += fmt::format("- {}\n", MarkdownProse(advice.text));
  if (!report.missing.empty()) {
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
