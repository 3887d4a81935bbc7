// Runs the real program as a user would: a folder of its own, exit code, both outputs.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace infimum::testing {

struct Ended {
  int exit_code = -1;  // 128 + signal where a signal ended it
  std::string output;
  std::string errors;
};

// Whether a program failed for want of ONNX Runtime, which is a failure of the test itself where CI promises one.
bool LacksFramework(const Ended& ended);
// Whether a replay ran beside so much else that its R stands in no bound.
bool IsNoisyReplay(const Ended& ended);

// What happens to a program that runs.
struct Disturbance {
  int interrupt_after_ms = 0;          // a SIGINT then
  const char* interrupt_at = nullptr;  // a SIGINT when its errors and progress contain this
  long largest_file = 0;               // no file of it (and its children) grows beyond so many bytes, as on a full disk
};

class ProgramTest {
 public:
  // `infimum` with these arguments, in folder().
  Ended Infimum(const std::vector<std::string>& arguments, const Disturbance& disturbance = {}) const;
  // What it writes, where it has to end with exit code 0; the test fails where it does not.
  std::string Run(const std::vector<std::string>& arguments) const;
  nlohmann::json Json(const std::vector<std::string>& arguments) const;
  // The same in two steps: whoever starts it must finish it.
  pid_t Start(const std::vector<std::string>& arguments, long largest_file = 0) const;
  Ended Finish(pid_t program) const;
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string Write(const std::string& name, const std::string& text) const { return folder_.Write(name, text); }
  std::string Read(const std::string& name) const { return folder_.Read(name); }

  // A model of the onnx package.
  static std::string Light(const std::string& name);

 private:
  TemporaryFolder folder_;
};

}  // namespace infimum::testing
