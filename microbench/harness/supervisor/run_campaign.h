// A campaign: a plan's workloads with all their candidates, measured in rounds within a budget.
//
//   1. Round 1, in the order of the plan's shares: each workload's candidates are listed and get one
//      repetition, the library's own choice first, the others in random order. A candidate of which one
//      run takes more than 10 x the best is skipped; one that is more than 2 x slower at the quick look
//      keeps those few samples as its one repetition.
//   2. Rounds 2 and 3: a fresh worker process each; everything within 2 x of its workload's best, in
//      blocks of 32 by share, in random order within a block, gets one repetition more.
//
// So an early end leaves the most important measured, and a drifting clock hits all candidates alike.
// The order follows from the seed alone. Each repetition writes the candidate's row again, with all of
// its repetitions so far: a reader takes the one with the most. Between rounds rows are on disk (resumed_rows.h), so
// that memory grows with the plan's length alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/measurement/measurement.h"
#include "infimum/measurement/plan.h"
#include "microbench/harness/journal/journal_file.h"
#include "microbench/harness/supervisor/active_candidate.h"
#include "microbench/harness/worker/worker.h"

namespace infimum {

// Outcomes of a campaign's rows, counted as they are written, so that no row has to be kept for the summary.

struct CampaignTally {
  // Distinct failures that are listed; the others are only counted.
  static constexpr std::size_t kMostFailures = 64;

  std::int64_t rows = 0;
  std::map<Outcome, std::int64_t> outcomes;
  std::map<std::string, std::int64_t> failures;  // by candidate and reason
  std::int64_t other_failures = 0;
  std::int64_t noisy = 0;
  std::int64_t unconverged = 0;  // of those that were sampled to the end

  void Add(const Measurement& row);
  // A row that was counted before and got another repetition.
  void Replace(const Measurement& before, const Measurement& after);

 private:
  void CountFlags(const Measurement& row, std::int64_t by);
};

struct MeasuringOptions {
  CandidateTier tier = CandidateTier::kEngine;
  std::vector<CacheState> caches{CacheState::kWarm};
  std::int64_t rounds = 3;
  std::optional<Clock::Duration> budget;  // of the whole campaign
  SamplerOptions sampler;                 // its budget is one repetition's, cut where the campaign's is short
  Clock::Duration time_limit = std::chrono::seconds(30);  // for one answer of the worker
  double decisive_ratio = 2;
  double skip_ratio = 10;
  std::uint64_t seed = 1;
  std::vector<std::string> candidates;  // only these, by name ("onednn/jit:avx2") or algorithm; empty: all
  std::optional<PeakDetail> peaks;      // what of them is measured
  bool retry_failed = false;            // rows that failed in an earlier campaign
};

struct CampaignProgress {
  std::int64_t round = 1;
  std::int64_t rounds = 1;
  std::int64_t trials = 0;           // finished
  std::int64_t expected_trials = 0;  // an estimate until all candidates are listed
  std::int64_t rows = 0;
  Clock::Duration elapsed{0};
  std::optional<Clock::Duration> remaining;
  std::string_view workload;
};

// The summary shows the candidates of a plan with at most this many workloads.
inline constexpr std::size_t kShownWorkloads = 3;

struct CampaignSummary {
  std::vector<CampaignWorkload> workloads;  // in the order they were visited
  CampaignTally tally;
  std::int64_t earlier_rows = 0;  // found in the output, not measured again
  std::int64_t trials = 0;
  std::int64_t rows_written = 0;
  std::int64_t peaks = 0;
  std::vector<std::string> warnings;
  Clock::Duration elapsed{0};
  std::int64_t stuck_workers = 0;  // killed because they stopped responding
  bool budget_spent = false;
  bool interrupted = false;
};

// What a campaign works with.
struct CampaignTools {
  Worker& worker;  // not yet started
  ResultsOutput& output;
  const Clock& clock;
  std::function<std::string()> utc_now;  // for Measurement::measured_at
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(const CampaignProgress&)> progress = [](const CampaignProgress&) {};
};

// An error only where nothing more can be done: the output cannot be written, or no worker starts.
Result<CampaignSummary> RunCampaign(const Plan& plan, const ResultsHeader& header, EarlierResults earlier,
                                    const MeasuringOptions& options, CampaignTools tools);

// The plan's entries as the campaign visits them: by share, largest first, without repeats.
std::vector<CampaignWorkload> InOrderOfShare(const Plan& plan);

// The candidates of one workload as the worker lists them, filtered by `candidate` where it is given.
// An error names the nearest candidate.
Result<std::vector<Candidate>> FilterCandidates(std::vector<Candidate> candidates,
                                                const std::vector<std::string>& wanted);

}  // namespace infimum
