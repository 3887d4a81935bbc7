#include "src/app/commands/explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/rows/workload_candidates.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/text/fact_text.h"
#include "src/app/commands/explain/framework_like.h"
#include "src/app/commands/measure/profile_run.h"
#include "src/app/commands/replay/upper_limits.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/read_profile.h"

namespace infimum {
namespace {

// A design longer than the budget costs only its text.
constexpr double kSpareRuns = 2;
constexpr std::size_t kMostRuns = 20000;
constexpr std::size_t kMostLevels = 8'000'000;  // characters of a design

Result<std::optional<RunProfile>> RunOf(const ExplainOptions& options, const ReplayPlan& plan, Store& store) {
  if (options.heuristic || options.rivals) return std::optional<RunProfile>();
  if (options.run.empty()) {
    return FastestRun(store, plan.graph.sha256, plan.bracket.selection, options.replay.dims, options.framework);
  }
  INFIMUM_ASSIGN_OR_RETURN(std::vector<NamedProfile> profiles, ReadProfiles({options.run}));
  RunProfile run = RunOfProfile(std::move(profiles.front().profile));
  if (run.layers.empty()) return Error{options.run.string() + ": it contains no layers to replay the like of"};
  if (!run.model_sha256.empty() && run.model_sha256 != plan.graph.sha256)
    return Error{options.run.string() + ": it is a run of another file than " + options.replay.model.string()};
  return std::optional<RunProfile>(std::move(run));
}

// The time of one inference, as far as it is known beforehand.
Latency ExpectedTime(const Bracket& bracket) {
  for (const BoundVariant variant : {BoundVariant::kWithLayouts, BoundVariant::kFusedSequential})
    if (const Bound* bound = bracket.Find(variant)) return bound->latency;
  return bracket.textbook().latency;
}

ExplainedFactor Described(const ReplaySchedule& schedule, const ReplayResult& result, std::size_t number) {
  ExplainedFactor factor;
  factor.name = schedule.factors[number];
  std::vector<std::vector<std::string>> layers[2];
  std::vector<std::string> candidates[2];
  std::size_t reorders[2] = {0, 0};
  for (const ReplayPart& part : result.parts) {
    const ReplayStep& step = schedule.steps[part.step];
    if (!step.level || step.level->factor != number) continue;
    const std::size_t level = step.level->level;
    if (part.is_reorder) {
      ++reorders[level];
      continue;
    }
    candidates[level].push_back(part.candidate);
    layers[level].push_back(step.layers);
    if (level == 0) factor.layers.insert(factor.layers.end(), step.layers.begin(), step.layers.end());
  }
  factor.kind = layers[0] == layers[1] ? FactorKind::kKernel : FactorKind::kFusion;
  const auto text = [&](std::size_t level) {
    std::string all = Join(candidates[level], " + ");
    return reorders[level] > 0 ? all + " + " + CountText(reorders[level], "reorder") : all;
  };
  factor.level0 = text(0);
  factor.level1 = text(1);
  return factor;
}

std::vector<std::string> NotesOf(const ReplayResult& result) {
  std::vector<std::string> notes;
  if (!result.noisy.empty()) notes.push_back("noisy: " + result.noisy);
  // Those of level 0, then those of level 1.
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    const ReplayOutput& output = result.outputs[i];
    notes.push_back(fmt::format("verified: output {} at level {}: error {:.2g} of its largest element, {:.2g} allowed",
                                output.name, i < result.outputs.size() / 2 ? 0 : 1, output.error, output.tolerance));
  }
  notes.push_back(fmt::format(
      "both levels' weights are prepared, each inference reads those of its own: the caches keep {} of what it goes "
      "through{}",
      PercentText(result.share_near()),
      result.share_near() < 0.5 ? "" : ", and each is timed behind another of the same levels"));
  return notes;
}

double InferencesOfReplicate(std::size_t factors) {
  return static_cast<double>(SettingsOfReplicate(factors) * kRunsOfBlock) / static_cast<double>(kSettingsOfBlock);
}

}  // namespace

std::size_t ReplicatesFor(std::size_t factors, Latency inference, std::chrono::seconds budget) {
  const double runs = InferencesOfReplicate(factors);
  const double wanted = kSpareRuns * (Latency(budget) / std::max(inference, Latency(1)));
  const double most = std::min<double>(kMostRuns, static_cast<double>(kMostLevels) / static_cast<double>(factors));
  return static_cast<std::size_t>(std::max(1.0, std::ceil(std::min(wanted, most) / runs)));
}

Status EstimateFrom(const std::vector<DesignRun>& design, std::vector<std::optional<Latency>> times,
                    const std::vector<Beat>& beats, Explanation& explanation) {
  if (times.size() > design.size()) return Error{"the runner timed more inferences than it was asked for"};
  times.resize(design.size());
  Result<Effects> effects = EstimateEffects(design, times, beats);
  if (!effects.ok()) return Error{effects.error().message + "; raise --budget"};
  explanation.effects = *std::move(effects);
  return {};
}

RunProfile ExplainedRun(const Explanation& explanation, const ExplainOptions& options,
                        std::vector<RunRepetition> level0) {
  RunProfile run;
  run.framework = std::string(kExplainFramework);
  run.framework_version = std::string(InfimumVersion());
  run.model_name = ModelName(options.replay.model);
  run.dims = options.replay.dims;
  run.threads = options.replay.campaign.threads;
  run.settings["level0"] = explanation.level0;
  run.settings["level1"] = explanation.level1;
  run.settings["explanation"] = ExplanationJson(explanation);
  run.end_to_end = std::move(level0);
  return run;
}

Result<Explanation> ExplainModel(const ExplainOptions& options, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                           OpenStore(options.replay.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const ReplayPlan plan, PlanReplay(options.replay, installation, *store, log));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<RunProfile> run, RunOf(options, plan, *store));
  INFIMUM_ASSIGN_OR_RETURN(const CandidatesOfModel known, CandidatesOf(plan.graph, *store, plan.bracket.selection));
  const FrameworkLike other =
      options.rivals ? RivalsOf(plan, known) : FrameworkLikeOf(plan, known, run ? &*run : nullptr);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<ReplayUnit> best, UnitsOf(plan.graph, plan.candidates, plan.regions));
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<ReplayUnit> like, UnitsOf(plan.graph, other.candidates, other.regions));
  INFIMUM_ASSIGN_OR_RETURN(const ReplayChoices choices, ChoicesBetween(plan.graph, best, like));

  Explanation explanation;
  explanation.model = plan.graph.name;
  explanation.device = plan.here.device.name;
  explanation.level0 = "the best known kernels";
  explanation.level1 = run              ? ProgramLike(run->framework, run->framework_version)
                       : options.rivals ? "the next best known kernels"
                                        : "the libraries' own choices, layer by layer";
  if (choices.factors.empty()) {
    return Error{fmt::format("nothing can be switched: {}; `infimum analyze {}` measures more candidates",
                             options.rivals ? "no other candidate takes at most a quarter longer"
                                            : explanation.level1 + " is what the best plan runs anyway",
                             options.replay.model.string())};
  }
  const Latency needed = InferencesOfReplicate(choices.factors.size()) * ExpectedTime(plan.bracket);
  if (needed > Latency(options.budget))
    log.Warn(
        fmt::format("{} choices take a design of {:.0f} inferences, some {}; part of it may say nothing: --budget {}s",
                    choices.factors.size(), InferencesOfReplicate(choices.factors.size()),
                    FormatDuration(std::chrono::duration_cast<Clock::Duration>(needed)),
                    static_cast<std::int64_t>(std::ceil(needed.count() * 1.5e-6))));
  INFIMUM_ASSIGN_OR_RETURN(ReplaySchedule schedule, BuildReplaySchedule(plan.graph, choices));
  if (plan.selected) schedule.contract = Name(*plan.selected);
  const std::vector<DesignRun> design =
      MakeDesign(choices.factors.size(),
                 ReplicatesFor(choices.factors.size(), ExpectedTime(plan.bracket), options.budget), options.seed);
  for (const DesignRun& one : design) schedule.design.push_back(one.levels);
  log.Say(fmt::format("{} choices between {} and {}; whole inferences for {}", choices.factors.size(),
                      explanation.level0, explanation.level1,
                      FormatDuration(std::chrono::duration_cast<Clock::Duration>(options.budget))));
  INFIMUM_ASSIGN_OR_RETURN(
      const ReplayResult result,
      RunOnTensors(installation, options.replay, schedule,
                   {"--rounds", "1", "--budget", fmt::format("{}s", options.budget.count())}, log));
  if (const std::optional<std::string> fault = result.FirstFault()) return Error{"wrong numbers: " + *fault};
  INFIMUM_RETURN_IF_ERROR(
      EstimateFrom(design, {result.inferences.begin(), result.inferences.end()}, result.beats, explanation));
  for (std::size_t i = 0; i < choices.factors.size(); ++i)
    explanation.factors.push_back(Described(schedule, result, i));
  explanation.notes = NotesOf(result);
  RunProfile kept = ExplainedRun(explanation, options, result.repetitions);
  kept.noisy = result.noisy;
  kept.model_sha256 = plan.graph.sha256;
  kept.contract = std::string(Name(plan.bracket.contract));
  kept.device = plan.bracket.selection.device.text;
  INFIMUM_RETURN_IF_ERROR(store->ImportRun(kept));
  return explanation;
}

}  // namespace infimum
