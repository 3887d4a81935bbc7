#include "src/core/results/replay_result.h"

#include <cstdio>

#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"
#include "src/core/results/run_json.h"

namespace infimum {
namespace {

constexpr std::string_view kResultSchema = "infimum.replay/1";
constexpr double kMostOfIt = 0.5;

std::string ErrorText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

static void VisitFields(auto& visit, Like<ReplayPart> auto& part) {
  visit("name", part.name);
  visit("candidate", part.candidate);
  visit("reorder", part.is_reorder);
  visit("step", part.step);
  visit("alone_us", part.alone);
  visit("in_loop_us", part.in_loop);
  visit("alone_cold_weights_us", part.alone_cold_weights);
  visit.Lenient("constant_bytes", part.constants);
  visit("error", part.error);
  visit("tolerance", part.tolerance);
}

static void VisitFields(auto& visit, Like<ReplayOutput> auto& output) {
  visit("name", output.name);
  visit("error", output.error);
  visit("tolerance", output.tolerance);
}

// Results of before there were cold weights lack the last two.
static void VisitFields(auto& visit, Like<ReplayResult> auto& result) {
  visit("repetitions", result.repetitions);
  visit("parts", result.parts);
  visit("outputs", result.outputs);
  visit("weight_bytes", result.weights);
  visit("arena_bytes", result.arena);
  visit.Lenient("last_level_cache_bytes", result.last_level_cache);
  visit("resident_share", result.resident_share, {0, 1});
  visit.Sparse("inferences_us", result.inferences);
  visit.Sparse("inferences_beats_us", result.beats);
  visit.Sparse("noisy", result.noisy);
}

Latency ReplayResult::demonstrated() const {
  std::vector<Repetition> summaries;
  for (const RunRepetition& repetition : repetitions) summaries.push_back(Summarize(repetition.samples));
  return PointValue(summaries);
}

Latency ReplayResult::sum_alone(CacheState cache) const {
  Latency sum{0};
  for (const ReplayPart& part : parts)
    sum += cache == CacheState::kColdWeights ? part.alone_cold_weights.value_or(part.alone) : part.alone;
  return sum;
}

Latency ReplayResult::sum_in_loop() const {
  Latency sum{0};
  for (const ReplayPart& part : parts) sum += part.in_loop;
  return sum;
}

Bytes ReplayResult::constants() const {
  Bytes sum;
  for (const ReplayPart& part : parts) sum += part.constants;
  return sum;
}

double ReplayResult::share_near() const {
  if (resident_share) return *resident_share;
  return last_level_cache.value > 0 && constants() > last_level_cache ? 0 : 1;
}

CacheState ReplayResult::cache_of_weights() const {
  return share_near() < kMostOfIt ? CacheState::kColdWeights : CacheState::kWarm;
}

Latency ReplayResult::sum_expected() const {
  const Latency warm = sum_alone(CacheState::kWarm), cold = sum_alone(CacheState::kColdWeights);
  return cold + share_near() * (warm - cold);
}

std::optional<std::string> ReplayResult::FirstFault() const {
  // Written so that NaN is a fault.
  for (const ReplayPart& part : parts) {
    if (part.error && !(*part.error <= part.tolerance)) {
      return "step " + Quoted(part.name) + " (" + part.candidate + "): error " + ErrorText(*part.error) +
             " over tolerance " + ErrorText(part.tolerance);
    }
  }
  for (const ReplayOutput& output : outputs) {
    if (!(output.error <= output.tolerance)) {
      return "output " + Quoted(output.name) + ": error " + ErrorText(output.error) + " over tolerance " +
             ErrorText(output.tolerance);
    }
  }
  if (outputs.empty()) return "no output was compared";
  return std::nullopt;
}

Result<ReplayResult> Joined(ReplayResult first, const ReplayResult& second) {
  const bool one_is_noisy = first.noisy.empty() != second.noisy.empty();
  const bool is_faster = one_is_noisy ? second.noisy.empty() : second.demonstrated() < first.demonstrated();
  bool same = first.parts.size() == second.parts.size();
  for (std::size_t i = 0; same && i < first.parts.size(); ++i) {
    ReplayPart& part = first.parts[i];
    const ReplayPart& other = second.parts[i];
    same = part.name == other.name && part.candidate == other.candidate;
    // Whether few bytes of constants could be copied often enough depends on how fast the part ran.
    const std::optional<Latency> cold[] = {part.alone_cold_weights, other.alone_cold_weights};
    part.alone_cold_weights = cold[is_faster ? 1 : 0];
    if (!part.alone_cold_weights && !one_is_noisy) part.alone_cold_weights = cold[is_faster ? 0 : 1];
    if (!is_faster) continue;
    part.alone = other.alone;
    part.in_loop = other.in_loop;
  }
  if (!same) return Error{"two repetitions of a replay ran different parts"};
  if (is_faster) first.resident_share = second.resident_share;
  if (one_is_noisy) {
    if (is_faster) first.repetitions = second.repetitions;
    first.noisy.clear();
    return first;
  }
  first.repetitions.insert(first.repetitions.end(), second.repetitions.begin(), second.repetitions.end());
  return first;
}

std::string FormatReplayResult(const ReplayResult& result) { return FormatDocument(kResultSchema, result); }

Result<ReplayResult> ParseReplayResult(std::string_view text) {
  INFIMUM_ASSIGN_OR_RETURN(ReplayResult result, ParseDocument<ReplayResult>(text, kResultSchema));
  for (const RunRepetition& repetition : result.repetitions)
    if (repetition.samples.empty()) return Error{"a repetition has no samples"};
  if (result.repetitions.empty()) return Error{"there are no repetitions"};
  return result;
}

}  // namespace infimum
