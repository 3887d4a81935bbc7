// A library that sources are written for: what users read of it, the files that all its sources share, and the function
// that writes one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/emit/project.h"

namespace infimum::emit {

// What a source is written for.
struct SourceRequest {
  const Workload& workload;
  const std::vector<NumericContract>& contracts;  // that the plan has it under; never empty
  const std::vector<std::string>& only;           // candidates; empty: all
  std::string_view version;                       // infimum's
};

struct Library {
  std::string_view name;        // as users and files have it: "onednn"
  std::string_view title;       // "oneDNN"
  std::string_view candidates;  // as in candidates' names: "onednn", "cudnn-graph"
  std::string_view example;     // of such a name, behind the slash
  // Of further calls and libraries that its sources have too: "cudnn-legacy"; "cublas", "cusparselt".
  std::span<const std::string_view> further_candidates = {};
  // How CMake finds it and what is linked: "find_package(dnnl 3 REQUIRED)", "DNNL::dnnl".
  std::string_view cmake_version;
  std::string_view find_package;
  std::string_view target;
  std::string_view precompiled_header;  // empty: none, where it would save nothing
  // README.md: getting it; commands beside the first, each with its newline; how the program runs and times; what
  // infimum measures beside these sources.
  std::string_view notes;
  std::string_view commands;
  std::string_view running;
  std::string_view beside;
  // Files that all its sources share (EmbeddedFile has them); the one with main() among them.
  std::span<const std::string_view> shared_files;
  // A layer's source; the error says why there is none.
  Result<std::string> (*write_source)(const SourceRequest& request);
  // Why a candidate of this library cannot be emitted for any layer; empty where it can.
  std::string (*refusal_of)(std::string_view algorithm);
};

const Library& OneDnn();
const Library& Cudnn();
const Library& CublasLt();

std::span<const Library* const> Libraries();

}  // namespace infimum::emit
