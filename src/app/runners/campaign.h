// Runs a plan on a backend's runner, as a child process, and keeps every row in the store as it arrives.
//
//   CampaignOptions options{.backend = "onednn", .budget = std::chrono::minutes(3)};
//   Result<CampaignEnd> end = RunCampaign(installation, plan, options, store, log);
//
// Rows are imported in transactions at most half a second apart: what ends this process loses no more.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/db/store.h"
#include "infimum/measurement/plan.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/installation.h"

namespace infimum {

struct CampaignOptions {
  std::string backend = DefaultBackend();
  std::int64_t threads = 1;
  std::chrono::seconds budget{180};
  CandidateTier tier = CandidateTier::kEngine;
  std::optional<CacheState> cache;                     // absent: measured warm; bounds of it are in context
  std::vector<std::string> candidates;                 // only these, by name; empty: all
  std::int64_t rounds = 3;                             // repetitions of each
  std::map<std::string, std::string> backend_options;  // passed on as --backend-option NAME=VALUE
  CampaignOrigin origin;                               // which campaign of the store the rows belong to
  bool hand_back = false;                              // CampaignEnd::measured is wanted
};

struct CampaignEnd {
  ImportCount rows;
  std::vector<Measurement> measured;  // what this campaign itself found, each row as it came last; if asked for
  bool interrupted = false;
  bool budget_spent = false;  // candidates or repetitions are left that it did not reach
  Status failure;             // of the runner: it crashed, was killed, or was ended since it was stuck
};

// The device and environment that a runner would measure on.
struct RunnerDescription {
  Device device;
  Environment environment;
};

Result<RunnerDescription> DescribeRunner(const Installation& installation, const CampaignOptions& options);

// How much of the device's peaks: for a first answer in two seconds, or also the whole of the memory's curve in ten.
enum class PeaksMeasured : std::uint8_t { kFirst, kWhole };

// The device's peaks, measured now. The store keeps the best rates ever seen.
Status MeasurePeaks(const Installation& installation, const CampaignOptions& options, PeaksMeasured which, Store& store,
                    ProgressLog& log);

// What arrived before a failure is kept, too; an error where that cannot be.
Result<CampaignEnd> RunCampaign(const Installation& installation, const Plan& plan, const CampaignOptions& options,
                                Store& store, ProgressLog& log);

// A part of a plan whose rows a journal keeps, for a campaign over machines of which any may fail.
struct PlanPart {
  std::filesystem::path plan = {}, journal = {};
  Shard shard = {};
  std::string tier = "engine", cache = "warm";  // as the runner's options have them
  bool peaks = false;                           // the device's peak rates, too
};

// How many rows the journal has when it is whole, by the candidates that the library offers here.
Result<std::int64_t> CountRows(const Installation& installation, const CampaignOptions& options, const PlanPart& part);

// Continues the journal where there is one. An error where the runner failed or was interrupted; what it has measured
// until then is in the journal.
Status RunPart(const Installation& installation, const CampaignOptions& options, const PlanPart& part,
               ProgressLog& log);

}  // namespace infimum
