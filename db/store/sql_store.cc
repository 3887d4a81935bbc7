#include "db/store/sql_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "db/queries/query_run.h"
#include "db/store/data_sheets.h"
#include "db/store/device_joining.h"
#include "db/store/run_details.h"
#include "db/store/sql_import.h"
#include "infimum/base/text.h"
#include "src/core/measurement/selection_filter.h"

namespace infimum {
namespace {

constexpr PeakRate::Kind kKinds[] = {PeakRate::Kind::kRead,       PeakRate::Kind::kWrite, PeakRate::Kind::kCopy,
                                     PeakRate::Kind::kArithmetic, PeakRate::Kind::kTf32,  PeakRate::Kind::kLaunch,
                                     PeakRate::Kind::kRetention};

constexpr const char* kRunColumns =
    "framework, framework_version, model_name, model_sha256, device_key, dims, threads, contract, details";

Result<RunProfile> RunFrom(const Statement& row) {
  RunProfile run;
  run.framework = row.Text(0);
  run.framework_version = row.Text(1);
  run.model_name = row.Text(2);
  run.model_sha256 = row.Text(3);
  run.device = row.Text(4);
  INFIMUM_ASSIGN_OR_RETURN(run.dims, ParseDims(row.Text(5)));
  run.threads = row.Integer(6);
  run.contract = row.Text(7);
  INFIMUM_RETURN_IF_ERROR(ParseRunDetails(row.Text(8), run));
  return run;
}

// The newest first; `most` of them.
Result<std::vector<RunProfile>> RunsOf(Connection& connection, const std::string& model_sha256, const DeviceKey& device,
                                       const std::map<std::string, std::int64_t>& dims, std::int64_t threads,
                                       const std::string& framework, std::int64_t most) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection.Prepare(fmt::format("SELECT {} FROM runs WHERE model_sha256 = $1 AND device_key = $2 AND dims = $3 "
                                     "AND threads = $4 AND ($5 = '' OR framework = $5) ORDER BY id DESC LIMIT $6",
                                     kRunColumns)));
  find->BindAll(model_sha256, device.text, FormatDims(dims), threads, framework, most);
  std::vector<RunProfile> runs;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool found, find->Step());
    if (!found) return runs;
    INFIMUM_ASSIGN_OR_RETURN(RunProfile run, RunFrom(*find));
    runs.push_back(std::move(run));
  }
}

auto IdentityOf(const Measurement& row) {
  return std::tie(row.workload, row.candidate.library, row.candidate.algorithm, row.candidate.input_layout,
                  row.candidate.output_layout, row.contract, row.cache, row.environment);
}

}  // namespace

Result<PeakRate::Kind> FindPeakKind(std::string_view name) {
  for (const PeakRate::Kind kind : kKinds)
    if (Name(kind) == name) return kind;
  return Error{fmt::format("the store holds a peak of unknown kind {}", Quoted(name))};
}

Result<ImportCount> Store::Import(const Device& device, const Environment& environment,
                                  std::span<const Measurement> rows, std::span<const PeakRate> peaks) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, BeginImport({}));
  INFIMUM_RETURN_IF_ERROR(import->Add(device, environment, rows, peaks));
  return import->Commit();
}

Result<ImportCount> Store::ImportRun(const RunProfile& run) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, BeginImport({}));
  INFIMUM_RETURN_IF_ERROR(import->AddRun(run));
  return import->Commit();
}

Result<ImportCount> Store::ImportModel(const StoredModel& model) {
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<StoreImport> import, BeginImport({}));
  INFIMUM_RETURN_IF_ERROR(import->AddModel(model));
  return import->Commit();
}

Result<std::unique_ptr<StoreImport>> SqlStore::BeginImport(const CampaignOrigin& campaign) {
  return SqlImport::Begin(*connection_, campaign);
}

Result<std::vector<RunProfile>> SqlStore::FindRuns(const std::string& model_sha256, const DeviceKey& device,
                                                   const std::map<std::string, std::int64_t>& dims,
                                                   std::int64_t threads, const std::string& framework) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<RunProfile> runs, RunsOf(*connection_, model_sha256, device, dims, threads,
                                                                framework, std::numeric_limits<std::int64_t>::max()));
  // Of a cell: under whatever options its evaluation states, and without layers.
  std::ranges::stable_partition(runs, [](const RunProfile& run) { return !run.settings.contains("cell"); });
  return runs;
}

Result<std::optional<RunProfile>> SqlStore::FindRun(const std::string& model_sha256, const DeviceKey& device,
                                                    const std::map<std::string, std::int64_t>& dims,
                                                    std::int64_t threads, const std::string& framework) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<RunProfile> runs, FindRuns(model_sha256, device, dims, threads, framework));
  if (runs.empty()) return std::optional<RunProfile>();
  return std::optional<RunProfile>(std::move(runs.front()));
}

Result<std::map<EnvironmentKey, Environment>> SqlStore::Environments() { return ReadEnvironments(*connection_); }

Result<std::vector<Device>> SqlStore::Devices() {
  INFIMUM_ASSIGN_OR_RETURN(const auto find, connection_->Prepare(fmt::format("SELECT {} FROM {} ORDER BY d.name, d.key",
                                                                             kDeviceColumns, kDeviceTables)));
  std::vector<Device> devices;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return devices;
    INFIMUM_ASSIGN_OR_RETURN(Device device, DeviceFrom(*find));
    devices.push_back(std::move(device));
  }
}

Result<std::vector<DeviceRows>> SqlStore::CountRows() {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<Device> devices, Devices());
  std::vector<DeviceRows> counts;
  for (Device& device : devices) counts.push_back({std::move(device), 0, ""});
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection_->Prepare("SELECT d.key, m.rows, m.newest FROM (SELECT device_id, count(*) AS rows, max(measured_at) "
                           "AS newest FROM measurements GROUP BY device_id) m JOIN devices d ON d.id = m.device_id"));
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return counts;
    for (DeviceRows& counted : counts) {
      if (counted.device.Key().text != find->Text(0)) continue;
      counted.measurements = find->Integer(1);
      counted.newest = find->Text(2);
    }
  }
}

Status SqlStore::VisitRows(const RowSelection& selection, const std::function<Status(const RowBatch&)>& take) {
  return VisitStoredRows(*connection_, selection, take);
}

Status SqlStore::VisitRuns(const std::function<Status(const RunProfile&)>& take) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto next,
      connection_->Prepare(fmt::format("SELECT {}, id FROM runs WHERE id > $1 ORDER BY id LIMIT 1", kRunColumns)));
  std::int64_t id = 0;
  while (true) {
    next->Bind(1, id);
    INFIMUM_ASSIGN_OR_RETURN(const bool more, next->Step());
    if (!more) return {};
    INFIMUM_ASSIGN_OR_RETURN(const RunProfile run, RunFrom(*next));
    id = next->Integer(9);
    next->Reset();
    INFIMUM_RETURN_IF_ERROR(take(run));
  }
}

Status SqlStore::VisitModels(const std::function<Status(const StoredModel&)>& take) {
  return ReadModels(*connection_, take);
}

Result<std::string> SqlStore::MergeDevices(const DeviceKey& from, const DeviceKey& into) {
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*connection_));
  INFIMUM_ASSIGN_OR_RETURN(std::string copy, infimum::MergeDevices(*connection_, from, into));
  INFIMUM_RETURN_IF_ERROR(transaction.Commit());
  return copy;
}

Result<StoreFacts> SqlStore::Facts() { return ReadFacts(*connection_); }

Status SqlStore::Check(const std::function<void(const std::string&)>& report) {
  return CheckStore(*connection_, report);
}

Result<QueryTable> SqlStore::Ask(const NamedQuery& query, const std::map<std::string, std::string>& given) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> values, ValuesOf(query, given));
  return RunQuery(*connection_, query.sql, values);
}

Result<QueryTable> SqlStore::AskSql(const std::string& sql, const SqlLimits& limits) {
  return RunQuery(*connection_, sql, {}, &limits);
}

Result<std::vector<StoredRow>> SqlStore::RowsOf(std::span<const WorkloadKey> workloads, const Selection& selection) {
  std::vector<std::string> texts;
  for (const WorkloadKey& key : workloads) texts.push_back(key.text);
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());

  // One question for the whole model; the names travel as one bound JSON text. CROSS JOIN keeps SQLite from going
  // through all rows of the device and looking each of them up in that text; PostgreSQL decides for itself.
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection_->Prepare(fmt::format(
          "SELECT {} FROM (SELECT id, key FROM devices WHERE key = $2) d CROSS JOIN {} CROSS JOIN workloads w "
          "CROSS JOIN measurements m JOIN candidates c ON c.id = m.candidate_id "
          "JOIN environments e ON e.id = m.environment_id JOIN evidence v ON v.id = m.evidence_id "
          "WHERE w.text = wanted.value AND m.workload_id = w.id AND m.device_id = d.id AND m.cache IN ($3, $5) "
          "AND e.threads = $4 AND ($6 = '' OR m.contract = $6)",
          kRowColumns, ListTable(connection_->dialect(), "$1", "wanted"))));
  // In context both are wanted; and warm rows count as cold-weights for some workloads: AdmittedPlaces decides which.
  const CacheState state = selection.cache.value_or(CacheState::kColdWeights);
  // Likewise which contract each workload's own types imply.
  const bool is_one_contract = selection.contract && selection.cache != CacheState::kColdWeights;
  find->BindAll(FormatList(texts), selection.device.text, Name(state), selection.threads,
                Name(state == CacheState::kColdWeights ? CacheState::kWarm : state),
                is_one_contract ? Name(*selection.contract) : std::string_view());
  std::vector<StoredRow> rows;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool more, find->Step());
    if (!more) return rows;
    INFIMUM_ASSIGN_OR_RETURN(StoredRow row, RowFrom(*find, *connection_));
    rows.push_back(std::move(row));
  }
}

Result<std::vector<Measurement>> SqlStore::Find(std::span<const WorkloadKey> workloads, const Selection& selection) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<StoredRow> stored, RowsOf(workloads, selection));
  INFIMUM_ASSIGN_OR_RETURN(const auto environments, ReadEnvironments(*connection_));
  std::vector<Measurement> rows;
  rows.reserve(stored.size());
  for (StoredRow& entry : stored) rows.push_back(std::move(entry.row));
  // Before rows of several campaigns become one: which environment is the newest does not depend on which is fastest.
  std::vector<std::size_t> admitted = AdmittedPlaces(rows, environments, selection);

  // Rows that differ only in their campaign or number of repetitions are one row to a reader: the fastest, since
  // another row of the same candidate must never raise a bound; of equals the one with most repetitions, then the
  // newest.
  const auto same = [&](std::size_t a, std::size_t b) { return IdentityOf(rows[a]) == IdentityOf(rows[b]); };
  std::ranges::sort(admitted, [&](std::size_t a, std::size_t b) {
    const auto left = IdentityOf(rows[a]), right = IdentityOf(rows[b]);
    if (left != right) return left < right;
    const RowPlace &one = stored[a].place, &other = stored[b].place;
    if (one.best != other.best) return one.best < other.best;
    return std::tie(one.weight, rows[a].measured_at) > std::tie(other.weight, rows[b].measured_at);
  });
  admitted.erase(std::unique(admitted.begin(), admitted.end(), same), admitted.end());
  std::vector<RowPlace> places;
  std::vector<Measurement> found;
  for (const std::size_t i : admitted) {
    places.push_back(stored[i].place);
    found.push_back(std::move(rows[i]));
  }
  INFIMUM_RETURN_IF_ERROR(ReadRepetitions(*connection_, places, found));
  return found;
}

Result<DevicePeaks> SqlStore::Peaks(const DeviceKey& device) {
  DevicePeaks peaks;
  INFIMUM_ASSIGN_OR_RETURN(peaks.rates, ReadPeaks(*connection_, device.text));
  INFIMUM_ASSIGN_OR_RETURN(const auto find, connection_->Prepare(fmt::format("SELECT {} FROM {} WHERE d.key = $1",
                                                                             kDeviceColumns, kDeviceTables)));
  find->Bind(1, device.text);
  INFIMUM_ASSIGN_OR_RETURN(const bool is_stored, find->Step());
  const DataSheet* sheet = FindDataSheetByKey(device);
  if (is_stored) {
    INFIMUM_ASSIGN_OR_RETURN(const Device stored, DeviceFrom(*find));
    sheet = FindDataSheet(stored);
  }
  // A processor's sheet is about all its cores together: rates measured on the selected ones are more exact.
  if (sheet == nullptr || (sheet->device.kind == DeviceKind::kCpu && !peaks.rates.empty())) return peaks;
  peaks.rates.insert(peaks.rates.end(), sheet->peaks.rates.begin(), sheet->peaks.rates.end());
  peaks.nearer_than_memory = sheet->peaks.nearer_than_memory;
  return peaks;
}

}  // namespace infimum
