#include "tests/db/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace infimum::testing {

ChildProcess::ChildProcess(const std::function<void(int)>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    work(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  from_ = ends[0];
}

ChildProcess::~ChildProcess() {
  close(from_);
  waitpid(pid_, nullptr, 0);
}

std::string ChildProcess::Read(std::size_t most) const {
  std::string bytes;
  char byte = 0;
  while (bytes.size() < most && read(from_, &byte, 1) == 1) bytes += byte;
  return bytes;
}

bool ChildProcess::IsSilentFor(int milliseconds) const {
  pollfd end{from_, POLLIN, 0};
  return poll(&end, 1, milliseconds) == 0;
}

void ChildProcess::Kill() const { kill(pid_, SIGKILL); }

void Tell(int to, const std::string& text) {
  if (write(to, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(9);
}

}  // namespace infimum::testing
