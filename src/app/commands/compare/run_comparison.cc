#include "src/app/commands/compare/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/gap/run_latency.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "reports/text/fact_text.h"
#include "src/app/commands/compare/dims_of_run.h"
#include "src/app/commands/compare/run_remarks.h"
#include "src/app/commands/measure/profile_run.h"
#include "src/app/commands/replay/upper_limits.h"
#include "src/app/model_report/finding_evidence.h"
#include "src/app/model_report/report_filling.h"
#include "src/app/model_report/run_gap.h"
#include "src/app/models/anonymizer.h"
#include "src/app/models/run_conditions.h"
#include "src/app/runners/device_choice.h"
#include "src/core/graph/framework_names.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

// What a column is called: the file's own name, of a folder the folder's.
std::string ColumnOf(const std::string& source) {
  const std::filesystem::path path(source);
  const std::filesystem::path name = path.filename().empty() ? path.parent_path().filename() : path.filename();
  return name.empty() ? source : name.string();
}

// What of a run's device is known, that stays; else it is any text.
void KeepKnownDevice(const Device& device, std::string& told) {
  if (told != device.name && told != device.Key().text) told.clear();
}

// What the runs of a comparison are called, and a comparison without the names that somebody gave.
//
//   runs/before.json, runs/after.json        ->  "before.json", "after.json"
//   old/run.json, new/run.json               ->  as they were named: their last parts are the same
//   any, where no name of a file may be said ->  "run-1", "run-2"
//
// By ComparedRun::source: fills ComparedRun::name.
void NameRuns(bool anonymize, std::vector<ComparedRun>& runs) {
  if (anonymize) {
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].name = "run-" + std::to_string(i + 1);
    return;
  }
  for (ComparedRun& compared : runs) compared.name = ColumnOf(compared.source);
  std::map<std::string, std::size_t> count;
  for (const ComparedRun& compared : runs) ++count[compared.name];
  for (ComparedRun& compared : runs)
    if (count[compared.name] > 1) compared.name = compared.source;
}

// By their files' sums: fills ComparedRun::file.
void NumberFiles(std::vector<ComparedRun>& runs) {
  std::map<std::string, std::size_t> files;
  for (ComparedRun& compared : runs) {
    const std::string& sha256 = compared.run.model_sha256;
    if (!sha256.empty()) compared.file = files.try_emplace(sha256, files.size() + 1).first->second;
  }
}

// Of graphs, brackets and runs, before any text is made of them; what takes the true names, as the alignment does, was
// done before. A device stays as it is known, the number of warnings too.
void RemoveNames(Anonymizer& anonymizer, RunComparison& comparison) {
  for (ComparedModel& model : comparison.models) {
    anonymizer.Rename(model.graph);
    model.dims = anonymizer.Renamed(model.dims);
  }
  for (ComparedRun& compared : comparison.runs) {
    RunProfile& run = compared.run;
    const std::size_t warnings = run.warnings.size();
    const bool has_other_contract = !run.contract.empty() && !FindContract(run.contract);
    std::string device_name;
    if (const auto told = run.settings.find("device_name"); told != run.settings.end()) device_name = told->second;
    anonymizer.Rename(run);
    anonymizer.Rename(compared.bracket);
    if (has_other_contract) run.contract = "other";  // it is told, and not that of the bound
    KeepKnownDevice(compared.device, run.device);
    KeepKnownDevice(compared.device, device_name);
    if (!device_name.empty()) run.settings["device_name"] = device_name;
    run.warnings.assign(warnings, "its profile has a warning, which may contain names and is left out");
    compared.source = compared.name;
    compared.path.reset();
  }
}

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

// Why something has no bound, where that may be said.
std::string WithoutBound(const RunComparisonOptions& options, const Error& error) {
  return "no floor and no bound: " + (options.anonymize ? "the reason may contain names" : error.message);
}

// What runs are held against, asked once for all of them.
struct Asked {
  const RunComparisonOptions& options;
  const Installation& installation;
  Store& store;
};

// Whether it ran on something else than a processor, as far as it tells.
bool IsOfAccelerator(const RunProfile& run) {
  return run.idle || NeedsGpu(run.framework) || std::ranges::any_of(run.layers, [](const ProfiledLayer& layer) {
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
    compared.lacking = "no floor and no bound: the profile does not record its device; give --device NAME";
    compared.remarks.push_back(compared.lacking);
    return std::nullopt;
  }
  Result<Device> device = ChooseDevice(told, asked.installation, asked.options.campaign, asked.store);
  if (!device.ok()) {
    compared.lacking = WithoutBound(asked.options, device.error());
    compared.remarks.push_back(compared.lacking);
    return std::nullopt;
  }
  if (told.empty())
    compared.remarks.push_back("the profile does not record its device: assuming " + device->name +
                               " (this device); --device NAME overrides it");
  return *std::move(device);
}

// The overrides that are about this run: with one run all, of several those whose engine layers it has.
std::vector<AlignmentOverride> OverridesOf(const std::vector<AlignmentOverride>& all, const RunProfile& run) {
  std::vector<AlignmentOverride> some;
  for (const AlignmentOverride& stated : all) {
    const bool has_all = std::ranges::all_of(stated.engine_layers, [&run](const std::string& name) {
      return std::ranges::find(run.layers, name, &ProfiledLayer::name) != run.layers.end();
    });
    if (has_all) some.push_back(stated);
  }
  return some;
}

// What of a comparison takes the true names.
struct AlignedRun {
  bool has_device = false, has_bracket = false;
  AlignedForGap aligned;
};

Result<AlignedRun> AlignWithBound(const Asked& asked, const ComparedModel& model,
                                  const std::vector<AlignmentOverride>& overrides, ComparedRun& compared) {
  AlignedRun known;
  const RunComparisonOptions& options = asked.options;
  if (!compared.run.threads) compared.run.threads = options.threads;  // a person tells what the profile does not
  compared.selection.threads = options.threads.value_or(compared.run.threads.value_or(1));
  compared.selection.cache = options.campaign.cache;
  compared.selection.contract = model.selected;
  const std::string& sha256 = compared.run.model_sha256;
  compared.is_of_another_file = !sha256.empty() && !model.graph.sha256.empty() && sha256 != model.graph.sha256;
  std::optional<Device> device = DeviceOf(asked, compared);
  known.has_device = device.has_value();
  compared.bracket = WithoutTimes(model.graph, compared.selection);
  if (device) {
    compared.device = *std::move(device);
    compared.selection.device = compared.device.Key();
    if (compared.device.kind == DeviceKind::kGpu) compared.selection.threads = 1;  // it works as a whole
    Result<Bracket> bracket = ComputeBracket(model.graph, asked.store, compared.selection);
    // A device without peaks and data sheet has neither floor nor bound, and the rest can still be said.
    known.has_bracket = bracket.ok();
    if (bracket.ok()) {
      compared.bracket = *std::move(bracket);
      INFIMUM_RETURN_IF_ERROR(
          HoldAgainstReplays(asked.store, model.graph, compared.selection, model.dims, compared.bracket));
    } else {
      compared.lacking = WithoutBound(options, bracket.error());
      compared.remarks.push_back(compared.lacking);
    }
  }
  INFIMUM_ASSIGN_OR_RETURN(known.aligned,
                           AlignForGap({options.model, model.dims, options.contract, model.graph, compared.bracket},
                                       compared.run, asked.store, overrides));
  return known;
}

// The other half, whose texts have the names that all of it has by now.
void Account(const RunComparisonOptions& options, const ComparedModel& model, AlignedRun known, ComparedRun& compared) {
  if (known.has_bracket) TellWhatIsMissing(options, model, compared);
  if (known.has_device) TellDifferences(compared);
  const bool is_alike = compared.differences.empty() && !compared.threads_are_assumed;
  if (is_alike) HoldTo(compared.bracket.pace, compared.run);
  if (is_alike) compared.limit = LimitOf(compared.run, compared.bracket);
  if (compared.limit) AddUpperLimit(*compared.limit, compared.bracket);
  RunGap gap = MakeGap(model.graph, compared.bracket, compared.run, std::move(known.aligned), is_alike);
  compared.alignment = std::move(gap.alignment);
  compared.waterfall = std::move(gap.waterfall);
  compared.findings = std::move(gap.findings);
  compared.is_narrower = gap.is_narrower && known.has_device;
  if (compared.is_narrower) TellNarrowerTypes(compared);
  TellPoorAlignment(model, compared);
  TellScatter(compared);
}

// Of each run that computes in a narrower type than another: where that does not pay, held against the widest.
void ComparePrecisions(const std::vector<ComparedModel>& models, std::vector<ComparedRun>& runs) {
  const auto is_narrower = [](const ComparedRun& one, const ComparedRun& other) {
    return one.model == other.model && IsNarrower(one.run, one.waterfall.rows, other.run, other.waterfall.rows);
  };
  for (ComparedRun& narrow : runs) {
    const ComparedRun* widest = nullptr;
    for (const ComparedRun& other : runs)
      if (is_narrower(narrow, other) && (widest == nullptr || is_narrower(*widest, other))) widest = &other;
    if (widest == nullptr) continue;
    std::optional<Finding> finding = PrecisionThatDoesNotPay(models[narrow.model].graph, widest->run,
                                                             widest->waterfall.rows, narrow.run, narrow.waterfall.rows);
    if (!finding) continue;
    finding->evidence = "against " + widest->name + ": " + finding->evidence;
    narrow.findings.push_back(*std::move(finding));
    RankFindings(narrow.findings);
  }
}

// The run that a store keeps, where no profile is given.
Result<RunProfile> StoredRun(const Asked& asked, const ComparedModel& model) {
  const RunComparisonOptions& options = asked.options;
  Selection selection;
  selection.threads = options.threads.value_or(1);
  INFIMUM_ASSIGN_OR_RETURN(const Device device,
                           ChooseDevice(options.device, asked.installation, options.campaign, asked.store));
  selection.device = device.Key();
  INFIMUM_ASSIGN_OR_RETURN(std::optional<RunProfile> run,
                           FastestRun(asked.store, model.graph.sha256, selection, model.dims, options.framework));
  if (run) return *std::move(run);
  return Error{fmt::format(
      "{} holds no run of this model by {} on {}: --run FILE names a profile, `infimum measure {}` makes one",
      ShownAddress(options.database), options.framework, PlaceText(device, selection.threads), options.model.string())};
}

// Which dimensions runs had: what they tell, what a person says, what their shapes tell, else what the first run that
// tells any has.
class Bindings {
 public:
  static Result<Bindings> Make(const RunComparisonOptions& options, const std::vector<ComparedRun>& runs,
                               Anonymizer& anonymizer) {
    Bindings bindings(options, anonymizer);
    for (const ComparedRun& compared : runs)
      if (bindings.first_ == nullptr && !compared.run.dims.empty()) bindings.first_ = &compared;
    INFIMUM_ASSIGN_OR_RETURN(bindings.inputs_, ReadModelInputs(options.model));
    return bindings;
  }

  Result<Dims> Of(ComparedRun& compared) const {
    Dims dims = options_.dims;
    for (const auto& [name, extent] : compared.run.dims) {
      const auto [entry, is_new] = dims.emplace(name, extent);
      if (!is_new && entry->second != extent)
        return Error{fmt::format("{}: it ran with {}={}, but --dim says {}: drop --dim or this run", compared.source,
                                 name, extent, entry->second)};
    }
    if (Dims shown = DimsOfRun(inputs_, compared.run, dims); !shown.empty()) {
      compared.remarks.push_back(fmt::format(
          "the profile does not record its dimensions: assuming {}, from the shapes of its layers", Text(shown)));
      dims.merge(std::move(shown));
    } else if (dims.empty() && first_ != nullptr) {
      dims = first_->run.dims;
      compared.remarks.push_back(
          fmt::format("the profile does not record its dimensions: assuming {}, as in {}", Text(dims), first_->name));
    }
    return dims;
  }

 private:
  Bindings(const RunComparisonOptions& options, Anonymizer& anonymizer) : options_(options), anonymizer_(anonymizer) {}

  std::string Text(const Dims& dims) const { return DimsText(options_.anonymize ? anonymizer_.Renamed(dims) : dims); }

  const RunComparisonOptions& options_;
  Anonymizer& anonymizer_;
  const ComparedRun* first_ = nullptr;
  std::vector<DeclaredInput> inputs_;
};

// The place in `models` of the model with these dimensions.
Result<std::size_t> FindModel(const RunComparisonOptions& options, Dims dims, const ComparedRun& compared,
                              std::vector<ComparedModel>& models) {
  const auto known = std::ranges::find(models, dims, &ComparedModel::dims);
  if (known != models.end()) return static_cast<std::size_t>(known - models.begin());
  Result<ModelUnder> under = ReadModelUnder(options.model, dims, options.contract);
  if (!under.ok()) {
    if (dims == options.dims) return under.error();
    return Within(fmt::format("{}: its dimensions are {}", compared.source, DimsText(dims)), under.error());
  }
  const auto name_of = [](const Layer& layer) { return std::pair(layer.name, layer.op); };
  if (!models.empty() && !std::ranges::equal(under->graph.layers, models.front().graph.layers, {}, name_of, name_of))
    return Error{
        fmt::format("{}: with {} the model has other layers than with {}, the dimensions of another run: compare the "
                    "runs one at a time",
                    compared.source, DimsText(dims), DimsText(models.front().dims))};
  models.push_back({std::move(dims), std::move(under->graph), under->selected});
  return models.size() - 1;
}

// Of each run the overrides that are about it; an error where one is about none.
Result<std::vector<std::vector<AlignmentOverride>>> ShareOverrides(const std::vector<AlignmentOverride>& overrides,
                                                                   std::vector<ComparedRun>& runs) {
  std::vector<std::vector<AlignmentOverride>> shares(runs.size(), overrides);
  if (runs.size() == 1 || overrides.empty()) return shares;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    shares[i] = OverridesOf(overrides, runs[i].run);
    runs[i].remarks.push_back(shares[i].empty() ? "--alignment names none of its layers"
                                                : fmt::format("{} of the {} in --alignment {} about its layers",
                                                              shares[i].size(), CountText(overrides.size(), "row"),
                                                              shares[i].size() == 1 ? "is" : "are"));
  }
  for (const AlignmentOverride& stated : overrides)
    if (std::ranges::none_of(shares, [&stated](const std::vector<AlignmentOverride>& share) {
          return std::ranges::find(share, stated) != share.end();
        }))
      return Error{
          fmt::format("{}: no run has all of its engine layers, {}", stated.origin, Join(stated.engine_layers, ", "))};
  return shares;
}

}  // namespace

Result<RunComparison> CompareRuns(const RunComparisonOptions& options, std::vector<NamedProfile> profiles) {
  RunComparison comparison;
  for (NamedProfile& named : profiles) {
    ComparedRun& compared = comparison.runs.emplace_back();
    compared.source = named.source;
    if (const auto* timeline = std::get_if<Timeline>(&named.profile))
      compared.path = PathViewOf(*timeline, OriginsOfWork(*timeline));
    compared.run = RunOfProfile(std::move(named.profile));
    if (compared.run.layers.empty())
      return Error{named.source + ": it contains no layers, operators or kernels to compare with a model"};
  }
  NameRuns(options.anonymize, comparison.runs);
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(
      const std::unique_ptr<Store> store,
      OpenStore(StoreExists(options.database) ? options.database : ":memory:", OpenMode::kReadOnly));
  const Asked asked{options, installation, *store};
  if (profiles.empty()) {
    ComparedRun compared;
    compared.source = ShownAddress(options.database);
    compared.name = options.anonymize ? "run-1" : compared.source;
    INFIMUM_ASSIGN_OR_RETURN(compared.model, FindModel(options, options.dims, compared, comparison.models));
    INFIMUM_ASSIGN_OR_RETURN(compared.run, StoredRun(asked, comparison.models.front()));
    if (compared.run.layers.empty()) return Error{compared.source + ": its run of this model has no layers to compare"};
    comparison.runs.push_back(std::move(compared));
  }
  NumberFiles(comparison.runs);
  Anonymizer anonymizer;
  INFIMUM_ASSIGN_OR_RETURN(const Bindings bindings, Bindings::Make(options, comparison.runs, anonymizer));
  for (ComparedRun& compared : comparison.runs) {
    INFIMUM_ASSIGN_OR_RETURN(Dims dims, bindings.Of(compared));
    INFIMUM_ASSIGN_OR_RETURN(compared.model, FindModel(options, std::move(dims), compared, comparison.models));
  }
  INFIMUM_ASSIGN_OR_RETURN(auto overrides, ShareOverrides(options.overrides, comparison.runs));
  std::vector<AlignedRun> aligned(comparison.runs.size());
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    ComparedRun& compared = comparison.runs[i];
    INFIMUM_ASSIGN_OR_RETURN(aligned[i],
                             AlignWithBound(asked, comparison.models[compared.model], overrides[i], compared));
  }
  RunComparisonOptions shown = options;  // what commands are made of
  if (options.anonymize) {
    RemoveNames(anonymizer, comparison);
    shown.model = "MODEL";
    shown.database = "DB";
  }
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    ComparedRun& compared = comparison.runs[i];
    Account(shown, comparison.models[compared.model], std::move(aligned[i]), compared);
  }
  ComparePrecisions(comparison.models, comparison.runs);
  return comparison;
}

ModelAccount AccountOf(const RunComparison& comparison, const RunComparisonOptions& options) {
  ModelAccount account;
  account.model = options.anonymize ? "model" : ModelName(options.model);
  const std::string database = options.anonymize ? "DB" : ShownAddress(options.database);
  std::vector<NamedRun> columns;
  for (const ComparedRun& compared : comparison.runs) {
    const Selection& selection = compared.selection;
    RunAccount run;
    run.source = compared.name;
    run.framework = compared.run.framework;
    if (!compared.run.framework_version.empty()) run.framework += " " + compared.run.framework_version;
    run.device = compared.device.name;
    run.conditions = std::string(Name(compared.bracket.contract));
    if (compared.is_narrower) run.conditions += " asked, computed in narrower types";
    if (compared.device.kind == DeviceKind::kCpu)
      run.conditions = CountText(static_cast<std::size_t>(selection.threads), "thread") +
                       (compared.threads_are_assumed ? " assumed, " : ", ") + run.conditions;
    const ComparedModel& model = comparison.models[compared.model];
    if (!model.dims.empty()) run.conditions += ", " + DimsText(model.dims);
    run.noisy = compared.run.noisy;
    run.skipped_share = compared.run.skipped_share;
    run.waterfall = compared.waterfall;
    run.findings = compared.findings;
    run.inversions = compared.bracket.inversions;
    run.path = compared.path;
    run.remarks = compared.remarks;
    for (const std::string& warning : compared.run.warnings) run.remarks.push_back(warning);
    const bool is_here = options.device.empty() && compared.device.kind == DeviceKind::kCpu;
    AddCommands(is_here ? std::optional(BenchOptions(selection, database, options.campaign.backend)) : std::nullopt,
                selection.contract, ModelArguments(options.anonymize ? "MODEL" : options.model.string(), model.dims),
                run.findings);
    account.runs.push_back(std::move(run));
    columns.push_back({compared.name, &compared.run, &compared.waterfall.rows});
  }
  account.nodes = NodeTableOf(comparison.models.front().graph, columns);
  return account;
}

}  // namespace infimum
