#include "microbench/harness/journal/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <thread>
#include <utility>

namespace infimum {
namespace {

class GoogleBenchmarkOutput : public ResultsOutput {
 public:
  explicit GoogleBenchmarkOutput(std::string path) : path_(std::move(path)) {}

  Status Open() {
    if (path_ == "-") return {};
    file_ = std::fopen(Partial().c_str(), "w");
    if (file_ == nullptr) return Failed("cannot be written");
    return {};
  }

  ~GoogleBenchmarkOutput() override {
    if (file_ != nullptr) {
      std::fclose(file_);
      std::remove(Partial().c_str());
    }
  }

  Result<EarlierResults> Begin(const ResultsHeader& header) override {
    records_.emplace_back(header);
    return EarlierResults{};
  }

  // The last of rows written again with more repetitions stays.
  Status Write(const ResultsRecord& record) override {
    const auto* row = std::get_if<Measurement>(&record);
    const auto [place, inserted] =
        row == nullptr ? std::pair(places_.end(), true) : places_.emplace(RowKey(*row), records_.size());
    if (inserted) {
      records_.push_back(record);
    } else {
      records_[place->second] = record;
    }
    return {};
  }

  Status Finish() override {
    const std::string text = FormatGoogleBenchmark(records_);
    std::FILE* file = path_ == "-" ? stdout : file_;
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
      return Failed("writing failed");
    if (path_ == "-") return {};
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (!closed || std::rename(Partial().c_str(), path_.c_str()) != 0) return Failed("writing failed");
    return {};
  }

 private:
  std::string Partial() const { return path_ + ".part"; }
  Error Failed(const char* what) const {
    return Error{(path_ == "-" ? std::string("standard output") : path_) + ": " + what + ": " + std::strerror(errno)};
  }

  std::string path_;
  std::FILE* file_ = nullptr;
  std::vector<ResultsRecord> records_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

Result<std::unique_ptr<ResultsOutput>> OpenGoogleBenchmark(const std::string& path) {
  auto output = std::make_unique<GoogleBenchmarkOutput>(path);
  INFIMUM_RETURN_IF_ERROR(output->Open());
  return std::unique_ptr<ResultsOutput>(std::move(output));
}

namespace {

constexpr auto kSyncAtLeastEvery = std::chrono::seconds(1);

Error Failed(const std::string& path, const std::string& what) {
  return Error{(path == "-" ? "standard output" : path) + ": " + what + ": " + std::strerror(errno)};
}

// A runner that was killed while it started a worker leaves the lock to that worker for a moment.
bool LockSoon(int descriptor) {
  constexpr int kTries = 50;
  for (int i = 0; flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (i == kTries) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<JournalFile>> JournalFile::Open(const std::string& path, const Clock& clock) {
  if (path == "-") return std::unique_ptr<JournalFile>(new JournalFile(path, dup(STDOUT_FILENO), clock));
  const bool is_new = access(path.c_str(), F_OK) != 0;
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return Failed(path, "cannot be written");
  std::unique_ptr<JournalFile> journal(new JournalFile(path, descriptor, clock));
  journal->is_new_ = is_new;
  struct stat about {};
  if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && !LockSoon(descriptor))
    return Error{path + ": another runner is writing it; wait until it ends, or name another file"};
  return journal;
}

JournalFile::~JournalFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void JournalFile::Abandon() {
  struct stat about {};
  const bool is_empty = fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode) && about.st_size == 0;
  if (is_new_ && is_empty) unlink(path_.c_str());
}

Result<EarlierResults> JournalFile::Begin(const ResultsHeader& header) {
  EarlierResults earlier;
  const std::string header_line = FormatRecord(header);
  std::optional<ResultsHeader> last_header;
  struct stat about {};
  if (path_ != "-" && fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
    INFIMUM_RETURN_IF_ERROR(CutTornLine(header_line));
    std::ifstream input(path_, std::ios::binary);
    const DeviceKey device = header.device.Key();
    const EnvironmentKey environment = header.environment.Key();
    bool same = false;
    INFIMUM_RETURN_IF_ERROR(ReadJournal(input, path_, [&](ResultsRecord record) -> Status {
      if (auto* found = std::get_if<ResultsHeader>(&record)) {
        // Repetitions of two hosts never become one row.
        same = found->device.Key() == device && found->environment.Key() == environment &&
               found->environment.evidence == header.environment.evidence;
        last_header = std::move(*found);
      } else if (auto* row = std::get_if<Measurement>(&record); row != nullptr && same) {
        return earlier.rows.Keep(*row);
      } else if (auto* peak = std::get_if<PeakRate>(&record); peak != nullptr && same) {
        earlier.peaks.push_back(std::move(*peak));
      }
      return {};
    }));
  }
  if (!last_header || FormatRecord(*last_header) != header_line) INFIMUM_RETURN_IF_ERROR(WriteLine(header_line));
  return earlier;
}

// A writer that was killed leaves a last line without its end. It is cut only from what is surely a
// journal: the lines before it parse, or it is the beginning of a header.
Status JournalFile::CutTornLine(const std::string& header_line) {
  std::ifstream input(path_, std::ios::binary);
  std::string line;
  std::getline(input, line);
  const bool first_is_torn = input.eof();
  if (first_is_torn) {
    if (header_line.starts_with(line.substr(0, std::min<std::size_t>(line.size(), 20)))) {
      if (ftruncate(descriptor_, 0) != 0) return Failed(path_, "cannot be truncated");
      return {};
    }
    return Error{path_ + ": exists and is not a results journal; name another file"};
  }
  bool is_journal = false;
  input.seekg(0);
  if (const Status read = ReadJournal(input, path_,
                                      [&](const ResultsRecord&) -> Status {
                                        is_journal = true;
                                        return {};
                                      });
      !read.ok())
    return Error{read.error().message + "; name another file, or repair this one"};
  if (!is_journal) return Error{path_ + ": exists and is not a results journal; name another file"};
  // The end of the last whole line, found from behind.
  const off_t size = lseek(descriptor_, 0, SEEK_END);
  off_t keep = size;
  std::array<char, 4096> block;
  while (keep > 0) {
    const off_t from = std::max<off_t>(0, keep - static_cast<off_t>(block.size()));
    const ssize_t count = pread(descriptor_, block.data(), static_cast<std::size_t>(keep - from), from);
    if (count <= 0) return Failed(path_, "cannot be read");
    const std::string_view text(block.data(), static_cast<std::size_t>(count));
    if (const std::size_t end = text.rfind('\n'); end != std::string_view::npos) {
      keep = from + static_cast<off_t>(end) + 1;
      break;
    }
    keep = from;
  }
  if (keep < size && ftruncate(descriptor_, keep) != 0) return Failed(path_, "cannot be truncated");
  return {};
}

Status JournalFile::WriteLine(std::string line) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return Error{Failed(path_, "writing failed").message +
                   "; the rows before it are safe; free some space and repeat the command"};
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  unsynced_ = true;
  return Settle();
}

Status JournalFile::Write(const ResultsRecord& record) {
  ++rows_;
  return WriteLine(FormatRecord(record));
}

Status JournalFile::Settle() {
  if (!unsynced_ || clock_.Now() - last_sync_ < kSyncAtLeastEvery) return {};
  return Sync();
}

Status JournalFile::Sync() {
  // A pipe or terminal has nothing to synchronise: EINVAL, or EROFS.
  if (fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) return Failed(path_, "writing failed");
  unsynced_ = false;
  last_sync_ = clock_.Now();
  return {};
}

Status JournalFile::Finish() {
  INFIMUM_RETURN_IF_ERROR(WriteLine("{\"kind\":\"end\",\"rows\":" + std::to_string(rows_) + "}"));
  return Sync();
}

}  // namespace infimum
