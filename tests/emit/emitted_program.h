// An emitted project configured, compiled and run as its reader would, with the oneDNN that this build found.
//
//   EmittedProgram program(plan, {"onednn", {}, "1"});      a temporary folder
//   std::string error = program.Build();                    empty where it built
//   std::string json = program.Run("relu");                 Google Benchmark JSON of what the filter finds
#pragma once

#include <optional>
#include <string>

#include "infimum/emit/project.h"

namespace infimum::testing {

// Why none can be built here; absent where one can.
std::optional<std::string> WhyNoEmittedProgram();

class EmittedProgram {
 public:
  EmittedProgram(const Plan& plan, const EmitOptions& options);
  ~EmittedProgram();
  EmittedProgram(const EmittedProgram&) = delete;
  EmittedProgram& operator=(const EmittedProgram&) = delete;

  // What the tools said where they failed; `flags` of the compiler.
  std::string Build(const std::string& flags = "");
  // Empty where it failed. `filter` is a regular expression.
  std::string Run(const std::string& filter = ".") const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace infimum::testing
