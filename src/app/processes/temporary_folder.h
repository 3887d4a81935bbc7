// A folder of our own that is removed with everything in it when this goes, also where this process is killed: a side
// process waits for that. Where both are killed, the next Make() of the same user removes it.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "infimum/base/result.h"

namespace infimum {

class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  Status StartJanitor();

  std::filesystem::path path_;
  int lock_ = -1;  // a descriptor; says to others that someone lives here
  int life_ = -1;  // a pipe whose end is our end
  pid_t janitor_ = 0;
};

}  // namespace infimum
