// The journal of a campaign as a file that survives its writer.
//
//   Each record is one write(2) of one line, so that a kill -9 at any moment loses at most the line that
//   was being written; fdatasync follows within a second, so that a power cut loses no more than that.
//
// A file that exists is continued: its torn last line is cut, and its rows of the same device and
// environment are handed back. A file that is no journal is refused and not changed. Two runners never
// write one file: it is locked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "infimum/base/clock.h"
#include "infimum/results/results_journal.h"
#include "microbench/harness/journal/resumed_rows.h"

namespace infimum {

// Where a campaign's records go, each as soon as it exists: a journal file (journal_file.h), or Google
// Benchmark JSON, which is one document and therefore written at the end.

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

class JournalFile : public ResultsOutput {
 public:
  // "-": standard output, which is never read back.
  static Result<std::unique_ptr<JournalFile>> Open(const std::string& path, const Clock& clock);
  ~JournalFile() override;
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  Result<EarlierResults> Begin(const ResultsHeader& header) override;
  Status Write(const ResultsRecord& record) override;
  Status Settle() override;
  // Writes the end line and settles everything.
  Status Finish() override;
  void Abandon() override;

 private:
  JournalFile(std::string path, int descriptor, const Clock& clock)
      : path_(std::move(path)), descriptor_(descriptor), clock_(clock) {}
  Status WriteLine(std::string line);
  Status Sync();
  Status CutTornLine(const std::string& header_line);

  std::string path_;
  int descriptor_;
  const Clock& clock_;
  Clock::Duration last_sync_{0};
  bool unsynced_ = false;
  bool is_new_ = false;  // this runner made the file
  std::int64_t rows_ = 0;
};

}  // namespace infimum
