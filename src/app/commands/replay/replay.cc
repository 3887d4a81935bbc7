#include "src/app/commands/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"
#include "src/app/models/model_variant.h"
#include "src/app/processes/child_process.h"
#include "src/app/processes/temporary_folder.h"
#include "src/app/runners/cold_weights.h"
#include "src/app/runners/transform_times.h"
#include "src/core/graph/framework_names.h"
#include "src/core/results/replay_schedule_text.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

// For changes of layout that have no time yet: a model has some ten different ones.
constexpr std::chrono::seconds kReplayTransformsTime{60};

std::chrono::seconds LeftUntil(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::seconds>(end - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::seconds(1));
}

// Runs a child whose last word on standard error is its complaint. Exit codes other than 0 are errors.
Status RunChild(const std::vector<std::string>& arguments, std::string_view what, const ReplayOptions& options,
                ProgressLog& log) {
  std::string complaint;
  const auto take_error = [&](std::string_view line) {
    log.Detail(line);
    if (!TrimSpace(line).empty()) complaint = std::string(TrimSpace(line));
  };
  ProcessRequest request;
  request.arguments = arguments;
  if (options.end) request.most = LeftUntil(*options.end);
  INFIMUM_ASSIGN_OR_RETURN(const ProcessEnd end, RunProcess(
                                                     request, [](std::string_view) { return Status(); }, take_error));
  if (end.interrupted) return Error{fmt::format("interrupted while {}", what)};
  if (end.given_up || end.exit_code > 128) return Error{fmt::format("{}: the process {}", what, end.how)};
  if (end.exit_code == 0) return {};
  constexpr std::string_view kLead = "infimum: error: ";
  if (complaint.starts_with(kLead)) complaint.erase(0, kLead.size());
  return Error{fmt::format("{}: {}", what, complaint.empty() ? fmt::format("exit code {}", end.exit_code) : complaint)};
}

void AddDims(const std::map<std::string, std::int64_t>& dims, std::vector<std::string>& arguments) {
  for (const auto& [name, extent] : dims) {
    arguments.insert(arguments.end(), {"--dim", fmt::format("{}={}", name, extent)});
  }
}

Status WriteTensors(const Installation& installation, const ReplayOptions& options,
                    const std::filesystem::path& schedule, const std::filesystem::path& folder, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const std::filesystem::path script, installation.FrameworkScript(framework::kOnnxRuntime));
  std::vector<std::string> arguments{installation.Python(options.python),
                                     (script.parent_path() / "write_replay_tensors.py").string(),
                                     std::filesystem::absolute(options.model).string(),
                                     "--schedule",
                                     schedule.string(),
                                     "--output",
                                     folder.string()};
  AddDims(options.dims, arguments);
  return RunChild(arguments, "ONNX Runtime could not compute the model's tensors", options, log);
}

Result<ReplayResult> RunSchedule(const Installation& installation, const ReplayOptions& options,
                                 const std::filesystem::path& schedule, const std::filesystem::path& folder,
                                 const std::filesystem::path& output, const std::vector<std::string>& more,
                                 ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const std::filesystem::path runner, installation.Runner(options.campaign.backend));
  std::vector<std::string> arguments{runner.string(), "--replay",      schedule.string(),
                                     "--tensors",     folder.string(), "-o",
                                     output.string(), "--threads",     std::to_string(options.campaign.threads)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  for (const auto& [name, value] : options.campaign.backend_options) {
    arguments.insert(arguments.end(), {"--backend-option", name + "=" + value});
  }
  const Status ran = RunChild(arguments, "the replay failed", options, log);
  // A runner that found wrong numbers fails, and has written which.
  Result<std::string> text = ReadFile(output);
  if (!text.ok()) return ran.ok() ? text.error() : ran.error();
  Result<ReplayResult> result = ParseReplayResult(*text);
  if (!result.ok()) return ran.ok() ? Within(output.string(), result.error()) : ran.error();
  return result;
}

Result<ReplaySchedule> ScheduleOf(const ModelGraph& graph, const std::vector<ReplayCandidate>& candidates,
                                  const std::vector<ReplayRegion>& regions) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<ReplayUnit> units, UnitsOf(graph, candidates, regions));
  return BuildReplaySchedule(graph, units);
}

void ChooseBy(const Bracket& bracket, ReplayPlan& chosen) {
  for (const LayerLatency& layer : bracket.layers)
    chosen.candidates.push_back(layer.candidate ? ByName(*layer.candidate) : ReplayCandidate());
  const auto add_region = [&](std::size_t place, const Candidate& candidate) {
    const RegionLatency& region = bracket.regions[place];
    if (region.region) chosen.regions.push_back({*region.region, ByName(candidate)});
  };
  if (bracket.layouts) {
    for (const PlannedNode& unit : bracket.layouts->nodes) {
      if (unit.region) {
        add_region(*unit.region, unit.candidate);
      } else if (!unit.candidate.algorithm.empty()) {
        chosen.candidates[unit.layers[0].index()] = ByName(unit.candidate);
      }
    }
  } else {
    for (std::size_t i = 0; i < bracket.regions.size(); ++i)
      if (bracket.regions[i].is_chosen) add_region(i, bracket.regions[i].candidate);
  }
  // In a bound a layer that was not measured costs nothing, so a region that has it is never chosen. Here nothing is
  // known that would speak for its layers alone.
  std::vector<bool> taken(bracket.layers.size(), false);
  for (const ReplayRegion& region : chosen.regions)
    for (LayerId layer : region.region.layers) taken[layer.index()] = true;
  for (std::size_t i = 0; i < bracket.regions.size(); ++i) {
    const RegionLatency& region = bracket.regions[i];
    const auto is_taken = [&](LayerId layer) { return taken[layer.index()]; };
    if (!region.region || !region.has_missing || std::ranges::any_of(region.layers, is_taken)) continue;
    for (LayerId layer : region.layers) taken[layer.index()] = true;
    add_region(i, region.candidate);
  }
}

// What the stored run says of its composition; "sum_alone_us" is the warm one's name from before there were others.
constexpr std::string_view kShareSetting = "resident_share";
std::string SumSetting(CacheState cache) {
  return cache == CacheState::kWarm ? "sum_alone_us" : fmt::format("sum_alone_{}_us", Name(cache));
}
std::string ErrorSetting(CacheState cache) { return fmt::format("composition_error_{}", Name(cache)); }

RunProfile ProfileOf(const Replay& replay, const ReplayOptions& options, const ReplayPlan& plan) {
  RunProfile run;
  run.framework = std::string(kReplayFramework);
  run.framework_version = std::string(InfimumVersion());
  run.model_name = ModelName(options.model);
  run.model_sha256 = plan.graph.sha256;
  run.dims = options.dims;
  run.threads = options.campaign.threads;
  run.contract = std::string(Name(plan.bracket.contract));
  run.device = plan.bracket.selection.device.text;
  run.settings["backend"] = options.campaign.backend;
  for (const CacheState cache : {CacheState::kWarm, CacheState::kColdWeights}) {
    run.settings[SumSetting(cache)] = fmt::format("{:.3f}", replay.result.sum_alone(cache).count());
    run.settings[ErrorSetting(cache)] = fmt::format("{:.6f}", replay.result.composition_error(cache));
  }
  run.settings[std::string(kShareSetting)] = fmt::format("{:.3f}", replay.result.share_near());
  run.end_to_end = replay.result.repetitions;
  run.noisy = replay.result.noisy;
  for (const ReplayPart& part : replay.result.parts) {
    ProfiledLayer layer;
    layer.name = part.name;
    layer.op = part.is_reorder ? "Reorder" : std::string(FamilyOf(replay.schedule.steps[part.step].workload));
    layer.provider = part.candidate;
    if (!part.is_reorder) layer.nodes = replay.schedule.steps[part.step].layers;
    layer.samples = {part.in_loop};
    run.layers.push_back(std::move(layer));
  }
  return run;
}

// A candidate's sampling time, of which a replay's stretches and parts get their multiples
// (microbench/harness/sampling/replay.md), so short that all processes should end in time. The first of them also
// checks, which may take so long that it stays the only one (`--budget`).
std::vector<std::string> SamplingUntil(std::chrono::steady_clock::time_point end, std::size_t steps,
                                       std::int64_t rounds) {
  constexpr double kTimed = 0.6, kOfProcess = 25, kOfPart = 0.2, kMost = 0.2, kLeast = 0.02;  // seconds
  const double left = std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count();
  const double units = static_cast<double>(rounds) * (kOfProcess + kOfPart * static_cast<double>(steps));
  return {"--candidate-budget", fmt::format("{:.0f}ms", 1e3 * std::clamp(kTimed * left / units, kLeast, kMost))};
}

}  // namespace

ReplayCandidate ByName(const Candidate& candidate) {
  return {candidate.name(), candidate.input_layout, candidate.output_layout};
}

Result<ReplayPlan> PlanReplay(const ReplayOptions& options, const Installation& installation, Store& store,
                              ProgressLog& log) {
  ReplayPlan plan;
  INFIMUM_ASSIGN_OR_RETURN(ModelUnder under, ReadModelUnder(options.model, options.dims, options.contract, true, true));
  plan.graph = std::move(under.graph);
  plan.selected = under.selected;
  // What cannot be replayed is said before anything is measured or made.
  INFIMUM_RETURN_IF_ERROR(ScheduleOf(plan.graph, {}, {}));
  INFIMUM_ASSIGN_OR_RETURN(plan.here, DescribeRunner(installation, options.campaign));

  Selection selection;
  selection.device = plan.here.device.Key();
  selection.threads = options.campaign.threads;
  selection.cache = options.campaign.cache;
  selection.contract = plan.selected;
  // A bracket needs them for its floor, and so do the bounds that R will stand in.
  INFIMUM_ASSIGN_OR_RETURN(const DevicePeaks peaks, store.Peaks(selection.device));
  const bool has_peaks = std::any_of(peaks.rates.begin(), peaks.rates.end(),
                                     [&](const PeakRate& rate) { return rate.threads == selection.threads; });
  if (!has_peaks) {
    log.Say("measuring the device's peaks (rates of memory and caches, arithmetic by type)");
    INFIMUM_RETURN_IF_ERROR(MeasurePeaks(installation, options.campaign, PeaksMeasured::kFirst, store, log));
  }
  BracketOptions taken;
  taken.takes = [&](const FusableRegion& region) { return options.regions && CanReplay(region); };
  CampaignOptions transforms = options.campaign;
  transforms.budget = kReplayTransformsTime;
  if (options.end) transforms.budget = std::min(transforms.budget, LeftUntil(*options.end));
  INFIMUM_ASSIGN_OR_RETURN(plan.bracket,
                           WithTransformTimes(installation, plan.graph, store, selection, taken, transforms, log));
  const auto unmeasured = std::ranges::count_if(plan.bracket.layers, [](const LayerLatency& layer) {
    return !layer.candidate && layer.status != LatencyStatus::kFree;
  });
  if (unmeasured > 0) {
    log.Warn(
        fmt::format("{} of {} layers are not measured and run with the library's default algorithm; `infimum analyze "
                    "{}` measures them",
                    unmeasured, plan.bracket.layers.size(), options.model.string()));
  }
  ChooseBy(plan.bracket, plan);
  return plan;
}

Result<ReplayResult> RunOnTensors(const Installation& installation, const ReplayOptions& options,
                                  const ReplaySchedule& schedule, const std::vector<std::string>& arguments,
                                  ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const TemporaryFolder temporary, TemporaryFolder::Make());
  const std::filesystem::path folder = options.keep.empty() ? temporary.path() : options.keep;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{folder.string() + ": cannot be made: " + error.message()};
  const std::filesystem::path file = folder / "schedule.json";
  INFIMUM_RETURN_IF_ERROR(WriteFile(file, FormatReplaySchedule(schedule)));
  log.Say("making weights, inputs and expected outputs with ONNX Runtime");
  INFIMUM_RETURN_IF_ERROR(WriteTensors(installation, options, file, folder / "tensors", log));
  log.Say(fmt::format("replaying {} steps; each is checked once", schedule.steps.size()));
  std::vector<std::string> all = arguments;
  if (options.end) {
    std::ranges::copy(SamplingUntil(*options.end, schedule.steps.size(), options.rounds), std::back_inserter(all));
    all.insert(all.end(), {"--budget", fmt::format("{}s", LeftUntil(*options.end).count())});
  }
  INFIMUM_ASSIGN_OR_RETURN(ReplayResult result, RunSchedule(installation, options, file, folder / "tensors",
                                                            folder / "replay.json", all, log));
  for (const ReplayPart& part : result.parts)
    if (part.step >= schedule.steps.size()) return Error{"the runner reported a step that is not in the schedule"};
  return result;
}

Result<Replay> RunPlan(const ReplayOptions& options, const Installation& installation, const ReplayPlan& plan,
                       Store& store, ProgressLog& log) {
  Replay replay;
  INFIMUM_ASSIGN_OR_RETURN(replay.schedule, ScheduleOf(plan.graph, plan.candidates, plan.regions));
  if (plan.selected) replay.schedule.contract = Name(*plan.selected);
  INFIMUM_ASSIGN_OR_RETURN(replay.result, RunOnTensors(installation, options, replay.schedule,
                                                       {"--rounds", std::to_string(options.rounds)}, log));
  if (replay.result.FirstFault()) return replay;
  INFIMUM_RETURN_IF_ERROR(store.ImportRun(ProfileOf(replay, options, plan)));
  // As it is in the file, whatever the contract makes of it.
  std::optional<ModelGraph> read_again;
  if (options.contract) {
    INFIMUM_ASSIGN_OR_RETURN(read_again, ReadModel(options.model, ReadOptions{options.dims}));
  }
  const ModelGraph& stored = read_again ? *read_again : plan.graph;
  INFIMUM_RETURN_IF_ERROR(store.ImportModel(DescribeModel(ModelName(options.model), stored, options.dims)));
  return replay;
}

Result<Replay> ReplayModel(const ReplayOptions& options, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const ReplayPlan plan, PlanReplay(options, installation, *store, log));
  INFIMUM_ASSIGN_OR_RETURN(Replay replay, RunPlan(options, installation, plan, *store, log));
  // R stands in a bound that finds the weights as R did.
  if (!replay.result.FirstFault() && replay.result.cache_of_weights() == CacheState::kColdWeights) {
    CampaignOptions campaign = options.campaign;
    campaign.rounds = options.rounds;
    INFIMUM_RETURN_IF_ERROR(
        MeasureColdWeights(installation, plan.here, plan.graph, plan.bracket.selection, campaign, *store, log));
  }
  return replay;
}

Result<std::string> ScheduleText(const ReplayOptions& options) {
  INFIMUM_ASSIGN_OR_RETURN(const ModelUnder under,
                           ReadModelUnder(options.model, options.dims, options.contract, true, true));
  std::vector<FusableRegion> found;
  if (options.regions) found = FindFusableRegions(under.graph);
  // Nobody knows here what the machine's runner has, and of a GPU none runs these as one.
  std::erase_if(found, [](const FusableRegion& region) { return region.rule == "normalization-epilogue"; });
  std::ranges::stable_sort(found, std::greater<>(), [](const FusableRegion& region) { return region.layers.size(); });
  std::vector<ReplayRegion> regions;
  std::vector<bool> taken(under.graph.layers.size(), false);
  for (FusableRegion& region : found) {
    const auto is_taken = [&](LayerId layer) { return taken[layer.index()]; };
    if (!CanReplay(region) || std::ranges::any_of(region.layers, is_taken)) continue;
    for (LayerId layer : region.layers) taken[layer.index()] = true;
    regions.push_back({std::move(region), {}});
  }
  INFIMUM_ASSIGN_OR_RETURN(ReplaySchedule schedule, ScheduleOf(under.graph, {}, regions));
  if (under.selected) schedule.contract = Name(*under.selected);
  return FormatReplaySchedule(schedule);
}

std::optional<CompositionError> CompositionOf(const RunProfile& replay) {
  const auto number = [&](const std::string& name) -> std::optional<double> {
    const auto found = replay.settings.find(name);
    return found == replay.settings.end() ? std::nullopt : ParseNumber(found->second);
  };
  const std::optional<double> warm = number(ErrorSetting(CacheState::kWarm)),
                              cold = number(ErrorSetting(CacheState::kColdWeights)),
                              share = number(std::string(kShareSetting));
  const bool is_said = warm && cold && share && *warm > 0 && *cold > 0 && *share >= 0 && *share <= 1;
  return is_said ? std::optional(CompositionError{*warm, *cold, *share}) : std::nullopt;
}

Result<std::vector<RunProfile>> StoredReplays(Store& store, const std::string& model_sha256, const DeviceKey& device,
                                              const std::map<std::string, std::int64_t>& dims, std::int64_t threads) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<RunProfile> runs,
                           store.FindRuns(model_sha256, device, dims, threads, std::string(kReplayFramework)));
  std::erase_if(runs, [](const RunProfile& run) { return !run.noisy.empty(); });
  return runs;
}

}  // namespace infimum
