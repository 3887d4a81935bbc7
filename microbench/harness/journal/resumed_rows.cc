#include "microbench/harness/journal/resumed_rows.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include "infimum/results/results_journal.h"
#include "microbench/harness/sampling/shuffle.h"

namespace infimum {
namespace {

Error Failed(const char* what) {
  std::error_code ignored;
  return Error{"a temporary file in " + std::filesystem::temp_directory_path(ignored).string() + " " + what + ": " +
               std::strerror(errno) + "; free some space there, or set TMPDIR to another folder"};
}

// Spilled rows are lines of a journal, which a header must precede.
const std::string& HeaderLine() {
  static const std::string line = [] {
    ResultsHeader header;
    header.device.name = "spilled";
    header.backend = "spilled";
    return FormatRecord(header) + '\n';
  }();
  return line;
}

}  // namespace

SpilledRows::~SpilledRows() {
  if (descriptor_ >= 0) close(descriptor_);
}

SpilledRows::SpilledRows(SpilledRows&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      end_(std::exchange(other.end_, 0)),
      device_(std::move(other.device_)),
      environment_(std::move(other.environment_)),
      evidence_(std::move(other.evidence_)) {}

SpilledRows& SpilledRows::operator=(SpilledRows&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(end_, other.end_);
  std::swap(device_, other.device_);
  std::swap(environment_, other.environment_);
  std::swap(evidence_, other.evidence_);
  return *this;
}

Status SpilledRows::Open() {
  std::error_code ignored;
  std::string path = (std::filesystem::temp_directory_path(ignored) / "infimum_rows_XXXXXX").string();
  descriptor_ = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor_ < 0) return Failed("cannot be created");
  unlink(path.c_str());
  return {};
}

Result<std::int64_t> SpilledRows::Put(const Measurement& row) {
  if (descriptor_ < 0) {
    INFIMUM_RETURN_IF_ERROR(Open());
    device_ = row.device;
    environment_ = row.environment;
    evidence_ = row.evidence;
  }
  const std::string line = FormatRecord(row) + '\n';
  for (std::string_view rest = line; !rest.empty();) {
    const auto at = static_cast<off_t>(end_) + static_cast<off_t>(line.size() - rest.size());
    const ssize_t written = pwrite(descriptor_, rest.data(), rest.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Failed("cannot be written");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return std::exchange(end_, end_ + static_cast<std::int64_t>(line.size()));
}

Result<Measurement> SpilledRows::Get(std::int64_t place) const {
  std::string text = HeaderLine();
  const std::size_t header = text.size();
  constexpr std::size_t kBlock = 4096;
  while (text.find('\n', header) == std::string::npos) {
    const std::size_t size = text.size();
    text.resize(size + kBlock);
    const ssize_t count =
        pread(descriptor_, text.data() + size, kBlock, static_cast<off_t>(place) + static_cast<off_t>(size - header));
    if (count < 0 && errno != EINTR) return Failed("cannot be read");
    if (count == 0) return Error{"a temporary file lost a row that was written to it"};
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  text.resize(text.find('\n', header) + 1);
  Measurement found;
  std::istringstream input(std::move(text));
  INFIMUM_RETURN_IF_ERROR(ReadJournal(input, "a row in a temporary file", [&](ResultsRecord record) -> Status {
    if (auto* row = std::get_if<Measurement>(&record)) found = std::move(*row);
    return {};
  }));
  found.device = device_;
  found.environment = environment_;
  found.evidence = evidence_;
  return found;
}

auto EarlierRows::Look(const std::string& key)
    -> Result<std::pair<std::multimap<std::uint64_t, Place>::iterator, Measurement>> {
  const auto [begin, end] = places_.equal_range(HashOf(key));
  for (auto place = begin; place != end; ++place) {
    INFIMUM_ASSIGN_OR_RETURN(Measurement row, spilled_.Get(place->second.at));
    if (RowKey(row) == key) return std::pair(place, std::move(row));
  }
  return std::pair(places_.end(), Measurement{});
}

Status EarlierRows::Keep(const Measurement& row) {
  const std::string key = RowKey(row);
  INFIMUM_ASSIGN_OR_RETURN(const auto known, Look(key));
  if (known.first != places_.end() && row.repetitions.size() < known.first->second.repetitions) return {};
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t at, spilled_.Put(row));
  const Place place{at, row.repetitions.size()};
  if (known.first == places_.end()) {
    places_.emplace(HashOf(key), place);
  } else {
    known.first->second = place;
  }
  return {};
}

Result<std::optional<Measurement>> EarlierRows::Find(const Measurement& blank) {
  INFIMUM_ASSIGN_OR_RETURN(auto known, Look(RowKey(blank)));
  if (known.first == places_.end()) return std::optional<Measurement>();
  return std::optional<Measurement>(std::move(known.second));
}

}  // namespace infimum
