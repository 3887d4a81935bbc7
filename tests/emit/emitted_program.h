// An emitted project configured, compiled and run as its reader would, with the libraries that this build found.
//
//   EmittedProgram program(plan, {"onednn", {}, "1"});      a temporary folder
//   std::string error = program.Build();                    empty where it built
//   std::string json = program.Run("relu");                 Google Benchmark JSON of what the filter finds
#pragma once

#include <optional>
#include <string>

#include "src/emit/project.h"
#include "tests/support/temporary_folder.h"

namespace infimum::testing {

// Why none of this library can be built here; absent where one can.
std::optional<std::string> WhyNoEmittedProgram(const std::string& library = "onednn");

class EmittedProgram {
 public:
  EmittedProgram(const Plan& plan, const EmitOptions& options);

  // What the tools said where they failed; `flags` of the compiler.
  std::string Build(const std::string& flags = "");
  // Empty where it failed. `filter` is a regular expression.
  std::string Run(const std::string& filter = ".") const;
  // Its exit status, and what it says on standard output and standard error. `environment`: "NAME=value" before it.
  struct Said {
    int status = 0;
    std::string output, error;
  };
  Said Say(const std::string& arguments, const std::string& environment = "") const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
  std::string name_;  // of the program
};

}  // namespace infimum::testing
