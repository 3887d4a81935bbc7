#include "microbench/harness/replay_trial.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "infimum/measurement/statistics.h"
#include "infimum/results/replay_schedule_text.h"
#include "microbench/harness/sampler.h"

namespace infimum {
namespace {

constexpr std::int64_t kPartOfBudget = 10;
// Of a part that is so long that its budget has no room for a median.
constexpr int kLaunchesAlone = 12;
constexpr std::size_t kLeastLoops = 5;
constexpr std::size_t kMostLoops = 200;

// Some parts in turn, as one run that the sampler can time.
class PartsRun : public PreparedRun {
 public:
  PartsRun(PreparedReplay& replay, std::size_t first, std::size_t last) : replay_(replay), first_(first), last_(last) {}

  Status Run() override {
    for (std::size_t part = first_; part < last_; ++part) INFIMUM_RETURN_IF_ERROR(replay_.Run(part));
    return {};
  }
  Result<std::optional<double>> NumericError() override { return std::optional<double>(); }
  Bytes footprint() const override { return replay_.arena() + replay_.weights(); }
  // Of one part alone: only that is sampled with cold weights.
  Bytes constants() const override { return replay_.constants(first_); }
  Status RotateConstants(std::size_t copies) override { return replay_.RotateConstants(first_, copies); }

 private:
  PreparedReplay& replay_;
  std::size_t first_, last_;
};

Result<ReplaySchedule> ReadSchedule(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{path + ": cannot be read: " + std::strerror(errno)};
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Result<ReplaySchedule> schedule = ParseReplaySchedule(text);
  if (!schedule.ok()) return Within(path, schedule.error());
  return schedule;
}

// Reading the clock costs each part some 25 ns.
Status TimeInLoop(PreparedReplay& replay, Clock::Duration budget, const Clock& clock, std::vector<ReplayPart>& parts) {
  std::vector<std::vector<Latency>> samples(parts.size());
  const Clock::Duration start = clock.Now();
  for (std::size_t loop = 0; loop < kMostLoops; ++loop) {
    Clock::Duration before = clock.Now();
    if (loop >= kLeastLoops && before - start >= budget) break;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      INFIMUM_RETURN_IF_ERROR(replay.Run(part));
      const Clock::Duration after = clock.Now();
      samples[part].emplace_back(after - before);
      before = after;
    }
  }
  for (std::size_t part = 0; part < parts.size(); ++part) parts[part].in_loop = Summarize(samples[part]).median;
  return {};
}

}  // namespace

Result<ReplayResult> RunReplay(Backend& backend, const ReplayRequest& request, TrialTools tools) {
  INFIMUM_ASSIGN_OR_RETURN(const ReplaySchedule schedule, ReadSchedule(request.schedule));
  INFIMUM_ASSIGN_OR_RETURN(const TensorFolder folder, TensorFolder::Open(request.tensors));
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<PreparedReplay> replay, backend.PrepareReplay(schedule, folder));
  ReplayResult result;
  if (request.check_numbers) {
    INFIMUM_ASSIGN_OR_RETURN(result, replay->Check());
  } else {
    result.parts = replay->parts();
  }
  result.weights = replay->weights();
  result.arena = replay->arena();

  result.last_level_cache = tools.flusher.last_level_cache();
  const std::size_t count = result.parts.size();
  PartsRun whole(*replay, 0, count);
  SamplerOptions options;
  options.budget = request.budget * kPartOfBudget;
  INFIMUM_ASSIGN_OR_RETURN(const SampleSet set, TakeSamples(whole, CacheState::kWarm, options, backend.clock(),
                                                            tools.interference, tools.flusher));
  result.repetitions.push_back(set.samples);
  INFIMUM_RETURN_IF_ERROR(TimeInLoop(*replay, request.budget * kPartOfBudget / 2, backend.clock(), result.parts));
  for (std::size_t i = 0; i < count; ++i) {
    const auto launch = std::chrono::duration_cast<Clock::Duration>(result.parts[i].in_loop);
    options.budget = std::max(request.budget / kPartOfBudget, launch * kLaunchesAlone);
    PartsRun part(*replay, i, i + 1);
    INFIMUM_ASSIGN_OR_RETURN(const SampleSet alone, TakeSamples(part, CacheState::kWarm, options, backend.clock(),
                                                                tools.interference, tools.flusher));
    result.parts[i].alone = Summarize(alone.samples).median;
    result.parts[i].constants = replay->constants(i);
    if (result.parts[i].constants.value == 0) continue;
    const Result<SampleSet> cold =
        TakeSamples(part, CacheState::kColdWeights, options, backend.clock(), tools.interference, tools.flusher);
    // Constants that cannot be had in enough copies are few bytes: the part counts as it is with warm ones.
    if (!cold.ok() && cold.error().message.starts_with("unsupported")) continue;
    INFIMUM_RETURN_IF_ERROR(cold);
    result.parts[i].alone_cold_weights = Summarize(cold->samples).median;
  }
  // Last, since it leaves nothing of the model in the caches.
  INFIMUM_ASSIGN_OR_RETURN(result.resident_share, backend.ResidentShare(result.constants() + result.arena));
  return result;
}

}  // namespace infimum
