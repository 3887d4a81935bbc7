#include "src/app/commands/compare/run_gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/gap/run_latency.h"
#include "infimum/base/quantity_text.h"
#include "infimum/layer/data_type.h"
#include "infimum/measurement/verdict.h"
#include "reports/text/fact_text.h"
#include "src/app/models/run_conditions.h"

namespace infimum {
namespace {

// A bound that lacks more of a model's time, or arithmetic, says nothing about a gap.
constexpr double kMostMissingOfRun = 0.05;

// More of the layers' time at no layer of the model, or of the bound at layers that the run does not show, and it is
// probably of something else.
constexpr double kMostElsewhere = 0.1;

// A run without repetitions has no interval: its time is right within this.
constexpr double kUnknownNoise = 0.05;

// Of the bound's layers what the run does not show.
double UnseenShare(const ComparedRun& compared) {
  Latency all{0}, unseen{0};
  for (const ComparedRow& row : compared.waterfall.rows) {
    if (row.layers.empty() || !row.best) continue;
    all += *row.best;
    if (row.engine_layers.empty()) unseen += *row.best;
  }
  return all.count() > 0 ? unseen / all : 0;
}

// Whether the run is faster than the bound by more than both could be wrong.
bool BeatsBound(const ComparedRun& compared, double gap) {
  if (gap >= 1) return false;
  if (!compared.limit) return gap < 1 - kUnknownNoise;
  return std::ranges::any_of(compared.bracket.inversions, [&compared](const Inversion& inversion) {
    return inversion.name == compared.limit->name && inversion.bound == Name(compared.waterfall.variant) &&
           inversion.is_beyond_noise;
  });
}

double UnmatchedShare(const Alignment& alignment) {
  const Latency meant = alignment.measured - alignment.own;
  return meant.count() > 0 ? alignment.unmatched / meant : 0;
}

// Bytes of the narrowest number that any layer reads: a model's precision shows so at whatever level it was optimised,
// if no file tells it. 0 where no types are told.
int NarrowestRead(const RunProfile& run) {
  constexpr int kHalf = 2;
  int narrowest = 0;
  for (const ProfiledLayer& layer : run.layers) {
    // ONNX Runtime moved it from half precision, and may have folded the casts that would show it.
    if (layer.name.find("InsertedPrecisionFreeCast_") != std::string::npos)
      narrowest = narrowest == 0 ? kHalf : std::min(narrowest, kHalf);
    for (const ProfiledTensor& tensor : layer.input_tensors) {
      const std::optional<DataType> type = FindDataType(tensor.dtype);
      if (!type || *type == DataType::kBool || BitsPerElement(*type) < 8) continue;
      const int bytes = BitsPerElement(*type) / 8;
      narrowest = narrowest == 0 ? bytes : std::min(narrowest, bytes);
    }
  }
  return narrowest;
}

// Why the gap cannot be judged; nothing where it can.
std::optional<std::string> GapObstacle(const ComparedRun& compared) {
  const Waterfall& waterfall = compared.waterfall;
  if (!compared.run.noisy.empty()) return "the run is noisy: " + compared.run.noisy;
  if (!waterfall.bound || waterfall.bound->count() <= 0)
    return "--max-gap needs a bound, and there is none" + (compared.lacking.empty() ? "" : ": " + compared.lacking);
  if (compared.bracket.coverage.Lacking() > kMostMissingOfRun)
    return fmt::format("--max-gap needs a bound of the whole model, and {} was never measured{}",
                       LackingText(compared.bracket.coverage), compared.lacking.empty() ? "" : ": " + compared.lacking);
  if (waterfall.measured_by == MeasuredBy::kLayers)
    return "--max-gap needs the time of a whole inference, and the profile has layer times only; `infimum measure -o` "
           "writes both";
  if (!compared.differences.empty())
    return fmt::format("--max-gap needs a run of what the bound is of: {}", fmt::join(compared.differences, "; "));
  if (compared.run.skipped_share > kMostSkipped)
    return fmt::format("--max-gap needs all of the run's time, and about {} of it could not be read from the profile",
                       PercentText(compared.run.skipped_share));
  if (compared.threads_are_assumed)
    return "--max-gap needs the number of threads, which the profile does not record: give --threads N";
  if (const double elsewhere = UnmatchedShare(compared.alignment); elsewhere > kMostElsewhere)
    return fmt::format(
        "--max-gap needs a run of this model, and {} of its layers' time matched no layer of it: is it the model that "
        "ran, with these dimensions?",
        PercentText(elsewhere));
  if (const double unseen = UnseenShare(compared); unseen > kMostElsewhere)
    return fmt::format(
        "--max-gap needs a run of the whole model, and it shows nothing of {}, with {} of the layers' time at best",
        CountText(compared.alignment.unmatched_layers.size(), "layer"), PercentText(unseen));
  const double gap = waterfall.measured / *waterfall.bound;
  if (waterfall.measured < waterfall.floor)
    return fmt::format(
        "it takes {}, and a program that reads every weight once needs {} here: it may be of other dimensions, another "
        "device, or something else than an inference",
        FormatLatency(waterfall.measured), FormatLatency(waterfall.floor));
  if (BeatsBound(compared, gap))
    return fmt::format(
        "it takes {}, {:.3f} times the bound of {}, and a run that beats the bound cannot be judged by it: "
        "`infimum bound --observed` includes the engine's own kernels, `infimum confirm` measures again what decides "
        "the bound",
        FormatLatency(waterfall.measured), gap, FormatLatency(*waterfall.bound));
  return std::nullopt;
}

// The same kind of samples of two runs.
struct Level {
  const char* what;
  std::vector<Repetition> subject, reference;
};

std::vector<Repetition> Profiled(const RunProfile& run) {
  if (run.profiled.empty()) return {};
  return {Summarize(run.profiled)};
}

std::string SamplesText(std::span<const Repetition> repetitions) {
  std::int64_t samples = 0;
  for (const Repetition& repetition : repetitions) samples += repetition.count;
  return fmt::format("{} with {}", CountText(repetitions.size(), "repetition"),
                     CountText(static_cast<std::size_t>(samples), "sample"));
}

}  // namespace

Gate GapGate(const ComparedRun& run, double most) {
  if (std::optional<std::string> obstacle = GapObstacle(run))
    return NotJudged("max-gap", run.name, *std::move(obstacle));
  const Waterfall& waterfall = run.waterfall;
  const double gap = waterfall.measured / *waterfall.bound;
  const bool held = gap <= most;
  return {"max-gap", run.name, held ? "within" : "above",
          fmt::format("takes {}, {:.3f} times the bound of {}; allowed are {:g} times",
                      FormatLatency(waterfall.measured), gap, FormatLatency(*waterfall.bound), most),
          held ? GateOutcome::kHeld : GateOutcome::kNotHeld};
}

Gate BaselineGate(const JudgedRun& judged, const JudgedRun& before, double threshold) {
  const auto not_judged = [&judged](std::string why) { return NotJudged("baseline", judged.name, std::move(why)); };
  for (const JudgedRun* const run : {&judged, &before})
    if (run->run.skipped_share > kMostSkipped)
      return not_judged(
          fmt::format("--baseline needs all of both runs' time, and about {} of the time of {} could not be read",
                      PercentText(run->run.skipped_share), run->name));
  if (const std::vector<std::string> differences = DifferencesOf(judged.run, before.run); !differences.empty())
    return not_judged(
        fmt::format("--baseline needs a run of the same, and against {} it {}; measure that again like this",
                    before.name, fmt::join(differences, ", ")));
  for (const JudgedRun* run : {&judged, &before})
    if (!run->run.noisy.empty()) return not_judged(fmt::format("{} is noisy: {}", run->name, run->run.noisy));
  const Level levels[] = {{"end to end", RepetitionsOf(judged.run), RepetitionsOf(before.run)},
                          {"under the profiler", Profiled(judged.run), Profiled(before.run)}};
  // Whoever timed both runs end to end asks about that, and about nothing else.
  const auto common = std::ranges::find_if(
      levels, [](const Level& level) { return !level.subject.empty() && !level.reference.empty(); });
  if (common == std::end(levels))
    return not_judged(fmt::format(
        "--baseline needs end-to-end samples of both runs, or the inferences under the profiler of both, and there are "
        "no end-to-end samples{}; `infimum measure -o` writes runs that have them",
        RepetitionsOf(judged.run).empty() ? (RepetitionsOf(before.run).empty() ? "" : " of this one")
                                          : " of " + before.name));
  const Level& level = *common;
  if (const std::optional<RatioInterval> ratio = RatioOf(level.subject, level.reference)) {
    const Verdict verdict = Compare(level.subject, level.reference, threshold);
    const Latency now = PointValue(level.subject), then = PointValue(level.reference);
    Gate gate{"baseline", judged.name, std::string(Name(verdict)), "",
              verdict == Verdict::kSlower ? GateOutcome::kNotHeld : GateOutcome::kHeld};
    gate.text = fmt::format(
        "{}: {} {} against {} of {} ({:+.1f} %, by the spread of both between {:+.1f} and {:+.1f} %), "
        "where {:g} % matter",
        gate.verdict, FormatLatency(now), level.what, FormatLatency(then), before.name, 100 * (now / then - 1),
        100 * (ratio->low - 1), 100 * (ratio->high - 1), 100 * threshold);
    if (verdict == Verdict::kUndecided)
      gate.text += fmt::format("; {} and {} cannot decide, more may (infimum measure --repetitions)",
                               SamplesText(level.subject), SamplesText(level.reference));
    return gate;
  }
  const auto is_no_time = [](const Repetition& repetition) { return !(repetition.median.count() > 0); };
  if (std::ranges::any_of(level.subject, is_no_time) || std::ranges::any_of(level.reference, is_no_time))
    return not_judged(fmt::format("--baseline needs times, and {} holds inferences of 0 µs {}",
                                  std::ranges::any_of(level.subject, is_no_time) ? "this run" : before.name,
                                  level.what));
  return not_judged(fmt::format(
      "--baseline needs a spread to tell a difference from noise, and {} against {} of {} {} have none: two "
      "repetitions "
      "of each would (infimum measure --repetitions), or six inferences",
      SamplesText(level.subject), SamplesText(level.reference), before.name, level.what));
}

Gate BaselineGate(const RunComparison& comparison, const ComparedRun& run, const RunComparison& before,
                  double threshold) {
  const ComparedRun& baseline = before.runs.front();
  std::vector<std::string> differences;
  const std::map<std::string, std::int64_t>& dims = comparison.models[run.model].dims;
  const std::map<std::string, std::int64_t>& other = before.models[baseline.model].dims;
  if (dims != other) differences.push_back(fmt::format("has {} instead of {}", DimsText(dims), DimsText(other)));
  // Of the bound's dimensions one run may be, and the other not.
  if (run.alignment.scale != baseline.alignment.scale) differences.emplace_back("ran with other dimensions");
  const int narrowest = NarrowestRead(run.run), narrowest_before = NarrowestRead(baseline.run);
  if (narrowest > 0 && narrowest_before > 0 && narrowest != narrowest_before)
    differences.push_back(fmt::format("reads values of {} at the narrowest instead of {}",
                                      CountText(static_cast<std::size_t>(narrowest), "byte"),
                                      CountText(static_cast<std::size_t>(narrowest_before), "byte")));
  // What matches no layer may be an engine's way to name things: then that of both does.
  const bool is_same_file = !run.run.model_sha256.empty() && run.run.model_sha256 == baseline.run.model_sha256;
  const double elsewhere = UnmatchedShare(run.alignment), elsewhere_before = UnmatchedShare(baseline.alignment);
  if (!is_same_file && std::abs(elsewhere - elsewhere_before) > kMostElsewhere)
    differences.push_back(
        fmt::format("has {} of its layers' time at no layer of the model instead of {}, as runs of two models would",
                    PercentText(elsewhere), PercentText(elsewhere_before)));
  if (run.run.shapes_vary || baseline.run.shapes_vary)
    differences.emplace_back("holds inferences of different shapes, or the baseline does");
  if (!differences.empty())
    return NotJudged(
        "baseline", run.name,
        fmt::format("--baseline needs a run of the same, and against {} it {}; measure that again like this",
                    baseline.name, fmt::join(differences, ", ")));
  return BaselineGate({run.name, run.run}, {baseline.name, baseline.run}, threshold);
}

}  // namespace infimum
