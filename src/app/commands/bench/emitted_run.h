// What `infimum emit` writes for a plan, built, run and read: the same candidates as the runner's, in programs that
// have nothing of infimum's.
//
//   Result<EmittedRun> run = RunEmitted(installation, project, {.folder = "benchmarks/onednn"}, store, log);
//   run->rows   // all of "benchmarks/onednn/results.json"
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "infimum/db/store.h"
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
  std::vector<std::string> arguments;  // of the program
  // Which rows the store is to have: emitted programs check no results.
  std::function<bool(const Measurement&)> keeps;
};

struct EmittedRun {
  std::vector<Measurement> rows;
  ImportCount kept;
};

// An error names the step that failed (writing, CMake, compiling, running) and its last lines.
Result<EmittedRun> RunEmitted(const Installation& installation, const EmittedProject& project,
                              const EmittedRequest& request, Store& store, ProgressLog& log);

}  // namespace infimum
