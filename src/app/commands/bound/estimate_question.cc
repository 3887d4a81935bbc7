#include "src/app/commands/bound/estimate_question.h"

#include <algorithm>

#include "db/store/data_sheets.h"

namespace infimum {
namespace {

// To calibrate on; more say little more.
constexpr std::size_t kMostOtherModels = 64;

// The workloads of models and rows, each parsed once.
class Workloads {
 public:
  explicit Workloads(std::map<WorkloadKey, KeyedWorkload>& known) : known_(known) {}
  // nullptr for a text that nothing can read.
  const KeyedWorkload* Find(const std::string& text) {
    const auto found = known_.find(WorkloadKey{text});
    if (found != known_.end()) return &found->second;
    Result<Workload> workload = ParseWorkload(text);
    if (!workload.ok()) return nullptr;
    return &known_.emplace(WorkloadKey{text}, Keyed(*std::move(workload))).first->second;
  }

 private:
  std::map<WorkloadKey, KeyedWorkload>& known_;
};

ModelWork WorkOf(const StoredModel& model, Workloads& workloads) {
  ModelWork work;
  for (const ModelLayer& layer : model.layers) {
    if (layer.workload.empty() || layer.executions <= 0) continue;
    if (const KeyedWorkload* keyed = workloads.Find(layer.workload))
      work.push_back({*keyed, static_cast<double>(layer.executions)});
  }
  return work;
}

Result<KnownDevice> Know(const Device& device, const Selection& selection, Store& store) {
  const DataSheet* sheet = FindDataSheet(device);
  if (sheet == nullptr) sheet = FindDataSheetByKey(device.Key());
  DevicePeaks peaks;
  if (sheet != nullptr) {
    peaks = sheet->peaks;
  } else {
    INFIMUM_ASSIGN_OR_RETURN(peaks, store.Peaks(device.Key()));
  }
  INFIMUM_ASSIGN_OR_RETURN(DeviceModel model,
                           DeviceModel::Make(device.Key(), peaks, selection.threads,
                                             selection.contract.value_or(NumericContract::kStrictF32)));
  std::optional<double> year;
  if (const auto known = YearOfGeneration(sheet != nullptr ? sheet->device.generation : device.generation))
    year = static_cast<double>(*known);
  return KnownDevice{device.name, year, std::move(model), sheet != nullptr ? sheet->middle_clock : 1, {}};
}

// The median of the repetitions' medians.
Latency TimeOf(const Measurement& row) {
  std::vector<Latency> medians;
  for (const Repetition& repetition : row.repetitions) medians.push_back(repetition.median);
  const auto middle = medians.begin() + static_cast<std::ptrdiff_t>(medians.size() / 2);
  std::ranges::nth_element(medians, middle);
  return *middle;
}

}  // namespace

Result<EstimateQuestion> AskForEstimate(const ModelGraph& graph, const Selection& selection, Store& store) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Device> devices, store.Devices());
  std::optional<Device> target;
  if (const DataSheet* sheet = FindDataSheetByKey(selection.device)) target = sheet->device;
  for (const Device& device : devices)
    if (device.Key() == selection.device) target = device;
  if (!target) target = Device::OfKey(selection.device.text);
  if (!target) return Error{"the device " + selection.device.text + " is not known"};
  INFIMUM_ASSIGN_OR_RETURN(KnownDevice asked, Know(*target, selection, store));

  EstimateQuestion question{std::move(asked), {}, {}, {}, {}};
  Workloads workloads(question.workloads);
  std::map<DeviceKey, std::map<WorkloadKey, Latency>> best;
  INFIMUM_RETURN_IF_ERROR(store.VisitRows({.outcome = "measured"}, [&](const RowBatch& batch) -> Status {
    if (batch.device.kind != target->kind || batch.environment.threads != selection.threads) return {};
    std::map<WorkloadKey, Latency>& of_device = best[batch.device.Key()];
    for (const Measurement& row : batch.rows) {
      const KeyedWorkload* keyed = row.repetitions.empty() ? nullptr : workloads.Find(row.workload.text);
      if (keyed == nullptr || row.candidate.is_observed() ||
          !Meets(row, selection.contract.value_or(NativeContract(keyed->workload))) ||
          row.cache != StateOfRows(selection.cache.value_or(CacheState::kWarm), keyed->workload))
        continue;
      const Latency time = TimeOf(row);
      Latency& known = of_device.emplace(row.workload, time).first->second;
      known = std::min(known, time);
    }
    return {};
  }));
  for (const Device& device : devices) {
    const auto found = best.find(device.Key());
    if (found == best.end()) continue;
    if (device.Key() == selection.device) {
      question.target.best = std::move(found->second);
    } else if (Result<KnownDevice> known = Know(device, selection, store)) {
      known->best = std::move(found->second);
      question.others.push_back(*std::move(known));
    }
  }
  AskAgain(graph, question);
  INFIMUM_RETURN_IF_ERROR(store.VisitModels([&](const StoredModel& model) -> Status {
    if (model.sha256 != graph.sha256 && question.other_models.size() < kMostOtherModels)
      question.other_models.push_back(WorkOf(model, workloads));
    return {};
  }));
  return question;
}

void AskAgain(const ModelGraph& graph, EstimateQuestion& question) {
  Workloads workloads(question.workloads);
  question.model = WorkOf(DescribeModel(graph.name, graph, {}), workloads);
}

}  // namespace infimum
