#include "src/app/commands/evaluate/cell_run.h"

#include <fmt/format.h>

#include <set>

#include "analyzer/bracket/bracket.h"
#include "analyzer/floor/residency.h"
#include "analyzer/gap/run_latency.h"
#include "infimum/base/text.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"
#include "src/app/commands/analyze/analysis.h"
#include "src/app/commands/bound/estimate_question.h"
#include "src/app/models/model_variant.h"
#include "src/app/runners/device_choice.h"
#include "src/synth/onnx_file.h"

namespace infimum {
namespace {

CellResult Refused(CellState state, std::string reason, const CellFacts& facts) {
  return {.state = state, .reason = std::move(reason), .measured_at = UtcNow(), .facts = facts};
}

CellState StateOf(FrameworkFailure failure) {
  switch (failure) {
    case FrameworkFailure::kTimeout:
      return CellState::kTimeout;
    case FrameworkFailure::kOutOfMemory:
      return CellState::kOutOfMemory;
    case FrameworkFailure::kUnsupported:
      return CellState::kUnsupported;
    case FrameworkFailure::kNone:
      break;
  }
  return CellState::kFailed;
}

// What of a run and of the machine is evidence.
std::map<std::string, std::string> EvidenceOf(const RunProfile& run, const RunnerDescription& here) {
  std::map<std::string, std::string> facts = here.environment.evidence;
  for (const auto& [name, value] : run.settings) facts["run." + name] = value;
  facts.erase("run.seconds");  // the cell says them
  facts["model"] = run.model_sha256;
  if (const auto outputs = facts.extract("run.outputs"); !outputs.empty()) facts["outputs"] = outputs.mapped();
  return facts;
}

// What the cell says of the framework, wherever it runs.
FrameworkOptions StatedOf(const PlannedCell& planned) {
  const EvaluationCell& cell = planned.cell;
  FrameworkOptions options;
  options.framework = cell.framework.name;
  options.module = planned.module;
  options.mode = cell.framework.mode;
  options.options = cell.framework.options;
  options.options["seed"] = std::to_string(cell.input);
  if (!cell.cores.empty()) options.options["cores"] = cell.cores;
  return options;
}

}  // namespace

Result<CellRunner> CellRunner::Make(const CellRunnerOptions& options, const Installation& installation, Store& store,
                                    ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(RunnerDescription here, DescribeRunner(installation, options.campaign));
  INFIMUM_ASSIGN_OR_RETURN(const DevicePeaks peaks, store.Peaks(here.device.Key()));
  if (peaks.rates.empty() && options.measures_peaks) {
    log.Say("measuring the device's peaks, for the floors");
    INFIMUM_RETURN_IF_ERROR(MeasurePeaks(installation, options.campaign, PeaksMeasured::kWhole, store, log));
  }
  INFIMUM_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Make());
  return CellRunner(options, installation, store, std::move(here), std::move(folder));
}

void CellRunner::File::Remove() const {
  std::error_code ignored;
  for (const char* const more : {"", ".data"})
    if (is_ours) std::filesystem::remove(path.string() + more, ignored);
}

// `for_reading`: weights may be made at load, whatever the cell says of them.
Result<CellRunner::File> CellRunner::FileOf(const PlannedCell& planned, bool for_reading) {
  if (planned.family == nullptr) return File{planned.file, false};
  INFIMUM_ASSIGN_OR_RETURN(const synth::Net net, MakeNet(*planned.family, planned.point, synth::Blocks::kUnrolled));
  // By the hash: names of points are as long as their parameters are many.
  File file{folder_.path() / fmt::format("{}-{}.onnx", planned.family->name, planned.hash.substr(0, 12)), true};
  synth::WeightOptions weights;
  if (!for_reading && planned.cell.model.weights)
    weights.seed = static_cast<std::uint64_t>(*planned.cell.model.weights);
  INFIMUM_RETURN_IF_ERROR(WriteOnnx(net, weights, file.path));
  return file;
}

Result<const CellRunner::Place*> CellRunner::PlaceOf(const std::string& name, std::int64_t threads,
                                                     NumericContract contract, std::span<const PeakChange> peaks) {
  std::string key = fmt::format("{}/{}/{}", threads, Name(contract), name);
  for (const PeakChange& peak : peaks) key += fmt::format("/{}={}", peak.rate, peak.factor);
  auto found = places_.find(key);
  if (found == places_.end()) {
    Selection selection;
    selection.device = here_.device.Key();
    if (!name.empty()) {
      INFIMUM_ASSIGN_OR_RETURN(const Device device, ChooseDevice(name, installation_, options_.campaign, store_));
      selection.device = device.Key();
    }
    selection.threads = threads;
    selection.contract = contract;
    INFIMUM_ASSIGN_OR_RETURN(DeviceModel model, DeviceModel::Make(store_, selection));
    for (const PeakChange& peak : peaks) INFIMUM_RETURN_IF_ERROR(model.Multiply(peak.rate, peak.factor));
    found = places_.emplace(key, Place{std::move(selection), std::move(model)}).first;
  }
  return &found->second;
}

Status CellRunner::CheckCells(std::span<const PlannedCell> cells) {
  std::set<std::string> names;
  for (const PlannedCell& planned : cells) names.insert(planned.cell.device);
  for (const std::string& name : names) {
    if (name.empty()) continue;
    INFIMUM_ASSIGN_OR_RETURN([[maybe_unused]] const Place* const known, PlaceOf(name, 1, NumericContract::kStrictF32));
  }
  for (const PlannedCell& planned : cells)
    if (planned.cell.quantity == CellQuantity::kLatency)
      INFIMUM_RETURN_IF_ERROR(CheckFrameworkChoice(StatedOf(planned)));
  return {};
}

// The model that was read last is kept: cells of several devices have it one after the other.
Result<const CellRunner::ReadCell*> CellRunner::ReadModelOf(const PlannedCell& planned, bool needs_weights) {
  EvaluationCell bare;
  bare.model = planned.cell.model;
  bare.dims = planned.cell.dims;
  bare.contract = planned.cell.contract;
  const std::string key = CanonicalText(bare);
  if (read_ && read_->key == key && !needs_weights) return &*read_;
  read_.reset();
  INFIMUM_ASSIGN_OR_RETURN(const File file, FileOf(planned, true));
  const CellStorage storage = StorageOfCell(planned.cell.contract).value_or(CellStorage());
  Result<ModelUnder> under =
      ReadModelUnder(file.path, planned.cell.dims, storage.contract, true, needs_weights, storage.weights);
  file.Remove();
  if (!under.ok()) return under.error();
  const InspectTotals totals = TotalsOf(under->graph);
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(under->graph);
  return &read_.emplace(ReadCell{key, *std::move(under), totals, traffic});
}

Status CellRunner::AddFloor(const PlannedCell& planned, std::span<const PeakChange> peaks, Prepared& prepared) {
  CellFacts& facts = prepared.facts;
  const bool is_measured = planned.cell.quantity == CellQuantity::kLatency;
  INFIMUM_ASSIGN_OR_RETURN(const ReadCell* const read, ReadModelOf(planned, is_measured));
  const ModelUnder* const under = &read->under;
  if (planned.family == nullptr) {
    const InspectTotals& totals = read->totals;
    facts.parameters = totals.parameters;
    facts.flops = totals.conventional_flops;
    facts.bytes = totals.read + totals.written;
    facts.weights = totals.parameter_bytes;
  }
  const NumericContract kept = under->selected.value_or(MainContract(under->graph));
  const Result<const Place*> place = PlaceOf(planned.cell.device, planned.cell.threads, kept, peaks);
  // A list measures no peaks.
  if (!place.ok()) return is_measured && !options_.measures_peaks ? Status() : place.error();
  const std::vector<Floor> floors = ComputeFloors(under->graph, (*place)->model);
  const Floor& floor = FloorOf(floors, ProgramClass::kTextbook);
  facts.floor = floor.latency;
  facts.decided_by = floor.decided_by;
  prepared.assumptions = floor.assumptions;
  prepared.omitted = UnknownLayersText(under->graph);
  const CompulsoryTraffic& traffic = read->traffic;
  facts.inputs = Bytes{static_cast<std::int64_t>(traffic.inputs)};
  if (floor.decided_by.starts_with("bandwidth"))
    facts.decided_by += 2 * traffic.inputs > traffic.read ? ", inputs" : ", weights";
  return {};
}

Result<CellRunner::Prepared> CellRunner::Prepare(const PlannedCell& planned, bool floors,
                                                 std::span<const PeakChange> peaks) {
  Prepared prepared;
  CellFacts& facts = prepared.facts;
  const auto refuse = [&](CellState state, std::string reason) {
    prepared.refusal = Refused(state, std::move(reason), facts);
    return prepared;
  };
  if (planned.family != nullptr) {
    const Result<synth::Net> net = MakeNet(*planned.family, planned.point, synth::Blocks::kCounted);
    if (!net.ok()) return refuse(CellState::kSkipped, "no such model: " + net.error().message);
    const Result<synth::NetTotals> totals = TotalsOf(*net);
    if (!totals.ok()) return refuse(CellState::kSkipped, "no such model: " + totals.error().message);
    facts.parameters = totals->parameters;
    facts.flops = totals->flops;
    facts.bytes = totals->moved;
    facts.weights = totals->weights;
    facts.memory = totals->memory;
  }
  if (planned.cell.quantity == CellQuantity::kLatency && facts.memory) {
    const Bytes most = planned.cell.method.memory_limit.value_or(here_.device.memory);
    if (most.value > 0 && facts.memory->value > most.value)
      return refuse(CellState::kOutOfMemory,
                    fmt::format("needs {} by estimate, and {} are there", BytesText(*facts.memory), BytesText(most)));
  }
  if (floors || planned.family == nullptr) {
    const Status added = AddFloor(planned, peaks, prepared);
    if (!added.ok()) return refuse(CellState::kSkipped, added.error().message);
  }
  return prepared;
}

// The store's rows of all devices of the kind are read once for a device, number of threads and contract. Null where
// there are none.
Result<EstimateQuestion*> CellRunner::QuestionOf(const ModelGraph& graph, const Selection& selection) {
  const std::string key = fmt::format("{}/{}/{}/{}", graph.sha256, selection.threads,
                                      selection.contract ? Name(*selection.contract) : "", selection.device.text);
  auto found = questions_.find(key);
  if (found == questions_.end()) {
    INFIMUM_ASSIGN_OR_RETURN(EstimateQuestion question, AskForEstimate(graph, selection, store_));
    const bool has_rows = !question.target.best.empty() || !question.others.empty();
    found = questions_.emplace(key, has_rows ? std::optional(std::move(question)) : std::nullopt).first;
  } else if (found->second) {
    AskAgain(graph, *found->second);
  }
  return found->second ? &*found->second : nullptr;
}

Result<CellRunner::Rows> CellRunner::RowsOf(const PlannedCell& planned, Latency floor) {
  constexpr double kMostMissing = 0.05;         // of the roofline, as of an estimate that has an interval
  constexpr double kMostMissingOfBound = 1e-3;  // of time or FLOPs
  INFIMUM_ASSIGN_OR_RETURN(const ReadCell* const read, ReadModelOf(planned, false));
  const ModelGraph& graph = read->under.graph;
  INFIMUM_ASSIGN_OR_RETURN(const Place* const place, PlaceOf(planned.cell.device, planned.cell.threads,
                                                             read->under.selected.value_or(MainContract(graph))));
  Selection selection = place->selection;
  selection.contract = read->under.selected;
  Rows rows;
  INFIMUM_ASSIGN_OR_RETURN(EstimateQuestion* const question, QuestionOf(graph, selection));
  if (question == nullptr || question->target.best.empty()) {
    const Roofline roofline = RooflineOf(graph, place->model, floor);
    rows.roofline = roofline.latency;
    rows.launches = roofline.launches;
  } else {
    INFIMUM_ASSIGN_OR_RETURN(const Bracket bracket, ComputeBracket(graph, store_, selection));
    rows.roofline = bracket.roofline;
    rows.launches = bracket.launches;
    const Bound* const bound = bracket.BestKnown();
    if (bound != nullptr && bracket.coverage.Lacking() <= kMostMissingOfBound)
      rows.known = KnownTime{bound->latency, bound->interval, 1};
    // What has rows counts in context, as in a bound.
    for (const LayerLatency& row : bracket.layers)
      if (const Layer& layer = graph.layer(row.layer); row.status == LatencyStatus::kMeasured && row.latency)
        question->target.best[WorkloadKey{ConfigOf(layer)}] = *row.latency;
  }
  if (place->model.launch() <= Latency(0)) rows.launches.reset();
  if (question == nullptr || rows.known) return rows;
  const Result<Estimate> estimate = EstimateModel(*question);
  // An estimate below a floor is none.
  if (estimate.ok() && estimate->missing <= kMostMissing && estimate->latency >= floor)
    rows.known = KnownTime{estimate->latency, estimate->interval, estimate->measured};
  return rows;
}

Result<CellResult> CellRunner::Run(const PlannedCell& planned, const Prepared& prepared, const CellMethod& method,
                                   ProgressLog& log) {
  if (prepared.refusal) return *prepared.refusal;
  const EvaluationCell& cell = planned.cell;
  if (const auto storage = StorageOfCell(cell.contract); storage && storage->weights)
    return Refused(CellState::kUnsupported,
                   fmt::format("{} is given the model as it is: quantize its weights to {} and evaluate that file",
                               cell.framework.name, Name(*storage->weights)),
                   prepared.facts);
  FrameworkFailure failure = FrameworkFailure::kNone;
  FrameworkOptions options = StatedOf(planned);
  options.python = options_.python;
  options.dims = cell.dims;
  options.threads = cell.threads;
  options.repetitions = method.processes;
  options.sampling = std::chrono::milliseconds(static_cast<std::int64_t>(method.seconds * 1000));
  options.layers = false;
  options.most = std::chrono::seconds(method.time_limit_s);
  options.memory = method.memory_limit;
  options.device = here_.device.kind;
  options.device_name = here_.device.kind == DeviceKind::kGpu ? here_.device.name : "";
  options.failure = &failure;

  INFIMUM_ASSIGN_OR_RETURN(const File file, FileOf(planned, false));
  const Result<ModelUnder> under = ReadModelUnder(file.path, cell.dims, std::nullopt, true, true);
  const auto measure = [&]() -> Result<RunProfile> {
    INFIMUM_RETURN_IF_ERROR(under.ok() ? Status() : Status(under.error()));
    options.contract = MainContract(under->graph);
    if (!cell.contract.empty()) options.converted = FindContract(cell.contract);
    options.input_shapes = InputShapesOf(under->graph);
    if (const Status fits = CheckFramework(options); !fits.ok()) {
      failure = FrameworkFailure::kUnsupported;
      return fits.error();
    }
    return MeasureFramework(installation_, file.path, options, log);
  };
  Result<RunProfile> run = measure();
  file.Remove();
  if (!run.ok()) {
    if (run.error().message.starts_with("interrupted")) return run.error();
    return Refused(StateOf(failure), run.error().message, prepared.facts);
  }
  if (!cell.framework.version.empty() && run->framework_version != cell.framework.version)
    return Refused(CellState::kSkipped,
                   fmt::format("{} is {} here, and the evaluation asks for {}", run->framework, run->framework_version,
                               cell.framework.version),
                   prepared.facts);
  run->device = here_.device.Key().text;
  CellResult result{.state = CellState::kOk, .reason = "", .measured_at = UtcNow(), .facts = prepared.facts};
  result.framework_version = run->framework_version;
  result.evidence = EvidenceOf(*run, here_);
  result.repetitions = RepetitionsOf(*run);
  run->settings[kCellSetting] = CanonicalText(cell);
  if (planned.family == nullptr) {
    INFIMUM_ASSIGN_OR_RETURN([[maybe_unused]] const ImportCount count, store_.ImportRun(*run));
  }
  if (result.repetitions.empty()) {
    result.state = CellState::kFailed;
    result.reason = "noisy: " + run->noisy;
  }
  return result;
}

}  // namespace infimum
