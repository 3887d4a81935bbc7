#include "db/store/sql_import.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <set>

#include "db/store/data_sheets.h"
#include "db/store/device_joining.h"
#include "db/store/run_details.h"
#include "db/store/sql_store.h"

namespace infimum {
namespace {

// A row replaces another only if it contains more: a measured one replaces every other outcome, more repetitions
// beat fewer, and what was tried (failed, unsupported) beats what was skipped.
std::int64_t WeightOf(const Measurement& row) {
  switch (row.outcome) {
    case Outcome::kMeasured:
      return 10 + static_cast<std::int64_t>(row.repetitions.size());
    case Outcome::kFailed:
    case Outcome::kUnsupported:
      return 2;
    case Outcome::kSkipped:
      return 1;
  }
  return 0;
}

std::string FamilyOf(std::string_view workload) { return std::string(workload.substr(0, workload.find(' '))); }

// Temporary tables of this connection, made once.
std::string StagingTables(Dialect dialect) {
  const bool sqlite = dialect == Dialect::kSqlite;
  const char* const text = sqlite ? "TEXT" : "TEXT COLLATE \"C\"";
  const char* const blob = sqlite ? "BLOB" : "BYTEA";
  const char* const id = sqlite ? "INTEGER PRIMARY KEY" : "BIGINT";
  return fmt::format(
      "CREATE TEMP TABLE IF NOT EXISTS incoming_rows (place {id}, origin BIGINT, workload {text}, family {text}, "
      "library {text}, algorithm {text}, input_layout {text}, output_layout {text}, contract {text}, cache {text}, "
      "measured_at {text}, outcome {text}, reason {text}, library_choice SMALLINT, numeric_error DOUBLE PRECISION, "
      "flags {text}, repetition_count BIGINT, best_us DOUBLE PRECISION, low_us DOUBLE PRECISION, "
      "high_us DOUBLE PRECISION, weight BIGINT, constant_bytes BIGINT);"
      "CREATE TEMP TABLE IF NOT EXISTS incoming_repetitions (place BIGINT, position BIGINT, count BIGINT, "
      "minimum_us DOUBLE PRECISION, median_us DOUBLE PRECISION, p95_us DOUBLE PRECISION, samples_us {blob}, "
      "clock_low_mhz DOUBLE PRECISION, clock_high_mhz DOUBLE PRECISION, beat_arithmetic_us DOUBLE PRECISION, "
      "beat_memory_us DOUBLE PRECISION{key});"
      "CREATE TEMP TABLE IF NOT EXISTS incoming_origins (origin {id}, device_id BIGINT, environment_id BIGINT, "
      "evidence_id BIGINT, campaign_id BIGINT);"
      "CREATE TEMP TABLE IF NOT EXISTS incoming_accepted (place {id}, id BIGINT, origin BIGINT, workload_id BIGINT, "
      "candidate_id BIGINT)",
      fmt::arg("text", text), fmt::arg("blob", blob), fmt::arg("id", id),
      fmt::arg("key", sqlite ? ", PRIMARY KEY (place, position)" : ""));
}

}  // namespace

Status RowStage::Clear() {
  size_ = 0;
  if (connection_.dialect() == Dialect::kSqlite) {
    // The file of deleted rows stays as large as it was, and takes the room that sorting needs. Another place for
    // temporary tables (0: the usual one, 1: a file, which is the same) ends the old one, file and all. What was
    // gathered must be removable where that disk is full, so nothing is written for it.
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t place, connection_.AskInteger("PRAGMA temp_store"));
    INFIMUM_RETURN_IF_ERROR(connection_.Execute(
        fmt::format("PRAGMA temp_store = {}; PRAGMA temp.journal_mode = MEMORY", place == 1 ? 0 : 1)));
    return connection_.Execute(StagingTables(Dialect::kSqlite));
  }
  // Nobody vacuums temporary tables: deleted rows of theirs would take room and time until the connection ends.
  constexpr char kTables[] = "incoming_rows, incoming_repetitions, incoming_origins, incoming_accepted";
  if (connection_.Execute(fmt::format("TRUNCATE {}", kTables)).ok()) return {};
  // It makes new files before it removes the old ones, and what filled the disk may be those.
  INFIMUM_RETURN_IF_ERROR(connection_.Execute(fmt::format("DROP TABLE IF EXISTS {}", kTables)));
  return connection_.Execute(StagingTables(Dialect::kPostgreSql));
}

Status RowStage::Add(std::int64_t origin, std::span<const Measurement> rows) {
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection_, Connection::Purpose::kStaging));
  INFIMUM_RETURN_IF_ERROR(AddRows(origin, rows));
  INFIMUM_RETURN_IF_ERROR(AddRepetitions(rows));
  INFIMUM_RETURN_IF_ERROR(transaction.Commit());
  size_ += static_cast<std::int64_t>(rows.size());
  return {};
}

Status RowStage::AddRows(std::int64_t origin, std::span<const Measurement> rows) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto insert,
      connection_.StartBulkInsert(
          "incoming_rows",
          {"place",        "origin",         "workload",      "family",        "library",          "algorithm",
           "input_layout", "output_layout",  "contract",      "cache",         "measured_at",      "outcome",
           "reason",       "library_choice", "numeric_error", "flags",         "repetition_count", "best_us",
           "low_us",       "high_us",        "weight",        "constant_bytes"}));
  std::int64_t place = size_;
  for (const Measurement& row : rows) {
    const std::string family = FamilyOf(row.workload.text), flags = FormatList(row.flags);
    std::optional<double> best, low, high;
    if (row.outcome == Outcome::kMeasured && !row.repetitions.empty()) {
      const Interval interval = BestSeenInterval(row.repetitions);
      best = BestSeen(row.repetitions).count();
      low = interval.low.count();
      high = interval.high.count();
    }
    const SqlValue values[] = {place++,
                               origin,
                               row.workload.text,
                               family,
                               row.candidate.library,
                               row.candidate.algorithm,
                               row.candidate.input_layout,
                               row.candidate.output_layout,
                               Name(row.contract),
                               Name(row.cache),
                               row.measured_at,
                               Name(row.outcome),
                               row.reason,
                               std::int64_t{row.candidate.library_choice ? 1 : 0},
                               OrNull(row.numeric_error),
                               flags,
                               static_cast<std::int64_t>(row.repetitions.size()),
                               OrNull(best),
                               OrNull(low),
                               OrNull(high),
                               WeightOf(row),
                               row.constants ? SqlValue(row.constants->value) : SqlValue(nullptr)};
    INFIMUM_RETURN_IF_ERROR(insert->Add(values));
  }
  return insert->Finish();
}

Status RowStage::AddRepetitions(std::span<const Measurement> rows) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto insert,
      connection_.StartBulkInsert("incoming_repetitions",
                                  {"place", "position", "count", "minimum_us", "median_us", "p95_us", "samples_us",
                                   "clock_low_mhz", "clock_high_mhz", "beat_arithmetic_us", "beat_memory_us"}));
  std::vector<double> samples;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t position = 0; position < rows[i].repetitions.size(); ++position) {
      const Repetition& repetition = rows[i].repetitions[position];
      samples.clear();
      for (const Latency sample : repetition.samples) samples.push_back(sample.count());
      std::optional<double> low_clock, high_clock, arithmetic, memory;
      if (repetition.clocks) {
        low_clock = repetition.clocks->low_mhz;
        high_clock = repetition.clocks->high_mhz;
      }
      if (repetition.beat) {
        arithmetic = repetition.beat->arithmetic.count();
        memory = repetition.beat->memory.count();
      }
      const SqlValue values[] = {size_ + static_cast<std::int64_t>(i),
                                 static_cast<std::int64_t>(position),
                                 repetition.count,
                                 repetition.minimum.count(),
                                 repetition.median.count(),
                                 repetition.p95.count(),
                                 Blob(std::as_bytes(std::span(samples))),
                                 OrNull(low_clock),
                                 OrNull(high_clock),
                                 OrNull(arithmetic),
                                 OrNull(memory)};
      INFIMUM_RETURN_IF_ERROR(insert->Add(values));
    }
  }
  return insert->Finish();
}

namespace {

std::string NowUtc() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

constexpr const char* kSameRow =
    "m.workload_id = n.workload_id AND m.device_id = n.device_id AND m.candidate_id = n.candidate_id AND "
    "m.contract = n.contract AND m.cache = n.cache AND m.environment_id = n.environment_id AND "
    "m.evidence_id = n.evidence_id AND m.campaign_id = n.campaign_id";

}  // namespace

Result<std::unique_ptr<StoreImport>> SqlImport::Begin(Connection& connection, const CampaignOrigin& campaign) {
  std::unique_ptr<SqlImport> import(new SqlImport(connection, campaign));
  INFIMUM_RETURN_IF_ERROR(import->stage_.Clear());
  return std::unique_ptr<StoreImport>(std::move(import));
}

SqlImport::~SqlImport() {
  // The tables are gone with the connection; a failure to empty them costs the next Begin() another attempt.
  if (stage_.size() > 0) static_cast<void>(stage_.Clear().ok());
}

SqlImport::Origin& SqlImport::OriginOf(const Device& device, const Environment& environment) {
  const auto [found, inserted] = origin_index_.try_emplace(
      {device.Key().text, environment.Key().text, environment.Told().text, campaign_.key}, origins_.size());
  if (inserted) origins_.push_back({.device = device, .environment = environment, .campaign = campaign_});
  return origins_[found->second];
}

Status SqlImport::Add(const Device& device, const Environment& environment, std::span<const Measurement> rows,
                      std::span<const PeakRate> peaks) {
  Origin& origin = OriginOf(device, environment);
  origin.peaks.insert(origin.peaks.end(), peaks.begin(), peaks.end());
  staged_peaks_ += static_cast<std::int64_t>(peaks.size());
  if (rows.empty()) return {};
  origin.has_rows = true;
  return stage_.Add(&origin - origins_.data(), rows);
}

Status SqlImport::AddRun(const RunProfile& run) {
  // Whoever asks for runs asks for those on so many threads.
  if (!run.threads)
    return Error{"the run does not record its number of threads: import it with --model MODEL --threads N"};
  runs_.push_back(run);
  return {};
}

Status SqlImport::AddModel(const StoredModel& model) {
  models_.push_back(model);
  return {};
}

Result<ImportCount> SqlImport::Commit() {
  ImportCount count;
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection_));
  INFIMUM_RETURN_IF_ERROR(SaveOrigins());
  if (stage_.size() > 0) {
    INFIMUM_RETURN_IF_ERROR(SaveNames());
    INFIMUM_ASSIGN_OR_RETURN(count.added, SaveRows());
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t peaks, SavePeaks());
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t runs, SaveRuns());
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t models, SaveModels(connection_, models_));
  INFIMUM_RETURN_IF_ERROR(transaction.Commit());
  count.added += peaks + runs + models;
  count.known = stage_.size() + staged_peaks_ + static_cast<std::int64_t>(runs_.size() + models_.size()) - count.added;
  // All is saved; a failure to empty the tables costs the next Begin() another attempt.
  static_cast<void>(stage_.Clear().ok());
  origins_.clear();
  origin_index_.clear();
  runs_.clear();
  models_.clear();
  staged_peaks_ = 0;
  return count;
}

Result<std::int64_t> SqlImport::IdOf(const std::string& table, const std::string& name, const std::string& value,
                                     const std::string& columns, const std::vector<SqlValue>& values) {
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection_.Prepare(fmt::format("SELECT id FROM {} WHERE {} = $1", table, name)));
  find->Bind(1, value);
  INFIMUM_ASSIGN_OR_RETURN(const bool found, find->Step());
  if (found) return find->Integer(0);
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, NextId(connection_, table.c_str()));
  std::string places = "$1, $2";
  for (std::size_t i = 0; i < values.size(); ++i) places += fmt::format(", ${}", i + 3);
  INFIMUM_ASSIGN_OR_RETURN(const auto insert, connection_.Prepare(fmt::format("INSERT INTO {} (id, {}, {}) VALUES ({})",
                                                                              table, name, columns, places)));
  insert->BindAll(id, value);
  for (std::size_t i = 0; i < values.size(); ++i) insert->Bind(static_cast<int>(i) + 3, values[i]);
  INFIMUM_RETURN_IF_ERROR(insert->Run());
  return id;
}

Result<std::int64_t> SqlImport::SaveDevice(const Device& device) {
  const std::string identity = FormatTexts(device.identity);
  SqlValue generation_id = nullptr;
  if (!device.generation.empty()) {
    const std::optional<std::int64_t> year = YearOfGeneration(device.generation);
    INFIMUM_ASSIGN_OR_RETURN(generation_id, IdOf("generations", "name", device.generation, "year",
                                                 {year ? SqlValue(*year) : SqlValue(nullptr)}));
  }
  return IdOf("devices", "key", device.Key().text,
              "kind, name, vendor, generation_id, identity, cores, last_level_cache_bytes, memory_bytes",
              {Name(device.kind), device.name, device.vendor, generation_id, identity, device.cores,
               device.last_level_cache.value, device.memory.value});
}

Result<std::int64_t> SqlImport::SaveEnvironment(const Environment& environment) {
  const std::string libraries = FormatTexts(environment.libraries);
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, IdOf("environments", "key", environment.Key().text,
                                                       "libraries, threads", {libraries, environment.threads}));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto add_library,
      connection_.Prepare("INSERT INTO environment_libraries (environment_id, library, version) VALUES ($1, $2, $3) "
                          "ON CONFLICT DO NOTHING"));
  for (const auto& [library, library_version] : environment.libraries) {
    INFIMUM_RETURN_IF_ERROR(add_library->RunWith(id, library, library_version));
  }
  return id;
}

Result<std::int64_t> SqlImport::SaveEvidence(const Environment& environment) {
  const std::string facts = FormatTexts(environment.evidence);
  return IdOf("evidence", "text", environment.Told().text, "facts", {facts});
}

Result<std::int64_t> SqlImport::SaveCampaign(const CampaignOrigin& campaign) {
  // Rows that belong to no campaign may come from any file.
  const bool none = campaign.key.empty();
  const std::string source = none ? "" : campaign.source, now = none ? "" : NowUtc();
  return IdOf("campaigns", "key", campaign.key, "source, imported_at", {source, now});
}

Status SqlImport::SaveOrigins() {
  std::map<std::int64_t, std::set<std::int64_t>> threads;
  for (Origin& origin : origins_) {
    INFIMUM_ASSIGN_OR_RETURN(origin.device_id, SaveDevice(origin.device));
    if (origin.has_rows) threads[origin.device_id].insert(origin.environment.threads);
  }
  INFIMUM_ASSIGN_OR_RETURN(const JoinedDevices joined, JoinDevices(connection_, threads));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto stage,
      connection_.Prepare("INSERT INTO incoming_origins (origin, device_id, environment_id, evidence_id, campaign_id) "
                          "VALUES ($1, $2, $3, $4, $5)"));
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    Origin& origin = origins_[i];
    if (const auto other = joined.find(origin.device_id); other != joined.end()) origin.device_id = other->second;
    // Peaks belong to the device alone.
    if (!origin.has_rows) continue;
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t environment, SaveEnvironment(origin.environment));
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t evidence, SaveEvidence(origin.environment));
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t campaign, SaveCampaign(origin.campaign));
    INFIMUM_RETURN_IF_ERROR(
        stage->RunWith(static_cast<std::int64_t>(i), origin.device_id, environment, evidence, campaign));
  }
  return {};
}

// Texts that are new, each once and in the order of the texts.
Status SqlImport::SaveNames() {
  if (connection_.dialect() == Dialect::kPostgreSql) {
    // Nobody else looks at temporary tables, not even who keeps the planner's statistics.
    INFIMUM_RETURN_IF_ERROR(connection_.Execute("ANALYZE incoming_rows; ANALYZE incoming_repetitions"));
  }
  INFIMUM_RETURN_IF_ERROR(connection_.Execute(
      "INSERT INTO workloads (id, text, family) "
      "SELECT (SELECT coalesce(max(id), 0) FROM workloads) + row_number() OVER (ORDER BY n.workload), n.workload, "
      "n.family FROM (SELECT DISTINCT workload, family FROM incoming_rows) n "
      "WHERE NOT EXISTS (SELECT 1 FROM workloads w WHERE w.text = n.workload)"));
  return connection_.Execute(
      "INSERT INTO candidates (id, library, algorithm, input_layout, output_layout) "
      "SELECT (SELECT coalesce(max(id), 0) FROM candidates) + row_number() OVER (ORDER BY n.library, n.algorithm, "
      "n.input_layout, n.output_layout), n.library, n.algorithm, n.input_layout, n.output_layout "
      "FROM (SELECT DISTINCT library, algorithm, input_layout, output_layout FROM incoming_rows) n "
      "WHERE NOT EXISTS (SELECT 1 FROM candidates c WHERE c.library = n.library AND c.algorithm = n.algorithm AND "
      "c.input_layout = n.input_layout AND c.output_layout = n.output_layout)");
}

Result<std::int64_t> SqlImport::SaveRows() {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t last,
                           connection_.AskInteger("SELECT coalesce(max(id), 0) FROM measurements"));
  INFIMUM_RETURN_IF_ERROR(connection_.Execute(fmt::format(
      "INSERT INTO incoming_accepted (place, id, origin, workload_id, candidate_id) "
      "SELECT n.place, {last} + row_number() OVER (ORDER BY n.place), n.origin, n.workload_id, n.candidate_id FROM ("
      "  SELECT i.place, i.origin, w.id AS workload_id, c.id AS candidate_id, o.device_id, o.environment_id, "
      "o.evidence_id, i.contract,"
      "    i.cache, i.weight, o.campaign_id, row_number() OVER (PARTITION BY w.id, c.id, o.device_id, "
      "    o.environment_id, o.evidence_id, o.campaign_id, i.contract, i.cache ORDER BY i.weight DESC, i.place) AS "
      "preference"
      "  FROM incoming_rows i JOIN incoming_origins o ON o.origin = i.origin JOIN workloads w ON w.text = i.workload"
      "  JOIN candidates c ON c.library = i.library AND c.algorithm = i.algorithm AND c.input_layout = i.input_layout"
      "    AND c.output_layout = i.output_layout) n "
      "WHERE n.preference = 1 AND NOT EXISTS (SELECT 1 FROM measurements m WHERE {same} AND m.weight >= n.weight)",
      fmt::arg("last", last), fmt::arg("same", kSameRow))));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto add,
      connection_.Prepare(
          "INSERT INTO measurements (id, workload_id, candidate_id, contract, cache, device_id, environment_id, "
          "evidence_id, campaign_id, measured_at, outcome, reason, library_choice, numeric_error, flags, "
          "repetition_count, best_us, "
          "low_us, high_us, weight, constant_bytes) "
          "SELECT a.id, a.workload_id, a.candidate_id, i.contract, i.cache, o.device_id, o.environment_id, "
          "o.evidence_id, o.campaign_id, i.measured_at, i.outcome, i.reason, i.library_choice, i.numeric_error, "
          "i.flags, "
          "i.repetition_count, "
          "i.best_us, i.low_us, i.high_us, i.weight, i.constant_bytes "
          "FROM incoming_accepted a JOIN incoming_rows i ON i.place = a.place "
          "JOIN incoming_origins o ON o.origin = a.origin"));
  INFIMUM_RETURN_IF_ERROR(add->Run());
  const std::int64_t added = connection_.Changes();
  INFIMUM_RETURN_IF_ERROR(connection_.Execute(
      "INSERT INTO repetitions (measurement_id, position, count, minimum_us, median_us, p95_us, samples_us, "
      "clock_low_mhz, clock_high_mhz, beat_arithmetic_us, beat_memory_us) "
      "SELECT a.id, r.position, r.count, r.minimum_us, r.median_us, r.p95_us, r.samples_us, r.clock_low_mhz, "
      "r.clock_high_mhz, r.beat_arithmetic_us, r.beat_memory_us "
      "FROM incoming_accepted a JOIN incoming_repetitions r ON r.place = a.place"));
  if (connection_.dialect() == Dialect::kPostgreSql) {
    INFIMUM_ASSIGN_OR_RETURN(
        const std::int64_t may_delete,
        connection_.AskInteger("SELECT CASE WHEN has_table_privilege('measurements', 'DELETE') THEN 1 ELSE 0 END"));
    if (may_delete == 0) return added;
  }
  INFIMUM_RETURN_IF_ERROR(connection_.Execute(
      fmt::format("DELETE FROM measurements WHERE id IN (SELECT m.id FROM measurements n JOIN measurements m ON {} AND "
                  "m.weight < n.weight WHERE n.id > {})",
                  kSameRow, last)));
  return added;
}

Result<std::int64_t> SqlImport::SavePeaks() {
  std::int64_t added = 0;
  INFIMUM_ASSIGN_OR_RETURN(
      const auto add,
      connection_.Prepare(
          "INSERT INTO peak_rates (device_id, kind, working_set_bytes, dtype, threads, source, per_second) "
          "SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS TEXT), CAST($5 AS BIGINT), "
          "CAST($6 AS TEXT), CAST($7 AS DOUBLE PRECISION) WHERE NOT EXISTS (SELECT 1 FROM peak_rates p WHERE "
          "p.device_id = $1 AND p.kind = $2 AND p.working_set_bytes = $3 AND p.dtype = $4 AND p.threads = $5 AND "
          "p.source = $6 AND p.per_second >= $7)"));
  for (const Origin& origin : origins_) {
    for (const PeakRate& rate : origin.peaks) {
      INFIMUM_RETURN_IF_ERROR(add->RunWith(origin.device_id, Name(rate.kind), rate.working_set.value, Name(rate.type),
                                           rate.threads, rate.source, rate.per_second));
      added += connection_.Changes();
    }
  }
  return added;
}

Result<std::int64_t> SqlImport::SaveRuns() {
  std::int64_t added = 0;
  INFIMUM_ASSIGN_OR_RETURN(
      const auto add,
      connection_.Prepare(
          "INSERT INTO runs (id, framework, framework_version, model_name, model_sha256, device_key, dims, threads, "
          "contract, details, best_us, low_us, high_us) "
          "SELECT (SELECT coalesce(max(id), 0) + 1 FROM runs), CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), "
          "CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS BIGINT), CAST($8 AS TEXT), "
          "CAST($9 AS TEXT), CAST($10 AS DOUBLE PRECISION), CAST($11 AS DOUBLE PRECISION), CAST($12 AS DOUBLE "
          "PRECISION) "
          "WHERE NOT EXISTS (SELECT 1 FROM runs WHERE model_sha256 = $4 AND device_key = $5 AND "
          "threads = $7 AND framework = $1 AND framework_version = $2 AND dims = $6 AND contract = $8 AND "
          "details = $9)"));
  for (const RunProfile& run : runs_) {
    const std::string dims = FormatDims(run.dims), details = FormatRunDetails(run);
    INFIMUM_ASSIGN_OR_RETURN(const std::string device, DeviceKeyOf(connection_, run));
    const std::optional<RunSummary> summary = SummaryOf(run);
    const auto of_summary = [&summary](double RunSummary::*value) {
      return summary ? SqlValue(*summary.*value) : SqlValue(nullptr);
    };
    INFIMUM_RETURN_IF_ERROR(add->RunWith(run.framework, run.framework_version, run.model_name, run.model_sha256, device,
                                         dims, *run.threads, run.contract, details, of_summary(&RunSummary::best_us),
                                         of_summary(&RunSummary::low_us), of_summary(&RunSummary::high_us)));
    added += connection_.Changes();
  }
  return added;
}

}  // namespace infimum
