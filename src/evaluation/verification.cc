#include "src/evaluation/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "src/core/results/json_struct.h"

namespace infimum {

// As scripts/frameworks/model_values.py describes an output.
struct SampledOutput {
  std::string name;
  std::vector<std::int64_t> dims;
  std::string type;
  double norm = 0;
  std::vector<double> values;
};

static void VisitFields(auto& visit, Like<SampledOutput> auto& output) {
  visit("name", output.name);
  visit.Lenient("dims", output.dims);
  visit.Lenient("type", output.type);
  visit.Lenient("norm", output.norm);
  visit.Lenient("values", output.values, {-1e300});
}

namespace {

constexpr const char* kOutputs = "outputs";

// Of an output's elements, relative to their root mean square: rounding in another order makes less, another weight
// more.
double ToleranceOf(const std::string& type) {
  if (type == "float16") return 2e-2;
  if (type == "float32") return 1e-3;
  return 1e-6;
}

std::optional<std::vector<SampledOutput>> OutputsOf(const CellResult& result) {
  const auto found = result.evidence.find(kOutputs);
  if (found == result.evidence.end()) return std::nullopt;
  const Result<Json> json = ParseJson(found->second);
  std::vector<SampledOutput> outputs;
  if (!json.ok() || !FromJson(*json, kOutputs, outputs).ok()) return std::nullopt;
  return outputs;
}

void CompareNumbers(const CellResult& now, const CellResult& before, Verification& verified) {
  const auto ours = OutputsOf(now), theirs = OutputsOf(before);
  if (!ours || !theirs) return;
  verified.numbers = Numbers::kSame;
  const auto differ = [&verified](std::string text) {
    verified.numbers = Numbers::kDiffer;
    if (verified.numbers_text.empty()) verified.numbers_text = std::move(text);
  };
  if (ours->size() != theirs->size()) return differ(fmt::format("{} outputs, {} before", ours->size(), theirs->size()));
  for (std::size_t i = 0; i < ours->size(); ++i) {
    const SampledOutput &one = (*ours)[i], &other = (*theirs)[i];
    if (one.dims != other.dims || one.type != other.type || one.values.size() != other.values.size()) {
      differ(fmt::format("output {} has another shape or type", Quoted(one.name)));
      continue;
    }
    std::int64_t elements = 1;
    for (const std::int64_t extent : one.dims) elements *= std::max<std::int64_t>(extent, 1);
    const double scale = std::max(other.norm / std::sqrt(static_cast<double>(elements)), 1e-30);
    double apart = std::abs(one.norm - other.norm) / std::max(other.norm, 1e-30);
    for (std::size_t k = 0; k < one.values.size(); ++k)
      apart = std::max(apart, std::abs(one.values[k] - other.values[k]) / scale);
    if (!(apart <= ToleranceOf(one.type)))
      differ(fmt::format("output {}: {:.3g} of its root mean square apart", Quoted(one.name), apart));
  }
}

// The median of a run's processes: no burst of other work that one of them met.
std::optional<Beat> PaceOf(std::span<const Repetition> repetitions) {
  std::vector<Latency> arithmetic, memory, cache;
  for (const Repetition& repetition : repetitions) {
    if (!repetition.beat) continue;
    arithmetic.push_back(repetition.beat->arithmetic);
    memory.push_back(repetition.beat->memory);
    cache.push_back(repetition.beat->cache);
  }
  if (arithmetic.empty()) return std::nullopt;
  return Beat{Quantile(arithmetic, 0.5), Quantile(memory, 0.5), Quantile(cache, 0.5)};
}

void CompareTimes(const CellResult& now, const CellResult& before, double threshold, Bytes last_level_cache,
                  double confidence, Verification& verified) {
  verified.ratio = RatioOf(now.repetitions, before.repetitions, confidence);
  if (verified.ratio) verified.verdict = VerdictOf(*verified.ratio, threshold);
  if (verified.verdict == Verdict::kUndecided) {
    verified.undecided = fmt::format(
        "the processes ({} now, {} before) are too far apart: {}", now.repetitions.size(), before.repetitions.size(),
        !IsFirm(before, threshold) ? "those before by themselves, so only `infimum evaluate --again` on a "
                                     "quieter machine would tell"
                                   : "a quieter machine would tell");
    return;
  }
  const std::optional<Beat> usual = PaceOf(before.repetitions), pace = PaceOf(now.repetitions);
  if (!usual || !pace) return;
  // Shares of the loops in what slows a model down are at least 0 and together at most 1: these are the corners. A byte
  // costs it no more than it costs the loops of memory and cache.
  struct Loop {
    const char* name;
    Latency usual, now;
    double least_bytes;  // of a model that it says something of; below 0: of each
  };
  constexpr double kOfCache = 0.25;
  for (const Loop& loop :
       {Loop{"arithmetic", usual->arithmetic, pace->arithmetic, -1}, Loop{"memory", usual->memory, pace->memory, 0},
        Loop{"cache", usual->cache, pace->cache, kOfCache * static_cast<double>(last_level_cache.value)}}) {
    if (!(loop.usual > Latency(0) && loop.now > Latency(0))) continue;
    double slower = loop.now / loop.usual - 1;
    if (loop.least_bytes >= 0 && before.facts.bytes) {
      const auto bytes = static_cast<double>(before.facts.bytes->value);
      if (bytes < loop.least_bytes) continue;
      const Latency extra = bytes / kBeatBytes * (loop.now - loop.usual);
      const double most = std::abs(extra / PointValue(before.repetitions));
      slower = std::clamp(slower, -most, most);
    }
    const double factor = 1 / (1 + slower);
    const Verdict held = VerdictOf({verified.ratio->low * factor, verified.ratio->high * factor}, threshold);
    if (held == verified.verdict) continue;
    // A difference that a loop may explain is none; without one it is enough that no loop says that there must be one.
    if (verified.verdict == Verdict::kSame && held == Verdict::kUndecided) continue;
    verified.undecided = fmt::format("the machine ran at another pace: held to the metronome's {} it would be {}",
                                     loop.name, Name(held));
    verified.verdict = Verdict::kUndecided;
    return;
  }
}

void AddChanges(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now,
                std::vector<std::string>& changes) {
  std::set<std::string> names;
  for (const auto* facts : {&before, &now})
    for (const auto& [name, value] : *facts) names.insert(name);
  const auto value_of = [](const auto& facts, const std::string& name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string("none") : found->second;
  };
  for (const std::string& name : names) {
    const std::string one = value_of(before, name), other = value_of(now, name);
    if (one != other) changes.push_back(fmt::format("{} {} -> {}", name, one, other));
  }
}

}  // namespace

bool IsFirm(const CellResult& result, double threshold) {
  const std::optional<Interval> typical = TypicalInterval(result.repetitions);
  return typical && typical->high <= (1 + threshold) * typical->low;
}

Verification Verify(const CellResult& now, const CellResult& before, double threshold, Bytes last_level_cache,
                    double confidence) {
  Verification verified;
  auto told_before = before.evidence, told_now = now.evidence;
  told_before.erase(kOutputs);
  told_now.erase(kOutputs);
  AddChanges({{"framework", before.framework_version}}, {{"framework", now.framework_version}}, verified.causes);
  AddChanges(told_before, told_now, verified.causes);
  if (now.state != CellState::kOk && now.state == before.state) {
    verified.not_comparable =
        fmt::format("{} as before{}{}", Name(now.state), now.reason.empty() ? "" : ": ", now.reason);
    return verified;
  }
  if (now.state != CellState::kOk || before.state != CellState::kOk) {
    verified.not_comparable = fmt::format("it is {} now{}{}, and was {} before", Name(now.state),
                                          now.reason.empty() ? "" : ": ", now.reason, Name(before.state));
    return verified;
  }
  CompareNumbers(now, before, verified);
  CompareTimes(now, before, threshold, last_level_cache, confidence, verified);
  return verified;
}

Status MeasureUntilFirm(CellResult& result, double threshold, std::int64_t processes, const MeasureMore& measure_more) {
  for (const Look& look : std::span(kLooks).first(std::size(kLooks) - 1)) {
    if (result.state != CellState::kOk || IsFirm(result, threshold)) break;
    INFIMUM_ASSIGN_OR_RETURN(const std::string stopped, measure_more(look.times * processes, result));
    if (!stopped.empty()) break;
  }
  return {};
}

Result<Verification> VerifyMeasuringOn(CellResult& now, const CellResult& before, double threshold,
                                       Bytes last_level_cache, std::int64_t processes,
                                       const MeasureMore& measure_more) {
  Verification verified;
  for (const Look& look : kLooks) {
    verified = Verify(now, before, threshold, last_level_cache, look.confidence);
    const bool has_time = verified.not_comparable.empty() && verified.numbers != Numbers::kDiffer;
    if (!has_time || verified.verdict != Verdict::kUndecided || &look == std::end(kLooks) - 1) break;
    INFIMUM_ASSIGN_OR_RETURN(const std::string stopped, measure_more(look.times * processes, now));
    if (stopped.empty()) continue;
    verified.undecided += "; " + stopped;
    break;
  }
  return verified;
}

std::vector<std::string> DifferencesOf(const EvaluationCell& before, const EvaluationCell& now) {
  const auto fields = [](const EvaluationCell& cell) {
    const auto list = FieldsOf(cell);
    std::map<std::string, std::string> all(list.begin(), list.end());
    // A file's content, and behind it that of the weights beside it.
    if (const auto content = all.extract("model.sha256"); !content.empty()) {
      constexpr std::size_t kShown = 12, kFile = 64;
      all["model's file"] = content.mapped().substr(0, kShown);
      if (content.mapped().size() > kFile) all["weights beside the model"] = content.mapped().substr(kFile + 1, kShown);
    }
    return all;
  };
  std::vector<std::string> changes;
  AddChanges(fields(before), fields(now), changes);
  return changes;
}

}  // namespace infimum
