// One way of running a workload: a library's algorithm under a stable, portable name.
//
//   onednn/brgconv:avx512_core     library "onednn", algorithm "brgconv:avx512_core"
//   infimum/copy:stream            a kernel of ours
//   observed/openvino-2026.4.1     what a framework ran, which a replay cannot: no bound of the best known counts it
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "infimum/base/result.h"

namespace infimum {

enum class CandidateTier {
  kHeuristic,   // what the library would choose, and its next best
  kEngine,      // the best of each engine or implementation
  kExhaustive,  // every valid setting, capped
};
std::string_view Name(CandidateTier tier);
std::optional<CandidateTier> FindTier(std::string_view name);

inline constexpr std::string_view kObservedLibrary = "observed";

struct Candidate {
  std::string library;
  std::string algorithm;
  std::string input_layout;  // "any", "nhwc", "aBcd8b": belongs to the candidate, not the layer
  std::string output_layout;
  bool library_choice = false;  // what the library's own heuristic picks first

  std::string name() const { return library + "/" + algorithm; }
  bool is_observed() const { return library == kObservedLibrary; }
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

}  // namespace infimum
