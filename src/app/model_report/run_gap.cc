#include "src/app/model_report/run_gap.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace infimum {
namespace {

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

Result<AlignedForGap> AlignForGap(const ModelAsItIs& model, const RunProfile& run, MeasurementSource& source,
                                  std::span<const AlignmentOverride> overrides) {
  AlignedForGap aligned;
  INFIMUM_ASSIGN_OR_RETURN(aligned.alignment, AlignRun(model.graph, run, overrides));
  aligned.as_run = AsRun(model, MakeWaterfall({model.graph, model.bracket, run, aligned.alignment}), source);
  return aligned;
}

RunGap MakeGap(const ModelGraph& graph, const Bracket& bracket, const RunProfile& run, AlignedForGap aligned,
               bool is_alike) {
  RunGap gap;
  gap.alignment = std::move(aligned.alignment);
  gap.waterfall = MakeWaterfall({graph, bracket, run, gap.alignment, aligned.as_run ? &*aligned.as_run : nullptr});
  gap.is_narrower = IsNarrower(run, gap.waterfall.rows, bracket.contract);
  gap.findings = FindingsOf(RunFacts{graph, bracket, run, gap.waterfall, is_alike && !gap.is_narrower});
  return gap;
}

}  // namespace infimum
