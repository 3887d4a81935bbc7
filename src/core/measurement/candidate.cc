#include "infimum/measurement/candidate.h"

namespace infimum {

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
