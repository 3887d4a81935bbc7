#include "infimum/measurement/measurement.h"

#include <set>

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

std::size_t CountStatesOfRows(std::span<const CacheState> states, const Workload& workload) {
  std::set<CacheState> different;
  for (const CacheState state : states) different.insert(StateOfRows(state, workload));
  return different.size();
}

std::string_view Name(CandidateTier tier) { return kTiers[tier]; }

std::optional<CandidateTier> FindTier(std::string_view name) { return kTiers.Find(name); }

std::string RowKey(const Measurement& row) {
  std::string key = row.workload.text;
  for (std::string_view part : {Name(row.contract), Name(row.cache), std::string_view(row.candidate.library),
                                std::string_view(row.candidate.algorithm), std::string_view(row.candidate.input_layout),
                                std::string_view(row.candidate.output_layout)}) {
    key += '\x1f';
    key += part;
  }
  return key;
}

}  // namespace infimum
