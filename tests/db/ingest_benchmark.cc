// How fast measurements come into a store, against the fastest way that the database itself has for the same rows
// and the same tables: COPY for PostgreSQL, the sqlite3 program's .import for SQLite. As ratios in one run; the promise
// is at least 0.5.
//
//   benchmarks ingest [--rows 1000000] [sqlite] [postgresql]     default: both; PostgreSQL in a server of its own
//
// Prints a table; ends with 1 where a promise did not hold.
#include <fmt/format.h>
#include <stdlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "db/connection/postgresql_connection.h"
#include "db/connection/sqlite_connection.h"
#include "db/store/migrations.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"
#include "tests/support/benchmark.h"

namespace infimum {
namespace {

constexpr std::int64_t kRowsOfAWorkload = 20;  // candidates of each
constexpr std::int64_t kBatch = 500;           // what a reader of results hands on at once

Measurement MakeGenerated(std::int64_t number) {
  Measurement row = testing::MakeRow(1 + number / kRowsOfAWorkload, {1.0 + static_cast<double>(number % 977)});
  row.candidate.algorithm = fmt::format("implementation_{}", number % kRowsOfAWorkload);
  return row;
}

double Seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

[[noreturn]] void Stop(const std::string& message) {
  fmt::print(stderr, "benchmarks ingest: {}\n", message);
  std::exit(2);
}

// As ImportFile does it.
double ImportSeconds(const std::string& address, std::int64_t rows) {
  Result<std::unique_ptr<Store>> store = OpenStore(address, OpenMode::kReadWrite);
  if (!store.ok()) Stop(store.error().message);
  std::vector<Measurement> batch;
  double spent = 0;
  auto start = std::chrono::steady_clock::now();
  Result<std::unique_ptr<StoreImport>> import = (*store)->BeginImport({"benchmark", "generated"});
  if (!import.ok()) Stop(import.error().message);
  for (std::int64_t i = 0; i < rows;) {
    // Making the rows is not what is measured.
    spent += Seconds(start);
    batch.clear();
    for (; static_cast<std::int64_t>(batch.size()) < kBatch && i < rows; ++i) batch.push_back(MakeGenerated(i));
    start = std::chrono::steady_clock::now();
    const Status added = (*import)->Add(testing::MakeDevice(), testing::MakeEnvironment(), batch, {});
    if (!added.ok()) Stop(added.error().message);
  }
  const Result<ImportCount> count = (*import)->Commit();
  if (!count.ok()) Stop(count.error().message);
  if (count->added != rows) Stop(fmt::format("{} of {} rows were added", count->added, rows));
  return spent + Seconds(start);
}

bool Report(const char* what, std::int64_t rows, double ours, double theirs) {
  const double ratio = theirs / ours;
  fmt::print("{:<26} {:>12.1f} {:>12.1f} {:>8.2f}{}\n", what, static_cast<double>(rows) / ours / 1000,
             static_cast<double>(rows) / theirs / 1000, ratio, ratio < 0.5 ? "  under the promise of 0.5" : "");
  return ratio >= 0.5;
}

constexpr const char* kTables[] = {"generations", "devices",   "environments", "environment_libraries", "workloads",
                                   "candidates",  "campaigns", "evidence",     "measurements",          "repetitions"};

// Out of a store that has the rows, and by COPY into an empty one.
bool MeasurePostgreSql(std::int64_t rows) {
  testing::PostgreSqlServer* const server = testing::PostgreSqlServer::Get();
  if (server == nullptr) Stop(testing::PostgreSqlServer::WhyNot());
  const std::string full = server->NewDatabase(), empty = server->NewDatabase();
  const double ours = ImportSeconds(full, rows);
  Result<std::unique_ptr<PostgreSqlConnection>> from = PostgreSqlConnection::Open(full, false);
  Result<std::unique_ptr<PostgreSqlConnection>> to = PostgreSqlConnection::Open(empty, false);
  if (!from.ok() || !to.ok()) Stop("cannot connect again");
  if (const Status made = Migrate(**to, SayOnStandardError); !made.ok()) Stop(made.error().message);
  double theirs = 0;
  for (const char* table : kTables) {
    const std::string file = fmt::format("{}/{}.copy", server->folder(), table);
    const Status out = (*from)->Execute(fmt::format("COPY {} TO '{}'", table, file));
    if (!out.ok()) Stop(out.error().message);
    const auto start = std::chrono::steady_clock::now();
    const Status in = (*to)->Execute(fmt::format("COPY {} FROM '{}'", table, file));
    if (!in.ok()) Stop(in.error().message);
    theirs += Seconds(start);
  }
  return Report("PostgreSQL, against COPY", rows, ours, theirs);
}

bool MeasureSqlite(std::int64_t rows) {
  const testing::TemporaryFolder folder;
  const std::string full = folder.File("full.db"), empty = folder.File("empty.db");
  const double ours = ImportSeconds(full, rows);
  if (!OpenStore(empty, OpenMode::kReadWrite).ok()) Stop("cannot make a store");
  std::string script;
  for (const char* table : kTables) {
    const std::string file = folder.File(std::string(table) + ".csv");
    // Blobs do not pass through CSV: as many letters instead.
    const std::string columns =
        std::string(table) == "repetitions"
            ? "measurement_id, position, count, minimum_us, median_us, p95_us, hex(samples_us), "
              "clock_low_mhz, clock_high_mhz, beat_arithmetic_us, beat_memory_us"
            : "*";
    const std::string command = fmt::format("sqlite3 -csv {} 'SELECT {} FROM {}' > {}", full, columns, table, file);
    if (std::system(command.c_str()) != 0) Stop("the program sqlite3 did not export (apt-get install sqlite3)");
    script += fmt::format(".import --csv {} {}\n", file, table);
  }
  // NULL and blobs do not pass either: the same columns and indexes without those constraints.
  const std::string loosen = fmt::format(
      "sqlite3 {0} .schema > {1}; rm {0}*; sed -e 's/ STRICT//' -e 's/samples_us BLOB/samples_us TEXT/' "
      "-e \"/CHECK ((outcome/d\" -e \"s/^[.].*//\" {1} | grep -v sqlite_ | sqlite3 {0}",
      empty, folder.File("schema.sql"));
  if (std::system(loosen.c_str()) != 0) Stop("the schema could not be copied");
  FILE* const out = std::fopen(folder.File("import.sql").c_str(), "w");
  if (out == nullptr) Stop("cannot write a script");
  fmt::print(out, "PRAGMA journal_mode = WAL;\nPRAGMA synchronous = FULL;\n{}", script);
  std::fclose(out);
  const auto start = std::chrono::steady_clock::now();
  if (std::system(fmt::format("sqlite3 {} < {} > /dev/null", empty, folder.File("import.sql")).c_str()) != 0)
    Stop(".import did not work");
  return Report("SQLite, against .import", rows, ours, Seconds(start));
}

}  // namespace
}  // namespace infimum

INFIMUM_BENCHMARK(ingest, "[--rows N] [sqlite] [postgresql]") {
  std::int64_t rows = 1'000'000;
  std::vector<std::string> which;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--rows" && i + 1 < argc)
      rows = infimum::ParseInteger(argv[++i]).value_or(rows);
    else
      which.emplace_back(argv[i]);
  }
  if (which.empty()) which = {"sqlite", "postgresql"};
  fmt::print("{:<26} {:>12} {:>12} {:>8}\n", "", "ours (k/s)", "theirs (k/s)", "ratio");
  bool held = true;
  for (const std::string& database : which) {
    if (database == "sqlite") held = infimum::MeasureSqlite(rows) && held;
    if (database == "postgresql") held = infimum::MeasurePostgreSql(rows) && held;
  }
  return held ? 0 : 1;
}
