#include "src/readers/benchmarks/read_results.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <vector>

#include "infimum/base/sha256.h"
#include "infimum/results/results_journal.h"
#include "src/readers/benchmarks/scope_benchmarks.h"
#include "src/readers/files/file_kind.h"
#include "src/readers/files/input_file.h"
#include "src/readers/profiles/run_file.h"

namespace infimum {
namespace {

// A run must be in memory as a whole, so a small file may not become a large one.

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

Status ReadKind(FileKind kind, std::istream& input, std::string_view origin, const ResultsTaker& taker) {
  Batch batch(taker);
  const auto take = [&batch](ResultsRecord record) { return batch.Take(std::move(record)); };
  switch (kind) {
    case FileKind::kRun: {
      INFIMUM_ASSIGN_OR_RETURN(const RunProfile run, ReadRun(input, origin));
      return taker.run(run);
    }
    case FileKind::kJournal: {
      const Status read = ReadJournal(input, origin, take);
      // What stood before an error is handed on as well: whoever takes it decides what it is worth.
      INFIMUM_RETURN_IF_ERROR(batch.Flush());
      return read;
    }
    case FileKind::kGoogleBenchmark: {
      INFIMUM_RETURN_IF_ERROR(ReadGoogleBenchmark(input, origin, take));
      return batch.Flush();
    }
    case FileKind::kScopeBenchmarks:
      return ReadScopeBenchmarks(input, origin, taker);
    case FileKind::kOnnxRuntimeProfile:
    case FileKind::kKinetoTrace:
    case FileKind::kChakraTrace:
      return Error{fmt::format("{}: a {}: infimum compare --run shows what is in it", origin, Name(kind))};
    case FileKind::kNsysExport:
      return Error{fmt::format(
          "{}: a SQLite database, perhaps a trace of Nsight Systems: infimum compare --run shows what is in one",
          origin)};
    case FileKind::kTensorRtLayerInfo:
    case FileKind::kTensorRtProfile:
    case FileKind::kTensorRtTimes:
    case FileKind::kTensorRtMetadata:
      return Error{fmt::format("{}: {}: infimum compare --run FILE --run FILE ... shows an engine's files together",
                               origin, Name(kind))};
    case FileKind::kArchive:
    case FileKind::kCompressed:
    case FileKind::kEventLines:
      return Error{fmt::format("{}: {}", origin, UnpackAdvice(input))};
    case FileKind::kUnknown:
      break;
  }
  return Error{fmt::format(
      "{}: neither a results journal, nor Google Benchmark JSON, nor a framework's run (infimum.run/1)", origin)};
}

}  // namespace

Status ReadResults(std::istream& input, std::string_view origin, const ResultsTaker& taker) {
  return ingest::WithTextOf(input, origin,
                            [&](FileKind kind, std::istream& text) { return ReadKind(kind, text, origin, taker); });
}

Status ReadResultsFile(const std::filesystem::path& path, const ResultsTaker& taker) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  return ReadResults(file, path.string(), taker);
}

Result<std::string> CampaignKeyOf(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, ingest::OpenFile(path));
  return ingest::WithTextOf(file, path.string(), [](FileKind kind, std::istream& text) -> Result<std::string> {
    if (kind != FileKind::kScopeBenchmarks) return std::string();
    Sha256Hash hash;
    std::vector<char> block(std::size_t{1} << 16);
    while (text.read(block.data(), static_cast<std::streamsize>(block.size())) || text.gcount() > 0)
      hash.Add(std::as_bytes(std::span(block.data(), static_cast<std::size_t>(text.gcount()))));
    return "sha256:" + hash.Text();
  });
}

}  // namespace infimum
