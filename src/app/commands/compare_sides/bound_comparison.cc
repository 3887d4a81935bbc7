#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/bracket/bracket.h"
#include "analyzer/sides/side_comparison.h"
#include "infimum/base/text.h"
#include "infimum/measurement/measurement_source.h"
#include "infimum/measurement/verdict.h"
#include "reports/text/fact_text.h"
#include "src/app/commands/compare_sides/bound_sides.h"
#include "src/app/models/anonymizer.h"
#include "src/app/models/model_variant.h"
#include "src/app/models/run_conditions.h"
#include "src/readers/onnx/parse/model_inputs.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

// A source that remembers of what it hands out when the newest row was measured, and of which rows a spread is known:
// those of two repetitions, or of six samples in their only one. Measurements of other programs are often one number,
// and an interval made of it says nothing about noise.
class SpreadSource : public MeasurementSource {
 public:
  // `source` lives longer.
  explicit SpreadSource(MeasurementSource& source) : source_(source) {}

  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> workloads, const Selection& selection) override {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<Measurement> rows, source_.Find(workloads, selection));
    for (const Measurement& row : rows) {
      newest_ = std::max(newest_, row.measured_at);
      if (row.outcome == Outcome::kMeasured && RatioOf(row.repetitions, row.repetitions))
        known_.insert({row.workload, row.candidate.name()});
    }
    return rows;
  }
  Result<DevicePeaks> Peaks(const DeviceKey& device) override { return source_.Peaks(device); }

  // Of a row that was handed out.
  bool HasSpread(const WorkloadKey& workload, const std::string& candidate) const {
    return known_.contains({workload, candidate});
  }

  // UTC, of all rows that were handed out; empty where there were none.
  const std::string& newest() const { return newest_; }

 private:
  MeasurementSource& source_;
  std::set<std::pair<WorkloadKey, std::string>> known_;
  std::string newest_;
};

// A side that lacks more of a model's time, by the side that knows the most layers, is left out where nobody named it.
constexpr double kMostLacking = 0.1;

constexpr std::size_t kExamples = 3;

using Dims = std::map<std::string, std::int64_t>;

// Of the dimensions that were given those that the model has; an error where no model of the set has one.
Result<std::vector<Dims>> DimsOfModels(const SideReportOptions& options) {
  std::vector<Dims> all;
  std::set<std::string> used;
  for (const std::filesystem::path& model : options.models) {
    if (options.models.size() == 1) return std::vector<Dims>{options.dims};
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<DeclaredInput> inputs, ReadModelInputs(model));
    Dims& dims = all.emplace_back();
    for (const DeclaredInput& input : inputs)
      for (const DeclaredDimension& dim : input.dims)
        if (const auto given = options.dims.find(dim.symbol); !dim.symbol.empty() && given != options.dims.end()) {
          dims.insert(*given);
          used.insert(given->first);
        }
  }
  for (const auto& [name, extent] : options.dims)
    if (!used.contains(name))
      return Error{fmt::format("--dim {}={}: none of the models has this dimension", name, extent)};
  return all;
}

// A model on a side, and what the layers of its graph take there.
struct BoundedModel {
  SideModel known;
  std::vector<SideLayer> free;  // layers that take nothing there
  NumericContract contract = NumericContract::kStrictF32;
  std::vector<EnvironmentKey> environments;
  std::optional<SeveralHosts> hosts;
};

// Of which layers the spread of the best time is known: asked by the candidates' true names.
std::vector<bool> SpreadsOf(const ModelGraph& graph, const Bracket& bracket, const SpreadSource& source) {
  std::vector<bool> spreads;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const std::optional<Workload>& workload = graph.layers[i].workload;
    const std::optional<Candidate>& candidate = bracket.layers[i].candidate;
    spreads.push_back(!workload || !candidate || source.HasSpread(KeyOf(*workload), candidate->name()));
  }
  return spreads;
}

SideLayer LayerOf(const Layer& layer, const LayerLatency& latency, bool has_spread) {
  SideLayer side;
  side.name = layer.name;
  side.family = layer.workload ? std::string(FamilyOf(*layer.workload)) : layer.op;
  if (layer.workload) side.config = Format(*layer.workload);
  SideTime& time = side.time;
  time.latency = latency.latency;
  time.reason = ReasonOf(layer, latency);
  if (latency.floor.count() > 0) time.floor = latency.floor;
  time.is_estimated = latency.status == LatencyStatus::kEstimated;
  if (latency.candidate) time.candidate = latency.candidate->name();
  if (has_spread) time.interval = latency.interval;
  if (!time.latency && time.reason.empty()) time.reason = "not measured yet";
  return side;
}

BoundedModel ModelOf(const ModelGraph& graph, const Bracket& bracket, const std::vector<bool>& spreads) {
  BoundedModel model;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    SideLayer layer = LayerOf(graph.layers[i], bracket.layers[i], spreads[i]);
    const bool is_free = bracket.layers[i].status == LatencyStatus::kFree;
    (is_free ? model.free : model.known.layers).push_back(std::move(layer));
  }
  if (const Bound* bound = bracket.Find(BoundVariant::kSequential)) model.known.sequential = bound->latency;
  if (const Bound* bound = bracket.Find(BoundVariant::kFusedSequential)) model.known.fused = bound->latency;
  model.contract = bracket.contract;
  model.environments = bracket.environments;
  model.hosts = bracket.hosts;
  return model;
}

std::size_t KnownLayers(const BoundedModel& model) {
  return static_cast<std::size_t>(
      std::ranges::count_if(model.known.layers, [](const SideLayer& layer) { return layer.time.latency.has_value(); }));
}

std::string NameOf(const SideReportOptions& options, std::size_t model) {
  if (options.anonymize) return options.models.size() == 1 ? "model" : fmt::format("model-{}", model + 1);
  const std::string stem = ModelName(options.models[model]);
  const auto same = std::ranges::count(options.models, stem, [](const auto& path) { return ModelName(path); });
  return same > 1 ? options.models[model].string() : stem;
}

class Bounds {
 public:
  Bounds(const SideReportOptions& options, std::vector<Dims> dims, Store& store, Anonymizer& anonymizer)
      : options_(options), dims_(std::move(dims)), source_(store), anonymizer_(anonymizer) {}

  // Of each model; of several environments those of the one in which most layers were measured.
  Result<std::vector<BoundedModel>> Of(const BoundSide& side) {
    Selection selection;
    selection.device = side.device.Key();
    selection.threads = side.device.kind == DeviceKind::kGpu ? 1 : options_.campaign.threads;
    selection.cache = options_.campaign.cache;
    if (side.environments.empty()) return Under(selection, side.contract);
    std::optional<std::vector<BoundedModel>> best;
    std::size_t most = 0;
    for (const EnvironmentKey& environment : side.environments) {
      selection.environment = environment;
      INFIMUM_ASSIGN_OR_RETURN(std::vector<BoundedModel> models, Under(selection, side.contract));
      std::size_t known = 0;
      for (const BoundedModel& model : models) known += KnownLayers(model);
      if (best && known <= most) continue;
      most = known;
      best = std::move(models);
    }
    return *std::move(best);
  }

  // When the newest of the rows was measured.
  const std::string& newest() const { return source_.newest(); }

 private:
  Result<std::vector<BoundedModel>> Under(Selection selection, const std::optional<NumericContract>& contract) {
    std::vector<BoundedModel> models;
    for (std::size_t index = 0; index < options_.models.size(); ++index) {
      const auto place = std::pair(index, contract);
      if (!graphs_.contains(place)) {
        INFIMUM_ASSIGN_OR_RETURN(Graphs graphs, Read(index, contract));
        graphs_.emplace(place, std::move(graphs));
      }
      const Graphs& graphs = graphs_.at(place);
      selection.contract = graphs.as_it_is.selected;
      INFIMUM_ASSIGN_OR_RETURN(Bracket bracket, ComputeBracket(graphs.as_it_is.graph, source_, selection));
      const std::vector<bool> spreads = SpreadsOf(graphs.as_it_is.graph, bracket, source_);
      if (graphs.anonymous) anonymizer_.Rename(bracket);
      models.push_back(ModelOf(graphs.anonymous ? *graphs.anonymous : graphs.as_it_is.graph, bracket, spreads));
    }
    return models;
  }

  // A model under a contract, and where it is asked for the same without names: other sides need the true ones again.
  struct Graphs {
    ModelUnder as_it_is;
    std::optional<ModelGraph> anonymous;
  };

  Result<Graphs> Read(std::size_t model, const std::optional<NumericContract>& contract) {
    INFIMUM_ASSIGN_OR_RETURN(ModelUnder under, ReadModelUnder(options_.models[model], dims_[model], contract));
    if (!options_.anonymize) return Graphs{std::move(under), std::nullopt};
    INFIMUM_ASSIGN_OR_RETURN(ModelUnder again, ReadModelUnder(options_.models[model], dims_[model], contract));
    anonymizer_.Rename(again.graph, NameOf(options_, model));
    return Graphs{std::move(under), std::move(again.graph)};
  }

  const SideReportOptions& options_;
  std::vector<Dims> dims_;
  SpreadSource source_;
  Anonymizer& anonymizer_;
  std::map<std::pair<std::size_t, std::optional<NumericContract>>, Graphs> graphs_;
};

// A layer that takes time on one side and none on another (a cast that only one contract needs) takes nothing there,
// which is known.
void FillFree(std::vector<BoundedModel*>& sides) {
  // In the model's order, whatever its layers are called.
  std::vector<std::pair<std::string, std::string>> timed;  // with their families
  std::set<std::string> seen;
  for (const BoundedModel* side : sides)
    for (const SideLayer& layer : side->known.layers)
      if (seen.insert(layer.name).second) timed.emplace_back(layer.name, layer.family);
  for (BoundedModel* side : sides) {
    std::set<std::string> known;
    for (const SideLayer& layer : side->known.layers) known.insert(layer.name);
    for (const auto& [name, family] : timed) {
      if (known.contains(name)) continue;
      const auto free = std::ranges::find(side->free, name, &SideLayer::name);
      SideLayer none{name, family, free == side->free.end() ? "" : free->config, {}};
      none.time.latency = Latency(0);
      none.time.reason = free == side->free.end() ? "there is no such layer here" : free->time.reason;
      side->known.layers.push_back(std::move(none));
    }
  }
}

// What a side lacks of a model, with the command that plans it; `dims` as they may be called.
void AddGap(const SideReportOptions& options, const BoundSide& side, std::size_t index, std::size_t model,
            const BoundedModel& bounded, const Dims& dims, ComparisonReport& report) {
  SideGap gap{index, NameOf(options, model), 0, {}, "", ""};
  std::set<std::string> reasons;
  for (const SideLayer& layer : bounded.known.layers) {
    if (layer.time.latency) continue;
    ++gap.layers;
    if (gap.examples.size() < kExamples) gap.examples.push_back(layer.name);
    reasons.insert(layer.time.reason);
  }
  if (gap.layers == 0) return;
  const std::vector<std::string> texts(reasons.begin(), reasons.end());
  gap.reason = Join(std::span(texts).first(std::min<std::size_t>(texts.size(), 2)), "; ");
  if (reasons.contains("not measured yet")) {
    gap.command = "infimum plan " + (options.anonymize ? "MODEL" : ShellQuoted(options.models[model].string()));
    for (const auto& [name, extent] : dims) gap.command += fmt::format(" --dim {}={}", ShellQuoted(name), extent);
    gap.command +=
        fmt::format(" --db {} --device {}", options.anonymize ? "DB" : ShellQuoted(ShownAddress(options.database)),
                    ShellQuoted(side.device.name));
    if (side.contract) gap.command += fmt::format(" --contract {}", Name(*side.contract));
    gap.command += " -o plan.txt";
  }
  report.gaps.push_back(std::move(gap));
}

// What of a model's time a side does not know, by what the layers take on another.
double LackingShare(const BoundedModel& side, const BoundedModel& reference) {
  std::set<std::string> known;
  for (const SideLayer& layer : side.known.layers)
    if (layer.time.latency) known.insert(layer.name);
  for (const SideLayer& layer : side.free) known.insert(layer.name);
  Latency all{0}, lacking{0};
  for (const SideLayer& layer : reference.known.layers) {
    const Latency time = layer.time.latency.value_or(Latency(0));
    all += time;
    if (!known.contains(layer.name)) lacking += time;
  }
  return all.count() > 0 ? lacking / all : known.empty() ? 1 : 0;
}

// Of each side the most that it lacks of any model.
std::vector<double> LackingShares(const std::vector<std::vector<BoundedModel>>& models) {
  std::vector<double> shares(models.size(), 0);
  for (std::size_t model = 0; !models.empty() && model < models.front().size(); ++model) {
    std::size_t most = 0;
    for (std::size_t side = 1; side < models.size(); ++side)
      if (KnownLayers(models[side][model]) > KnownLayers(models[most][model])) most = side;
    for (std::size_t side = 0; side < models.size(); ++side) {
      const bool knows_any = KnownLayers(models[side][model]) > 0;
      const double share = knows_any ? LackingShare(models[side][model], models[most][model]) : 1;
      shares[side] = std::max(shares[side], share);
    }
  }
  return shares;
}

// Takes out what nobody named and would leave little to compare, with a remark.
void LeaveOut(std::vector<BoundSide>& sides, std::vector<std::vector<BoundedModel>>& models, ComparisonReport& report) {
  const std::vector<double> lacking = LackingShares(models);
  std::vector<BoundSide> kept;
  std::vector<std::vector<BoundedModel>> kept_models;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    if (sides[side].is_named || lacking[side] <= kMostLacking) {
      kept.push_back(std::move(sides[side]));
      kept_models.push_back(std::move(models[side]));
    } else if (lacking[side] >= 1) {
      report.remarks.push_back(fmt::format("left out: {}: it has no measurements", sides[side].shown.label));
    } else {
      report.remarks.push_back(
          fmt::format("left out: {}: layers with {} of a model's time were not measured there; name it to include it, "
                      "compared on the layers it has",
                      sides[side].shown.label, PercentText(lacking[side])));
    }
  }
  sides = std::move(kept);
  models = std::move(kept_models);
}

// Devices, and contracts, whose rows come with different versions of libraries.
// `common` is a version that all of them have.
void AddCautions(const std::string& common, ComparisonReport& report) {
  for (std::size_t side = 1; side < report.sides.size(); ++side) {
    const std::optional<CommonOffset> found = CommonOffsetOf(report.comparison, side);
    if (!found) continue;
    report.cautions.push_back(
        fmt::format("{}: {} of {} kinds of layers differ from {} by about {} each, whatever they take; over all uses "
                    "that is {}. This is the cost of starting or timing a kernel there, not of the kernels themselves",
                    report.sides[side].label, found->alike, found->layers, report.sides.front().label,
                    SignedLatencyText(found->offset), SignedLatencyText(found->over_all_uses)));
  }
  if (report.axis == ComparisonAxis::kLibrary) return;
  std::map<std::string, std::vector<std::string>> sides;
  for (const ReportSide& side : report.sides) sides[side.environment].push_back(side.label);
  if (sides.size() < 2) return;
  std::vector<std::string> groups;
  for (const auto& [environment, labels] : sides)
    groups.push_back(Join(labels, ", ") + " with " + (environment.empty() ? "libraries unknown" : environment));
  report.cautions.push_back(
      "The sides were measured with different library versions, which contribute to the differences: " +
      Join(groups, "; ") + (common.empty() ? "" : ". --library " + ShellQuoted(common) + " compares all with one"));
}

// Sides whose measurements come from several machines, by the model with most of them.
void AddHosts(const std::vector<std::vector<BoundedModel>>& models, ComparisonReport& report) {
  for (std::size_t side = 0; side < models.size(); ++side) {
    const SeveralHosts* most = nullptr;
    for (const BoundedModel& model : models[side])
      if (model.hosts && (most == nullptr || model.hosts->count > most->count)) most = &*model.hosts;
    if (most == nullptr) continue;
    std::vector<std::string>& texts = most->clocks_differ() ? report.cautions : report.remarks;
    texts.push_back(report.sides[side].label + ": " + HostsText(*most));
  }
}

// Which shares of the compared time are estimated, or of one number.
void AddRemarks(ComparisonReport& report) {
  const SideComparison& comparison = report.comparison;
  std::size_t without_spread = 0, estimated = 0, timed = 0;
  for (const SetLayer& layer : comparison.layers) {
    for (const SideTime& time : layer.times) {
      if (!time.latency || time.latency->count() == 0) continue;
      ++timed;
      if (time.is_estimated) ++estimated;
      if (!time.interval && !time.is_estimated) ++without_spread;
    }
  }
  if (without_spread > 0)
    report.remarks.push_back(
        fmt::format("{} of {} times come from rows without a spread (one number each): there a difference counts from "
                    "{:g} %, the assumed noise",
                    without_spread, timed, 100 * comparison.threshold));
  if (estimated > 0)
    report.remarks.push_back(fmt::format(
        "{} of {} times are estimated from bytes; differences that involve one are not decided", estimated, timed));
  for (const ModelTotal& model : comparison.models) {
    if (model.common == model.layers) continue;
    report.remarks.push_back(fmt::format("{}: compared on the {} of {} that every side has", model.name, model.common,
                                         CountText(model.layers, "layer")));
  }
  report.remarks.emplace_back(
      "totals are sums of the layers' best times (sequential bounds), which every side has; the gain of measured "
      "regions is shown beside them as fused");
}

// Returns a version that all devices were measured with, where they were compared with several; else nothing.
Result<std::string> FillOnce(const SideReportOptions& options, ComparisonReport& report) {
  if (!StoreExists(options.database))
    return Error{fmt::format("{}: no such store; `infimum import` and `infimum analyze` make one",
                             ShownAddress(options.database))};
  INFIMUM_ASSIGN_OR_RETURN(std::vector<Dims> dims, DimsOfModels(options));
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
  INFIMUM_ASSIGN_OR_RETURN(std::vector<BoundSide> candidates, BoundSidesOf(options, installation, *store));
  Anonymizer anonymizer;
  Bounds bounds(options, dims, *store, anonymizer);
  std::vector<BoundSide> sides;
  std::vector<std::vector<BoundedModel>> models;  // by side
  for (BoundSide& side : candidates) {
    Result<std::vector<BoundedModel>> bounded = bounds.Of(side);
    if (bounded.ok()) {
      sides.push_back(std::move(side));
      models.push_back(*std::move(bounded));
    } else if (side.is_named) {
      return Within(side.shown.label, bounded.error());
    } else {  // a device without peaks and data sheet, say
      report.remarks.push_back(
          fmt::format("left out: {}: {}", side.shown.label,
                      options.anonymize ? "it has no bound; the reason may contain names" : bounded.error().message));
    }
  }
  report.data_as_of = bounds.newest();
  LeaveOut(sides, models, report);
  INFIMUM_ASSIGN_OR_RETURN(const auto known, store->Environments());
  for (std::size_t side = 0; side < sides.size(); ++side) {
    std::set<std::string> environments;
    for (const BoundedModel& model : models[side])
      for (const EnvironmentKey& key : model.environments)
        if (const auto entry = known.find(key); entry != known.end()) environments.insert(LibrariesText(entry->second));
    const std::vector<std::string> texts(environments.begin(), environments.end());
    sides[side].shown.environment = Join(texts, "; ");
    sides[side].shown.contract = std::string(Name(sides[side].contract.value_or(models[side].front().contract)));
  }
  if (sides.size() < 2) {
    std::string what = fmt::format("--by {} needs two sides, and {} {} there in {}", Name(options.axis), sides.size(),
                                   sides.size() == 1 ? "is" : "are", ShownAddress(options.database));
    for (const std::string& remark : report.remarks) what += "; " + remark;
    return Error{what};
  }
  std::vector<ModelSides> table;
  for (std::size_t model = 0; model < options.models.size(); ++model) {
    std::vector<BoundedModel*> row;
    for (std::vector<BoundedModel>& side : models) row.push_back(&side[model]);
    FillFree(row);
    ModelSides& entry = table.emplace_back();
    entry.name = NameOf(options, model);
    for (std::size_t side = 0; side < sides.size(); ++side) {
      AddGap(options, sides[side], side, model, *row[side],
             options.anonymize ? anonymizer.Renamed(dims[model]) : dims[model], report);
      entry.sides.push_back(std::move(row[side]->known));
    }
  }
  report.quantity = "sequential bound";
  const Dims shown = options.anonymize ? anonymizer.Renamed(options.dims) : options.dims;
  if (!shown.empty()) report.conditions.push_back(DimsText(shown));
  if (std::ranges::any_of(sides, [](const BoundSide& side) { return side.device.kind == DeviceKind::kCpu; }))
    report.conditions.push_back(CountText(static_cast<std::size_t>(options.campaign.threads), "thread"));
  report.conditions.push_back(CacheText(options.campaign.cache));
  report.conditions.emplace_back("the best kernel known for each layer");
  report.comparison = CompareSides(table, options.threshold);
  std::string common;
  const bool are_alike = std::ranges::all_of(
      sides, [&](const BoundSide& side) { return side.shown.environment == sides.front().shown.environment; });
  if (report.axis == ComparisonAxis::kDevice && options.libraries.empty() && !are_alike) {
    INFIMUM_ASSIGN_OR_RETURN(common, VersionOnAll(options, sides, *store));
  }
  for (BoundSide& side : sides) report.sides.push_back(std::move(side.shown));
  AddCautions(common, report);
  AddHosts(models, report);
  AddRemarks(report);
  return common;
}

std::size_t ComparedLayers(const ComparisonReport& report) {
  std::size_t layers = 0;
  for (const ModelTotal& model : report.comparison.models) layers += model.common;
  return layers;
}

}  // namespace

Status FillFromBounds(const SideReportOptions& options, ComparisonReport& report) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string common, FillOnce(options, report));
  if (common.empty()) return {};
  // Devices that were measured with several versions are held to one that all of them know, where that costs nothing:
  // else a version's changes would pass for a device's.
  SideReportOptions with_one = options;
  with_one.libraries = {common};
  ComparisonReport alike;
  alike.axis = report.axis;
  alike.infimum_version = report.infimum_version;
  if (!FillOnce(with_one, alike).ok()) return {};
  if (alike.sides.size() != report.sides.size() || ComparedLayers(alike) < ComparedLayers(report)) return {};
  std::vector<std::string> others;
  for (std::size_t side = 0; side < report.sides.size(); ++side)
    if (report.sides[side].environment != alike.sides[side].environment)
      others.push_back(report.sides[side].label + " with " + report.sides[side].environment);
  alike.remarks.push_back(
      fmt::format("all are compared with {}, which each of them was measured with; the store also has {}: --library "
                  "chooses another",
                  common, Join(others, ", ")));
  report = std::move(alike);
  return {};
}

}  // namespace infimum
