// How fast the named queries answer over ten million measurements in PostgreSQL: those about one layer, one model or
// one device in at most 100 ms, those about everything in at most 30 s, once the pages are in memory.
//
//   benchmarks query [--rows 10000000] [--plans] [--only NAME]     in a server of its own
//   benchmarks query --db postgresql://...                         in this database, filled by the first such call
//
// The rows are generated on the server after the pattern of the published measurements of 2019: of 100 rows 22
// measured, 61 unsupported, 17 failed; several library versions on each device, twenty candidates of each layer, and
// one row in fifty again in a second campaign. Prints a table (the median of five answers after two) and with --plans
// what EXPLAIN ANALYZE says of each; ends with 1 where a promise did not hold.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "db/connection/postgresql_connection.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/support/benchmark.h"

namespace infimum {
namespace {

constexpr std::int64_t kDevices = 40;
constexpr std::int64_t kVersions = 5;
constexpr std::int64_t kCandidates = 20;
constexpr std::int64_t kModels = 30;
constexpr std::int64_t kLayersOfAModel = 60;
constexpr double kSelectiveMs = 100;
constexpr double kWholeMs = 30'000;

[[noreturn]] void Stop(const std::string& message) {
  fmt::print(stderr, "benchmarks query: {}\n", message);
  std::exit(2);
}

double Seconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Every second workload is the f16 form of the one before it.
std::string WorkloadText(std::int64_t number) {
  const char* const type = number % 2 == 0 ? "f32" : "f16";
  return fmt::format(
      "convolution dtype={0}:{0}:{0} in=1x{1}x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 "
      "groups=1 bias=no weights=const",
      type, 1 + number / 2);
}

// The same text in SQL, for the workload n.
constexpr const char* kWorkloadSql =
    "'convolution dtype=' || t || ':' || t || ':' || t || ' in=1x' || (1 + n / 2) || 'x56x56 out_channels=64 "
    "kernel=3x3 stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 bias=no weights=const'";

// As the owner, who is the superuser of this server and may leave out the checks of foreign keys.
void Fill(const std::string& address, std::int64_t rows) {
  Result<std::unique_ptr<PostgreSqlConnection>> opened = PostgreSqlConnection::Open(address, false);
  if (!opened.ok()) Stop(opened.error().message);
  const std::int64_t workloads =
      std::max<std::int64_t>(rows / (kDevices * kVersions * kCandidates), 2 * kLayersOfAModel);
  const auto run = [&](const std::string& sql) {
    if (const Status done = (*opened)->Execute(sql); !done.ok()) Stop(done.error().message);
  };
  run("SET search_path = infimum; SET session_replication_role = replica; SET synchronous_commit = off; "
      "SET maintenance_work_mem = '512MB'");
  run("INSERT INTO generations SELECT n, 'Generation ' || n, 2012 + n FROM generate_series(1, 8) n");
  run(
      fmt::format("INSERT INTO devices (id, key, kind, name, vendor, generation_id, identity, cores, "
                  "last_level_cache_bytes, memory_bytes) SELECT n, 'gpu/NVIDIA/name=GPU%20' || n, 'gpu', 'GPU ' || n, "
                  "'NVIDIA', 1 + n % 8, '{{}}', 80, 0, 0 FROM generate_series(1, {}) n",
                  kDevices));
  run(fmt::format(
      "INSERT INTO evidence VALUES (1, '', '{{}}'); INSERT INTO environments SELECT n, 'environment ' || n, "
      "'{{\"cudnn\":\"9.' || n || '\"}}', 1 FROM generate_series(1, {0}) n; INSERT INTO environment_libraries SELECT "
      "n, 'cudnn', '9.' || n "
      "FROM generate_series(1, {0}) n",
      kVersions));
  run(
      fmt::format("INSERT INTO workloads SELECT n + 1, {}, 'convolution' FROM (SELECT n, CASE n % 2 WHEN 0 THEN 'f32' "
                  "ELSE 'f16' END AS t FROM generate_series(0, {} - 1) n) w",
                  kWorkloadSql, workloads));
  run(
      fmt::format("INSERT INTO candidates SELECT n + 1, 'cudnn-legacy', 'algorithm_' || n || CASE n % 2 WHEN 0 THEN '' "
                  "ELSE '/tensor_op' END, 'nchw', 'nchw' FROM generate_series(0, {} - 1) n",
                  kCandidates));
  run(fmt::format("INSERT INTO campaigns SELECT n, 'campaign ' || n, n || '.json', '' FROM generate_series(1, {}) n",
                  2 * kDevices));
  run("CREATE TEMP TABLE made AS SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'infimum' AND tablename "
      "= "
      "'measurements' AND indexdef NOT LIKE '%UNIQUE%'; DO $$ DECLARE i text; BEGIN FOR i IN SELECT indexname FROM "
      "made "
      "LOOP EXECUTE 'DROP INDEX infimum.' || i; END LOOP; END $$");
  // By device, then by library version: the order in which campaigns come. A hash stands for chance: what runs, and how
  // fast, is the same for all versions but for 3 %; what the library chooses is seldom far from the best.
  run(fmt::format(
      "INSERT INTO measurements (id, workload_id, candidate_id, contract, cache, device_id, environment_id, "
      "evidence_id, campaign_id, "
      "measured_at, outcome, reason, library_choice, numeric_error, flags, repetition_count, best_us, low_us, high_us, "
      "weight) "
      "SELECT id, workload, 1 + id % {candidates}, CASE (workload - 1) % 2 WHEN 0 THEN 'strict-f32' ELSE 'f16' END, "
      "'warm', device, environment, 1, device, '2026-01-01T00:00:00Z', "
      "CASE WHEN luck < 22 THEN 'measured' WHEN luck < 83 THEN 'unsupported' ELSE 'failed' END, "
      "CASE WHEN luck < 22 THEN '' ELSE 'CUDNN_STATUS_NOT_SUPPORTED' END, "
      "CASE WHEN luck < 5 THEN 1 ELSE 0 END, NULL, '[]', CASE WHEN luck < 22 THEN 1 ELSE 0 END, "
      "CASE WHEN luck < 22 THEN time END, CASE WHEN luck < 22 THEN time * 0.99 END, "
      "CASE WHEN luck < 22 THEN time * 1.01 END, CASE WHEN luck < 22 THEN 11 ELSE 2 END "
      "FROM (SELECT id, device, environment, workload, luck, (10 + workload % 100) * (1 + CASE WHEN luck < 5 THEN "
      "0.06::float8 ELSE 1 END * spread) * (1 + noise) AS time "
      "FROM (SELECT *, (hashint8(key) & 1048575) % 100 AS luck, (hashint8(key + 7) & 1048575) / 1048576::float8 AS "
      "spread, (hashint8(id + 11) & 1048575) / 1048576::float8 * 0.03 AS noise "
      "FROM (SELECT id, 1 + id / {of_device} AS device, 1 + (id / {of_environment}) % {versions} AS environment, "
      "1 + (id / {candidates}) % {workloads} AS workload, "
      "(id / {of_device}) * {of_environment} + id % {of_environment} AS key "
      "FROM generate_series(0::bigint, {rows}::bigint - 1) id) placed) chanced) r",
      fmt::arg("rows", kDevices * kVersions * workloads * kCandidates), fmt::arg("candidates", kCandidates),
      fmt::arg("versions", kVersions), fmt::arg("workloads", workloads),
      fmt::arg("of_environment", workloads * kCandidates), fmt::arg("of_device", workloads * kCandidates * kVersions)));
  run(fmt::format(
      "INSERT INTO measurements SELECT id + 100000000, workload_id, candidate_id, contract, cache, device_id, "
      "environment_id, campaign_id + {}, measured_at, outcome, reason, library_choice, numeric_error, flags, "
      "repetition_count, best_us * f, low_us * f, high_us * f, weight, evidence_id FROM (SELECT *, 1 + (hashint8(id + "
      "13) & 255) / "
      "2000.0 AS f FROM measurements WHERE outcome = 'measured' AND hashint8(id) & 31 = 0) m",
      kDevices));
  run("INSERT INTO repetitions SELECT id, 0, 30, low_us, best_us, high_us, '\\x', NULL, NULL FROM measurements WHERE "
      "outcome = 'measured'");
  run("DO $$ DECLARE i text; BEGIN FOR i IN SELECT indexdef FROM made LOOP EXECUTE i; END LOOP; END $$");
  run(
      fmt::format("INSERT INTO models SELECT n, 'key ' || n, 'model ' || n, 'sha ' || n, '{{\"batch\":1}}' FROM "
                  "generate_series(1, {}) n",
                  kModels));
  // Each has distinct layers, every second one of them twice.
  run(fmt::format(
      "INSERT INTO model_layers SELECT m, l, 'layer ' || l, 'Conv', 'measurable', '', 1 + 2 * ((m * 37 + (l / 3) * 2 + "
      "least(l % 3, 1)) % ({} / 2)), 'strict-f32', 1, 0, 0 FROM generate_series(1, {}) m, generate_series(0, {} - 1) l",
      workloads, kModels, kLayersOfAModel * 3 / 2));
  run("VACUUM ANALYZE");
}

struct Question {
  std::string name;
  std::map<std::string, std::string> given;
  bool whole = false;
};

std::vector<Question> Questions() {
  const std::string layer = WorkloadText(1000), device = "GPU 7", model = "model 5";
  return {
      {"best-candidate", {{"layer", layer}}},
      {"candidates-of-layer", {{"layer", layer}, {"device", device}}},
      {"model-layers", {{"model", model}}},
      {"model-layers", {{"model", model}, {"device", device}}},
      {"model-bounds", {{"model", model}}},
      {"model-bounds", {{"model", model}, {"device", device}}},
      {"coverage", {{"model", model}}},
      {"coverage", {{"model", model}, {"device", device}}},
      {"coverage", {{"device", device}}},
      {"fleet", {{"model", model}}},
      {"library-upgrade", {{"library", "cudnn"}, {"from", "9.1"}, {"to", "9.2"}, {"model", model}}},
      {"library-upgrade", {{"library", "cudnn"}, {"from", "9.1"}, {"to", "9.2"}, {"device", device}}},
      {"heuristic-regret", {{"model", model}}},
      {"heuristic-regret", {{"device", device}}},
      {"precision-gain", {{"device", device}}},
      {"tensor-core-gain", {{"device", device}}},
      {"contradictions", {{"device", device}}},
      {"duplicates", {{"device", device}}},
      {"contradictions", {}, true},
      {"duplicates", {}, true},
      {"coverage", {}, true},
      {"model-bounds", {}, true},
      {"fleet", {}, true},
      {"library-upgrade", {{"library", "cudnn"}, {"from", "9.1"}, {"to", "9.2"}}, true},
      {"heuristic-regret", {}, true},
      {"precision-gain", {}, true},
      {"tensor-core-gain", {}, true},
      {"outcomes", {}, true},
      {"staleness", {}, true},
  };
}

std::string TextOf(const std::map<std::string, std::string>& given) {
  std::string text;
  for (const auto& [name, value] : given) text += fmt::format(" {}={}", name, value.substr(0, 12));
  return text;
}

void ShowPlan(PostgreSqlConnection& connection, const NamedQuery& query, const Question& question) {
  Result<std::unique_ptr<Statement>> explain =
      connection.Prepare("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + query.sql);
  if (!explain.ok()) Stop(explain.error().message);
  for (std::size_t i = 0; i < query.parameters.size(); ++i) {
    const auto found = question.given.find(query.parameters[i].name);
    const std::string value =
        found != question.given.end() ? found->second : query.parameters[i].otherwise.value_or("");
    (*explain)->Bind(static_cast<int>(i) + 1, std::string_view(value));
  }
  while (true) {
    const Result<bool> row = (*explain)->Step();
    if (!row.ok()) Stop(row.error().message);
    if (!*row) break;
    fmt::print("    {}\n", (*explain)->Text(0));
  }
}

bool Measure(Store& store, PostgreSqlConnection* plans, const Question& question) {
  const NamedQuery* const query = FindQuery(question.name);
  if (query == nullptr) Stop("no query " + question.name);
  std::vector<double> times;
  std::size_t rows = 0;
  const int warm_ups = question.whole ? 1 : 2, repeats = question.whole ? 1 : 5;
  for (int i = 0; i < warm_ups + repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Result<QueryTable> answer = store.Ask(*query, question.given);
    if (!answer.ok()) Stop(question.name + ": " + answer.error().message);
    if (i >= warm_ups) times.push_back(Seconds(start) * 1000);
    rows = answer->rows.size();
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2], limit = question.whole ? kWholeMs : kSelectiveMs;
  fmt::print("{:<66} {:>8} {:>10.1f}{}\n", question.name + TextOf(question.given), rows, median,
             median > limit ? fmt::format("  over {} ms", limit) : "");
  std::fflush(stdout);
  if (plans != nullptr) ShowPlan(*plans, *query, question);
  return median <= limit;
}

int Main(const std::vector<std::string>& arguments) {
  std::int64_t rows = 10'000'000;
  bool plans = false;
  std::string only, address;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--rows" && i + 1 < arguments.size()) {
      rows = ParseInteger(arguments[++i]).value_or(0);
    } else if (arguments[i] == "--only" && i + 1 < arguments.size()) {
      only = arguments[++i];
    } else if (arguments[i] == "--db" && i + 1 < arguments.size()) {
      address = arguments[++i];
    } else if (arguments[i] == "--plans") {
      plans = true;
    } else {
      Stop("usage: benchmarks query [--rows N] [--plans] [--only NAME] [--db ADDRESS]");
    }
  }
  if (address.empty()) {
    testing::PostgreSqlServer* const server = testing::PostgreSqlServer::Get();
    if (server == nullptr) Stop(testing::PostgreSqlServer::WhyNot());
    address = server->NewDatabase();
  }
  const auto start = std::chrono::steady_clock::now();
  Result<std::unique_ptr<Store>> made = OpenStore(address, OpenMode::kReadWrite);
  if (!made.ok()) Stop(made.error().message);
  const Result<std::vector<Device>> there = (*made)->Devices();
  if (!there.ok()) Stop(there.error().message);
  if (there->empty()) Fill(address, rows);
  Result<std::unique_ptr<Store>> store = OpenStore(address, OpenMode::kReadOnly);
  if (!store.ok()) Stop(store.error().message);
  const Result<StoreFacts> facts = (*store)->Facts();
  if (!facts.ok()) Stop(facts.error().message);
  for (const auto& [table, count] : facts->tables)
    if (table == "measurements")
      fmt::print("{} measurements, {:.1f} GB, made in {:.0f} s\n\n", count, static_cast<double>(facts->bytes) / 1e9,
                 Seconds(start));
  Result<std::unique_ptr<PostgreSqlConnection>> connection = PostgreSqlConnection::Open(address, true);
  if (!connection.ok()) Stop(connection.error().message);
  fmt::print("{:<66} {:>8} {:>10}\n", "query", "rows", "ms");
  bool good = true;
  for (const Question& question : Questions()) {
    if (!only.empty() && question.name != only) continue;
    good = Measure(**store, plans ? connection->get() : nullptr, question) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace infimum

INFIMUM_BENCHMARK(query, "[--rows N] [--plans] [--only NAME] [--db ADDRESS]") {
  return infimum::Main({argv + 1, argv + argc});
}
