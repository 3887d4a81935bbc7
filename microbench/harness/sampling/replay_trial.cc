#include "microbench/harness/sampling/replay_trial.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "infimum/base/file_text.h"
#include "infimum/measurement/statistics.h"
#include "infimum/results/results_journal.h"
#include "microbench/harness/sampling/sampler.h"
#include "microbench/reference/step_reference.h"
#include "src/core/results/replay_schedule_text.h"

namespace infimum {
namespace {

struct Fastest {
  Latency time{0};
  Candidate candidate;
};

}  // namespace

Status ChooseMeasured(const std::vector<std::string>& journals, ReplaySchedule& schedule) {
  std::map<std::pair<std::string, NumericContract>, Fastest> fastest;
  for (const std::string& path : journals) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{path + ": cannot be read: " + std::strerror(errno)};
    const auto take = [&](const ResultsRecord& record) -> Status {
      const auto* row = std::get_if<Measurement>(&record);
      if (row == nullptr || row->outcome != Outcome::kMeasured || row->cache != CacheState::kWarm) return {};
      // What no graph can hold would cost the whole run its graph.
      if (std::ranges::find(row->flags, "uncaptured") != row->flags.end()) return {};
      const Latency time = BestSeen(row->repetitions);
      Fastest& best = fastest[{row->workload.text, row->contract}];
      if (best.candidate.library.empty() || time < best.time) best = {time, row->candidate};
      return {};
    };
    INFIMUM_RETURN_IF_ERROR(ReadJournal(file, path, take));
  }
  for (ReplayStep& step : schedule.steps) {
    const auto found = fastest.find({KeyOf(step.workload).text, cpu::ContractOf(step.workload, schedule)});
    if (found == fastest.end()) continue;
    const Candidate& candidate = found->second.candidate;
    step.candidate = {candidate.name(), candidate.input_layout, candidate.output_layout};
  }
  return {};
}

namespace {

constexpr std::int64_t kPartOfBudget = 10;
constexpr std::int64_t kStretchBudgets = 4;
// For a part so long that its budget does not allow a median.
constexpr int kLaunchesAlone = 12;
constexpr std::size_t kLeastLoops = 5;
constexpr std::size_t kMostLoops = 200;
// The whole is sampled so many times, and its parts between: a clock that wanders is the same for both.
constexpr std::size_t kStretches = 5;
// How much longer than planned a repetition waits for inferences that have their core: as long again, at least this.
// What comes and goes within a second is waited for however short the budget is.
constexpr Clock::Duration kLeastPatience = std::chrono::milliseconds(2500);
// Of fewer inferences nothing is told, where they are the smaller half.
constexpr std::size_t kLeastInferences = 5;

// Some parts in turn, as one run that the sampler can time.
class PartsRun : public PreparedRun {
 public:
  PartsRun(PreparedReplay& replay, std::size_t first, std::size_t last) : replay_(replay), first_(first), last_(last) {}

  Status Run() override {
    for (std::size_t part = first_; part < last_; ++part) INFIMUM_RETURN_IF_ERROR(replay_.Run(part));
    return {};
  }
  Result<std::optional<Clock::Duration>> TimeLaunches(std::int64_t launches) override {
    return replay_.TimeParts(first_, last_, launches);
  }
  Result<std::optional<double>> NumericError() override { return std::optional<double>(); }
  Bytes footprint() const override { return replay_.arena() + replay_.weights(); }
  // For one part alone: only that is sampled with cold weights.
  Bytes constants() const override { return replay_.constants(first_); }
  Status RotateConstants(std::size_t copies) override { return replay_.RotateConstants(first_, copies); }

 private:
  PreparedReplay& replay_;
  std::size_t first_, last_;
};

// Samples of a repetition, which all draw on one patience.
class Sampling {
 public:
  Sampling(Backend& backend, TrialTools tools, Clock::Duration patience)
      : backend_(backend), tools_(tools), patience_(patience) {}

  Result<SampleSet> Take(PreparedRun& run, CacheState cache, Clock::Duration budget) {
    SamplerOptions options;
    options.budget = budget;
    options.patience = patience_;
    INFIMUM_ASSIGN_OR_RETURN(SampleSet set,
                             TakeSamples(run, cache, options, backend_.clock(), tools_.interference, tools_.flusher));
    patience_ -= std::clamp(set.spent - budget, Clock::Duration(0), patience_);
    return set;
  }

 private:
  Backend& backend_;
  TrialTools tools_;
  Clock::Duration patience_;
};

// Whole inferences, and of how many of them the worker had its cores.
struct WholeSamples {
  std::vector<Latency> kept, lost;

  void Add(const SampleSet& set) {
    // The hypervisor's part is told of all of them, not of each.
    const std::size_t undisturbed = set.stolen * 100 > set.spent ? 0 : set.undisturbed;
    const auto split = set.samples.begin() + static_cast<std::ptrdiff_t>(undisturbed);
    kept.insert(kept.end(), set.samples.begin(), split);
    lost.insert(lost.end(), split, set.samples.end());
    taken += set.undisturbed + set.disturbed;
  }
  // Those that count, and where they are too few all, with the reason.
  std::vector<Latency> Answer(std::string& noisy) && {
    if (kept.size() >= kLeastInferences || 2 * kept.size() >= taken) return std::move(kept);
    noisy = "only " + std::to_string(kept.size()) + " of " + std::to_string(taken) +
            " samples of whole inferences had their cores for 99 % of their time: other programs ran on them";
    kept.insert(kept.end(), lost.begin(), lost.end());
    return std::move(kept);
  }

  std::size_t taken = 0;
};

// Parts between their neighbours, by the device's clock where it has one. Reading the host's costs each part some 25
// ns.
Status TimeInLoop(PreparedReplay& replay, Clock::Duration budget, const Clock& clock, InterferenceProbe& interference,
                  std::vector<ReplayPart>& parts) {
  std::vector<std::vector<Latency>> samples(parts.size());
  const Clock::Duration start = clock.Now();
  for (std::size_t loop = 0; loop < kMostLoops; ++loop) {
    const CoreWatch watch(interference);
    Clock::Duration before = clock.Now();
    const Clock::Duration began = before;
    if (loop >= kLeastLoops && before - start >= budget) break;
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<std::vector<Latency>> times, replay.TimeEach());
    if (times) {
      for (std::size_t part = 0; part < parts.size(); ++part) samples[part].push_back((*times)[part]);
      continue;
    }
    for (std::size_t part = 0; part < parts.size(); ++part) {
      INFIMUM_RETURN_IF_ERROR(replay.Run(part));
      const Clock::Duration after = clock.Now();
      samples[part].emplace_back(after - before);
      before = after;
    }
    // Of the least that are taken any is better than none.
    if (loop >= kLeastLoops && !watch.Kept(before - began))
      for (std::vector<Latency>& of_part : samples) of_part.pop_back();
  }
  for (std::size_t part = 0; part < parts.size(); ++part) parts[part].in_loop = Summarize(samples[part]).median;
  return {};
}

// A part again and again on what its predecessors left.
Status TimeAlone(Sampling& sampling, PreparedReplay& replay, std::size_t index, Clock::Duration budget,
                 ReplayPart& part) {
  const auto launch = std::chrono::duration_cast<Clock::Duration>(part.in_loop);
  budget = std::max(budget, launch * kLaunchesAlone);
  PartsRun run(replay, index, index + 1);
  INFIMUM_ASSIGN_OR_RETURN(const SampleSet warm, sampling.Take(run, CacheState::kWarm, budget));
  part.alone = Summarize(warm.samples).median;
  part.constants = replay.constants(index);
  if (part.constants.value == 0) return {};
  const Result<SampleSet> cold = sampling.Take(run, CacheState::kColdWeights, budget);
  // Constants too small for enough copies are few bytes: the warm time counts.
  if (!cold.ok() && cold.error().message.starts_with("unsupported")) return {};
  INFIMUM_RETURN_IF_ERROR(cold);
  part.alone_cold_weights = Summarize(cold->samples).median;
  return {};
}

constexpr int kWarmUps = 2;
// Of an inference during which the scheduler took the core away.
constexpr int kMostTries = 2;
// One of so many may be such a one in the end; more make the experiment noisy.
constexpr std::size_t kMostLost = 5;
// From there on weights are near when their turn comes again: an inference is timed behind another of its own levels.
constexpr double kNear = 0.5;

Status RunInference(PreparedReplay& replay, const ReplaySchedule& schedule, const std::string& levels) {
  const std::vector<ReplayPart>& parts = replay.parts();
  for (std::size_t part = 0; part < parts.size(); ++part)
    if (RunsAt(schedule.steps[parts[part].step].level, levels)) INFIMUM_RETURN_IF_ERROR(replay.Run(part));
  return {};
}

// Whole inferences after the schedule's design, each once.
Status RunDesign(Backend& backend, PreparedReplay& replay, const ReplaySchedule& schedule, Clock::Duration budget,
                 TrialTools tools, ReplayResult& result) {
  const std::string none(schedule.factors.size(), '0'), all(schedule.factors.size(), '1');
  for (std::size_t part = 0; part < result.parts.size(); ++part)
    if (RunsAt(schedule.steps[result.parts[part].step].level, none))
      result.parts[part].constants = replay.constants(part);
  const Clock& clock = backend.clock();
  Clock::Duration between{0};
  for (int i = 0; i < kWarmUps; ++i) {
    INFIMUM_RETURN_IF_ERROR(RunInference(replay, schedule, all));
    const Clock::Duration before = clock.Now();
    INFIMUM_RETURN_IF_ERROR(RunInference(replay, schedule, none));
    between = clock.Now() - before;
  }
  INFIMUM_ASSIGN_OR_RETURN(result.resident_share, backend.ResidentShare(result.constants() + result.arena, between));
  const bool settles = result.share_near() >= kNear;
  std::size_t lost = 0;
  std::vector<Latency> samples;
  const Clock::Duration begin = clock.Now();
  for (const std::string& levels : schedule.design) {
    if (clock.Now() - begin >= budget) break;
    const std::optional<Beat> beat = backend.TakeBeat();
    if (settles) INFIMUM_RETURN_IF_ERROR(RunInference(replay, schedule, levels));
    Clock::Duration time{0};
    for (int i = 0; i < kMostTries; ++i) {
      const CoreWatch watch(tools.interference);
      const Clock::Duration before = clock.Now();
      INFIMUM_RETURN_IF_ERROR(RunInference(replay, schedule, levels));
      time = clock.Now() - before;
      if (watch.Kept(time)) break;
      if (i + 1 == kMostTries) ++lost;
    }
    result.inferences.emplace_back(time);
    if (beat) result.beats.push_back(*beat);
    if (levels == none) samples.emplace_back(time);
  }
  if (samples.empty()) return Error{"the time sufficed for no inference with all factors at level 0: raise --budget"};
  result.repetitions.push_back({std::move(samples)});
  if (lost * kMostLost > result.inferences.size())
    result.noisy = std::to_string(lost) + " of " + std::to_string(result.inferences.size()) +
                   " inferences did not have their cores for 99 % of their time: other programs ran on them";
  return {};
}

}  // namespace

Result<ReplaySchedule> ReadSchedule(const std::string& path) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return Within(path, ParseReplaySchedule(text));
}

Result<ReplayResult> RunReplay(Backend& backend, const ReplayRequest& request, TrialTools tools) {
  INFIMUM_ASSIGN_OR_RETURN(ReplaySchedule schedule, ReadSchedule(request.schedule));
  INFIMUM_RETURN_IF_ERROR(ChooseMeasured(request.results, schedule));
  std::optional<TensorFolder> folder;
  if (!request.tensors.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(folder, TensorFolder::Open(request.tensors));
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<PreparedReplay> replay,
                           backend.PrepareReplay(schedule, folder ? &*folder : nullptr));
  ReplayResult result;
  if (request.check_numbers) {
    INFIMUM_ASSIGN_OR_RETURN(result, replay->Check());
  } else {
    result.parts = replay->parts();
  }
  result.weights = replay->weights();
  result.arena = replay->arena();

  result.last_level_cache = tools.flusher.last_level_cache();
  if (!schedule.factors.empty()) {
    INFIMUM_RETURN_IF_ERROR(RunDesign(backend, *replay, schedule, request.design_budget, tools, result));
    return result;
  }
  const std::size_t count = result.parts.size();
  PartsRun whole(*replay, 0, count);
  const Clock::Duration stretch_budget = request.budget * kStretchBudgets, part_budget = request.budget / kPartOfBudget;
  Sampling sampling(backend, tools,
                    std::max(kLeastPatience, stretch_budget * static_cast<std::int64_t>(kStretches) +
                                                 part_budget * static_cast<std::int64_t>(count)));
  WholeSamples wholes;
  std::vector<std::optional<Beat>> beats = {backend.TakeBeat()};
  const auto sample_whole = [&]() -> Status {
    INFIMUM_ASSIGN_OR_RETURN(const SampleSet set, sampling.Take(whole, CacheState::kWarm, stretch_budget));
    wholes.Add(set);
    beats.push_back(backend.TakeBeat());
    return {};
  };
  INFIMUM_RETURN_IF_ERROR(sample_whole());
  INFIMUM_RETURN_IF_ERROR(
      TimeInLoop(*replay, request.budget * kPartOfBudget / 2, backend.clock(), tools.interference, result.parts));
  std::size_t timed = 0;
  for (std::size_t stretch = 1; stretch < kStretches; ++stretch) {
    for (; timed < count * stretch / (kStretches - 1); ++timed)
      INFIMUM_RETURN_IF_ERROR(TimeAlone(sampling, *replay, timed, part_budget, result.parts[timed]));
    INFIMUM_RETURN_IF_ERROR(sample_whole());
  }
  std::vector<Latency> samples = std::move(wholes).Answer(result.noisy);
  const auto between = std::chrono::duration_cast<Clock::Duration>(Summarize(samples).median);
  result.repetitions.push_back({std::move(samples), MeanOf(beats)});
  // Last, since it leaves nothing of the model in the caches.
  INFIMUM_ASSIGN_OR_RETURN(result.resident_share, backend.ResidentShare(result.constants() + result.arena, between));
  return result;
}

}  // namespace infimum
