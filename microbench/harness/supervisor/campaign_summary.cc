#include "microbench/harness/supervisor/campaign_summary.h"

#include <algorithm>

#include "infimum/base/quantity_text.h"

namespace infimum {
namespace {

constexpr std::size_t kMostReasons = 5;

std::string Counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string FormatWorkload(const CampaignWorkload& workload) {
  std::vector<const ActiveCandidate*> order;
  for (const ActiveCandidate& active : workload.candidates) order.push_back(&active);
  std::ranges::stable_sort(order, [](const ActiveCandidate* a, const ActiveCandidate* b) {
    const auto first = a->point();
    const auto second = b->point();
    return first && (!second || *first < *second);
  });
  std::size_t width = 0;
  for (const ActiveCandidate* active : order) width = std::max(width, active->row.candidate.name().size());
  std::string text = workload.workload.text + "  (" + std::string(Name(workload.contract)) + ")\n";
  for (const ActiveCandidate* active : order) {
    const Measurement& row = active->row;
    const std::string name = row.candidate.name();
    text += "  " + name + std::string(width - name.size() + 2, ' ');
    if (const auto point = active->point()) {
      text += FormatLatency(*point) + "  " + std::string(Name(row.cache)) + ", " +
              Counted(static_cast<std::int64_t>(row.repetitions.size()), "repetition");
      for (const std::string& flag : row.flags) text += ", " + flag;
      if (row.candidate.library_choice) text += ", the library's choice";
    } else if (active->has_row) {
      text += std::string(Name(row.outcome)) + ": " + row.reason;
    } else {
      text += "not measured yet";
    }
    text += '\n';
  }
  return text;
}

std::string FormatSummary(const CampaignSummary& summary, const std::string& output) {
  const CampaignTally& tally = summary.tally;
  const auto count_of = [&](auto holds) {
    return static_cast<std::int64_t>(std::ranges::count_if(summary.workloads, holds));
  };
  std::string text;
  const auto say = [&](const std::string& line) { text += "infimum: " + line + '\n'; };
  const auto workloads = static_cast<std::int64_t>(summary.workloads.size());
  if (workloads > 0) {
    std::string line = std::to_string(count_of([](const auto& workload) { return workload.measured(); })) + " of " +
                       Counted(workloads, "workload") + " measured in " + FormatDuration(summary.elapsed) + ": " +
                       Counted(tally.rows, "candidate");
    const char* separator = " (";
    for (const auto& [outcome, count] : tally.outcomes) {
      line += separator + std::to_string(count) + " " + std::string(Name(outcome));
      separator = ", ";
    }
    if (!tally.outcomes.empty()) line += ")";
    if (summary.earlier_rows > 0) line += ", " + std::to_string(summary.earlier_rows) + " of them already there";
    say(line);
  }
  if (summary.peaks > 0) say(Counted(summary.peaks, "peak rate") + " of the device measured");
  std::size_t shown = 0;
  for (const auto& [failure, count] : tally.failures) {
    if (shown++ == kMostReasons) {
      say("... and " +
          Counted(static_cast<std::int64_t>(tally.failures.size() - kMostReasons) + tally.other_failures,
                  "other failure") +
          ", see the rows with \"outcome\":\"failed\"");
      break;
    }
    say("failed: " + failure + (count > 1 ? " (" + Counted(count, "row") + ")" : ""));
  }
  for (const std::string& warning : summary.warnings) say("warning: " + warning);
  if (tally.noisy > 0)
    say(Counted(tally.noisy, "row") + " noisy: end other programs, or leave this machine's cores to the runner");
  if (tally.unconverged > 0)
    say(Counted(tally.unconverged, "row") +
        " unconverged: raise --budget or --candidate-budget for narrower intervals");
  if (summary.budget_spent) {
    say("the budget is spent with " +
        Counted(count_of([](const auto& workload) { return !workload.visited; }), "workload") + " not visited; " +
        (output == "-" ? "write to a file with -o to continue later" : "the same command continues from here"));
  }
  if (!summary.interrupted && summary.workloads.size() <= kShownWorkloads)
    for (const CampaignWorkload& workload : summary.workloads) text += FormatWorkload(workload);
  return text;
}

}  // namespace infimum
