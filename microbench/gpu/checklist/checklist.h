// What a first visit to a GPU has to find out before its times are believed, as checks that can be run one by one.
//
//   for (const Check& check : BackendChecks())        // "timing", "noise": of any backend with a clock of its own
//     Result<Finding> finding = check.run(tools);
//   FormatFinding("timing", finding)                  // {"check":"timing","holds":true,"details":["..."]}
//
// infimum-gpu-checklist runs them on a real device, each in a process of its own; those that ask NVIDIA's libraries are
// in nvidia_checks.h.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "infimum/microbench/backend.h"

namespace infimum::cuda {

struct Finding {
  bool holds = true;                 // what was expected of the device; false where nothing could be looked at
  std::vector<std::string> details;  // for people: what was seen
};

struct CheckTools {
  Backend& backend;
  std::filesystem::path folder;  // for what is worth keeping
  std::vector<std::string> layers;
  int device = 0;  // by CUDA's number
};

struct Check {
  std::string name;
  std::string what;  // it finds out
  std::function<Result<Finding>(const CheckTools&)> run;
};

// Layers, one of each kind that a campaign meets; on an H200 each takes 50 us or more.
const std::vector<std::string>& ChecklistLayers();

// tiers: what the best of each tier takes, which no narrower one may beat; timing: each library's first candidate can
// be captured and held, and its numbers are right; noise: how far times of one kernel are apart, warm and cold; floor:
// what an empty kernel takes.
std::vector<Check> BackendChecks();

// The first candidate of the workload that can be prepared, of `library` if one is named.
struct PreparedCandidate {
  Candidate candidate;
  std::unique_ptr<PreparedRun> run;
};
Result<PreparedCandidate> PrepareFirst(Backend& backend, const Workload& workload, const std::string& library = "");

// Marginal times of so many launches, one by one.
Result<std::vector<Latency>> WarmTimes(PreparedRun& run, int count);

// One line of JSON; an error counts as what does not hold.
std::string FormatFinding(const std::string& check, const Result<Finding>& finding);

}  // namespace infimum::cuda
