#include "infimum/ingest/read_results.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>
#include <vector>

#include "infimum/base/sha256.h"
#include "infimum/ingest/file_kind.h"
#include "infimum/ingest/run_file.h"
#include "infimum/ingest/scope_benchmarks.h"
#include "infimum/results/results_journal.h"
#include "src/ingest/gzip_stream.h"

namespace infimum {
namespace {

// A run must be in memory as a whole, so a small file may not become a large one.
constexpr std::uint64_t kMaxRunSize = std::uint64_t{128} << 20;

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
    case FileKind::kTensorRtLayerInfo:
    case FileKind::kTensorRtProfile:
    case FileKind::kTensorRtTimes:
    case FileKind::kTensorRtMetadata:
      return Error{
          fmt::format("{}: {}; an engine's files are one profile together, and no results", origin, Name(kind))};
    case FileKind::kUnknown:
      break;
  }
  return Error{fmt::format(
      "{}: neither a results journal, nor Google Benchmark JSON, nor a framework's run (infimum.run/1)", origin)};
}

// Detects the kind of the text in a file, which may be compressed, and gives both to `use`. Damage of the compressed
// data hides whatever `use` made of what came before it.
template <class Use>
auto WithTextOf(std::istream& file, std::string_view origin, const Use& use) -> decltype(use(FileKind(), file)) {
  if (!ingest::IsGzip(file)) return use(DetectFileKind(file), file);
  ingest::GzipStream text(file);
  const FileKind kind = DetectFileKind(text);
  if (text.error()) return Within(std::string(origin), *text.error());
  if (kind == FileKind::kRun) text.LimitTo(kMaxRunSize);
  auto result = use(kind, text);
  if (!result.ok()) {
    // What was read wrongly may have been damaged, which zlib knows at the end.
    text.clear();
    text.ignore(std::numeric_limits<std::streamsize>::max());
  }
  if (text.error()) return Within(std::string(origin), *text.error());
  return result;
}

Result<std::ifstream> OpenFile(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return Error{path.string() + ": a folder; name the files in it"};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error{
        fmt::format("{}: cannot be read: {}", path.string(), errno != 0 ? std::strerror(errno) : "unknown cause")};
  }
  return file;
}

}  // namespace

Status ReadResults(std::istream& input, std::string_view origin, const ResultsTaker& taker) {
  return WithTextOf(input, origin,
                    [&](FileKind kind, std::istream& text) { return ReadKind(kind, text, origin, taker); });
}

Status ReadResultsFile(const std::filesystem::path& path, const ResultsTaker& taker) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, OpenFile(path));
  return ReadResults(file, path.string(), taker);
}

Result<std::string> CampaignKeyOf(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(std::ifstream file, OpenFile(path));
  return WithTextOf(file, path.string(), [](FileKind kind, std::istream& text) -> Result<std::string> {
    if (kind != FileKind::kScopeBenchmarks) return std::string();
    Sha256Hash hash;
    std::vector<char> block(std::size_t{1} << 16);
    while (text.read(block.data(), static_cast<std::streamsize>(block.size())) || text.gcount() > 0)
      hash.Add(std::as_bytes(std::span(block.data(), static_cast<std::size_t>(text.gcount()))));
    return "sha256:" + hash.Text();
  });
}

}  // namespace infimum
