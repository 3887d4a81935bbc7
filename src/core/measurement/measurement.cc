#include "infimum/measurement/measurement.h"

#include <algorithm>
#include <array>

#include "infimum/measurement/candidate.h"

namespace infimum {
namespace {

constexpr std::array<std::string_view, 3> kCacheStates = {"warm", "cold", "cold-weights"};  // in the enum's order

}  // namespace

std::string_view Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMeasured:
      return "measured";
    case Outcome::kUnsupported:
      return "unsupported";
    case Outcome::kSkipped:
      return "skipped";
    case Outcome::kFailed:
      return "failed";
  }
  return "";
}

std::optional<Outcome> FindOutcome(std::string_view name) {
  for (Outcome outcome : {Outcome::kMeasured, Outcome::kUnsupported, Outcome::kSkipped, Outcome::kFailed}) {
    if (Name(outcome) == name) return outcome;
  }
  return std::nullopt;
}

std::string_view Name(CacheState state) { return kCacheStates[static_cast<std::size_t>(state)]; }

std::optional<CacheState> FindCacheState(std::string_view name) {
  const auto found = std::find(kCacheStates.begin(), kCacheStates.end(), name);
  if (found == kCacheStates.end()) return std::nullopt;
  return static_cast<CacheState>(found - kCacheStates.begin());
}

std::span<const std::string_view> CacheStateNames() { return kCacheStates; }

CacheState StateOfRows(CacheState state, const Workload& workload) {
  return state == CacheState::kColdWeights && !HasConstants(workload) ? CacheState::kWarm : state;
}

std::string_view Name(CandidateTier tier) {
  switch (tier) {
    case CandidateTier::kHeuristic:
      return "heuristic";
    case CandidateTier::kEngine:
      return "engine";
    case CandidateTier::kExhaustive:
      return "exhaustive";
  }
  return "";
}

std::optional<CandidateTier> FindTier(std::string_view name) {
  for (CandidateTier tier : {CandidateTier::kHeuristic, CandidateTier::kEngine, CandidateTier::kExhaustive}) {
    if (Name(tier) == name) return tier;
  }
  return std::nullopt;
}

}  // namespace infimum
