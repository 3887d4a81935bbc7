#include "microbench/gpu/checklist/checklist.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "infimum/measurement/statistics.h"

namespace infimum::cuda {
namespace {

constexpr int kSamples = 21, kFewSamples = 5;
constexpr std::size_t kMostOfTier = 150;  // of a layer
constexpr std::int64_t kLaunches = 32;    // of one sample
// Between the quartiles, in parts of the median: above it a time says little.
constexpr double kMostSpread = 0.05;

struct Spread {
  Latency median{0};
  double share = 0;
};
Spread SpreadOf(std::vector<Latency> samples) {
  const Latency median = Quantile(samples, 0.5);
  return {median, median.count() > 0 ? (Quantile(samples, 0.75) - Quantile(samples, 0.25)) / median : 0};
}

Result<std::vector<Latency>> ColdTimes(PreparedRun& run, int count) {
  std::vector<Latency> samples;
  for (int i = 0; i < count; ++i) {
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<Clock::Duration> time, run.TimeColdLaunch(false));
    if (!time) return Error{"the device has no clock of its own"};
    samples.emplace_back(*time);
  }
  return samples;
}

// Of one candidate: its times, flags and error, in a line.
Result<std::string> TimedLine(PreparedCandidate& prepared, const Workload& workload, bool& holds) {
  PreparedRun& run = *prepared.run;
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<double> error, run.NumericError());
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Latency> warm, WarmTimes(run, kSamples));
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Latency> cold, ColdTimes(run, kSamples));
  const double tolerance = Tolerance(NativeContract(workload), workload);
  const bool is_right = !error || *error <= tolerance;
  const bool is_ordered = Quantile(cold, 0.5) >= Quantile(warm, 0.5) * (1 - kMostSpread);
  std::string flags;
  for (const std::string& flag : run.TimingFlags()) flags += " " + flag;
  holds = holds && is_right && is_ordered && flags.empty();
  return fmt::format("{}: {:.2f} us warm, {:.2f} us cold, error {}{}{}{}", prepared.candidate.name(),
                     Quantile(warm, 0.5).count(), Quantile(cold, 0.5).count(),
                     error ? fmt::format("{:.2g} of {:.2g}", *error, tolerance) : "unknown", is_right ? "" : " WRONG",
                     is_ordered ? "" : " COLD BEFORE WARM", flags);
}

Result<Finding> CheckTiming(const CheckTools& tools) {
  Finding finding;
  bool any = false;
  for (const std::string& text : tools.layers) {
    INFIMUM_ASSIGN_OR_RETURN(const Workload workload, ParseWorkload(text));
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                             tools.backend.Candidates(workload, NativeContract(workload), CandidateTier::kHeuristic));
    std::set<std::string> libraries;
    for (const Candidate& candidate : candidates) libraries.insert(candidate.library);
    for (const std::string& library : libraries) {
      Result<PreparedCandidate> prepared = PrepareFirst(tools.backend, workload, library);
      if (!prepared.ok()) {
        finding.details.push_back(fmt::format("{}, {}: {}", text, library, prepared.error().message));
        continue;
      }
      any = true;
      const Result<std::string> line = TimedLine(*prepared, workload, finding.holds);
      if (!line.ok()) finding.holds = false;
      finding.details.push_back(text + ": " + (line.ok() ? *line : line.error().message));
    }
  }
  finding.holds = finding.holds && any;
  return finding;
}

Result<Finding> CheckNoise(const CheckTools& tools) {
  Finding finding;
  bool any = false;
  for (const std::string& text : tools.layers) {
    INFIMUM_ASSIGN_OR_RETURN(const Workload workload, ParseWorkload(text));
    Result<PreparedCandidate> prepared = PrepareFirst(tools.backend, workload);
    if (!prepared.ok()) {
      finding.details.push_back(text + ": " + prepared.error().message);
      continue;
    }
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Latency> warm_samples, WarmTimes(*prepared->run, kSamples));
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Latency> cold_samples, ColdTimes(*prepared->run, kSamples));
    const Spread warm = SpreadOf(warm_samples), cold = SpreadOf(cold_samples);
    any = true;
    finding.holds = finding.holds && warm.share <= kMostSpread;
    finding.details.push_back(fmt::format("{}: {}: warm {:.2f} us, quartiles {:.2f} % apart; cold {:.2f} us, {:.2f} %",
                                          text, prepared->candidate.name(), warm.median.count(), 100 * warm.share,
                                          cold.median.count(), 100 * cold.share));
  }
  finding.holds = finding.holds && any;
  return finding;
}

Result<Finding> CheckFloor(const CheckTools& tools) {
  INFIMUM_ASSIGN_OR_RETURN(const Workload workload, ParseWorkload("pointwise kind=relu dtype=f32:-:f32 in=64"));
  INFIMUM_ASSIGN_OR_RETURN(const PreparedCandidate prepared, PrepareFirst(tools.backend, workload));
  const std::optional<Latency> floor = prepared.run->TimingFloor();
  if (!floor) return Error{"the backend measures no floor"};
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Latency> least, WarmTimes(*prepared.run, kSamples));
  Finding finding;
  finding.holds = *floor > Latency(0) && *floor <= Quantile(least, 0.5) * (1 + kMostSpread);
  finding.details.push_back(fmt::format("an empty kernel {:.3f} us, {} of 64 elements {:.3f} us", floor->count(),
                                        prepared.candidate.name(), Quantile(least, 0.5).count()));
  return finding;
}

// The best of a layer's candidates in a tier, and how many ran.
struct TierBest {
  Candidate candidate;
  Latency time = Latency::max();
  std::size_t measured = 0;
};

Result<TierBest> BestOf(Backend& backend, const Workload& workload, CandidateTier tier) {
  const NumericContract contract = NativeContract(workload);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates, backend.Candidates(workload, contract, tier));
  TierBest best;
  for (const Candidate& candidate : candidates) {
    if (best.measured == kMostOfTier) break;
    const Result<std::unique_ptr<PreparedRun>> run = backend.Prepare(workload, candidate, contract);
    if (!run.ok()) continue;
    const Result<std::vector<Latency>> times = WarmTimes(**run, kFewSamples);
    if (!times.ok()) continue;
    ++best.measured;
    const Latency time = Quantile(*times, 0.5);
    if (time < best.time) best = {candidate, time, best.measured};
  }
  if (best.measured == 0) return Error{"nothing could be measured"};
  return best;
}

// A campaign measures one tier: what a narrower one would have missed, and whether the wider one holds it.
Result<Finding> CheckTiers(const CheckTools& tools) {
  Finding finding;
  std::set<std::string> families;
  for (const std::string& text : tools.layers) {
    // One of each family, which may have some hundred candidates.
    if (!families.insert(text.substr(0, text.find(' '))).second) continue;
    INFIMUM_ASSIGN_OR_RETURN(const Workload workload, ParseWorkload(text));
    INFIMUM_ASSIGN_OR_RETURN(const TierBest few, BestOf(tools.backend, workload, CandidateTier::kHeuristic));
    INFIMUM_ASSIGN_OR_RETURN(const TierBest more, BestOf(tools.backend, workload, CandidateTier::kEngine));
    finding.holds = finding.holds && more.time <= few.time * (1 + kMostSpread);
    finding.details.push_back(fmt::format("{}: heuristic {:.2f} us by {} of {}, engine {:.2f} us by {} of {}", text,
                                          few.time.count(), few.candidate.name(), few.measured, more.time.count(),
                                          more.candidate.name(), more.measured));
  }
  finding.holds = finding.holds && !finding.details.empty();
  return finding;
}

}  // namespace

const std::vector<std::string>& ChecklistLayers() {
  static const std::vector<std::string>& layers = *new std::vector<std::string>{
      "convolution dtype=f16:f16:f16 in=32x64x112x112 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=1 bias=no weights=const",
      "convolution dtype=f32:f32:f32 in=16x256x28x28 out_channels=256 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=1 bias=yes weights=const",
      "convolution dtype=bf16:bf16:bf16 in=64x256x56x56 out_channels=64 kernel=1x1 stride=1x1 dilation=1x1 "
      "pad=0,0,0,0 groups=1 bias=no weights=const",
      "matmul dtype=f16:f16:f16 a=1x16384x1024 b=1x1024x4096 bias=column weights=const",
      "matmul dtype=bf16:bf16:bf16 a=1x8192x4096 b=1x4096x4096 bias=no weights=const",
      "matmul dtype=f16:f16:f16 a=1x4096x4096 b=1x4096x4096 bias=no weights=const sparsity=2:4",
      "matmul dtype=f32:f32:f32 a=1x4096x1024 b=1x1024x1024 bias=no weights=const",
      "pointwise kind=relu dtype=f16:-:f16 in=67108864",
      "normalization kind=layer dtype=f16:f16:f16 in=32768x1024 axis=1 scale=yes bias=yes",
      "movement kind=transpose dtype=f32:-:f32 in=8192x8192 out=8192x8192 perm=1,0",
      "reduction kind=sum dtype=f32:-:f32 in=32768x2048 axes=1"};
  return layers;
}

Result<PreparedCandidate> PrepareFirst(Backend& backend, const Workload& workload, const std::string& library) {
  const NumericContract contract = NativeContract(workload);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                           backend.Candidates(workload, contract, CandidateTier::kHeuristic));
  std::string why;
  for (const Candidate& candidate : candidates) {
    if (!library.empty() && candidate.library != library) continue;
    Result<std::unique_ptr<PreparedRun>> run = backend.Prepare(workload, candidate, contract);
    if (run.ok()) return PreparedCandidate{candidate, *std::move(run)};
    if (why.empty()) why = run.error().message;
  }
  return Error{why.empty() ? "no library here has a candidate" : why};
}

Result<std::vector<Latency>> WarmTimes(PreparedRun& run, int count) {
  std::vector<Latency> samples;
  for (int i = 0; i < count; ++i) {
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<Clock::Duration> time, run.TimeLaunches(kLaunches));
    if (!time) return Error{"the device has no clock of its own"};
    samples.push_back(Latency(*time) / static_cast<double>(kLaunches));
  }
  return samples;
}

std::vector<Check> BackendChecks() {
  return {{"floor", "what an empty kernel takes", CheckFloor},
          {"timing", "every library can be captured and held, and computes what it should", CheckTiming},
          {"noise", "how far times of one kernel are apart", CheckNoise},
          {"tiers", "what the best candidate of each tier takes", CheckTiers}};
}

std::string FormatFinding(const std::string& check, const Result<Finding>& finding) {
  const nlohmann::json line = {
      {"check", check},
      {"holds", finding.ok() && finding->holds},
      {"details", finding.ok() ? finding->details : std::vector<std::string>{finding.error().message}}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace infimum::cuda
