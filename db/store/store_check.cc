#include <fmt/format.h>

#include <optional>

#include "db/connection/postgresql_connection.h"
#include "db/store/migrations.h"
#include "db/store/run_details.h"
#include "db/store/sql_store.h"
#include "db/store/stored_rows.h"
#include "infimum/base/text.h"
#include "infimum/layer/workload.h"

namespace infimum {
namespace {

using Report = std::function<void(const std::string&)>;

// What should select nothing: how many rows are wrong, and the least of their ids.
struct Rule {
  const char* table;
  const char* what;
  const char* ids;  // SELECT id FROM ...
};

constexpr Rule kRules[] = {
    {"measurements", "whose repetition_count is not the number of their repetitions",
     "SELECT m.id FROM measurements m LEFT JOIN (SELECT measurement_id, count(*) AS n FROM repetitions GROUP BY "
     "measurement_id) r ON r.measurement_id = m.id WHERE m.repetition_count <> coalesce(r.n, 0)"},
    // The smallest median of up to three repetitions; a mean over triples, which is between them, of more.
    {"measurements", "whose best_us does not follow from the medians of their repetitions",
     "SELECT m.id FROM measurements m JOIN (SELECT measurement_id, min(median_us) AS best, max(median_us) AS worst "
     "FROM "
     "repetitions GROUP BY measurement_id) r ON r.measurement_id = m.id WHERE m.best_us IS NULL OR (m.repetition_count "
     "<= 3 AND m.best_us <> r.best) OR m.best_us < r.best OR m.best_us > r.worst"},
    {"measurements", "whose interval from low_us to high_us excludes their best_us",
     "SELECT id FROM measurements WHERE outcome = 'measured' AND (low_us IS NULL OR high_us IS NULL OR low_us > "
     "best_us "
     "OR high_us < best_us)"},
    {"measurements", "with an unknown contract",
     "SELECT id FROM measurements WHERE contract NOT IN ('strict-f32', 'tf32', 'f16', 'bf16', 'int8', 'fp8')"},
    {"measurements", "whose weight does not follow from their outcome and repetitions",
     "SELECT id FROM measurements WHERE weight <> CASE outcome WHEN 'measured' THEN 10 + repetition_count "
     "WHEN 'skipped' THEN 1 ELSE 2 END"},
    {"measurements", "whose interval reaches beyond their repetitions",
     "SELECT m.id FROM measurements m JOIN (SELECT measurement_id, min(minimum_us) AS low, max(p95_us) AS high FROM "
     "repetitions GROUP BY measurement_id) r ON r.measurement_id = m.id WHERE m.low_us < r.low OR m.high_us > r.high"},
    {"measurements", "without a time and without a reason",
     "SELECT id FROM measurements WHERE outcome <> 'measured' AND reason = ''"},
    {"repetitions", "without a measurement",
     "SELECT r.measurement_id AS id FROM repetitions r LEFT JOIN measurements m ON m.id = r.measurement_id "
     "WHERE m.id IS NULL"},
    {"repetitions", "with a minimum over the median or a median over the 95th percentile",
     "SELECT measurement_id AS id FROM repetitions WHERE minimum_us > median_us OR median_us > p95_us"},
    {"model_layers", "whose contract is missing",
     "SELECT model_id AS id FROM model_layers WHERE workload_id IS NOT NULL AND contract = ''"},
};

Status ApplyRules(Connection& connection, const Report& report) {
  for (const Rule& rule : kRules) {
    INFIMUM_ASSIGN_OR_RETURN(const auto find, connection.Prepare(fmt::format(
                                                  "SELECT count(*), coalesce(min(id), 0) FROM ({}) wrong", rule.ids)));
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (row && find->Integer(0) > 0) {
      report(fmt::format("{}: {} row{} {}, the first with id {}", rule.table, find->Integer(0),
                         find->Integer(0) == 1 ? "" : "s", rule.what, find->Integer(1)));
    }
  }
  return {};
}

// Calls `problem_of` with each row of `sql`, whose last column is an id; reports how many are wrong and what is with
// the first.
Status EachRow(Connection& connection, const Report& report, const char* table, const std::string& sql,
               const std::function<std::optional<std::string>(const Statement&)>& problem_of) {
  INFIMUM_ASSIGN_OR_RETURN(const auto find, connection.PrepareReadOnly(sql));
  std::int64_t wrong = 0;
  std::string first;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
    if (!row) break;
    if (const std::optional<std::string> problem = problem_of(*find)) {
      if (wrong++ == 0) first = fmt::format("id {}: {}", find->Integer(find->Columns() - 1), *problem);
    }
  }
  if (wrong > 0)
    report(fmt::format("{}: {} row{} wrong, the first with {}", table, wrong, wrong == 1 ? "" : "s", first));
  return {};
}

std::optional<std::string> ProblemOfWorkload(const Statement& row) {
  const std::string text = row.Text(0), family = row.Text(1);
  const Result<Workload> workload = ParseWorkload(text);
  if (!workload) return workload.error().message;
  if (KeyOf(*workload).text != text) return "not the canonical text " + Quoted(KeyOf(*workload).text);
  if (family != text.substr(0, text.find(' '))) return "its family is " + Quoted(family);
  return std::nullopt;
}

Status CheckTexts(Connection& connection, const Report& report) {
  INFIMUM_RETURN_IF_ERROR(EachRow(connection, report, "workloads", "SELECT text, family, id FROM workloads ORDER BY id",
                                  ProblemOfWorkload));
  INFIMUM_RETURN_IF_ERROR(
      EachRow(connection, report, "devices",
              fmt::format("SELECT {}, d.key, d.id FROM {} ORDER BY d.id", kDeviceColumns, kDeviceTables),
              [](const Statement& row) {
                const Result<Device> device = DeviceFrom(row);
                if (!device) return std::optional(device.error().message);
                if (device->Key().text != row.Text(8))
                  return std::optional<std::string>("its key does not match its identity");
                return std::optional<std::string>();
              }));
  INFIMUM_RETURN_IF_ERROR(
      EachRow(connection, report, "runs", "SELECT dims, details, id FROM runs ORDER BY id", [](const Statement& row) {
        RunProfile run;
        if (const auto dims = ParseDims(row.Text(0)); !dims) return std::optional(dims.error().message);
        if (const Status details = ParseRunDetails(row.Text(1), run); !details)
          return std::optional(details.error().message);
        return std::optional<std::string>();
      }));
  const Result<std::map<EnvironmentKey, Environment>> environments = ReadEnvironments(connection);
  if (!environments) {
    report("environments: " + environments.error().message);
    return {};
  }
  for (const auto& [key, environment] : *environments)
    if (environment.Key() != key)
      report(fmt::format("environments: the key {} does not match its row", Quoted(key.text)));
  return EachRow(connection, report, "evidence", "SELECT text, facts, id FROM evidence ORDER BY id",
                 [](const Statement& row) {
                   const Result<Evidence> facts = ParseTexts(row.Text(1));
                   if (!facts) return std::optional(facts.error().message);
                   if (TextOf(*facts).text != row.Text(0))
                     return std::optional<std::string>("its text does not match its facts");
                   return std::optional<std::string>();
                 });
}

// PostgreSQL sees to its pages (data_checksums, amcheck) and to foreign keys by itself; SQLite does when it is asked.
Status CheckDatabase(Connection& connection, const Report& report) {
  if (connection.dialect() != Dialect::kSqlite) return {};
  INFIMUM_ASSIGN_OR_RETURN(const auto integrity, connection.Prepare("PRAGMA integrity_check(20)"));
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, integrity->Step());
    if (!row) break;
    if (integrity->Text(0) != "ok") report("the file: " + integrity->Text(0));
  }
  INFIMUM_ASSIGN_OR_RETURN(const auto keys, connection.Prepare("PRAGMA foreign_key_check"));
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, keys->Step());
    if (!row) return {};
    report(fmt::format("{}: a row refers to a missing row of {}", keys->Text(0), keys->Text(2)));
  }
}

}  // namespace

Status CheckStore(Connection& connection, const Report& report) {
  INFIMUM_RETURN_IF_ERROR(CheckDatabase(connection, report));
  INFIMUM_RETURN_IF_ERROR(ApplyRules(connection, report));
  return CheckTexts(connection, report);
}

namespace {

constexpr const char* kTables[] = {"devices",    "generations",  "environments", "evidence",    "workloads",
                                   "candidates", "campaigns",    "measurements", "repetitions", "peak_rates",
                                   "models",     "model_layers", "runs"};

}  // namespace

Result<StoreFacts> ReadFacts(Connection& connection) {
  StoreFacts facts;
  INFIMUM_ASSIGN_OR_RETURN(facts.schema, SchemaOf(connection));
  for (const char* const table : kTables) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t rows,
                             connection.AskInteger(fmt::format("SELECT count(*) FROM {}", table)));
    facts.tables.emplace_back(table, rows);
  }
  if (connection.dialect() == Dialect::kSqlite) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t pages, connection.AskInteger("PRAGMA page_count"));
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t page, connection.AskInteger("PRAGMA page_size"));
    facts.bytes = pages * page;
    return facts;
  }
  INFIMUM_ASSIGN_OR_RETURN(
      facts.bytes,
      connection.AskInteger(fmt::format("SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM "
                                        "pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
                                        "c.relnamespace WHERE n.nspname = '{}' AND c.relkind = 'r'",
                                        kPostgreSqlSchema)));
  return facts;
}

}  // namespace infimum
