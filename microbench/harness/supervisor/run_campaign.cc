#include "microbench/harness/supervisor/run_campaign.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "infimum/base/text.h"
#include "microbench/harness/journal/resumed_rows.h"
#include "microbench/harness/sampling/shuffle.h"
#include "microbench/harness/supervisor/trial_budget.h"

namespace infimum {
namespace {

bool HasFlag(const Measurement& row, std::string_view flag) {
  return std::ranges::find(row.flags, flag) != row.flags.end();
}

}  // namespace

void CampaignTally::Add(const Measurement& row) {
  ++rows;
  ++outcomes[row.outcome];
  CountFlags(row, 1);
  if (row.outcome != Outcome::kFailed) return;
  const std::string failure = row.candidate.name() + ": " + row.reason;
  if (failures.size() < kMostFailures || failures.contains(failure)) {
    ++failures[failure];
  } else {
    ++other_failures;
  }
}

void CampaignTally::Replace(const Measurement& before, const Measurement& after) {
  CountFlags(before, -1);
  CountFlags(after, 1);
}

void CampaignTally::CountFlags(const Measurement& row, std::int64_t by) {
  if (HasFlag(row, "noisy")) noisy += by;
  if (HasFlag(row, "unconverged") && !HasFlag(row, "pruned")) unconverged += by;
}

namespace {

constexpr std::size_t kShuffledBlock = 32;
// Under a budget so many workloads have their candidates in memory at a time.
constexpr std::size_t kWorkloadsOfABlock = 256;
constexpr std::size_t kEndsOfPasses[] = {1, 4, std::numeric_limits<std::size_t>::max()};
constexpr double kCandidatesGuess = 5;  // of a workload, until one is listed
constexpr Clock::Duration kPeaksTimeLimit = std::chrono::minutes(2);
// Preparing a candidate, compiling its kernels, may take so many times the time limit.
constexpr int kMostPreparing = 10;
// Past the end of the budget a trial may take so much longer before it is cut.
constexpr auto kGrace = std::chrono::seconds(1);

// Stands for the backend as a whole, in rows about a workload for which nothing could be listed.
Candidate AnyCandidate(const std::string& backend) { return {backend, "any", "any", "any", false}; }

class Campaign {
 public:
  Campaign(const Plan& plan, const ResultsHeader& header, EarlierResults earlier, const MeasuringOptions& options,
           CampaignTools tools)
      : header_(header),
        device_(header.device.Key()),
        environment_(header.environment.Key()),
        evidence_(header.environment.Told()),
        earlier_(std::move(earlier)),
        options_(options),
        tools_(std::move(tools)),
        budget_(tools_.clock, options.budget, options.sampler.budget, options.rounds) {
    summary_.workloads = InOrderOfShare(plan);
    workloads_left_ = static_cast<std::int64_t>(summary_.workloads.size());
  }

  Result<CampaignSummary> Run() {
    INFIMUM_RETURN_IF_ERROR(StartWorker());
    if (options_.peaks && earlier_.peaks.empty()) INFIMUM_RETURN_IF_ERROR(MeasurePeaks());
    INFIMUM_RETURN_IF_ERROR(RunFirstRound());
    for (round_ = 2; round_ <= options_.rounds && !Ended(); ++round_) INFIMUM_RETURN_IF_ERROR(RunLaterRound());
    if (KeepsCandidates()) INFIMUM_RETURN_IF_ERROR(ReadSpilledRows());
    summary_.elapsed = budget_.elapsed();
    return std::move(summary_);
  }

 private:
  struct Task {
    CampaignWorkload* workload;
    WaitingCandidate* waiting;
  };

  bool Ended() {
    summary_.interrupted = summary_.interrupted || tools_.interrupted();
    return summary_.interrupted || summary_.budget_spent;
  }

  bool MustStop() {
    if (Ended()) return true;
    summary_.budget_spent = budget_.spent();
    return summary_.budget_spent;
  }

  Status StartWorker() { return tools_.worker.Start(processes_++); }

  // One answer. nullopt where the campaign ends (interrupted, or the budget cut the wait short).
  std::optional<WorkerReply> Ask(const WorkerRequest& request, TimeLimit limit) {
    if (const std::optional<Clock::Duration> remaining = budget_.remaining())
      limit = {limit.answer, std::min(limit.whole, std::max(*remaining, Clock::Duration(0)) + kGrace)};
    WorkerReply reply = tools_.worker.Ask(request, limit);
    const auto* loss = std::get_if<WorkerLoss>(&reply);
    if (loss == nullptr) return reply;
    if (loss->cause == WorkerLoss::Cause::kInterrupted) {
      summary_.interrupted = true;
      return std::nullopt;
    }
    if (loss->cause == WorkerLoss::Cause::kStuck) ++summary_.stuck_workers;
    if (loss->cause == WorkerLoss::Cause::kTimeLimit && budget_.spent()) {
      summary_.budget_spent = true;
      return std::nullopt;
    }
    return reply;
  }

  // What the worker answers about peaks. nullopt where it gives none: a warning reports it, or the campaign ends.
  template <class Answer>
  Result<std::optional<Answer>> AskAboutPeaks(const WorkerRequest& request, const std::string& what) {
    std::optional<WorkerReply> reply = Ask(request, kPeaksTimeLimit);
    if (!reply) return std::optional<Answer>();
    if (std::holds_alternative<WorkerLoss>(*reply)) INFIMUM_RETURN_IF_ERROR(StartWorker());
    Result<Answer> answer = AnswerOf<Answer>(*std::move(reply));
    if (answer.ok()) return std::optional<Answer>(*std::move(answer));
    summary_.warnings.push_back(what + " not measured: " + answer.error().message);
    return std::optional<Answer>();
  }

  // All or nothing: a journal with some of the peaks would look like one with all of them.
  Status MeasurePeaks() {
    INFIMUM_ASSIGN_OR_RETURN(const auto probes,
                             AskAboutPeaks<std::vector<std::string>>(
                                 PeakProbesRequest{*options_.peaks == PeakDetail::kWhole}, "the device's peaks were"));
    if (!probes) return {};
    std::vector<PeakRate> peaks;
    for (const std::string& probe : *probes) {
      INFIMUM_ASSIGN_OR_RETURN(const auto found, AskAboutPeaks<std::vector<PeakRate>>(
                                                     PeaksRequest{probe}, "the device's peaks by " + probe + " were"));
      if (Ended()) return {};
      if (found) KeepBest(*found, peaks);
    }
    for (const PeakRate& peak : peaks) INFIMUM_RETURN_IF_ERROR(tools_.output.Write(peak));
    summary_.peaks = static_cast<std::int64_t>(peaks.size());
    return {};
  }

  static void KeepBest(const std::vector<PeakRate>& found, std::vector<PeakRate>& best) {
    for (const PeakRate& rate : found) {
      const auto same = std::ranges::find_if(best, [&](const PeakRate& other) {
        PeakRate as_fast = other;
        as_fast.per_second = rate.per_second;
        return as_fast == rate;
      });
      if (same == best.end())
        best.push_back(rate);
      else
        same->per_second = std::max(same->per_second, rate.per_second);
    }
  }

  // Without a budget workload by workload. With one, which may end at any time, a block of workloads is gone through in
  // passes: what each library would choose, then the next 3 of each, then the rest.
  Status RunFirstRound() {
    std::vector<CampaignWorkload>& workloads = summary_.workloads;
    const std::size_t block = options_.budget ? kWorkloadsOfABlock : 1;
    for (std::size_t begin = 0; begin < workloads.size(); begin += block) {
      const std::span some = std::span(workloads).subspan(begin, std::min(block, workloads.size() - begin));
      std::size_t first = 0;
      for (const std::size_t last : std::span(kEndsOfPasses).last(options_.budget ? std::size(kEndsOfPasses) : 1)) {
        for (CampaignWorkload& workload : some) {
          if (MustStop()) return {};
          if (first == 0) INFIMUM_RETURN_IF_ERROR(List(workload));
          INFIMUM_RETURN_IF_ERROR(RunPass(workload, first, last));
        }
        first = last;
      }
      for (CampaignWorkload& workload : some) INFIMUM_RETURN_IF_ERROR(Spill(workload));
    }
    return {};
  }

  // Those of a workload's candidates whose place in their library's own order is in (first, last], from 1 on.
  Status RunPass(CampaignWorkload& workload, std::size_t first, std::size_t last) {
    std::vector<ActiveCandidate*> order;
    std::map<std::string, std::size_t> places;
    const Candidate* previous = nullptr;
    for (ActiveCandidate& active : workload.candidates) {
      const Candidate& candidate = active.row.candidate;
      std::size_t& place = places[candidate.library];
      // Rows of one candidate, in several cache states, are beside each other.
      if (previous == nullptr || *previous != candidate) ++place;
      previous = &candidate;
      if (!active.has_row && place > first && place <= last) order.push_back(&active);
    }
    RandomOrder random(options_.seed ^ HashOf(workload.workload.text));
    random.Shuffle(std::span(order));
    // The library's choice gives a good first mark to judge the others by.
    std::ranges::stable_partition(order,
                                  [](const ActiveCandidate* active) { return active->row.candidate.library_choice; });
    for (ActiveCandidate* active : order) {
      if (MustStop()) return {};
      trials_to_come_ = --listed_to_come_ + 1 + ExpectedTrials(workloads_left_);
      INFIMUM_RETURN_IF_ERROR(RunTrial(workload, *active));
    }
    return {};
  }

  // Finds the workload's candidates, and what an earlier campaign knows of each.
  Status List(CampaignWorkload& workload) {
    --workloads_left_;
    const std::vector<CacheState> caches = CachesOf(workload);
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<Measurement> refused,
                             EarlierRow(Blank(workload, AnyCandidate(header_.backend), caches.front())));
    if (refused) {
      TakeEarlier(workload, ActiveCandidate{*refused, true, true});
      return {};
    }
    const std::optional<WorkerReply> reply =
        Ask(CandidatesRequest{workload.workload.text, workload.contract, options_.tier}, options_.time_limit);
    if (!reply) return {};
    if (std::holds_alternative<WorkerLoss>(*reply)) INFIMUM_RETURN_IF_ERROR(StartWorker());
    const auto candidates = AnswerOf<std::vector<Candidate>>(*reply);
    if (!candidates.ok())
      return RefuseWorkload(workload, Outcome::kFailed, "listing candidates: " + candidates.error().message);
    if (candidates->empty())
      return RefuseWorkload(workload, Outcome::kUnsupported, header_.backend + " has no candidate for it");

    Result<std::vector<Candidate>> chosen = FilterCandidates(*candidates, options_.candidates);
    ++listed_workloads_;
    if (!chosen.ok()) {
      summary_.warnings.push_back(chosen.error().message);
      return {};
    }
    std::set<std::string> seen;  // a library may offer the same thing twice
    for (const Candidate& candidate : *chosen) {
      for (const CacheState cache : caches) {
        ActiveCandidate active{Blank(workload, candidate, cache)};
        if (!seen.insert(RowKey(active.row)).second) continue;
        ++listed_trials_;
        INFIMUM_ASSIGN_OR_RETURN(const std::optional<Measurement> row, EarlierRow(active.row));
        if (row) {
          TakeEarlier(workload, ActiveCandidate{*row, true, row->outcome != Outcome::kMeasured});
        } else {
          workload.candidates.push_back(std::move(active));
          ++listed_to_come_;
        }
      }
    }
    return {};
  }

  // The states to measure a workload in: one without constants is the same with cold weights as warm.
  std::vector<CacheState> CachesOf(const CampaignWorkload& measured) const {
    const Result<Workload> workload = ParseWorkload(measured.workload.text);
    std::vector<CacheState> caches;
    for (const CacheState wanted : options_.caches) {
      const CacheState cache = workload.ok() ? StateOfRows(wanted, *workload) : wanted;
      if (std::ranges::find(caches, cache) == caches.end()) caches.push_back(cache);
    }
    return caches;
  }

  void TakeEarlier(CampaignWorkload& workload, ActiveCandidate active) {
    ++summary_.earlier_rows;
    summary_.tally.Add(active.row);
    workload.Note(active);
    workload.candidates.push_back(std::move(active));
  }

  Result<std::optional<Measurement>> EarlierRow(const Measurement& blank) {
    INFIMUM_ASSIGN_OR_RETURN(std::optional<Measurement> row, earlier_.rows.Find(blank));
    if (row && options_.retry_failed && row->outcome == Outcome::kFailed) row.reset();
    return row;
  }

  Measurement Blank(const CampaignWorkload& workload, const Candidate& candidate, CacheState cache) const {
    Measurement row;
    row.workload = workload.workload;
    row.candidate = candidate;
    row.contract = workload.contract;
    row.cache = cache;
    row.device = device_;
    row.environment = environment_;
    row.evidence = evidence_;
    return row;
  }

  Status RefuseWorkload(CampaignWorkload& workload, Outcome outcome, std::string reason) {
    ActiveCandidate active{Blank(workload, AnyCandidate(header_.backend), CachesOf(workload).front())};
    Trial trial;
    trial.outcome = outcome;
    trial.reason = std::move(reason);
    workload.candidates.push_back(std::move(active));
    return TakeTrial(workload, workload.candidates.back(), trial);
  }

  Status RunTrial(CampaignWorkload& workload, ActiveCandidate& active) {
    TrialRequest request;
    request.workload = workload.workload.text;
    request.candidate = active.row.candidate;
    request.contract = workload.contract;
    request.cache = active.row.cache;
    request.check_numbers = !active.has_row;
    request.sampler = options_.sampler;
    request.sampler.budget = budget_.NextTrial(round_, trials_to_come_);
    // Only at first sight: who came this far is sampled in full.
    if (!active.row.candidate.library_choice && !active.has_row) {
      request.best = workload.Best(active.row.cache);
      if (request.best) {
        request.skip_above = *request.best * options_.skip_ratio;
        request.sampler.give_up_above = *request.best * options_.decisive_ratio;
      }
    }
    Report(workload);
    const Clock::Duration start = tools_.clock.Now();
    const std::optional<WorkerReply> reply = Ask(request, {options_.time_limit, kMostPreparing * options_.time_limit});
    if (!reply) return {};
    if (std::holds_alternative<WorkerLoss>(*reply)) INFIMUM_RETURN_IF_ERROR(StartWorker());
    Result<Trial> answer = AnswerOf<Trial>(*reply);
    Trial trial;  // one that failed
    if (answer.ok()) {
      trial = *std::move(answer);
    } else {
      trial.reason = answer.error().message;
    }
    budget_.Took(tools_.clock.Now() - start, trial.sampling);
    ++summary_.trials;
    return TakeTrial(workload, active, trial);
  }

  Status TakeTrial(CampaignWorkload& workload, ActiveCandidate& active, const Trial& trial) {
    if (active.has_row) {
      const Measurement before = active.row;
      active.Take(trial);
      summary_.tally.Replace(before, active.row);
    } else {
      active.Take(trial);
      summary_.tally.Add(active.row);
    }
    workload.Note(active);
    active.row.measured_at = tools_.utc_now();
    INFIMUM_RETURN_IF_ERROR(tools_.output.Write(active.row));
    ++summary_.rows_written;
    return {};
  }

  bool KeepsCandidates() const { return summary_.workloads.size() <= kShownWorkloads; }

  // Writes rows that later rounds may extend to disk and drops all others, which are not written again.
  Status Spill(CampaignWorkload& workload) {
    std::vector<ActiveCandidate> others;
    for (ActiveCandidate& active : workload.candidates) {
      const std::optional<Latency> point = active.point();
      const Measurement& row = active.row;
      const bool may_decide =
          point && !active.finished &&
          workload.MayDecide(*point, row.cache, row.candidate.library_choice, options_.decisive_ratio);
      if (may_decide) ++undecided_;
      if (may_decide && options_.rounds > 1) {
        INFIMUM_ASSIGN_OR_RETURN(const std::int64_t place, spilled_.Put(row));
        workload.waiting.push_back({place, *point, row.repetitions.size(), row.cache, row.candidate.library_choice});
      } else if (KeepsCandidates()) {
        others.push_back(std::move(active));
      }
    }
    workload.candidates = std::move(others);
    return {};
  }

  Status ReadSpilledRows() {
    for (CampaignWorkload& workload : summary_.workloads) {
      for (const WaitingCandidate& waiting : workload.waiting) {
        INFIMUM_ASSIGN_OR_RETURN(Measurement row, spilled_.Get(waiting.place));
        workload.candidates.push_back({std::move(row), true, true});
      }
      workload.waiting.clear();
    }
    return {};
  }

  Status RunTask(Task task) {
    INFIMUM_ASSIGN_OR_RETURN(Measurement row, spilled_.Get(task.waiting->place));
    ActiveCandidate active{std::move(row), true, false};
    INFIMUM_RETURN_IF_ERROR(RunTrial(*task.workload, active));
    INFIMUM_ASSIGN_OR_RETURN(task.waiting->place, spilled_.Put(active.row));
    task.waiting->point = *active.point();
    // What failed after it was measured gets no further repetition.
    task.waiting->repetitions =
        active.finished ? static_cast<std::size_t>(options_.rounds) : active.row.repetitions.size();
    return {};
  }

  Status RunLaterRound() {
    std::vector<Task> tasks;
    for (CampaignWorkload& workload : summary_.workloads) {
      for (WaitingCandidate& waiting : workload.waiting) {
        if (workload.MayDecide(waiting.point, waiting.cache, waiting.library_choice, options_.decisive_ratio) &&
            static_cast<std::int64_t>(waiting.repetitions) < round_)
          tasks.push_back({&workload, &waiting});
      }
    }
    if (tasks.empty()) return {};
    INFIMUM_RETURN_IF_ERROR(StartWorker());
    for (std::size_t begin = 0; begin < tasks.size(); begin += kShuffledBlock) {
      RandomOrder random(options_.seed + static_cast<std::uint64_t>(round_) * 1000003 + begin);
      random.Shuffle(std::span(tasks).subspan(begin, std::min(kShuffledBlock, tasks.size() - begin)));
    }
    const auto count = static_cast<std::int64_t>(tasks.size());
    for (std::int64_t i = 0; i < count; ++i) {
      if (MustStop()) return {};
      trials_to_come_ = count - i + (options_.rounds - round_) * count;
      INFIMUM_RETURN_IF_ERROR(RunTask(tasks[static_cast<std::size_t>(i)]));
    }
    return {};
  }

  // Trials of round 1 in workloads that are not listed yet.
  std::int64_t ExpectedTrials(std::int64_t workloads) const {
    const double each = listed_workloads_ > 0
                            ? static_cast<double>(listed_trials_) / static_cast<double>(listed_workloads_)
                            : kCandidatesGuess * static_cast<double>(options_.caches.size());
    return static_cast<std::int64_t>(each * static_cast<double>(workloads) + 0.5);
  }

  void Report(const CampaignWorkload& workload) {
    CampaignProgress progress;
    progress.round = round_;
    progress.rounds = options_.rounds;
    progress.trials = summary_.trials;
    progress.rows = summary_.rows_written;
    progress.elapsed = budget_.elapsed();
    progress.workload = workload.workload.text;
    std::int64_t to_come = trials_to_come_;
    if (round_ == 1) {
      const double contending =
          summary_.trials > 0 ? static_cast<double>(undecided_) / static_cast<double>(summary_.trials) : 0.5;
      const double total = static_cast<double>(summary_.trials + to_come);
      to_come +=
          static_cast<std::int64_t>(static_cast<double>(options_.rounds - 1) * std::min(contending, 1.0) * total);
    }
    progress.expected_trials = summary_.trials + to_come;
    if (summary_.trials > 0) progress.remaining = budget_.mean() * to_come;
    if (const auto left = budget_.remaining()) {
      const Clock::Duration most = std::max(*left, Clock::Duration(0));
      progress.remaining = progress.remaining ? std::min(*progress.remaining, most) : most;
    }
    tools_.progress(progress);
  }

  const ResultsHeader& header_;
  DeviceKey device_;
  EnvironmentKey environment_;
  EvidenceText evidence_;
  EarlierResults earlier_;
  SpilledRows spilled_;
  const MeasuringOptions& options_;
  CampaignTools tools_;
  TrialBudget budget_;
  CampaignSummary summary_;

  std::int64_t round_ = 1;
  std::int64_t processes_ = 0;
  std::int64_t trials_to_come_ = 0;  // in this round and, from round 2 on, the later ones
  std::int64_t workloads_left_ = 0;
  std::int64_t listed_workloads_ = 0;
  std::int64_t listed_trials_ = 0;
  std::int64_t listed_to_come_ = 0;
  std::int64_t undecided_ = 0;
};

}  // namespace

std::vector<CampaignWorkload> InOrderOfShare(const Plan& plan) {
  std::vector<CampaignWorkload> workloads;
  for (const PlanEntry& entry : PartOf(plan).entries) {
    CampaignWorkload& workload = workloads.emplace_back();
    workload.workload = KeyOf(entry.workload);
    workload.contract = entry.contract;
    workload.share = entry.share;
  }
  return workloads;
}

Result<std::vector<Candidate>> FilterCandidates(std::vector<Candidate> candidates,
                                                const std::vector<std::string>& wanted) {
  if (wanted.empty()) return candidates;
  std::vector<Candidate> chosen;
  std::vector<std::string> names;
  for (Candidate& offered : candidates) {
    names.push_back(offered.name());
    const auto is_wanted = [&](const std::string& name) { return name == offered.name() || name == offered.algorithm; };
    if (std::ranges::any_of(wanted, is_wanted)) chosen.push_back(std::move(offered));
  }
  if (!chosen.empty()) return chosen;
  const std::vector<std::string_view> known(names.begin(), names.end());
  return Error{"no candidate is named " + Quoted(wanted.front()) + DidYouMean(wanted.front(), known) +
               "; --list shows all"};
}

Result<CampaignSummary> RunCampaign(const Plan& plan, const ResultsHeader& header, EarlierResults earlier,
                                    const MeasuringOptions& options, CampaignTools tools) {
  return Campaign(plan, header, std::move(earlier), options, std::move(tools)).Run();
}

}  // namespace infimum
