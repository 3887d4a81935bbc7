#include "reports/run/finding_writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/text/fact_text.h"
#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

constexpr std::size_t kIndent = 3;
constexpr std::size_t kCases = 3;

// The largest cases beside each other, below their finding, and its commands.
std::string CasesText(const Finding& finding, const FindingStyle& style) {
  if (finding.cases.empty()) return "";
  std::string text = SectionTable(CasesSection(finding, kCases), style.width, kIndent);
  for (const FindingCommand& command : finding.commands) {
    const std::string lead = std::string(kIndent, ' ') + command.what + ":";
    const bool is_short = style.width == 0 || lead.size() + 1 + DisplayWidth(command.command) <= style.width;
    text += lead + (is_short ? ' ' : '\n') + ShellText(command.command, is_short ? 0 : style.width);
  }
  return text;
}

}  // namespace

std::string TitleOf(const Finding& finding) {
  std::string title = finding.kind;
  std::ranges::replace(title, '-', ' ');
  return title;
}

std::string GainText(const Finding& finding) {
  if (finding.known == Known::kObserved) return WithInterval(finding.gain, finding.gain_interval);
  const std::string gain = FormatLatency(finding.gain);
  if (finding.is_part) return gain + " and more";
  return finding.known == Known::kBounded ? "up to " + gain : gain;
}

std::string KnownGainText(const Finding& finding) {
  return fmt::format("{}: {}", Name(finding.known), GainText(finding));
}

std::string_view KnownLegend() {
  return "observed: the change was made and timed in whole inferences (infimum explain), with its 95 % interval; "
         "bounded: at most what measured times leave (gaps and copies of a device); guessed: inferred from "
         "another program's times, never tried in this framework";
}

Section CasesSection(const Finding& finding, std::size_t most) {
  Section section{.id = "cases", .title = "Layers of " + finding.kind};
  section.columns = {NameColumn("layer"), NameColumn("ran"), NumberColumn("took"),
                     NumberColumn(finding.held_against.empty() ? "at best" : finding.held_against), NameColumn("with")};
  for (const FindingCase& one : std::span(finding.cases).first(std::min(most, finding.cases.size())))
    section.rows.push_back(
        {one.layer, one.engine, FormatLatency(one.measured), one.best ? FormatLatency(*one.best) : "-", one.candidate});
  return section;
}

std::string FindingsText(const std::vector<Finding>& findings, const FindingStyle& style) {
  std::string text;
  std::size_t number = 0;
  for (const Finding& finding : findings) {
    if (number == style.most) {
      text += fmt::format("\n... and {} more; --format json has all\n", findings.size() - number);
      break;
    }
    ++number;
    const std::string gain =
        finding.gain.count() > 0
            ? ", " + KnownGainText(finding) + (finding.overlaps ? ", gains of other findings among it" : "")
            : ": about the bound, not the run";
    text += fmt::format("\n{}. {}{}\n", number, finding.kind, gain);
    text += IndentedText("   why: ", finding.evidence, kIndent + 5, style.width);
    if (finding.cases.empty() && !finding.layers.empty())
      text += IndentedText("   where: ", Join(finding.layers, ", "), kIndent + 7, style.width);
    text += IndentedText("   do: ", finding.action, kIndent + 4, style.width);
    text += CasesText(finding, style);
  }
  if (number > 0) text += '\n' + IndentedText("", std::string(KnownLegend()), 2, style.width);
  return text;
}

static void to_json(OrderedJson& json, const FindingCase& one) {
  json = {{"layer", one.layer},
          {"engine", one.engine},
          {"measured_us", one.measured},
          {"best_us", one.best},
          {"candidate", TextOrNull(one.candidate)},
          {"workload", TextOrNull(one.workload)},
          {"candidates", one.candidates == 0 ? OrderedJson(nullptr) : OrderedJson(one.candidates)},
          {"measured_candidates", one.candidates == 0 ? OrderedJson(nullptr) : OrderedJson(one.measured_candidates)},
          {"interval_us", one.interval},
          {"command", TextOrNull(one.command)}};
}

static void to_json(OrderedJson& json, const FindingCommand& command) {
  json = {{"what", command.what}, {"command", command.command}};
}

void to_json(OrderedJson& json, const Finding& finding) {
  json = {{"kind", finding.kind},
          {"known", finding.known},
          {"gain_us", finding.gain},
          {"gain_interval_us", finding.gain_interval},
          {"gain_overlaps", finding.overlaps},
          {"gain_is_part", finding.is_part},
          {"held_against", TextOrNull(finding.held_against)},
          {"layers", finding.layers},
          {"evidence", finding.evidence},
          {"action", finding.action},
          {"cases", finding.cases},
          {"commands", finding.commands}};
}

}  // namespace infimum
