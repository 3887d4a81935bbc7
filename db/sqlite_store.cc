#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "db/migrations.h"
#include "db/run_details.h"
#include "db/sqlite_connection.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "infimum/measurement/selection_filter.h"

namespace infimum {
namespace {

std::string_view KindName(PeakRate::Kind kind) {
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

Result<PeakRate::Kind> FindKind(std::string_view name) {
  for (const auto kind :
       {PeakRate::Kind::kRead, PeakRate::Kind::kWrite, PeakRate::Kind::kCopy, PeakRate::Kind::kArithmetic}) {
    if (KindName(kind) == name) return kind;
  }
  return Error{fmt::format("the store holds a peak of unknown kind {}", Quoted(name))};
}

// A row is replaced only by one that says more: a measured one beats every other outcome, more repetitions beat fewer,
// and what was tried (failed, unsupported) beats what was skipped.
std::int64_t Weight(Outcome outcome, std::size_t repetitions) {
  switch (outcome) {
    case Outcome::kMeasured:
      return 10 + static_cast<std::int64_t>(repetitions);
    case Outcome::kFailed:
    case Outcome::kUnsupported:
      return 2;
    case Outcome::kSkipped:
      return 1;
  }
  return 0;
}

class SqliteStore : public Store {
 public:
  explicit SqliteStore(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<ImportCount> Import(const Device& device, const Environment& environment, std::span<const Measurement> rows,
                             std::span<const PeakRate> peaks) override;
  Result<ImportCount> ImportRun(const RunProfile& run) override;
  Result<std::optional<RunProfile>> FindRun(const std::string& model_sha256, const DeviceKey& device,
                                            const std::map<std::string, std::int64_t>& dims, std::int64_t threads,
                                            const std::string& framework) override;
  Result<std::vector<StoredDevice>> Devices() override;
  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> workloads, const Selection& selection) override;
  Result<DevicePeaks> Peaks(const DeviceKey& device) override;

 private:
  Result<std::int64_t> IdOfDevice(const Device& device);
  Result<std::int64_t> IdOfEnvironment(const Environment& environment);
  Result<std::map<EnvironmentKey, Environment>> Environments();

  std::unique_ptr<Connection> connection_;
};

Result<std::int64_t> SqliteStore::IdOfDevice(const Device& device) {
  INFIMUM_ASSIGN_OR_RETURN(
      Statement insert,
      connection_->Prepare(
          "INSERT INTO devices (key, kind, name, vendor, generation, identity, cores, "
          "last_level_cache_bytes, memory_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"));
  const std::string key = device.Key().text;
  insert.Bind(1, key);
  insert.Bind(2, device.kind == DeviceKind::kCpu ? std::string_view("cpu") : std::string_view("gpu"));
  insert.Bind(3, device.name);
  insert.Bind(4, device.vendor);
  insert.Bind(5, device.generation);
  insert.Bind(6, FormatTexts(device.identity));
  insert.Bind(7, device.cores);
  insert.Bind(8, device.last_level_cache.value);
  insert.Bind(9, device.memory.value);
  INFIMUM_RETURN_IF_ERROR(insert.Run());
  INFIMUM_ASSIGN_OR_RETURN(Statement find, connection_->Prepare("SELECT id FROM devices WHERE key = ?"));
  find.Bind(1, key);
  INFIMUM_RETURN_IF_ERROR(find.Step());
  return find.Integer(0);
}

Result<std::int64_t> SqliteStore::IdOfEnvironment(const Environment& environment) {
  INFIMUM_ASSIGN_OR_RETURN(
      Statement insert,
      connection_->Prepare(
          "INSERT INTO environments (key, libraries, threads, affinity, clock_policy, host, infimum_version) "
          "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"));
  const std::string key = environment.Key().text;
  insert.Bind(1, key);
  insert.Bind(2, FormatTexts(environment.libraries));
  insert.Bind(3, environment.threads);
  insert.Bind(4, environment.affinity);
  insert.Bind(5, environment.clock_policy);
  insert.Bind(6, environment.host);
  insert.Bind(7, environment.infimum_version);
  INFIMUM_RETURN_IF_ERROR(insert.Run());
  INFIMUM_ASSIGN_OR_RETURN(Statement find, connection_->Prepare("SELECT id FROM environments WHERE key = ?"));
  find.Bind(1, key);
  INFIMUM_RETURN_IF_ERROR(find.Step());
  return find.Integer(0);
}

Result<ImportCount> SqliteStore::Import(const Device& device, const Environment& environment,
                                        std::span<const Measurement> rows, std::span<const PeakRate> peaks) {
  ImportCount count;
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*connection_));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t device_id, IdOfDevice(device));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t environment_id, IdOfEnvironment(environment));

  INFIMUM_ASSIGN_OR_RETURN(
      Statement add_workload,
      connection_->Prepare("INSERT INTO workloads (text) VALUES (?) ON CONFLICT (text) DO NOTHING"));
  INFIMUM_ASSIGN_OR_RETURN(
      Statement add_candidate,
      connection_->Prepare(
          "INSERT INTO candidates (library, algorithm, input_layout, output_layout) VALUES (?, ?, ?, ?) "
          "ON CONFLICT DO NOTHING"));
  INFIMUM_ASSIGN_OR_RETURN(
      Statement find_row,
      connection_->Prepare(
          "SELECT m.id, m.outcome, (SELECT count(*) FROM repetitions r WHERE r.measurement_id = m.id) "
          "FROM measurements m JOIN workloads w ON w.id = m.workload_id JOIN candidates c ON c.id = m.candidate_id "
          "WHERE w.text = ?1 AND c.library = ?2 AND c.algorithm = ?3 AND c.input_layout = ?4 AND c.output_layout = ?5 "
          "AND m.contract = ?6 AND m.cache = ?7 AND m.device_id = ?8 AND m.environment_id = ?9"));
  INFIMUM_ASSIGN_OR_RETURN(Statement delete_row, connection_->Prepare("DELETE FROM measurements WHERE id = ?"));
  INFIMUM_ASSIGN_OR_RETURN(
      Statement add_row,
      connection_->Prepare(
          "INSERT INTO measurements (workload_id, candidate_id, contract, cache, device_id, environment_id, "
          "measured_at, outcome, reason, library_choice, numeric_error, flags) "
          "SELECT w.id, c.id, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15 FROM workloads w, candidates c "
          "WHERE w.text = ?1 AND c.library = ?2 AND c.algorithm = ?3 AND c.input_layout = ?4 AND c.output_layout = "
          "?5"));
  INFIMUM_ASSIGN_OR_RETURN(
      Statement add_repetition,
      connection_->Prepare(
          "INSERT INTO repetitions (measurement_id, position, count, minimum_us, median_us, p95_us, samples_us) "
          "VALUES (?, ?, ?, ?, ?, ?, ?)"));
  const auto bind_key = [&](Statement& statement, const Measurement& row) {
    statement.Bind(1, row.workload.text);
    statement.Bind(2, row.candidate.library);
    statement.Bind(3, row.candidate.algorithm);
    statement.Bind(4, row.candidate.input_layout);
    statement.Bind(5, row.candidate.output_layout);
    statement.Bind(6, Name(row.contract));
    statement.Bind(7, Name(row.cache));
    statement.Bind(8, device_id);
    statement.Bind(9, environment_id);
  };

  for (const Measurement& row : rows) {
    add_workload.Bind(1, row.workload.text);
    INFIMUM_RETURN_IF_ERROR(add_workload.Run());
    add_candidate.Bind(1, row.candidate.library);
    add_candidate.Bind(2, row.candidate.algorithm);
    add_candidate.Bind(3, row.candidate.input_layout);
    add_candidate.Bind(4, row.candidate.output_layout);
    INFIMUM_RETURN_IF_ERROR(add_candidate.Run());

    bind_key(find_row, row);
    INFIMUM_ASSIGN_OR_RETURN(const bool known, find_row.Step());
    if (known) {
      const Outcome outcome = FindOutcome(find_row.Text(1)).value_or(Outcome::kSkipped);
      const std::int64_t id = find_row.Integer(0);
      const std::int64_t weight = Weight(outcome, static_cast<std::size_t>(find_row.Integer(2)));
      find_row.Reset();
      if (Weight(row.outcome, row.repetitions.size()) <= weight) {
        ++count.known;
        continue;
      }
      delete_row.Bind(1, id);
      INFIMUM_RETURN_IF_ERROR(delete_row.Run());
    }
    find_row.Reset();
    bind_key(add_row, row);
    add_row.Bind(10, row.measured_at);
    add_row.Bind(11, Name(row.outcome));
    add_row.Bind(12, row.reason);
    add_row.Bind(13, std::int64_t{row.candidate.library_choice ? 1 : 0});
    add_row.Bind(14, row.numeric_error);
    add_row.Bind(15, FormatList(row.flags));
    INFIMUM_RETURN_IF_ERROR(add_row.Run());
    const std::int64_t id = connection_->LastId();
    for (std::size_t position = 0; position < row.repetitions.size(); ++position) {
      const Repetition& repetition = row.repetitions[position];
      std::vector<double> samples;
      for (const Latency sample : repetition.samples) samples.push_back(sample.count());
      add_repetition.Bind(1, id);
      add_repetition.Bind(2, static_cast<std::int64_t>(position));
      add_repetition.Bind(3, repetition.count);
      add_repetition.Bind(4, repetition.minimum.count());
      add_repetition.Bind(5, repetition.median.count());
      add_repetition.Bind(6, repetition.p95.count());
      add_repetition.BindBlob(7, samples.data(), samples.size() * sizeof(double));
      INFIMUM_RETURN_IF_ERROR(add_repetition.Run());
    }
    ++count.added;
  }

  // Of a peak the best ever seen counts.
  INFIMUM_ASSIGN_OR_RETURN(
      Statement add_peak,
      connection_->Prepare(
          "INSERT INTO peak_rates (device_id, kind, working_set_bytes, dtype, threads, source, per_second) "
          "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET per_second = excluded.per_second "
          "WHERE excluded.per_second > per_second"));
  for (const PeakRate& rate : peaks) {
    add_peak.Bind(1, device_id);
    add_peak.Bind(2, KindName(rate.kind));
    add_peak.Bind(3, rate.working_set.value);
    add_peak.Bind(4, Name(rate.type));
    add_peak.Bind(5, rate.threads);
    add_peak.Bind(6, rate.source);
    add_peak.Bind(7, rate.per_second);
    INFIMUM_RETURN_IF_ERROR(add_peak.Run());
    (connection_->Changes() > 0 ? count.added : count.known) += 1;
  }
  INFIMUM_RETURN_IF_ERROR(transaction.Commit());
  return count;
}

Result<ImportCount> SqliteStore::ImportRun(const RunProfile& run) {
  ImportCount count;
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*connection_));
  INFIMUM_ASSIGN_OR_RETURN(
      Statement insert,
      connection_->Prepare(
          "INSERT INTO runs (framework, framework_version, model_name, model_sha256, device_key, dims, threads, "
          "contract, details) "
          "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE NOT EXISTS (SELECT 1 FROM runs WHERE model_sha256 = ?4 AND "
          "device_key = ?5 AND threads = ?7 AND framework = ?1 AND framework_version = ?2 AND dims = ?6 AND contract = "
          "?8 "
          "AND details = ?9)"));
  insert.Bind(1, run.framework);
  insert.Bind(2, run.framework_version);
  insert.Bind(3, run.model_name);
  insert.Bind(4, run.model_sha256);
  insert.Bind(5, run.device);
  insert.Bind(6, FormatDims(run.dims));
  insert.Bind(7, run.threads);
  insert.Bind(8, run.contract);
  insert.Bind(9, FormatRunDetails(run));
  INFIMUM_RETURN_IF_ERROR(insert.Run());
  (connection_->Changes() > 0 ? count.added : count.known) += 1;
  INFIMUM_RETURN_IF_ERROR(transaction.Commit());
  return count;
}

Result<std::optional<RunProfile>> SqliteStore::FindRun(const std::string& model_sha256, const DeviceKey& device,
                                                       const std::map<std::string, std::int64_t>& dims,
                                                       std::int64_t threads, const std::string& framework) {
  INFIMUM_ASSIGN_OR_RETURN(
      Statement find,
      connection_->Prepare("SELECT framework, framework_version, model_name, model_sha256, device_key, dims, threads, "
                           "contract, details FROM runs WHERE model_sha256 = ? AND device_key = ? AND dims = ? AND "
                           "threads = ? AND framework = ? ORDER BY id DESC LIMIT 1"));
  find.Bind(1, model_sha256);
  find.Bind(2, device.text);
  find.Bind(3, FormatDims(dims));
  find.Bind(4, threads);
  find.Bind(5, framework);
  INFIMUM_ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return std::optional<RunProfile>();
  RunProfile run;
  run.framework = find.Text(0);
  run.framework_version = find.Text(1);
  run.model_name = find.Text(2);
  run.model_sha256 = find.Text(3);
  run.device = find.Text(4);
  INFIMUM_ASSIGN_OR_RETURN(run.dims, ParseDims(find.Text(5)));
  run.threads = find.Integer(6);
  run.contract = find.Text(7);
  INFIMUM_RETURN_IF_ERROR(ParseRunDetails(find.Text(8), run));
  return std::optional<RunProfile>(std::move(run));
}

Result<std::vector<StoredDevice>> SqliteStore::Devices() {
  INFIMUM_ASSIGN_OR_RETURN(
      Statement find,
      connection_->Prepare(
          "SELECT d.kind, d.name, d.vendor, d.generation, d.identity, d.cores, d.last_level_cache_bytes, "
          "d.memory_bytes, count(m.id), coalesce(max(m.measured_at), '') FROM devices d "
          "LEFT JOIN measurements m ON m.device_id = d.id GROUP BY d.id ORDER BY d.name, d.key"));
  std::vector<StoredDevice> devices;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) return devices;
    StoredDevice stored;
    stored.device.kind = find.Text(0) == "gpu" ? DeviceKind::kGpu : DeviceKind::kCpu;
    stored.device.name = find.Text(1);
    stored.device.vendor = find.Text(2);
    stored.device.generation = find.Text(3);
    INFIMUM_ASSIGN_OR_RETURN(stored.device.identity, ParseTexts(find.Text(4)));
    stored.device.cores = find.Integer(5);
    stored.device.last_level_cache = Bytes{find.Integer(6)};
    stored.device.memory = Bytes{find.Integer(7)};
    stored.measurements = find.Integer(8);
    stored.newest = find.Text(9);
    devices.push_back(std::move(stored));
  }
}

Result<std::map<EnvironmentKey, Environment>> SqliteStore::Environments() {
  INFIMUM_ASSIGN_OR_RETURN(
      Statement find,
      connection_->Prepare(
          "SELECT key, libraries, threads, affinity, clock_policy, host, infimum_version FROM environments"));
  std::map<EnvironmentKey, Environment> environments;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) return environments;
    Environment environment;
    INFIMUM_ASSIGN_OR_RETURN(environment.libraries, ParseTexts(find.Text(1)));
    environment.threads = find.Integer(2);
    environment.affinity = find.Text(3);
    environment.clock_policy = find.Text(4);
    environment.host = find.Text(5);
    environment.infimum_version = find.Text(6);
    environments.emplace(EnvironmentKey{find.Text(0)}, std::move(environment));
  }
}

Result<std::vector<Measurement>> SqliteStore::Find(std::span<const WorkloadKey> workloads, const Selection& selection) {
  std::vector<std::string> texts;
  for (const WorkloadKey& key : workloads) texts.push_back(key.text);
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());

  // One question for the whole model; the names travel as one bound JSON text. CROSS JOIN and the plus sign keep SQLite
  // from going through all rows of the device and looking each of them up in that text.
  INFIMUM_ASSIGN_OR_RETURN(
      Statement find,
      connection_->Prepare(
          "SELECT m.id, w.text, c.library, c.algorithm, c.input_layout, c.output_layout, "
          "m.library_choice, m.contract, m.cache, "
          "e.key, m.measured_at, m.outcome, m.reason, m.numeric_error, m.flags "
          "FROM json_each(?1) wanted CROSS JOIN workloads w ON w.text = wanted.value "
          "CROSS JOIN measurements m ON m.workload_id = w.id JOIN candidates c ON c.id = m.candidate_id "
          "JOIN environments e ON e.id = m.environment_id JOIN devices d ON d.id = +m.device_id "
          "WHERE d.key = ?2 AND m.cache = ?3 AND e.threads = ?4"));
  find.Bind(1, FormatList(texts));
  find.Bind(2, selection.device.text);
  find.Bind(3, Name(selection.cache));
  find.Bind(4, selection.threads);
  std::vector<std::int64_t> ids;
  std::vector<Measurement> rows;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) break;
    Measurement measurement;
    ids.push_back(find.Integer(0));
    measurement.workload = {find.Text(1)};
    measurement.candidate = {find.Text(2), find.Text(3), find.Text(4), find.Text(5), find.Integer(6) != 0};
    const std::optional<NumericContract> contract = FindContract(find.Text(7));
    const std::optional<CacheState> cache = FindCacheState(find.Text(8));
    const std::optional<Outcome> outcome = FindOutcome(find.Text(11));
    if (!contract || !cache || !outcome)
      return Error{connection_->path() + ": holds a row with an unknown contract or outcome"};
    measurement.contract = *contract;
    measurement.cache = *cache;
    measurement.device = selection.device;
    measurement.environment = {find.Text(9)};
    measurement.measured_at = find.Text(10);
    measurement.outcome = *outcome;
    measurement.reason = find.Text(12);
    measurement.numeric_error = find.OptionalNumber(13);
    INFIMUM_ASSIGN_OR_RETURN(measurement.flags, ParseList(find.Text(14)));
    rows.push_back(std::move(measurement));
  }

  INFIMUM_ASSIGN_OR_RETURN(
      Statement repetitions,
      connection_->Prepare(
          "SELECT count, minimum_us, median_us, p95_us, samples_us FROM repetitions WHERE measurement_id = ? "
          "ORDER BY position"));
  for (std::size_t index = 0; index < rows.size(); ++index) {
    repetitions.Bind(1, ids[index]);
    while (true) {
      INFIMUM_ASSIGN_OR_RETURN(const bool row, repetitions.Step());
      if (!row) break;
      Repetition repetition{repetitions.Integer(0),
                            Latency(repetitions.Number(1)),
                            Latency(repetitions.Number(2)),
                            Latency(repetitions.Number(3)),
                            {}};
      for (const double sample : repetitions.Numbers(4)) repetition.samples.emplace_back(sample);
      rows[index].repetitions.push_back(std::move(repetition));
    }
    repetitions.Reset();
  }
  INFIMUM_ASSIGN_OR_RETURN(const auto environments, Environments());
  return Admitted(std::move(rows), environments, selection);
}

Result<DevicePeaks> SqliteStore::Peaks(const DeviceKey& device) {
  INFIMUM_ASSIGN_OR_RETURN(
      Statement find,
      connection_->Prepare("SELECT p.kind, p.working_set_bytes, p.dtype, p.threads, p.source, p.per_second "
                           "FROM peak_rates p JOIN devices d ON d.id = p.device_id WHERE d.key = ?"));
  find.Bind(1, device.text);
  DevicePeaks peaks;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) return peaks;
    PeakRate rate;
    INFIMUM_ASSIGN_OR_RETURN(rate.kind, FindKind(find.Text(0)));
    rate.working_set = Bytes{find.Integer(1)};
    const std::optional<DataType> type = FindDataType(find.Text(2));
    if (!type) return Error{connection_->path() + ": holds a peak of an unknown data type"};
    rate.type = *type;
    rate.threads = find.Integer(3);
    rate.source = find.Text(4);
    rate.per_second = find.Number(5);
    peaks.rates.push_back(std::move(rate));
  }
}

std::string PathOf(const std::string& address) {
  constexpr std::string_view kScheme = "sqlite:";
  return address.starts_with(kScheme) ? address.substr(kScheme.size()) : address;
}

}  // namespace

bool StoreExists(const std::string& address) {
  std::error_code error;
  return std::filesystem::exists(PathOf(address), error);
}

Result<std::unique_ptr<Store>> OpenStore(const std::string& address, OpenMode mode) {
  const std::string path = PathOf(address);
  if (path.empty()) return Error{"--db: an empty address; give a file name such as infimum.db"};
  if (address.find("://") != std::string::npos) {
    return Error{fmt::format("--db {}: stores are SQLite files; give a file name such as infimum.db", Quoted(address))};
  }
  const bool in_memory = path == ":memory:";
  if (mode == OpenMode::kReadOnly && !in_memory && !StoreExists(path)) {
    return Error{fmt::format("{}: no such store; `infimum analyze` makes one", path)};
  }
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                           Connection::Open(path, in_memory                     ? Connection::Mode::kMemory
                                                  : mode == OpenMode::kReadOnly ? Connection::Mode::kReadOnly
                                                                                : Connection::Mode::kReadWrite));
  if (mode == OpenMode::kReadWrite || in_memory) {
    // Readers go on while somebody writes. Folders that cannot hold the log (some network drives) keep the old way.
    static_cast<void>(connection->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL").ok());
    INFIMUM_RETURN_IF_ERROR(Migrate(*connection));
    return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(connection)));
  }
  Result<std::int64_t> asked = SchemaOf(*connection);
  std::error_code ignored;
  const std::string log = path + "-wal";
  const bool no_log = !std::filesystem::exists(log, ignored) || std::filesystem::file_size(log, ignored) == 0;
  if (!asked && no_log) {
    // To read a file with a write-ahead log, SQLite makes files beside it. Where nobody may (a colleague's folder, a
    // read-only or full disk) and no log is left, the file alone is all there is to read.
    Result<std::unique_ptr<Connection>> alone = Connection::Open(path, Connection::Mode::kImmutable);
    if (alone.ok()) {
      if (const Result<std::int64_t> again = SchemaOf(**alone); again.ok()) {
        asked = again;
        connection = std::move(*alone);
      }
    }
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t schema, std::move(asked));
  if (schema != NewestSchema()) {
    // The file may not be changed, so a copy in memory is brought up to date instead.
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Connection> copy, Connection::Open(path, Connection::Mode::kMemory));
    INFIMUM_RETURN_IF_ERROR(copy->CopyFrom(*connection));
    INFIMUM_RETURN_IF_ERROR(Migrate(*copy));
    connection = std::move(copy);
  }
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(connection)));
}

}  // namespace infimum
