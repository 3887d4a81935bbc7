// Where a campaign's records go, each as soon as it exists: a journal file (journal_file.h), or Google
// Benchmark JSON, which is one document and therefore written at the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "infimum/results/results_journal.h"
#include "microbench/harness/journal/resumed_rows.h"

namespace infimum {

// What an output holds of an earlier campaign on the same device in the same environment.
struct EarlierResults {
  EarlierRows rows;
  std::vector<PeakRate> peaks;
};

class ResultsOutput {
 public:
  virtual ~ResultsOutput() = default;
  // Before the first record; called once.
  virtual Result<EarlierResults> Begin(const ResultsHeader& header) = 0;
  virtual Status Write(const ResultsRecord& record) = 0;
  // Makes durable what was written more than a second ago; called often.
  virtual Status Settle() { return {}; }
  virtual Status Finish() = 0;
  // In place of Begin(), where nothing can be measured: a file that was made for this leaves nothing behind.
  virtual void Abandon() {}
};

// Google Benchmark JSON in `path` ("-": standard output); opened now, so that a path which cannot be
// written is found out before the work.
Result<std::unique_ptr<ResultsOutput>> OpenGoogleBenchmark(const std::string& path);

}  // namespace infimum
