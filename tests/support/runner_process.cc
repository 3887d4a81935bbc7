#include "tests/support/runner_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

namespace infimum {

std::string ReadFile(const std::string& path) {
  std::ifstream input(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
}

RunnerProcess::RunnerProcess(const std::string& program, const std::vector<std::string>& arguments,
                             const std::string& folder, const std::string& input)
    : folder_(folder) {
  std::ofstream(folder + "/in") << input;
  std::vector<std::string> texts{program};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const auto open_for = [&](const char* name, int flags) { return open((folder + name).c_str(), flags, 0600); };
  pid_ = fork();
  if (pid_ == 0) {
    dup2(open_for("/in", O_RDONLY), 0);
    dup2(open_for("/out", O_WRONLY | O_CREAT | O_TRUNC), 1);
    dup2(open_for("/err", O_WRONLY | O_CREAT | O_TRUNC), 2);
    dup2(open_for("/progress", O_WRONLY | O_CREAT | O_TRUNC), 9);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
}

RunnerProcess::~RunnerProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void RunnerProcess::Signal(int signal) const { kill(pid_, signal); }

RunnerEnd RunnerProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), ReadFile(folder_ + "/out"),
          ReadFile(folder_ + "/err")};
}

}  // namespace infimum
