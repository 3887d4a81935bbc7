// A library that sources are written for. One is there, oneDNN; another is added by its own `Library`, its sources'
// common header under emitted/, and one file a family beside onednn_*.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/emit/project.h"

namespace infimum::emit {

struct Library {
  std::string_view name;   // as in candidates' names: "onednn"
  std::string_view title;  // "oneDNN"
  // How CMake finds it and what is linked: "find_package(dnnl 3 REQUIRED)", "DNNL::dnnl".
  std::string_view find_package;
  std::string_view target;
  // What README.md says about getting and running it.
  std::string_view notes;
  // Files that all its sources share, by name; the one with main() among them.
  std::span<const EmittedFile> (*shared_files)();
  // A layer's source; the error says why there is none. `only`: candidates, empty for all.
  Result<std::string> (*write_source)(const Workload& workload, const std::vector<std::string>& only,
                                      std::string_view version);
  // Why a candidate of this library cannot be emitted for any layer; empty where it can.
  std::string (*refusal_of)(std::string_view algorithm);
};

const Library& OneDnn();

std::span<const Library* const> Libraries();

}  // namespace infimum::emit
