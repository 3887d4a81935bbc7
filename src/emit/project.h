// Stand-alone C++ for the layers of a plan: a folder with its own CMakeLists.txt whose sources call a library directly,
// one for each layer, and register a Google Benchmark for each of its candidates. What a library's developer compiles
// alone, reads and changes; nothing in it needs infimum.
//
//   EmitOptions options{.library = "onednn", .candidates = {}, .version = "0.1.0"};
//   Result<EmittedProject> project = EmitProject(plan, options);
//   project->files      CMakeLists.txt, README.md, timing.h, onednn_main.cc, ...,
//                       onednn_convolution_f32_1x64x56x56_64_3x3_1x1_1d1f5f4e.cc
//   project->left_out   {"attention ...", "it runs as a oneDNN Graph partition ..."}
//   WriteProject(*project, "bench-resnet50");
//
// The same plan gives the same bytes. What cannot be emitted is left out with its reason, here and in the folder's
// README.md: there are no stubs. The same for `cudnn` and `cublaslt`, whose programs run on NVIDIA's GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/measurement/plan.h"

namespace infimum {

struct EmitOptions {
  std::string library = "onednn";  // or "cudnn", "cublaslt"
  // Names of candidates that each layer is to register; empty: all that the library offers where the program runs.
  std::vector<std::string> candidates;
  std::string version;  // infimum's
};

struct EmittedFile {
  std::string name;  // letters, digits, dots and underscores alone
  std::string text;
};

struct LeftOut {
  std::string what;  // a workload's text, or a candidate's name
  std::string reason;
};

struct EmittedProject {
  std::vector<EmittedFile> files;
  std::size_t layers = 0;  // that have a source
  std::vector<LeftOut> left_out;
};

// The names that `library` may have.
std::vector<std::string> EmittableLibraries();

// An error for an unknown library, a candidate's name that is none, and where nothing at all could be emitted.
Result<EmittedProject> EmitProject(const Plan& plan, const EmitOptions& options);

// Makes the folder. One that has anything in it is refused: it may hold sources that somebody has changed.
Status WriteProject(const EmittedProject& project, const std::filesystem::path& folder);

}  // namespace infimum
