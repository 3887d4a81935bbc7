#include "analyzer/bracket/verdict.h"

#include <algorithm>

#include "infimum/base/enum_names.h"

namespace infimum {
namespace {

// In the order of the enumeration.
constexpr EnumNames<GapVerdict::kInversion> kNames = {"shown", "not-shown", "no-gap", "inversion"};

}  // namespace

std::string_view Name(GapVerdict verdict) { return kNames[verdict]; }

std::optional<GapVerdict> VerdictOn(const Interval& measured, const Bracket& bracket) {
  const UpperLimit* shown = bracket.Shown();
  if (shown != nullptr && shown->interval.high < measured.low) return GapVerdict::kShown;
  const Bound* known = bracket.BestKnown();
  if (known == nullptr) return std::nullopt;
  if (known->interval.high < measured.low) return GapVerdict::kNotShown;
  return measured.high < known->interval.low ? GapVerdict::kInversion : GapVerdict::kNoGap;
}

std::optional<GapVerdict> VerdictOn(const Bracket& bracket) {
  // Ascending.
  const auto fastest =
      std::ranges::find_if(bracket.upper, [](const UpperLimit& limit) { return limit.name != kDemonstratedName; });
  return fastest == bracket.upper.end() ? std::nullopt : VerdictOn(fastest->interval, bracket);
}

}  // namespace infimum
