#include "src/app/commands/explain/switches.h"

#include <fmt/format.h>

#include <utility>

#include "infimum/base/file_text.h"
#include "infimum/base/quantity_text.h"
#include "src/app/processes/temporary_folder.h"
#include "src/app/runners/framework_run.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/core/results/json_struct.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

constexpr std::string_view kSwitchesSchema = "infimum.switches/1";

struct FoundSwitches {
  std::string version;
  std::vector<ExplainedFactor> factors;
  Latency inference{0};  // with nothing off
  std::vector<std::string> notes;
};

struct SwitchedTimes {
  std::vector<Latency> inferences;
  std::vector<std::size_t> disturbed;  // which of them do not count
  std::string noisy;                   // as in RunProfile
  std::vector<std::string> notes;
};

}  // namespace

static void VisitFields(auto& visit, Like<ExplainedFactor> auto& factor) {
  visit("name", factor.name);
  visit("level0", factor.level0);
  visit("level1", factor.level1);
}

static void VisitFields(auto& visit, Like<FoundSwitches> auto& found) {
  visit("framework_version", found.version);
  visit("factors", found.factors);
  visit("inference_us", found.inference);
  visit("notes", found.notes);
}

static void VisitFields(auto& visit, Like<SwitchedTimes> auto& times) {
  visit("inferences_us", times.inferences);
  visit("disturbed", times.disturbed);
  visit("noisy", times.noisy);
  visit("notes", times.notes);
}

namespace {

template <class Answer>
Result<Answer> ReadAnswer(const Result<std::string>& text, const std::string& framework) {
  if (!text.ok()) {
    if (text.error().message.starts_with("interrupted")) return text.error();
    return Error{fmt::format("the switches of {} could not be explained: {}", framework, text.error().message)};
  }
  return Within(framework + "'s switches", ParseDocument<Answer>(*text, kSwitchesSchema));
}

}  // namespace

std::vector<DesignRun> DesignOfSwitches(std::size_t factors, std::size_t replicates, std::uint64_t seed) {
  if (factors < 64 && std::size_t{1} << factors <= kMostPrograms) return MakeDesign(factors, replicates, seed);
  const std::vector<DesignRun> first = MakeDesign(factors, 1, seed);
  std::vector<DesignRun> design;
  for (std::size_t replicate = 0; replicate < replicates; ++replicate) {
    for (DesignRun run : first) {
      run.block += replicate * (first.size() / kRunsOfBlock);
      design.push_back(std::move(run));
    }
  }
  return design;
}

Result<SwitchedRun> RunSwitches(const Installation& installation, const ExplainOptions& options, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  ScriptRun script{.framework = options.switches,
                   .task = "explain",
                   .python = options.replay.python,
                   .arguments = {},
                   .what = "explaining " + options.switches};
  script.arguments = {std::filesystem::absolute(options.replay.model).string(), "--threads",
                      std::to_string(options.replay.campaign.threads)};
  for (const auto& [name, extent] : options.replay.dims)
    if (!IsQuantity(name))
      script.arguments.insert(script.arguments.end(), {"--dim", fmt::format("{}={}", name, extent)});
  if (!options.module.empty()) script.arguments.insert(script.arguments.end(), {"--module", options.module});
  log.Say("looking for the switches of " + options.switches + " that change anything for this model");
  INFIMUM_ASSIGN_OR_RETURN(
      FoundSwitches found,
      ReadAnswer<FoundSwitches>(RunScript(installation, script, folder.path(), log), options.switches));
  if (found.factors.empty()) return Error{"no switch of " + options.switches + " changes anything for this model"};

  // Half of the inferences are those that the timed ones follow.
  const std::vector<DesignRun> design = DesignOfSwitches(
      found.factors.size(), ReplicatesFor(found.factors.size(), 2 * found.inference, options.budget), options.seed);
  const std::filesystem::path runs = folder.path() / "design.txt";
  std::string levels;
  for (const DesignRun& run : design) levels += run.levels + '\n';
  INFIMUM_RETURN_IF_ERROR(WriteFile(runs, levels));
  script.arguments.insert(script.arguments.end(),
                          {"--design", runs.string(), "--seconds", std::to_string(options.budget.count())});
  for (ExplainedFactor& factor : found.factors) {
    factor.kind = FactorKind::kSwitch;
    script.arguments.insert(script.arguments.end(), {"--switch", factor.name});
  }
  log.Say(fmt::format("{} switches of {} {}; whole inferences for {}", found.factors.size(), options.switches,
                      found.version, FormatDuration(std::chrono::duration_cast<Clock::Duration>(options.budget))));
  INFIMUM_ASSIGN_OR_RETURN(
      const SwitchedTimes timed,
      ReadAnswer<SwitchedTimes>(RunScript(installation, script, folder.path(), log), options.switches));

  SwitchedRun run;
  Explanation& explanation = run.explanation;
  explanation.model = ModelName(options.replay.model);
  explanation.level0 = fmt::format("{} {} as by default", options.switches, found.version);
  explanation.level1 = "with all of these switches off";
  std::vector<std::optional<Latency>> times(timed.inferences.begin(), timed.inferences.end());
  for (const std::size_t index : timed.disturbed)
    if (index < times.size()) times[index].reset();
  for (std::size_t i = 0; i < times.size() && i < design.size(); ++i)
    if (times[i] && design[i].levels.find('1') == std::string::npos) run.level0.samples.push_back(*times[i]);
  INFIMUM_RETURN_IF_ERROR(EstimateFrom(design, std::move(times), {}, explanation));
  explanation.factors = std::move(found.factors);
  explanation.notes = timed.notes;
  run.noisy = timed.noisy;
  if (!run.noisy.empty()) explanation.notes.insert(explanation.notes.begin(), "noisy: " + run.noisy);
  explanation.notes.insert(explanation.notes.end(), found.notes.begin(), found.notes.end());
  return run;
}

Result<Explanation> ExplainSwitches(const ExplainOptions& options, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const ModelGraph graph, ReadModel(options.replay.model, ReadOptions{options.replay.dims}));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                           OpenStore(options.replay.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const RunnerDescription here, DescribeRunner(installation, options.replay.campaign));
  if (here.device.kind != DeviceKind::kCpu)
    return Error{
        fmt::format("--switches: {} is switched on a processor, not on {}", options.switches, here.device.name)};
  INFIMUM_ASSIGN_OR_RETURN(SwitchedRun run, RunSwitches(installation, options, log));
  run.explanation.device = here.device.name;
  RunProfile kept = ExplainedRun(run.explanation, options, {run.level0});
  kept.noisy = run.noisy;
  kept.model_sha256 = graph.sha256;
  kept.contract = std::string(Name(MainContract(graph)));
  kept.device = here.device.Key().text;
  INFIMUM_RETURN_IF_ERROR(store->ImportRun(kept));
  return std::move(run.explanation);
}

}  // namespace infimum
