#include "src/readers/benchmarks/results_taker.h"

#include <utility>
#include <variant>
#include <vector>

#include "infimum/results/results_journal.h"

namespace infimum {
namespace {

// Collects the rows under one header and hands them on a batch at a time.
class Batch {
 public:
  explicit Batch(const ResultsTaker& taker) : taker_(taker) {}

  Status Take(ResultsRecord record) {
    if (auto* header = std::get_if<ResultsHeader>(&record)) {
      INFIMUM_RETURN_IF_ERROR(Flush());
      if (taker_.campaign) taker_.campaign(header->campaign);
      header_ = std::move(*header);
      fresh_ = true;
      return {};
    }
    if (auto* row = std::get_if<Measurement>(&record)) rows_.push_back(std::move(*row));
    if (auto* rate = std::get_if<PeakRate>(&record)) peaks_.push_back(std::move(*rate));
    return rows_.size() + peaks_.size() >= kRowsOfABatch ? Flush() : Status();
  }

  Status Flush() {
    if (!header_ || (rows_.empty() && peaks_.empty() && !fresh_)) return {};
    fresh_ = false;
    const Status status = taker_.rows(header_->device, header_->environment, rows_, peaks_);
    rows_.clear();
    peaks_.clear();
    return status;
  }

 private:
  const ResultsTaker& taker_;
  std::optional<ResultsHeader> header_;
  bool fresh_ = false;  // a header that was not handed on yet
  std::vector<Measurement> rows_;
  std::vector<PeakRate> peaks_;
};

}  // namespace

Status ReadJournalResults(std::istream& input, std::string_view origin, const ResultsTaker& taker) {
  Batch batch(taker);
  const Status read = ReadJournal(input, origin, [&](ResultsRecord record) { return batch.Take(std::move(record)); });
  // Rows before an error are handed on as well: the taker decides whether to keep them.
  INFIMUM_RETURN_IF_ERROR(batch.Flush());
  return read;
}

Status ReadGoogleBenchmarkResults(std::istream& input, std::string_view origin, const ResultsTaker& taker) {
  Batch batch(taker);
  INFIMUM_RETURN_IF_ERROR(
      ReadGoogleBenchmark(input, origin, [&](ResultsRecord record) { return batch.Take(std::move(record)); }));
  return batch.Flush();
}

}  // namespace infimum
