#include "infimum/workflow/run_gate.h"

#include <fmt/format.h>

#include "infimum/analyzer/run_latency.h"
#include "infimum/measurement/verdict.h"
#include "infimum/reports/quantity_text.h"

namespace infimum {
namespace {

// A bound that lacks more of a model's time says nothing about a gap.
constexpr double kMostMissing = 0.05;

std::vector<Repetition> Profiled(const RunProfile& run) {
  if (run.profiled.empty()) return {};
  return {Summarize(run.profiled)};
}

}  // namespace

Result<Gate> GapGate(const RunAccount& account, const Coverage& coverage, double most) {
  if (!account.gap())
    return Error{account.source + ": --max-gap needs a bound, and there is none" +
                 (account.remarks.empty() ? "" : ": " + account.remarks.front())};
  if (coverage.missing > kMostMissing)
    return Error{fmt::format("{}: --max-gap needs a bound of the whole model, and {} of its time was never measured{}",
                             account.source, PercentText(coverage.missing),
                             account.remarks.empty() ? "" : ": " + account.remarks.front())};
  Gate gate;
  gate.name = "max-gap";
  gate.held = *account.gap() <= most;
  gate.verdict = gate.held ? "within" : "above";
  gate.text =
      fmt::format("{} takes {}, {:.3f} times the bound of {}; allowed are {:g} times", account.source,
                  LatencyText(account.waterfall.measured), *account.gap(), LatencyText(*account.waterfall.bound), most);
  return gate;
}

Result<Gate> BaselineGate(const RunProfile& run, const RunProfile& baseline, double threshold) {
  std::vector<Repetition> subject = RepetitionsOf(run), reference = RepetitionsOf(baseline);
  std::string what = "end to end";
  if (subject.empty() || reference.empty()) {
    subject = Profiled(run);
    reference = Profiled(baseline);
    what = "under the profiler";
  }
  if (subject.empty() || reference.empty())
    return Error{
        "--baseline needs end-to-end samples of both runs, and one has none: `infimum measure -o` writes runs that "
        "have"};
  const Verdict verdict = Compare(subject, reference, threshold);
  const Latency now = PointValue(subject), before = PointValue(reference);
  Gate gate;
  gate.name = "baseline";
  gate.verdict = Name(verdict);
  gate.held = verdict != Verdict::kSlower;
  gate.text = fmt::format("{}: {} {} against {} ({:+.1f} %), where {:g} % matter", gate.verdict, LatencyText(now), what,
                          LatencyText(before), 100 * (now / before - 1), 100 * threshold);
  if (verdict == Verdict::kUndecided)
    gate.text += fmt::format(
        "; the spread of {} and {} repetitions does not tell, more would (infimum measure "
        "--repetitions)",
        subject.size(), reference.size());
  return gate;
}

}  // namespace infimum
