// Texts that sources and projects of several libraries have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/emit/project.h"

namespace infimum::emit {

// A source's first lines: the layer as a comment, who wrote it, and the header that it includes.
std::string SourceOpening(std::string_view layer, std::string_view version, std::string_view header);

// constexpr char kLayer[] = ...;
std::string LayerConstant(std::string_view layer);

// Entries of a list, each on a line of its own.
std::string ListLines(const std::vector<std::string>& entries);

// The registration's `.only`, empty where all candidates are meant.
std::string OnlyLines(const std::vector<std::string>& candidates);

// {"strict-f32", "tf32"}
std::string ContractList(const std::vector<NumericContract>& contracts);

// What projects for NVIDIA's GPUs share: files, and how their README.md says the program runs.
std::vector<EmittedFile> CudaFiles();
std::string_view CudaRunning();

}  // namespace infimum::emit
