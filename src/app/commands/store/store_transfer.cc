#include "src/app/commands/store/store_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "infimum/base/text.h"
#include "infimum/results/results_journal.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/read_results.h"

namespace infimum {
namespace {

bool IsModel(const std::filesystem::path& path) { return path.extension() == ".onnx"; }

bool IsDatabase(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  constexpr std::string_view kSqlite = "SQLite format 3";
  std::string start(kSqlite.size(), ' ');
  return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kSqlite;
}

// Writes records as they come, or keeps them for a document that needs all of them.
class RecordOutput {
 public:
  explicit RecordOutput(std::string path) : path_(std::move(path)), whole_(path_.ends_with(".json")) {}
  ~RecordOutput() {
    if (file_ != nullptr) std::fclose(file_);
    if (!part_.empty()) std::remove(part_.c_str());
  }

  Status Open() {
    if (path_ == "-") return {};
    std::error_code error;
    const std::filesystem::file_status there = std::filesystem::status(path_, error);
    if (std::filesystem::is_regular_file(there)) {
      if (IsDatabase(path_)) return Error{path_ + ": holds a database; give -o another name"};
      path_ = std::filesystem::canonical(path_, error).string();  // what a link leads to is replaced, not the link
    } else if (std::filesystem::exists(there)) {
      file_ = std::fopen(path_.c_str(), "wb");  // a device or a pipe takes what comes
      if (file_ != nullptr) return {};
      return Error{fmt::format("{}: cannot be written: {}", path_, std::strerror(errno))};
    }
    part_ = path_ + ".part";
    file_ = std::fopen(part_.c_str(), "wb");
    if (file_ != nullptr) return {};
    part_.clear();
    return Error{fmt::format("{}: cannot be written: {}", path_, std::strerror(errno))};
  }

  Status Add(ResultsRecord record) {
    if (!whole_) return Write(FormatRecord(record) + "\n");
    records_.push_back(std::move(record));
    // What reads such a document refuses more.
    bytes_ += FormatRecord(records_.back()).size();
    if (bytes_ <= kMaxGoogleBenchmarkSize / 2) return {};
    return Error{fmt::format(
        "{}: too many rows for one Google Benchmark document; select fewer, or use a name that ends with .jsonl",
        path_)};
  }

  Status Finish(std::int64_t rows) {
    INFIMUM_RETURN_IF_ERROR(Write(whole_ ? FormatGoogleBenchmark(records_) : FormatEnd(rows) + "\n"));
    if (file_ == nullptr) return std::fflush(stdout) == 0 ? Status() : Failure();
    const bool flushed = std::fflush(file_) == 0;
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!flushed || !closed) return Failure();
    if (!part_.empty() && std::rename(part_.c_str(), path_.c_str()) != 0) return Failure();
    part_.clear();
    return {};
  }

 private:
  Status Write(const std::string& text) {
    std::FILE* const to = file_ != nullptr ? file_ : stdout;
    return std::fwrite(text.data(), 1, text.size(), to) == text.size() ? Status() : Failure();
  }
  Status Failure() const { return Error{fmt::format("{}: writing failed: {}", path_, std::strerror(errno))}; }

  std::string path_;
  bool whole_;
  std::string part_;  // the file until it is complete
  std::FILE* file_ = nullptr;
  std::vector<ResultsRecord> records_;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<ImportCount> ImportFileOf(const std::filesystem::path& path, const std::map<std::string, std::int64_t>& dims,
                                 Store& store, ProgressLog& log) {
  if (IsModel(path)) {
    INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(path, ReadOptions{dims}));
    return store.ImportModel(DescribeModel(ModelName(path), graph, dims));
  }
  std::size_t rows = 0;
  const auto progress = [&](std::size_t more) {
    rows += more;
    log.Counting(fmt::format("{}: {} rows read", path.filename().string(), rows));
  };
  Result<ImportCount> count = ImportFile(
      path, store, [&](const std::string& remark) { log.Say(remark); }, progress);
  log.EndProgress();
  return count;
}

Result<ExportCount> ExportRows(Store& store, const RowSelection& selection, const std::string& path) {
  RecordOutput output(path);
  INFIMUM_RETURN_IF_ERROR(output.Open());
  ExportCount count;
  std::optional<ResultsHeader> last;
  const Status visited = store.VisitRows(selection, [&](const RowBatch& batch) -> Status {
    ResultsHeader header{batch.device, batch.environment, "export", batch.campaign};
    if (batch.campaign.key.empty()) header.campaign.reset();
    if (last != header) INFIMUM_RETURN_IF_ERROR(output.Add(header));
    last = std::move(header);
    for (const PeakRate& peak : batch.peaks) INFIMUM_RETURN_IF_ERROR(output.Add(peak));
    for (const Measurement& row : batch.rows) INFIMUM_RETURN_IF_ERROR(output.Add(row));
    count.peaks += static_cast<std::int64_t>(batch.peaks.size());
    count.rows += static_cast<std::int64_t>(batch.rows.size());
    return {};
  });
  if (!visited) return visited.error();
  if (count.rows + count.peaks == 0)
    return Error{"nothing in the store matches the selection; `infimum query outcomes` lists what there is"};
  INFIMUM_RETURN_IF_ERROR(output.Finish(count.rows));
  return count;
}

namespace {

// Evaluations and their results; an attempt that is not ended is of no use elsewhere.
Result<ImportCount> MergeEvaluations(Store& from, Store& to) {
  ImportCount count;
  INFIMUM_RETURN_IF_ERROR(
      from.VisitEvaluations([&](const StoredEvaluation& evaluation) { return to.SaveEvaluation(evaluation); }));
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<CellAttempt> attempts, from.Attempts(""));
  for (const CellAttempt& attempt : attempts) {
    if (!attempt.result) continue;
    const auto is_same = [&](const CellAttempt& other) {
      return other.worker == attempt.worker && other.begun_at == attempt.begun_at;
    };
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<std::int64_t> added,
                             to.BeginCell(attempt, [&](std::span<const CellAttempt> before) {
                               return std::ranges::none_of(before, is_same);
                             }));
    if (added) INFIMUM_RETURN_IF_ERROR(to.EndCell(*added, *attempt.result));
    ++(added ? count.added : count.known);
  }
  return count;
}

}  // namespace

Result<ImportCount> MergeStores(Store& from, Store& to, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, to.BeginImport({}));
  std::int64_t rows = 0;
  INFIMUM_RETURN_IF_ERROR(from.VisitRows({}, [&](const RowBatch& batch) {
    import->SwitchTo(batch.campaign);
    rows += static_cast<std::int64_t>(batch.rows.size());
    log.Counting(fmt::format("{} rows read", rows));
    return import->Add(batch.device, batch.environment, batch.rows, batch.peaks);
  }));
  log.EndProgress();
  INFIMUM_RETURN_IF_ERROR(from.VisitRuns([&](const RunProfile& run) { return import->AddRun(run); }));
  INFIMUM_RETURN_IF_ERROR(from.VisitModels([&](const StoredModel& model) { return import->AddModel(model); }));
  INFIMUM_ASSIGN_OR_RETURN(ImportCount count, import->Commit());
  INFIMUM_ASSIGN_OR_RETURN(const ImportCount attempts, MergeEvaluations(from, to));
  return count += attempts;
}

}  // namespace infimum
