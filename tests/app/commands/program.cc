#include "tests/app/commands/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "tests/support/folders.h"

namespace infimum::testing {

bool IsNoisyReplay(const Ended& ended) { return ended.output.find("R (demonstrated)    noisy") != std::string::npos; }

bool LacksFramework(const Ended& ended) {
  const auto lacks = [&ended](const char* module) { return ended.errors.find(module) != std::string::npos; };
  // The scripts ask for numpy first.
  if (ended.exit_code == 0 || !(lacks("No module named 'onnx") || lacks("No module named 'numpy'"))) return false;
  if (std::getenv("CI") != nullptr) ADD_FAILURE() << ended.errors;
  return true;
}

pid_t ProgramTest::Start(const std::vector<std::string>& arguments, long largest_file) const {
  const std::string program = testing::Program("infimum");
  const std::string out = folder_.File(".stdout"), err = folder_.File(".stderr");
  // What an earlier program said is not this one's.
  Write(".stdout", "");
  Write(".stderr", "");
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (chdir(folder().c_str()) != 0) _exit(126);
  if (largest_file > 0) {
    signal(SIGXFSZ, SIG_IGN);
    const auto largest = static_cast<rlim_t>(largest_file);
    const rlimit limit{largest, largest};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  dup2(open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDOUT_FILENO);
  dup2(open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), STDERR_FILENO);
  std::vector<char*> pointers{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  _exit(127);
}

Ended ProgramTest::Finish(pid_t program) const {
  int state = 0;
  waitpid(program, &state, 0);
  return {WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state), Read(".stdout"), Read(".stderr")};
}

Ended ProgramTest::Infimum(const std::vector<std::string>& arguments, const Disturbance& disturbance) const {
  const pid_t program = Start(arguments, disturbance.largest_file);
  const auto has_ended = [program] {
    siginfo_t ended{};
    return waitid(P_PID, static_cast<id_t>(program), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0;
  };
  if (disturbance.interrupt_after_ms > 0) {
    usleep(static_cast<useconds_t>(disturbance.interrupt_after_ms) * 1000);
    kill(program, SIGINT);
  } else if (disturbance.interrupt_at != nullptr) {
    bool ended = false;
    while (!ended && Read(".stderr").find(disturbance.interrupt_at) == std::string::npos) {
      usleep(2000);
      ended = has_ended();
    }
    if (!ended) kill(program, SIGINT);
  }
  return Finish(program);
}

std::string ProgramTest::Run(const std::vector<std::string>& arguments) const {
  Ended ended = Infimum(arguments);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  return std::move(ended.output);
}

nlohmann::json ProgramTest::Json(const std::vector<std::string>& arguments) const {
  const std::string output = Run(arguments);
  nlohmann::json json = nlohmann::json::parse(output, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << output;
  return json;
}

std::string ProgramTest::Light(const std::string& name) {
  return std::string(INFIMUM_LIGHT_MODELS) + "/light_" + name + ".onnx";
}

}  // namespace infimum::testing
