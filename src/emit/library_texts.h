// Texts that sources and projects of several libraries have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/workload.h"
#include "src/emit/project.h"

namespace infimum::emit {

// A source's first lines: the layer as a comment, who wrote it, and the headers that it includes.
std::string SourceOpening(std::string_view layer, std::string_view version,
                          const std::vector<std::string_view>& headers);

// constexpr char kLayer[] = ...;
std::string LayerConstant(std::string_view layer);

// Entries of a list, each on a line of its own.
std::string ListLines(const std::vector<std::string>& entries);

// The registration's `.only`, empty where all candidates are meant.
std::string OnlyLines(const std::vector<std::string>& candidates);

// {"strict-f32", "tf32"}
std::string ContractList(const std::vector<NumericContract>& contracts);

// A layer as a region of its own, its constants w0 ... as those of a region; a region as it is.
Region RegionWithConstants(const Workload& workload);

// The result, or its error without the "unsupported: " that candidates of the runner have before it.
template <class T>
Result<T> Supported(Result<T> result) {
  constexpr std::string_view kPrefix = "unsupported: ";
  if (!result.ok() && result.error().message.starts_with(kPrefix))
    return Error{result.error().message.substr(kPrefix.size())};
  return result;
}

// A file that goes into projects as it is, by its name: "timing.h". It is one under emitted/, or one of the runner's
// own with a library's calls (microbench/libraries/onednn/primitives, cublaslt/calls, cudnn/calls); embedded at build
// time, where embed.cmake writes the definition. One that src/emit/CMakeLists.txt does not list ends the program.
std::string_view EmbeddedFile(std::string_view name);

// How README.md of projects for NVIDIA's GPUs says that the program runs.
std::string_view CudaRunning();

// Why no library's candidate of this name is emitted; empty where it is.
std::string RefusalOfConstants(std::string_view algorithm);

}  // namespace infimum::emit
