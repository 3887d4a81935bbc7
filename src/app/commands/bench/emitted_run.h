// What `infimum emit` writes for a plan, built, run and read: the same candidates as the runner's, in programs that
// have nothing of infimum's.
//
//   Result<EmittedRun> run = RunEmitted(installation, project, {.folder = "benchmarks/onednn"}, talk);
//   run->results   // "benchmarks/onednn/results.json", which `infimum import` reads
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "infimum/measurement/measurement.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/installation.h"
#include "src/emit/project.h"

namespace infimum {

struct EmittedRequest {
  std::string library;           // whose project it is: "onednn", "cudnn" or "cublaslt"
  std::filesystem::path folder;  // a new one, for sources, build and results
  std::string device;            // the key of the device that it runs on
  std::int64_t threads = 1;
};

struct EmittedRun {
  std::filesystem::path results;
  std::vector<Measurement> rows;
};

// An error names the step that failed (writing, CMake, compiling, running) and its last lines.
Result<EmittedRun> RunEmitted(const Installation& installation, const EmittedProject& project,
                              const EmittedRequest& request, Talk& talk);

}  // namespace infimum
