#include "src/app/processes/temporary_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "src/app/processes/side_process.h"

namespace infimum {
namespace {

constexpr std::string_view kLead = "infimum-";
constexpr std::string_view kRandom = "XXXXXX";
// Between a folder's making and its lock lies a moment in which it looks abandoned.
constexpr auto kLeastAge = std::chrono::minutes(1);

// A lock on the folder itself, which goes when the last process that has the descriptor is gone; -1 where it is taken.
int Lock(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  close(descriptor);
  return -1;
}

// Folders of processes that were killed together with what watches over them.
void RemoveAbandoned(const std::filesystem::path& parent) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with(kLead) || name.size() != kLead.size() + kRandom.size() || !entry->is_directory(ignored) ||
        entry->is_symlink(ignored))
      continue;
    const auto age = std::filesystem::file_time_type::clock::now() - entry->last_write_time(ignored);
    if (ignored || age < kLeastAge) continue;
    if (const int lock = Lock(entry->path()); lock >= 0) {
      std::filesystem::remove_all(entry->path(), ignored);  // another user's stays
      close(lock);
    }
  }
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::Make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (!error) RemoveAbandoned(parent);
  std::string pattern = (parent / (std::string(kLead) + std::string(kRandom))).string();
  // The janitor first: a process that is killed while it starts one would leave the folder.
  TemporaryFolder folder("");
  INFIMUM_RETURN_IF_ERROR(folder.StartJanitor());
  if (error || mkdtemp(pattern.data()) == nullptr) {
    return Error{fmt::format("no temporary folder can be made ({}); set TMPDIR to a folder with space",
                             error ? error.message() : std::strerror(errno))};
  }
  folder.path_ = pattern;
  // Less than a pipe takes at once.
  if (write(folder.life_, pattern.data(), pattern.size()) != static_cast<ssize_t>(pattern.size()))
    return Error{std::string("no janitor: ") + std::strerror(errno)};
  folder.lock_ = Lock(pattern);
  return folder;
}

Status TemporaryFolder::StartJanitor() {
  std::array<int, 2> life{};
  if (pipe2(life.data(), O_CLOEXEC) != 0) return Error{std::string("no pipe: ") + std::strerror(errno)};
  janitor_ = fork();
  if (janitor_ == 0) {
    BecomeSideProcess("infimum-janitor", {life[0]});
    // Its name, then nothing until the end of who writes it.
    std::string path;
    std::array<char, 4096> part{};
    for (ssize_t got = 1; got != 0;) {
      got = read(life[0], part.data(), part.size());
      if (got > 0) path.append(part.data(), static_cast<std::size_t>(got));
      if (got < 0 && errno != EINTR) break;
    }
    // What still writes into it is being ended.
    std::error_code error;
    for (int i = 0; i < 40 && !path.empty() && std::filesystem::exists(path, error); ++i) {
      std::filesystem::remove_all(path, error);
      if (error) usleep(100'000);
    }
    _exit(0);
  }
  close(life[0]);
  life_ = life[1];
  return janitor_ < 0 ? Status(Error{std::string("no process: ") + std::strerror(errno)}) : Status();
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::exchange(other.lock_, -1)),
      life_(std::exchange(other.life_, -1)),
      janitor_(std::exchange(other.janitor_, 0)) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  if (life_ >= 0) close(life_);
  while (janitor_ > 0 && waitpid(janitor_, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (lock_ >= 0) close(lock_);
}

}  // namespace infimum
