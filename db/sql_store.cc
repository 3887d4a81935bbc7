#include "db/sql_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "db/query_run.h"
#include "db/run_details.h"
#include "db/sql_import.h"
#include "infimum/base/text.h"
#include "infimum/db/data_sheets.h"
#include "infimum/measurement/selection_filter.h"

namespace infimum {
namespace {

constexpr PeakRate::Kind kKinds[] = {PeakRate::Kind::kRead, PeakRate::Kind::kWrite, PeakRate::Kind::kCopy,
                                     PeakRate::Kind::kArithmetic};

Result<Device> DeviceFrom(const Statement& row) {
  Device device;
  device.kind = row.Text(0) == "gpu" ? DeviceKind::kGpu : DeviceKind::kCpu;
  device.name = row.Text(1);
  device.vendor = row.Text(2);
  device.generation = row.Text(3);
  INFIMUM_ASSIGN_OR_RETURN(device.identity, ParseTexts(row.Text(4)));
  device.cores = row.Integer(5);
  device.last_level_cache = Bytes{row.Integer(6)};
  device.memory = Bytes{row.Integer(7)};
  return device;
}

auto IdentityOf(const Measurement& row) {
  return std::tie(row.workload, row.candidate.library, row.candidate.algorithm, row.candidate.input_layout,
                  row.candidate.output_layout, row.contract, row.environment);
}

}  // namespace

std::string_view Name(PeakRate::Kind kind) {
  switch (kind) {
    case PeakRate::Kind::kRead:
      return "read";
    case PeakRate::Kind::kWrite:
      return "write";
    case PeakRate::Kind::kCopy:
      return "copy";
    case PeakRate::Kind::kArithmetic:
      return "arithmetic";
  }
  return "read";
}

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

Result<std::unique_ptr<StoreImport>> SqlStore::BeginImport(const CampaignOrigin& campaign) {
  return SqlImport::Begin(*connection_, campaign);
}

Result<std::optional<RunProfile>> SqlStore::FindRun(const std::string& model_sha256, const DeviceKey& device,
                                                    const std::map<std::string, std::int64_t>& dims,
                                                    std::int64_t threads, const std::string& framework) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection_->Prepare("SELECT framework, framework_version, model_name, model_sha256, device_key, dims, threads, "
                           "contract, details FROM runs WHERE model_sha256 = $1 AND device_key = $2 AND dims = $3 AND "
                           "threads = $4 AND framework = $5 ORDER BY id DESC LIMIT 1"));
  find->Bind(1, model_sha256);
  find->Bind(2, device.text);
  find->Bind(3, FormatDims(dims));
  find->Bind(4, threads);
  find->Bind(5, framework);
  INFIMUM_ASSIGN_OR_RETURN(const bool found, find->Step());
  if (!found) return std::optional<RunProfile>();
  RunProfile run;
  run.framework = find->Text(0);
  run.framework_version = find->Text(1);
  run.model_name = find->Text(2);
  run.model_sha256 = find->Text(3);
  run.device = find->Text(4);
  INFIMUM_ASSIGN_OR_RETURN(run.dims, ParseDims(find->Text(5)));
  run.threads = find->Integer(6);
  run.contract = find->Text(7);
  INFIMUM_RETURN_IF_ERROR(ParseRunDetails(find->Text(8), run));
  return std::optional<RunProfile>(std::move(run));
}

Result<std::vector<StoredDevice>> SqlStore::Devices() {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<StoredDevice> devices, DevicesWhere("", ""));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection_->Prepare("SELECT d.key, count(*), max(m.measured_at) FROM measurements m JOIN devices d ON d.id = "
                           "m.device_id GROUP BY d.key"));
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return devices;
    for (StoredDevice& stored : devices) {
      if (stored.device.Key().text != find->Text(0)) continue;
      stored.measurements = find->Integer(1);
      stored.newest = find->Text(2);
    }
  }
}

Result<QueryTable> SqlStore::Ask(const NamedQuery& query, const std::map<std::string, std::string>& given) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> values, ValuesOf(query, given));
  return RunQuery(*connection_, query.sql, values);
}

Result<QueryTable> SqlStore::AskSql(const std::string& sql) { return RunQuery(*connection_, sql, {}); }

Result<std::vector<StoredDevice>> SqlStore::DevicesWhere(const std::string& condition, const std::string& key) {
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection_->Prepare("SELECT d.kind, d.name, d.vendor, d.generation, d.identity, d.cores, "
                                                "d.last_level_cache_bytes, d.memory_bytes FROM devices d " +
                                                condition + " ORDER BY d.name, d.key"));
  if (!condition.empty()) find->Bind(1, key);
  std::vector<StoredDevice> devices;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return devices;
    StoredDevice stored;
    INFIMUM_ASSIGN_OR_RETURN(stored.device, DeviceFrom(*find));
    devices.push_back(std::move(stored));
  }
}

Result<std::map<EnvironmentKey, Environment>> SqlStore::Environments() {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection_->Prepare(
          "SELECT key, libraries, threads, affinity, clock_policy, host, infimum_version FROM environments"));
  std::map<EnvironmentKey, Environment> environments;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) return environments;
    Environment environment;
    INFIMUM_ASSIGN_OR_RETURN(environment.libraries, ParseTexts(find->Text(1)));
    environment.threads = find->Integer(2);
    environment.affinity = find->Text(3);
    environment.clock_policy = find->Text(4);
    environment.host = find->Text(5);
    environment.infimum_version = find->Text(6);
    environments.emplace(EnvironmentKey{find->Text(0)}, std::move(environment));
  }
}

Result<std::vector<SqlStore::StoredRow>> SqlStore::RowsOf(std::span<const WorkloadKey> workloads,
                                                          const Selection& selection) {
  std::vector<std::string> texts;
  for (const WorkloadKey& key : workloads) texts.push_back(key.text);
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());

  // One question for the whole model; the names travel as one bound JSON text. CROSS JOIN keeps SQLite from going
  // through all rows of the device and looking each of them up in that text; PostgreSQL decides for itself.
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection_->Prepare(fmt::format(
          "SELECT m.id, w.text, c.library, c.algorithm, c.input_layout, c.output_layout, m.library_choice, m.contract, "
          "e.key, m.measured_at, m.outcome, m.reason, m.numeric_error, m.flags, m.weight, m.best_us "
          "FROM (SELECT id FROM devices WHERE key = $2) d CROSS JOIN {} CROSS JOIN workloads w "
          "CROSS JOIN measurements m JOIN candidates c ON c.id = m.candidate_id "
          "JOIN environments e ON e.id = m.environment_id "
          "WHERE w.text = wanted.value AND m.workload_id = w.id AND m.device_id = d.id AND m.cache = $3 "
          "AND e.threads = $4",
          ListTable(connection_->dialect(), "$1", "wanted"))));
  find->Bind(1, FormatList(texts));
  find->Bind(2, selection.device.text);
  find->Bind(3, Name(selection.cache));
  find->Bind(4, selection.threads);
  std::vector<StoredRow> rows;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool more, find->Step());
    if (!more) return rows;
    StoredRow stored;
    stored.id = find->Integer(0);
    Measurement& row = stored.row;
    row.workload = {find->Text(1)};
    row.candidate = {find->Text(2), find->Text(3), find->Text(4), find->Text(5), find->Integer(6) != 0};
    const std::optional<NumericContract> contract = FindContract(find->Text(7));
    const std::optional<Outcome> outcome = FindOutcome(find->Text(10));
    if (!contract || !outcome) return Error{connection_->name() + ": holds a row with an unknown contract or outcome"};
    row.contract = *contract;
    row.cache = selection.cache;
    row.device = selection.device;
    row.environment = {find->Text(8)};
    row.measured_at = find->Text(9);
    row.outcome = *outcome;
    row.reason = find->Text(11);
    row.numeric_error = find->OptionalNumber(12);
    INFIMUM_ASSIGN_OR_RETURN(row.flags, ParseList(find->Text(13)));
    stored.weight = find->Integer(14);
    stored.best = find->OptionalNumber(15).value_or(std::numeric_limits<double>::infinity());
    rows.push_back(std::move(stored));
  }
}

Status SqlStore::ReadRepetitions(std::vector<StoredRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const StoredRow& a, const StoredRow& b) { return a.id < b.id; });
  std::vector<std::string> ids;
  for (const StoredRow& row : rows) ids.push_back(std::to_string(row.id));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection_->Prepare(fmt::format(
          "SELECT r.measurement_id, r.count, r.minimum_us, r.median_us, r.p95_us, r.samples_us FROM {} CROSS JOIN "
          "repetitions r WHERE r.measurement_id = CAST(wanted.value AS BIGINT) ORDER BY r.measurement_id, r.position",
          ListTable(connection_->dialect(), "$1", "wanted"))));
  find->Bind(1, FormatList(ids));
  auto row = rows.begin();
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool more, find->Step());
    if (!more) return {};
    const std::int64_t id = find->Integer(0);
    while (row != rows.end() && row->id < id) ++row;
    if (row == rows.end() || row->id != id) return Error{connection_->name() + ": holds a repetition without its row"};
    Repetition repetition{
        find->Integer(1), Latency(find->Number(2)), Latency(find->Number(3)), Latency(find->Number(4)), {}};
    const std::vector<std::byte> bytes = find->Bytes(5);
    std::vector<double> samples(bytes.size() / sizeof(double));
    if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(double));
    for (const double sample : samples) repetition.samples.emplace_back(sample);
    row->row.repetitions.push_back(std::move(repetition));
  }
}

Result<std::vector<Measurement>> SqlStore::Find(std::span<const WorkloadKey> workloads, const Selection& selection) {
  INFIMUM_ASSIGN_OR_RETURN(std::vector<StoredRow> rows, RowsOf(workloads, selection));
  // Rows that differ in their campaign or in how much they say are one row to whoever asks: the fastest, since another
  // row of the same candidate must never raise a bound; of equals the one that says most, of those the newest.
  std::sort(rows.begin(), rows.end(), [](const StoredRow& a, const StoredRow& b) {
    const auto left = IdentityOf(a.row), right = IdentityOf(b.row);
    if (left != right) return left < right;
    if (a.best != b.best) return a.best < b.best;
    return std::tie(a.weight, a.row.measured_at) > std::tie(b.weight, b.row.measured_at);
  });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const StoredRow& a, const StoredRow& b) { return IdentityOf(a.row) == IdentityOf(b.row); }),
             rows.end());
  INFIMUM_RETURN_IF_ERROR(ReadRepetitions(rows));
  std::vector<Measurement> measurements;
  measurements.reserve(rows.size());
  for (StoredRow& row : rows) measurements.push_back(std::move(row.row));
  INFIMUM_ASSIGN_OR_RETURN(const auto environments, Environments());
  return Admitted(std::move(measurements), environments, selection);
}

Result<DevicePeaks> SqlStore::Peaks(const DeviceKey& device) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto find,
      connection_->Prepare("SELECT p.kind, p.working_set_bytes, p.dtype, p.threads, p.source, max(p.per_second) "
                           "FROM peak_rates p JOIN devices d ON d.id = p.device_id WHERE d.key = $1 "
                           "GROUP BY p.kind, p.working_set_bytes, p.dtype, p.threads, p.source"));
  find->Bind(1, device.text);
  DevicePeaks peaks;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) break;
    PeakRate rate;
    INFIMUM_ASSIGN_OR_RETURN(rate.kind, FindPeakKind(find->Text(0)));
    rate.working_set = Bytes{find->Integer(1)};
    const std::optional<DataType> type = FindDataType(find->Text(2));
    if (!type) return Error{connection_->name() + ": holds a peak of an unknown data type"};
    rate.type = *type;
    rate.threads = find->Integer(3);
    rate.source = find->Text(4);
    rate.per_second = find->Number(5);
    peaks.rates.push_back(std::move(rate));
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<StoredDevice> devices, DevicesWhere("WHERE d.key = $1", device.text));
  const DataSheet* const sheet = devices.empty() ? FindDataSheetByKey(device) : FindDataSheet(devices.front().device);
  // A processor's sheet is about all its cores together: what was seen of the asked ones says more.
  if (sheet == nullptr || (sheet->device.kind == DeviceKind::kCpu && !peaks.rates.empty())) return peaks;
  peaks.rates.insert(peaks.rates.end(), sheet->peaks.rates.begin(), sheet->peaks.rates.end());
  peaks.nearer_than_memory = sheet->peaks.nearer_than_memory;
  return peaks;
}

}  // namespace infimum
