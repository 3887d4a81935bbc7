#include "src/app/model_report/run_gap.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "reports/effects/explanation.h"
#include "src/core/results/json_struct.h"

namespace infimum {
namespace {

// What is read of infimum.explain/1.
struct StoredEffect {
  Latency latency{0};
  std::vector<Latency> interval;
};
template <class Visitor>
void VisitFields(Visitor& visit, Like<StoredEffect> auto& effect) {
  constexpr Limits kEither{-kMaxMicroseconds, kMaxMicroseconds};
  visit("latency_us", effect.latency, kEither);
  visit("interval_us", effect.interval, kEither);
}
struct StoredFactor {
  std::string kind;
  std::vector<std::string> layers;
  StoredEffect effect;
};
template <class Visitor>
void VisitFields(Visitor& visit, Like<StoredFactor> auto& factor) {
  visit("kind", factor.kind);
  visit("layers", factor.layers);
  visit("effect", factor.effect);
}
struct StoredExplanation {
  std::vector<StoredFactor> factors;
};
template <class Visitor>
void VisitFields(Visitor& visit, Like<StoredExplanation> auto& explanation) {
  visit("factors", explanation.factors);
}

// Nothing where the text cannot be read, and of factors that are of other layers.
std::vector<ObservedEffect> EffectsOf(const std::string& text, const ModelGraph& graph) {
  const Result<Json> json = ParseJson(text);
  StoredExplanation stored;
  if (!json.ok() || !FromJson(*json, "", stored).ok()) return {};
  std::map<std::string_view, LayerId> layers;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) layers.emplace(graph.layers[i].name, LayerId(i));
  std::vector<ObservedEffect> effects;
  for (const StoredFactor& factor : stored.factors) {
    const auto is_known = [&layers](const std::string& name) { return layers.contains(name); };
    if (factor.effect.interval.size() != 2 || !std::ranges::all_of(factor.layers, is_known)) continue;
    ObservedEffect& effect = effects.emplace_back();
    for (const std::string& name : factor.layers) effect.layers.push_back(layers.at(name));
    effect.is_fusion = factor.kind == Name(FactorKind::kFusion);
    effect.effect.value = factor.effect.latency;
    effect.effect.half_width = (factor.effect.interval[1] - factor.effect.interval[0]) / 2;
  }
  return effects;
}

Result<std::vector<ObservedEffect>> FindEffects(const ModelAsItIs& model, const RunProfile& run, Store& store) {
  const Selection& selection = model.bracket.selection;
  if (model.graph.sha256.empty()) return std::vector<ObservedEffect>();
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<RunProfile> stored,
                           store.FindRuns(model.graph.sha256, selection.device, model.dims, selection.threads,
                                          std::string(kExplainFramework)));
  const std::string like = ProgramLike(run.framework, run.framework_version);
  for (const RunProfile& one : stored) {
    const auto text = one.settings.find("explanation"), level = one.settings.find("level1");
    if (text == one.settings.end() || level == one.settings.end() || !one.noisy.empty()) continue;
    // A profile may not tell its version.
    const bool is_like = run.framework_version.empty() ? level->second.starts_with(like) : level->second == like;
    if (is_like && one.contract == Name(model.bracket.contract)) return EffectsOf(text->second, model.graph);
  }
  return std::vector<ObservedEffect>();
}

// The bracket of the same layers in the arithmetic that the run's wider rows were computed in; nothing where it cannot
// be had.
std::optional<Bracket> AsRun(const ModelAsItIs& model, const Waterfall& waterfall, MeasurementSource& source) {
  if (std::ranges::find(waterfall.is_wider, true) == waterfall.is_wider.end()) return std::nullopt;
  const Result<ModelUnder> wide = ReadModelUnder(model.model, model.dims, NumericContract::kStrictF32);
  if (!wide.ok()) return std::nullopt;
  const auto name_of = [](const Layer& layer) { return layer.name; };
  if (!std::ranges::equal(wide->graph.layers, model.graph.layers, {}, name_of, name_of)) return std::nullopt;
  Selection selection = model.bracket.selection;
  selection.contract = wide->selected;
  Result<Bracket> bracket = ComputeBracket(wide->graph, source, selection);
  if (!bracket.ok()) return std::nullopt;
  return *std::move(bracket);
}

}  // namespace

Result<AlignedForGap> AlignForGap(const ModelAsItIs& model, const RunProfile& run, Store& store,
                                  std::span<const AlignmentOverride> overrides) {
  AlignedForGap aligned;
  INFIMUM_ASSIGN_OR_RETURN(aligned.alignment, AlignRun(model.graph, run, overrides));
  aligned.as_run = AsRun(model, MakeWaterfall({model.graph, model.bracket, run, aligned.alignment}), store);
  INFIMUM_ASSIGN_OR_RETURN(aligned.effects, FindEffects(model, run, store));
  return aligned;
}

RunGap MakeGap(const ModelGraph& graph, const Bracket& bracket, const RunProfile& run, AlignedForGap aligned,
               bool is_alike) {
  RunGap gap;
  gap.alignment = std::move(aligned.alignment);
  gap.waterfall = MakeWaterfall({graph, bracket, run, gap.alignment, aligned.as_run ? &*aligned.as_run : nullptr});
  gap.is_narrower = IsNarrower(run, gap.waterfall.rows, bracket.contract);
  is_alike = is_alike && !gap.is_narrower;
  RunFacts facts{graph, bracket, run, gap.waterfall, is_alike};
  if (is_alike) facts.effects = aligned.effects;
  gap.findings = FindingsOf(facts);
  return gap;
}

}  // namespace infimum
