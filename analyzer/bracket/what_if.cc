#include "analyzer/bracket/what_if.h"

#include <cmath>
#include <set>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::string_view kForm =
    "write ACTION:LAYERS, ACTION one of free, floor, gapless, 0.5x, 12us; LAYERS a layer's name, op=NAME, family=NAME "
    "or all; "
    "or peak:RATE=2x, RATE one of memory, launch, f32, f16, ...";
constexpr std::string_view kPeak = "peak:";

struct Action {
  LayerChange::Kind kind;
  double value = 0;
};

std::optional<double> NumberBefore(std::string_view unit, std::string_view text) {
  if (!text.ends_with(unit)) return std::nullopt;
  const std::optional<double> value = ParseNumber(text.substr(0, text.size() - unit.size()));
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

std::optional<Action> ActionOf(std::string_view text) {
  if (text == "free") return Action{LayerChange::Kind::kFree};
  if (text == "floor") return Action{LayerChange::Kind::kFloor};
  if (text == "gapless") return Action{LayerChange::Kind::kGapless};
  if (const auto value = NumberBefore("us", text)) return Action{LayerChange::Kind::kFixed, *value};
  if (const auto value = NumberBefore("x", text)) return Action{LayerChange::Kind::kScaled, *value};
  return std::nullopt;
}

// "f16=2.33x,memory=1.5x"
Result<std::vector<PeakChange>> ParsePeaks(std::string_view text) {
  std::vector<PeakChange> peaks;
  for (const std::string_view part : infimum::Split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view rate = part.substr(0, equals);
    const auto factor = equals == part.npos ? std::nullopt : NumberBefore("x", part.substr(equals + 1));
    if (!factor || *factor == 0)
      return Error{Quoted(part) + ": write peak:RATE=2x, RATE one of memory, launch, f16, ..."};
    peaks.push_back({std::string(rate), *factor});
  }
  return peaks;
}

std::string FamilyName(const Layer& layer) {
  return layer.workload ? std::string(FamilyOf(*layer.workload)) : std::string();
}

// The names that `who` could have meant.
Error Unknown(std::string_view kind, std::string_view given, const std::set<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string suggestion = DidYouMean(given, names);
  return Error{"the model has no " + std::string(kind) + " " + Quoted(given) +
               (suggestion.empty() ? "; `infimum inspect` lists its layers" : suggestion)};
}

}  // namespace

Result<WhatIf> ParseWhatIf(std::string_view text, const ModelGraph& graph) {
  if (text.starts_with(kPeak)) {
    WhatIf what_if{std::string(text), {}};
    INFIMUM_ASSIGN_OR_RETURN(what_if.peaks, ParsePeaks(text.substr(kPeak.size())));
    return what_if;
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Error{Quoted(text) + ": " + std::string(kForm)};
  const std::optional<Action> action = ActionOf(text.substr(0, colon));
  if (!action) return Error{Quoted(text.substr(0, colon)) + " is no action: " + std::string(kForm)};
  const std::string_view who = text.substr(colon + 1);
  const bool by_op = who.starts_with("op="), by_family = who.starts_with("family=");
  const std::string_view name = by_op ? who.substr(3) : by_family ? who.substr(7) : who;
  WhatIf what_if{std::string(text), {}};
  std::set<std::string> known;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    if (layer.status == LayerStatus::kFree && layer.bodies.empty()) continue;
    const std::string own = by_op ? layer.op : by_family ? FamilyName(layer) : layer.name;
    known.insert(own);
    // A layer may be called "all"; then it is meant.
    if (own == name) what_if.changes.push_back({LayerId(i), action->kind, action->value});
  }
  if (what_if.changes.empty() && who == "all") {
    for (std::size_t i = 0; i < graph.layers.size(); ++i)
      if (graph.layers[i].status != LayerStatus::kFree || !graph.layers[i].bodies.empty())
        what_if.changes.push_back({LayerId(i), action->kind, action->value});
    return what_if;
  }
  if (what_if.changes.empty()) return Unknown(by_op ? "operator" : by_family ? "family" : "layer", name, known);
  return what_if;
}

}  // namespace infimum
