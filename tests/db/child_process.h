// Another process of a test's own, and what it tells.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace infimum::testing {

class ChildProcess {
 public:
  // Runs `work` in a copy of this process, which then ends. What it is given is where Tell() writes to.
  explicit ChildProcess(const std::function<void(int)>& work);
  // Waits for its end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // What it has told, up to `most` bytes; fewer where it has ended.
  std::string Read(std::size_t most) const;
  // All that it tells until its end.
  std::string ReadAll() const { return Read(std::string::npos); }
  // Whether it tells nothing, and does not end, for so long.
  bool IsSilentFor(int milliseconds) const;
  void Kill() const;

 private:
  pid_t pid_ = 0;
  int from_ = -1;
};

void Tell(int to, const std::string& text);

}  // namespace infimum::testing
