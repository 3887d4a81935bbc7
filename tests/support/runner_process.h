// A runner as a child process of a test.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace infimum {

struct RunnerEnd {
  int code = -1;  // exit code, or minus the signal
  std::string output;
  std::string errors;
};

// Starts it with its standard streams in files of `folder`; `input` is what it reads.
class RunnerProcess {
 public:
  RunnerProcess(const std::string& program, const std::vector<std::string>& arguments, const std::string& folder,
                const std::string& input = "");
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  void Signal(int signal) const;
  RunnerEnd Wait();

 private:
  std::string folder_;
  pid_t pid_;
};

// To its end.
inline RunnerEnd RunRunner(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& folder, const std::string& input = "") {
  return RunnerProcess(program, arguments, folder, input).Wait();
}

std::string ReadFile(const std::string& path);

}  // namespace infimum
