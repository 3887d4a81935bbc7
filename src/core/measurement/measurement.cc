#include "infimum/measurement/measurement.h"

#include "infimum/base/enum_names.h"

namespace infimum {
namespace {

constexpr EnumNames<Outcome::kFailed> kOutcomes = {"measured", "unsupported", "skipped", "failed"};
constexpr EnumNames<CacheState::kColdWeights> kCacheStates = {"warm", "cold", "cold-weights"};
constexpr EnumNames<CandidateTier::kExhaustive> kTiers = {"heuristic", "engine", "exhaustive"};

}  // namespace

std::string_view Name(Outcome outcome) { return kOutcomes[outcome]; }

std::optional<Outcome> FindOutcome(std::string_view name) { return kOutcomes.Find(name); }

std::string_view Name(CacheState state) { return kCacheStates[state]; }

std::optional<CacheState> FindCacheState(std::string_view name) { return kCacheStates.Find(name); }

std::span<const std::string_view> CacheStateNames() { return kCacheStates.all(); }

CacheState StateOfRows(CacheState state, const Workload& workload) {
  return state == CacheState::kColdWeights && !HasConstants(workload) ? CacheState::kWarm : state;
}

std::string_view Name(CandidateTier tier) { return kTiers[tier]; }

std::optional<CandidateTier> FindTier(std::string_view name) { return kTiers.Find(name); }

}  // namespace infimum
