#include "infimum/workflow/run_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infimum/analyzer/timeline_run.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "infimum/reports/quantity_text.h"
#include "infimum/workflow/device_choice.h"
#include "src/workflow/finding_commands.h"
#include "src/workflow/report_filling.h"
#include "src/workflow/run_gap.h"
#include "src/workflow/upper_limits.h"

namespace infimum {
namespace {

// Of a model that nothing is known of: what alignment and the findings about the run itself need.
Bracket WithoutTimes(const ModelGraph& graph, const Selection& selection) {
  Bracket bracket;
  bracket.selection = selection;
  bracket.contract = selection.contract.value_or(MainContract(graph));
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    LayerLatency layer;
    layer.layer = LayerId(i);
    if (graph.layers[i].status == LayerStatus::kFree) layer.status = LatencyStatus::kFree;
    bracket.layers.push_back(std::move(layer));
  }
  return bracket;
}

// What a column is called: the file's own name, of a folder the folder's.
std::string ColumnOf(const std::string& source) {
  const std::filesystem::path path(source);
  const std::filesystem::path name = path.filename().empty() ? path.parent_path().filename() : path.filename();
  return name.empty() ? source : name.string();
}

// What runs are held against, asked once for all of them.
struct Asked {
  const RunComparisonOptions& options;
  const std::map<std::string, std::int64_t>& dims;
  const ModelGraph& graph;
  std::optional<NumericContract> selected;
  const Installation& installation;
  Store& store;
  bool is_stored = false;  // the store exists
};

// The command that would make the bound, or make it better.
std::string AnalyzeCommand(const Asked& asked, const Selection& selection) {
  std::string command = "infimum analyze " + asked.options.model.string();
  for (const auto& [name, extent] : asked.dims) command += fmt::format(" --dim {}={}", name, extent);
  if (asked.options.database != "infimum.db") command += " --db " + ShownAddress(asked.options.database);
  if (selection.threads != 1) command += fmt::format(" --threads {}", selection.threads);
  if (selection.contract) command += fmt::format(" --contract {}", Name(*selection.contract));
  return command;
}

// Whether it ran on something else than a processor, as far as it tells.
bool IsOfAccelerator(const RunProfile& run) {
  return run.idle || run.framework == "tensorrt" || std::ranges::any_of(run.layers, [](const ProfiledLayer& layer) {
           return layer.provider == "CUDAExecutionProvider" || layer.provider == "TensorrtExecutionProvider" ||
                  layer.provider == "ROCMExecutionProvider" || layer.provider == "MIGraphXExecutionProvider";
         });
}

// The device, or nothing with a remark.
std::optional<Device> DeviceOf(const Asked& asked, ComparedRun& compared) {
  std::string told = asked.options.device.empty() ? compared.run.device : asked.options.device;
  if (const auto name = compared.run.settings.find("device_name"); told.empty() && name != compared.run.settings.end())
    told = name->second;
  if (told.empty() && IsOfAccelerator(compared.run)) {
    compared.remarks.push_back(
        "no floor and no bound: the profile does not say which device it ran on; --device NAME does");
    return std::nullopt;
  }
  Result<Device> device = ChooseDevice(told, asked.installation, asked.options.campaign, asked.store);
  if (!device.ok()) {
    compared.remarks.push_back("no floor and no bound: " + device.error().message);
    return std::nullopt;
  }
  if (told.empty())
    compared.remarks.push_back("the profile does not say where it ran: taken as " + device->name +
                               " (this device); --device NAME says otherwise");
  return *std::move(device);
}

// Below this the model is probably not the one that ran, or not in these shapes.
constexpr double kLeastAligned = 0.9;

void RemarkOnAlignment(const Asked& asked, ComparedRun& compared) {
  const Alignment& alignment = compared.alignment;
  compared.remarks.insert(compared.remarks.end(), alignment.remarks.begin(), alignment.remarks.end());
  const Latency meant = alignment.measured - alignment.own;
  // Of another file it is said that its layers are matched as well as they can be.
  const bool is_other = !compared.run.model_sha256.empty() && compared.run.model_sha256 != asked.graph.sha256;
  if (is_other || !alignment.remarks.empty() || meant.count() <= 0 || alignment.unmatched < meant * (1 - kLeastAligned))
    return;
  std::string text = fmt::format(
      "only {:.0f} % of the layers' time could be matched with this model: is it the one that ran, "
      "with these dimensions?",
      100 * (1 - alignment.unmatched / meant));
  if (!asked.graph.inputs.empty() && asked.graph.value(asked.graph.inputs.front()).shape)
    text += " Its input is " + Format(*asked.graph.value(asked.graph.inputs.front()).shape);
  const auto first = std::ranges::find_if(compared.run.layers, [](const ProfiledLayer& layer) {
    return !layer.input_tensors.empty() && layer.input_tensors.front().dims.size() > 1;
  });
  if (first != compared.run.layers.end()) {
    const std::vector<std::int64_t>& dims = first->input_tensors.front().dims;
    text += fmt::format(", the run's first layer with shapes, {}, reads {}", first->name, fmt::join(dims, "x"));
  }
  compared.remarks.push_back(std::move(text));
}

void RemarkOnBound(const Asked& asked, ComparedRun& compared) {
  const Bracket& bracket = compared.bracket;
  const bool is_here = asked.options.device.empty() && compared.device.kind == DeviceKind::kCpu;
  const std::string& model = asked.options.model.string();
  const std::string how =
      is_here
          ? "`" + AnalyzeCommand(asked, compared.selection) + "` measures it"
          : fmt::format("`infimum plan {} -o plan.txt` writes what to run there, `infimum import` takes the results",
                        model);
  if (bracket.coverage.measured <= 0) {
    compared.remarks.push_back("no bound yet: no layer was measured on this device; " + how);
  } else if (bracket.coverage.missing > 0) {
    const auto missing = std::ranges::count(bracket.layers, LatencyStatus::kMissing, &LayerLatency::status);
    compared.remarks.push_back(
        fmt::format("{} of {} layers were not measured ({:.1f} % of the time by their floors): the "
                    "bound lacks them; {}",
                    missing, bracket.layers.size(), 100 * bracket.coverage.missing, how));
  }
  if (!compared.run.model_sha256.empty() && !asked.graph.sha256.empty() &&
      compared.run.model_sha256 != asked.graph.sha256)
    compared.remarks.push_back(
        "the run is of another file than this model: its layers are matched by their names and shapes");
  if (!compared.run.contract.empty() && compared.run.contract != Name(bracket.contract))
    compared.remarks.push_back(fmt::format("the run computes under the contract {}, the bound is under {}",
                                           compared.run.contract, Name(bracket.contract)));
}

// From here on the two runs behind a profile say different things.
constexpr double kMostScatter = 0.1;

void RemarkOnScatter(ComparedRun& compared) {
  const Waterfall& waterfall = compared.waterfall;
  if (std::abs(waterfall.scatter.count()) <= kMostScatter * waterfall.measured.count()) return;
  compared.remarks.push_back(
      fmt::format("the layers' medians and what stands between them make {}, the run took {}: other work seems to have "
                  "disturbed one of "
                  "the two; measure again on a quiet machine",
                  LatencyText(waterfall.measured - waterfall.scatter), LatencyText(waterfall.measured)));
}

Status Compare(const Asked& asked, ComparedRun& compared) {
  compared.selection.threads = asked.options.threads.value_or(compared.run.threads);
  compared.selection.cache = asked.options.campaign.cache;
  compared.selection.contract = asked.selected;
  std::optional<Device> device = DeviceOf(asked, compared);
  compared.bracket = WithoutTimes(asked.graph, compared.selection);
  if (device) {
    compared.device = *std::move(device);
    compared.selection.device = compared.device.Key();
    if (compared.device.kind == DeviceKind::kGpu) compared.selection.threads = 1;  // it works as a whole
    Result<Bracket> bracket = ComputeBracket(asked.graph, asked.store, compared.selection);
    // A device without peaks and data sheet has neither floor nor bound, and the rest can still be said.
    if (bracket.ok()) {
      compared.bracket = *std::move(bracket);
      INFIMUM_RETURN_IF_ERROR(
          HoldAgainstReplays(asked.store, asked.graph.sha256, compared.selection, asked.dims, compared.bracket));
      if (std::optional<UpperLimit> limit = LimitOf(compared.run, compared.bracket))
        HoldAgainst(*std::move(limit), compared.bracket);
      RemarkOnBound(asked, compared);
    } else {
      compared.remarks.push_back("no floor and no bound: " + bracket.error().message);
    }
  }
  INFIMUM_ASSIGN_OR_RETURN(
      RunGap gap, GapOf({asked.options.model, asked.dims, asked.options.contract, asked.graph, compared.bracket},
                        compared.run, asked.store, asked.options.overrides));
  compared.alignment = std::move(gap.alignment);
  compared.waterfall = std::move(gap.waterfall);
  compared.findings = std::move(gap.findings);
  RemarkOnAlignment(asked, compared);
  RemarkOnScatter(compared);
  return {};
}

// Of each run that computes in a narrower type than another: where that does not pay, held against the widest.
void ComparePrecisions(const ModelGraph& graph, std::vector<ComparedRun>& runs) {
  const auto is_narrower = [](const ComparedRun& one, const ComparedRun& other) {
    return IsNarrower(one.run, one.waterfall.rows, other.run, other.waterfall.rows);
  };
  for (ComparedRun& narrow : runs) {
    const ComparedRun* widest = nullptr;
    for (const ComparedRun& other : runs)
      if (is_narrower(narrow, other) && (widest == nullptr || is_narrower(*widest, other))) widest = &other;
    if (widest == nullptr) continue;
    std::optional<Finding> finding =
        PrecisionThatDoesNotPay(graph, widest->run, widest->waterfall.rows, narrow.run, narrow.waterfall.rows);
    if (!finding) continue;
    finding->evidence = "against " + ColumnOf(widest->source) + ": " + finding->evidence;
    narrow.findings.push_back(*std::move(finding));
    std::stable_sort(narrow.findings.begin(), narrow.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.gain > b.gain; });
  }
}

// The run that a store keeps, where no profile is given.
Result<std::vector<NamedProfile>> StoredProfile(const Asked& asked) {
  Selection selection;
  selection.threads = asked.options.threads.value_or(1);
  INFIMUM_ASSIGN_OR_RETURN(const Device device,
                           ChooseDevice(asked.options.device, asked.installation, asked.options.campaign, asked.store));
  selection.device = device.Key();
  INFIMUM_ASSIGN_OR_RETURN(std::optional<RunProfile> run,
                           FastestRun(asked.store, asked.graph.sha256, selection, asked.dims, asked.options.framework));
  if (!run)
    return Error{
        fmt::format("{} holds no run of this model by {} on {} with {} thread{}: --run FILE names a profile, "
                    "`infimum measure {}` makes one",
                    ShownAddress(asked.options.database), asked.options.framework, device.name, selection.threads,
                    selection.threads == 1 ? "" : "s", asked.options.model.string())};
  std::vector<NamedProfile> profiles;
  profiles.push_back({ShownAddress(asked.options.database), Profile(*std::move(run))});
  return profiles;
}

}  // namespace

Result<RunComparison> CompareRuns(const RunComparisonOptions& options, std::vector<NamedProfile> profiles) {
  std::map<std::string, std::int64_t> dims = options.dims;
  for (const NamedProfile& named : profiles) {
    const auto* run = std::get_if<RunProfile>(&named.profile);
    if (run != nullptr && dims.empty()) dims = run->dims;
  }
  RunComparison comparison;
  INFIMUM_ASSIGN_OR_RETURN(ModelUnder under, ReadModelUnder(options.model, dims, options.contract));
  comparison.graph = std::move(under.graph);
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  const bool is_stored = StoreExists(options.database);
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                           OpenStore(is_stored ? options.database : ":memory:", OpenMode::kReadOnly));
  const Asked asked{options, dims, comparison.graph, under.selected, installation, *store, is_stored};
  if (profiles.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(profiles, StoredProfile(asked));
  }
  for (NamedProfile& named : profiles) {
    ComparedRun compared;
    compared.source = named.source;
    if (const auto* timeline = std::get_if<Timeline>(&named.profile)) {
      compared.run = RunOf(*timeline);
      compared.path = PathViewOf(*timeline, OriginsOfWork(*timeline));
      named.profile = RunProfile();  // a long trace is large, and not needed any more
    } else {
      compared.run = std::get<RunProfile>(std::move(named.profile));
    }
    if (compared.run.layers.empty())
      return Error{named.source + ": it shows no layers, operators or kernels to hold against a model"};
    INFIMUM_RETURN_IF_ERROR(Compare(asked, compared));
    comparison.runs.push_back(std::move(compared));
  }
  ComparePrecisions(comparison.graph, comparison.runs);
  return comparison;
}

ModelAccount AccountOf(const RunComparison& comparison, const RunComparisonOptions& options) {
  ModelAccount account;
  account.model = options.model.stem().string();
  std::vector<NamedRun> columns;
  for (const ComparedRun& compared : comparison.runs) {
    const Selection& selection = compared.selection;
    RunAccount run;
    run.source = ColumnOf(compared.source);
    run.framework = compared.run.framework;
    if (!compared.run.framework_version.empty()) run.framework += " " + compared.run.framework_version;
    run.device = compared.device.name;
    run.conditions = std::string(Name(compared.bracket.contract));
    if (compared.device.kind == DeviceKind::kCpu)
      run.conditions =
          fmt::format("{} thread{}, {}", selection.threads, selection.threads == 1 ? "" : "s", run.conditions);
    run.waterfall = compared.waterfall;
    run.findings = compared.findings;
    run.inversions = compared.bracket.inversions;
    run.path = compared.path;
    run.remarks = compared.remarks;
    for (const std::string& warning : compared.run.warnings) run.remarks.push_back(warning);
    const bool is_here = options.device.empty() && compared.device.kind == DeviceKind::kCpu;
    AddCommands(is_here
                    ? std::optional(BenchOptions(selection, ShownAddress(options.database), options.campaign.backend))
                    : std::nullopt,
                selection.contract, run.findings);
    account.runs.push_back(std::move(run));
    columns.push_back({ColumnOf(compared.source), &compared.run, &compared.waterfall.rows});
  }
  account.nodes = NodeTableOf(comparison.graph, columns);
  return account;
}

}  // namespace infimum
