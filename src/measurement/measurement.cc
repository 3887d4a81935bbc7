#include "infimum/measurement/measurement.h"

namespace infimum {

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

std::string_view Name(CacheState state) { return state == CacheState::kWarm ? "warm" : "cold"; }

std::optional<CacheState> FindCacheState(std::string_view name) {
  for (CacheState state : {CacheState::kWarm, CacheState::kCold}) {
    if (Name(state) == name) return state;
  }
  return std::nullopt;
}

}  // namespace infimum
