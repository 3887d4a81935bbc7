#include "src/app/commands/report_sweep/sweep_filling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "infimum/base/text.h"
#include "reports/text/fact_text.h"
#include "src/app/commands/evaluate/cell_run.h"
#include "src/app/commands/evaluate/sweep_cells.h"
#include "src/app/models/anonymizer.h"
#include "src/app/runners/device_choice.h"

namespace infimum {
namespace {

// From so many floors on their progress is shown: they take seconds.
constexpr std::size_t kManyFloors = 500;

// A device of the report, and the cells that are shown on it.
struct SweptDevice {
  Device device;
  std::string asked;  // as the runner of cells finds it
  std::vector<PlannedCell> cells;
  bool has_results = false;
  std::vector<PeakChange> peaks = {};  // of the device as it could be
};

bool IsLatency(const PlannedCell& planned) { return planned.cell.quantity == CellQuantity::kLatency; }

// Of a device that runs nothing: the models alone, each once.
std::vector<PlannedCell> FloorsOf(const std::vector<PlannedCell>& cells, const Device& device,
                                  const std::string& asked) {
  std::vector<PlannedCell> floors;
  std::set<std::string> known;
  for (const PlannedCell& planned : cells) {
    PlannedCell floor = planned;
    EvaluationCell& cell = floor.cell;
    cell.device = asked;
    cell.quantity = CellQuantity::kFloor;
    cell.framework = {};
    cell.method = {};
    cell.cores.clear();
    cell.input = 1;
    if (device.kind == DeviceKind::kGpu) cell.threads = 1;
    floor.hash = HashOf(cell);
    if (known.insert(floor.hash).second) floors.push_back(std::move(floor));
  }
  return floors;
}

class SweepFilling {
 public:
  SweepFilling(const SweepOptions& options, const EvaluationFile& file, const Installation& installation, Store& store,
               ProgressLog& log)
      : options_(options), file_(file), installation_(installation), store_(store), log_(log) {}

  Result<SweepReport> Fill() {
    INFIMUM_ASSIGN_OR_RETURN(attempts_, store_.Attempts(file_.hash));
    // Of a file that the store does not have: its cells may be in others.
    if (attempts_.empty()) {
      INFIMUM_ASSIGN_OR_RETURN(attempts_, store_.Attempts(""));
    }
    std::erase_if(attempts_, [](const CellAttempt& attempt) { return !attempt.result; });
    INFIMUM_RETURN_IF_ERROR(FindDevices());
    INFIMUM_RETURN_IF_ERROR(AddWhatIfs());
    SweepReport report;
    report.name = options_.anonymize ? "evaluation" : file_.evaluation.name;
    if (!options_.anonymize) report.description = file_.evaluation.description;
    report.x = options_.x;
    report.y = options_.y;
    report.threshold = options_.threshold;
    std::vector<std::vector<SweepCell>> cells;
    for (const SweptDevice& swept : devices_)
      cells.push_back(SweepCellsOf(options_.anonymize ? Nameless(swept.cells) : swept.cells, attempts_, swept.device));
    INFIMUM_RETURN_IF_ERROR(AddFloors(cells));
    for (std::size_t i = 0; i < cells.size(); ++i) AddCells(devices_[i], std::move(cells[i]), report);
    report.remarks = remarks_;
    INFIMUM_RETURN_IF_ERROR(FinishReport(report));
    return report;
  }

 private:
  Status FindDevices() {
    std::set<std::string> cells;
    std::vector<std::string> keys;  // that have results of these cells, the first first
    std::vector<PlannedCell> latencies;
    for (const PlannedCell& planned : file_.cells) {
      cells.insert(planned.hash);
      if (IsLatency(planned)) latencies.push_back(planned);
    }
    for (const CellAttempt& attempt : attempts_)
      if (cells.contains(attempt.cell) && std::ranges::find(keys, attempt.device) == keys.end())
        keys.push_back(attempt.device);
    std::vector<std::string> asked = options_.devices.empty() ? keys : options_.devices;
    for (const std::string& name : asked) {
      const Result<Device> device = ChooseDevice(name, installation_, options_.campaign, store_);
      if (!device.ok() && !options_.devices.empty()) return device.error();
      if (!device.ok()) {
        remarks_.push_back(fmt::format("left out: results of a device that the store does not describe: {}", name));
        continue;
      }
      // Two names of one device are one.
      const auto is_known = [&](const SweptDevice& swept) { return swept.device.Key() == device->Key(); };
      if (std::ranges::any_of(devices_, is_known)) continue;
      if (const std::string others = OtherDevicesText(name, *device); !others.empty())
        remarks_.push_back(fmt::format("{}, by its data sheet; {}", device->name, others));
      const bool has_results = std::ranges::find(keys, device->Key().text) != keys.end();
      if (!has_results)
        remarks_.push_back(
            fmt::format("{}: no cell was measured there; the least time is by what is known of the "
                        "device",
                        device->name));
      devices_.push_back({*device, name, has_results ? latencies : FloorsOf(file_.cells, *device, name), has_results});
    }
    // What the file itself asks of other devices.
    std::map<std::string, std::vector<PlannedCell>> of_file;
    for (const PlannedCell& planned : file_.cells)
      if (!IsLatency(planned)) of_file[planned.cell.device].push_back(planned);
    if (options_.devices.empty())
      for (auto& [name, floors] : of_file) {
        INFIMUM_ASSIGN_OR_RETURN(const Device device, ChooseDevice(name, installation_, options_.campaign, store_));
        devices_.push_back({device, name, std::move(floors), false});
      }
    if (keys.empty() && options_.devices.empty())
      remarks_.push_back(fmt::format("none of the cells was measured: infimum evaluate {}",
                                     options_.anonymize ? "FILE" : ShellQuoted(options_.evaluation.string())));
    if (devices_.empty())
      return Error{fmt::format(
          "{}: the store has no result of its cells: `infimum evaluate {}` makes them, and --device h200 shows what "
          "is least on a device by its data sheet",
          options_.evaluation.string(), ShellQuoted(options_.evaluation.string()))};
    return {};
  }

  // Each device again with other peaks, beside its own floors: a time that was measured is of the device as it is.
  Status AddWhatIfs() {
    std::vector<SweptDevice> changed;
    for (SweptDevice& swept : devices_) {
      if (options_.what_ifs.empty()) break;
      swept.has_results = false;
      swept.cells = FloorsOf(file_.cells, swept.device, swept.asked);
      for (const std::string& text : options_.what_ifs) {
        INFIMUM_ASSIGN_OR_RETURN(WhatIf what_if, ParseWhatIf(text, ModelGraph()));
        if (what_if.peaks.empty())
          return Error{fmt::format("--what-if {}: a sweep takes peaks alone, such as peak:memory=1.5x", Quoted(text))};
        SweptDevice other = swept;
        other.device.name += ", " + text;
        other.peaks = std::move(what_if.peaks);
        changed.push_back(std::move(other));
      }
    }
    if (!changed.empty()) remarks_.push_back("what if other peaks: the floors alone, whatever was measured");
    for (SweptDevice& swept : changed) devices_.push_back(std::move(swept));
    return {};
  }

  void AddCells(const SweptDevice& swept, std::vector<SweepCell> cells, SweepReport& report) {
    for (SweepCell& cell : cells) {
      cell.device = swept.device.name;
      if (options_.anonymize) {
        cell.hash.clear();
        if (!cell.reason.empty()) cell.reason = "left out";
      }
      report.cells.push_back(std::move(cell));
    }
  }

  // Where nothing was measured, and in tables of their own, where what was not is shown by its floor.
  static bool AsksForFloors(const SweptDevice& swept) {
    return !swept.has_results ||
           std::ranges::any_of(swept.cells, [](const PlannedCell& planned) { return !planned.labels.empty(); });
  }

  // Of models, one reading each for all devices: a model's cells stand at the same place on each.
  Status AddFloors(std::vector<std::vector<SweepCell>>& cells) {
    constexpr std::string_view kAtLeast = "least-";  // of TagsOfQuantities
    std::set<std::string> at_least;
    std::size_t omitting = 0;
    std::string first_omitting;
    std::size_t most = 0, all = 0, done = 0;
    for (std::size_t device = 0; device < cells.size(); ++device) {
      if (!AsksForFloors(devices_[device])) continue;
      most = std::max(most, cells[device].size());
      all += cells[device].size();
    }
    if (all > 0) {
      CellRunnerOptions options;
      options.campaign = options_.campaign;
      options.measures_peaks = options_.measures_peaks;
      INFIMUM_ASSIGN_OR_RETURN(CellRunner runner, CellRunner::Make(options, installation_, store_, log_));
      runner_ = std::make_unique<CellRunner>(std::move(runner));
    }
    for (std::size_t i = 0; i < most; ++i)
      for (std::size_t device = 0; device < cells.size(); ++device) {
        const SweptDevice& swept = devices_[device];
        if (!AsksForFloors(swept) || i >= cells[device].size()) continue;
        const bool has_rows = !swept.cells[i].labels.empty() && swept.peaks.empty();
        if (cells[device][i].state && (!has_rows || *cells[device][i].state != CellState::kOk)) continue;
        if (all >= kManyFloors)
          log_.Progress("floors", static_cast<std::int64_t>(done), static_cast<std::int64_t>(all), std::nullopt);
        ++done;
        SweepCell& cell = cells[device][i];
        if (cell.state) {
          INFIMUM_RETURN_IF_ERROR(AddRows(swept.cells[i], cell));
          continue;
        }
        INFIMUM_ASSIGN_OR_RETURN(CellRunner::Prepared prepared, runner_->Prepare(swept.cells[i], true, swept.peaks));
        cell.facts = std::move(prepared.facts);
        for (const std::string& tag : prepared.assumptions) {
          if (tag.starts_with(kAtLeast)) at_least.insert(tag.substr(kAtLeast.size()));
        }
        if (!prepared.omitted.empty() && omitting++ == 0)
          // Operators and values have names of their owners.
          first_omitting =
              fmt::format("{}, {}{}", cell.name, cell.conditions, options_.anonymize ? "" : ": " + prepared.omitted);
        if (prepared.refusal) {
          cell.state = prepared.refusal->state;
          cell.reason = prepared.refusal->reason;
        } else if (!DoesFit(swept.device, cell)) {
          continue;
        } else if (!prepared.omitted.empty()) {
          cell.reason = "without " + prepared.omitted;
        } else if (has_rows) {
          INFIMUM_RETURN_IF_ERROR(AddRows(swept.cells[i], cell));
        }
      }
    log_.EndProgress();
    if (omitting > 0)
      remarks_.push_back(
          fmt::format("floors of {} leave out layers that are not known, the first that of {}; `infimum inspect` with "
                      "these dimensions says all",
                      CountText(omitting, "cell"), first_omitting));
    if (!at_least.empty())
      remarks_.push_back(fmt::format(
          "counted at its least, which any run has: {}; --assume NAME=N states it, in an evaluation a model's dims",
          Join(std::vector<std::string>(at_least.begin(), at_least.end()), ", ")));
    return {};
  }

  Status AddRows(const PlannedCell& planned, SweepCell& cell) {
    INFIMUM_ASSIGN_OR_RETURN(const CellRunner::Rows rows,
                             runner_->RowsOf(planned, cell.facts.floor.value_or(Latency(0))));
    cell.roofline = rows.roofline;
    cell.launches = rows.launches;
    cell.known = rows.known;
    return {};
  }

  // Weights and caches that a device cannot hold at once.
  static bool DoesFit(const Device& device, SweepCell& cell) {
    const Bytes needed = cell.facts.weights.value_or(Bytes()) + cell.facts.inputs.value_or(Bytes());
    if (device.memory.value <= 0 || needed.value <= device.memory.value) return true;
    cell.state = CellState::kOutOfMemory;
    cell.reason =
        fmt::format("weights and inputs take {}, and {} are there", BytesText(needed), BytesText(device.memory));
    return false;
  }

  // What owners named: files, their dimensions, modules and options of frameworks.
  std::vector<PlannedCell> Nameless(std::vector<PlannedCell> cells) {
    for (PlannedCell& planned : cells) {
      EvaluationCell& cell = planned.cell;
      const auto rename = [&](std::string& value) {
        if (!value.empty())
          value = values_.try_emplace(value, fmt::format("value-{}", values_.size() + 1)).first->second;
      };
      rename(cell.framework.module);
      for (auto& [name, value] : cell.framework.options) rename(value);
      if (planned.family != nullptr) continue;
      const auto known = models_.try_emplace(planned.file.string(), fmt::format("model-{}", models_.size() + 1));
      planned.name = known.first->second;
      cell.dims = anonymizer_.Renamed(cell.dims);
    }
    return cells;
  }

  const SweepOptions& options_;
  const EvaluationFile& file_;
  const Installation& installation_;
  Store& store_;
  ProgressLog& log_;
  std::vector<CellAttempt> attempts_;
  std::vector<SweptDevice> devices_;
  std::vector<std::string> remarks_;
  std::unique_ptr<CellRunner> runner_;
  Anonymizer anonymizer_;
  std::map<std::string, std::string> models_, values_;
};

}  // namespace

Result<SweepReport> MakeSweepReport(const SweepOptions& options, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const EvaluationFile file, ReadEvaluationFile(options.evaluation));
  return MakeSweepReport(options, file, log);
}

Result<SweepReport> MakeSweepReport(const SweepOptions& options, const EvaluationFile& file, ProgressLog& log) {
  INFIMUM_ASSIGN_OR_RETURN(const Installation installation, Installation::Find());
  const bool is_there = options.measures_peaks || StoreExists(options.database);
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                           OpenStore(is_there ? options.database : ":memory:",
                                     options.measures_peaks ? OpenMode::kReadWrite : OpenMode::kReadOnly));
  return SweepFilling(options, file, installation, *store, log).Fill();
}

}  // namespace infimum
