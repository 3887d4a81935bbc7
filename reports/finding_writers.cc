#include "reports/finding_writers.h"

#include <fmt/format.h>

#include "infimum/base/text.h"
#include "infimum/reports/quantity_text.h"
#include "infimum/reports/report_model.h"
#include "infimum/reports/table.h"
#include "reports/utf8.h"
#include "reports/wrapped_text.h"

namespace infimum {
namespace {

constexpr std::size_t kIndent = 3;
constexpr std::size_t kCases = 3;

// The cases beside each other, below their finding.
std::string CasesText(const Finding& finding, const FindingStyle& style) {
  if (finding.cases.empty()) return "";
  Table table{{{"   layer", Align::kLeft, true},
               {"ran", Align::kLeft, true},
               {"took", Align::kRight},
               {"at best", Align::kRight},
               {"with", Align::kLeft, true}},
              {}};
  for (std::size_t i = 0; i < std::min(kCases, finding.cases.size()); ++i) {
    const FindingCase& one = finding.cases[i];
    table.rows.push_back({"   " + one.layer, one.engine, LatencyText(one.measured),
                          one.best ? LatencyText(*one.best) : "-", one.candidate});
  }
  std::string text = FormatTable(table, style.width);
  const FindingCase& largest = finding.cases.front();
  if (style.bench_options && !largest.workload.empty()) {
    const std::string command = ReproductionCommand(
        largest.workload,
        *style.bench_options + (largest.candidate.empty() ? "" : " --candidate " + largest.candidate));
    constexpr std::string_view kLead = "   see it:";
    const bool is_short = style.width == 0 || kLead.size() + 1 + DisplayWidth(command) <= style.width;
    text += std::string(kLead) + (is_short ? ' ' : '\n') + ShellText(command, is_short ? 0 : style.width);
  }
  return text;
}

}  // namespace

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
        finding.gain.count() > 0 ? "up to " + LatencyText(finding.gain) : "about the bound, not the run";
    text += fmt::format("\n{}. {}: {}\n", number, finding.kind, gain);
    text += IndentedText("   why: ", finding.evidence, kIndent + 5, style.width);
    if (finding.cases.empty() && !finding.layers.empty())
      text += IndentedText("   where: ", Join(finding.layers, ", "), kIndent + 7, style.width);
    text += IndentedText("   do: ", finding.action, kIndent + 4, style.width);
    text += CasesText(finding, style);
  }
  return text;
}

Json FindingsJson(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    Json cases = Json::array();
    for (const FindingCase& one : finding.cases)
      cases.push_back({{"layer", one.layer},
                       {"engine", one.engine},
                       {"measured_us", one.measured.count()},
                       {"best_us", MicrosecondsOrNull(one.best)},
                       {"candidate", one.candidate.empty() ? Json(nullptr) : Json(one.candidate)},
                       {"workload", one.workload.empty() ? Json(nullptr) : Json(one.workload)}});
    list.push_back({{"kind", finding.kind},
                    {"gain_us", finding.gain.count()},
                    {"layers", finding.layers},
                    {"evidence", finding.evidence},
                    {"action", finding.action},
                    {"cases", std::move(cases)}});
  }
  return list;
}

}  // namespace infimum
