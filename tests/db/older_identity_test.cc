// Stores of schema 5, whose keys held more than tells devices and environments apart, as schema 6 has them.
#include "infimum/measurement/older_identity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "db/connection/postgresql_connection.h"
#include "db/connection/sqlite_connection.h"
#include "db/store/migrations.h"
#include "db/store/run_details.h"
#include "infimum/db/store.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_dump.h"
#include "tests/db/store_rows.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::FindRows;
using ::testing::HasSubstr;
using testing::MakeDevice;
using testing::MakeRow;
using testing::MakeSelection;
using ::testing::SizeIs;

Device Counted(std::int64_t cores) { return WithCores(MakeDevice(), cores); }

// Rows as schema 5 kept them.
class OldRows {
 public:
  void Add(const Device& device, std::int64_t threads, const std::string& host, std::int64_t elements, double best_us,
           std::int64_t weight = 11, const std::string& library = "3.2.0") {
    const std::int64_t device_id = DeviceId(device), environment_id = EnvironmentId(threads, host, library);
    const std::int64_t workload_id = IdOf(workloads_, testing::MakeWorkload(elements).text, [&](std::int64_t id) {
      script_ += fmt::format("INSERT INTO workloads (id, text, family) VALUES ({}, '{}', 'pointwise');", id,
                             testing::MakeWorkload(elements).text);
    });
    const std::int64_t id = ++rows_;
    script_ += fmt::format(
        "INSERT INTO measurements (id, workload_id, candidate_id, contract, cache, device_id, environment_id, "
        "campaign_id, measured_at, outcome, reason, library_choice, flags, repetition_count, best_us, low_us, high_us, "
        "weight) VALUES ({}, {}, 1, 'strict-f32', 'warm', {}, {}, 1, '2026-05-01T10:00:00Z', 'measured', '', 0, '[]', "
        "{}, {}, {}, {}, {});",
        id, workload_id, device_id, environment_id, weight - 10, best_us, best_us, best_us, weight);
    for (std::int64_t i = 0; i < weight - 10; ++i)
      script_ += fmt::format(
          "INSERT INTO repetitions (measurement_id, position, count, minimum_us, median_us, p95_us, samples_us) "
          "VALUES ({}, {}, 1, {}, {}, {}, {});",
          id, i, best_us, best_us, best_us, sqlite_ ? "x''" : "'\\x'");
  }
  void AddPeak(const Device& device, double per_second, std::int64_t threads = 1) {
    script_ += fmt::format(
        "INSERT INTO peak_rates (device_id, kind, working_set_bytes, dtype, threads, source, per_second) VALUES ({}, "
        "'copy', 1024, 'f32', {}, 'measured', {});",
        DeviceId(device), threads, per_second);
  }
  void AddRun(const std::string& device_key, std::int64_t threads) {
    script_ += fmt::format(
        "INSERT INTO runs (id, framework, framework_version, model_name, model_sha256, device_key, dims, threads, "
        "contract, details) VALUES ({}, 'onnxruntime', '1', 'm', 'ab', '{}', '{{}}', {}, '', '{}');",
        ++runs_, device_key, threads, FormatRunDetails(testing::MakeRun()));
  }

  // A store of them, of the newest schema.
  Result<std::unique_ptr<Store>> Migrated(const std::string& address, std::string* said = nullptr) {
    if (const Status made = Make(address); !made.ok()) return made.error();
    return OpenStore(address, OpenMode::kReadWrite, [&](const std::string& text) {
      if (said != nullptr) *said += text;
    });
  }
  Status Make(const std::string& address) const {
    std::string script = sqlite_ ? ""
                                 : "CREATE SCHEMA infimum; CREATE TABLE schema_versions (version BIGINT PRIMARY "
                                   "KEY, migrated_at TIMESTAMPTZ NOT NULL DEFAULT now());";
    for (const SchemaFile& file : SchemaFiles())
      if ((file.dialect == Dialect::kSqlite) == sqlite_ && file.version <= 5) script += file.text;
    script += sqlite_ ? "PRAGMA user_version = 5; PRAGMA application_id = 1768842861;"
                      : "INSERT INTO schema_versions (version) VALUES (5);";
    script +=
        "INSERT INTO candidates (id, library, algorithm, input_layout, output_layout) VALUES (1, 'onednn', 'a', "
        "'any', 'any'); INSERT INTO campaigns (id, key, source, imported_at) VALUES (1, '', '', '');" +
        script_;
    if (sqlite_) {
      INFIMUM_ASSIGN_OR_RETURN(const auto connection,
                               SqliteConnection::Open(address, SqliteConnection::Mode::kReadWrite));
      return connection->Execute(script);
    }
    INFIMUM_ASSIGN_OR_RETURN(const auto connection, PostgreSqlConnection::Open(address, false));
    return connection->Execute(script);
  }

  explicit OldRows(bool sqlite) : sqlite_(sqlite) {}

 private:
  using Ids = std::map<std::string, std::int64_t>;
  template <class Make>
  static std::int64_t IdOf(Ids& ids, const std::string& key, Make make) {
    const auto [found, is_new] = ids.try_emplace(key, static_cast<std::int64_t>(ids.size()) + 1);
    if (is_new) make(found->second);
    return found->second;
  }
  std::int64_t DeviceId(const Device& device) {
    return IdOf(devices_, device.Key().text, [&](std::int64_t id) {
      std::string identity;
      for (const auto& [name, value] : device.identity)
        identity += fmt::format("{}\"{}\":\"{}\"", identity.empty() ? "" : ",", name, value);
      script_ += fmt::format(
          "INSERT INTO devices (id, key, kind, name, vendor, identity, cores, last_level_cache_bytes, memory_bytes) "
          "VALUES ({}, '{}', '{}', '{}', '{}', '{{{}}}', {}, 0, 0);",
          id, device.Key().text, device.kind == DeviceKind::kCpu ? "cpu" : "gpu", device.name, device.vendor, identity,
          device.cores);
    });
  }
  std::int64_t EnvironmentId(std::int64_t threads, const std::string& host, const std::string& library) {
    const std::string key = fmt::format("threads={}/affinity=pinned/clocks=/host={}/infimum=0.1.0/library:onednn={}",
                                        threads, host, library);
    return IdOf(environments_, key, [&](std::int64_t id) {
      script_ += fmt::format(
          "INSERT INTO environments (id, key, libraries, threads, affinity, clock_policy, host, infimum_version) "
          "VALUES "
          "({0}, '{1}', '{{\"onednn\":\"{2}\"}}', {3}, 'pinned', '', '{4}', '0.1.0'); INSERT INTO "
          "environment_libraries (environment_id, library, version) VALUES ({0}, 'onednn', '{2}');",
          id, key, library, threads, host);
    });
  }

  bool sqlite_;
  std::string script_;
  Ids devices_, environments_, workloads_;
  std::int64_t rows_ = 0, runs_ = 0;
};

class OlderIdentityTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "PostgreSql" && testing::PostgreSqlServer::Get() == nullptr) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << testing::PostgreSqlServer::WhyNot();
      GTEST_SKIP() << testing::PostgreSqlServer::WhyNot();
    }
  }
  bool IsSqlite() const { return GetParam() == "Sqlite"; }
  std::string NewAddress() {
    return IsSqlite() ? folder_.File(fmt::format("{}.db", ++stores_)) : testing::PostgreSqlServer::Get()->NewDatabase();
  }
  std::vector<std::string> DevicesOf(Store& store) {
    std::vector<std::string> keys;
    const Result<std::vector<Device>> devices = store.Devices();
    EXPECT_TRUE(devices.ok());
    for (const Device& device : *devices) keys.push_back(device.Key().text);
    return keys;
  }
  void ExpectSound(Store& store) {
    std::string problems;
    ASSERT_TRUE(store.Check([&](const std::string& problem) { problems += problem + "; "; }).ok());
    EXPECT_EQ(problems, "");
  }

  testing::TemporaryFolder folder_;
  int stores_ = 0;
};

const std::vector<WorkloadKey>& Three() {
  static const std::vector<WorkloadKey> keys{testing::MakeWorkload(100), testing::MakeWorkload(200),
                                             testing::MakeWorkload(300)};
  return keys;
}

TEST_P(OlderIdentityTest, OneMachineOnOneAndOnTwoThreadsBecomesOneDevice) {
  OldRows rows(IsSqlite());
  rows.Add(Counted(1), 1, "Linux 1", 100, 5);
  rows.Add(Counted(2), 2, "Linux 1", 100, 3);
  rows.AddPeak(Counted(1), 1e9);
  rows.AddPeak(Counted(2), 2e9, 2);
  rows.AddRun(Counted(1).Key().text, 1);
  rows.AddRun(Counted(2).Key().text, 2);
  std::string said;
  const Result<std::unique_ptr<Store>> store = rows.Migrated(NewAddress(), &said);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_THAT(DevicesOf(**store), ElementsAre(Counted(2).Key().text));
  EXPECT_THAT(FindRows(**store, 100, MakeSelection(Counted(2), 1)), SizeIs(1));
  EXPECT_THAT(FindRows(**store, 100, MakeSelection(Counted(2), 2)), SizeIs(1));
  EXPECT_THAT((*store)->Peaks(Counted(2).Key())->rates, SizeIs(2));
  EXPECT_TRUE((*store)->FindRun("ab", Counted(2).Key(), {}, 1, "onnxruntime")->has_value());
  EXPECT_TRUE((*store)->FindRun("ab", Counted(2).Key(), {}, 2, "onnxruntime")->has_value());
  EXPECT_THAT(said, HasSubstr(IsSqlite() ? ".schema-5.bak" : "infimum_schema_5"));
  ExpectSound(**store);
}

TEST_P(OlderIdentityTest, HostsBecomeEvidenceOfOneEnvironment) {
  OldRows rows(IsSqlite());
  int elements = 0;
  for (const char* host : {"Linux 1", "Linux 2", "Linux 3"}) rows.Add(Counted(63), 1, host, elements += 100, 5);
  rows.Add(Counted(63), 1, "Linux 1", 100, 1, 11, "3.3.0");
  const Result<std::unique_ptr<Store>> store = rows.Migrated(NewAddress());
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_THAT(DevicesOf(**store), ElementsAre(Counted(64).Key().text));
  EXPECT_THAT(*(*store)->Environments(), SizeIs(2));
  const Result<std::vector<Measurement>> found = (*store)->Find(Three(), MakeSelection(Counted(64)));
  ASSERT_TRUE(found.ok());
  ASSERT_THAT(*found, SizeIs(3));
  std::set<std::string> systems;
  for (const Measurement& row : *found) systems.insert(FactOf(EvidenceOf(row.evidence), evidence::kSystem));
  EXPECT_THAT(systems, SizeIs(3));
  ExpectSound(**store);
}

TEST_P(OlderIdentityTest, TheFullestOfRowsThatBecomeEqualIsKept) {
  OldRows rows(IsSqlite());
  Device gpu = MakeDevice(), other = MakeDevice();
  gpu.kind = other.kind = DeviceKind::kGpu;
  gpu.identity["clock"] = "1095MHz";
  other.identity["clock"] = "1410MHz";
  rows.Add(gpu, 1, "Linux 1", 100, 5, 12);
  rows.Add(other, 1, "Linux 1", 100, 4, 11);
  rows.Add(gpu, 1, "Linux 1", 200, 5, 11);
  rows.Add(other, 1, "Linux 1", 200, 4, 11);
  rows.AddPeak(gpu, 1e9);
  rows.AddPeak(other, 1e9);
  const Result<std::unique_ptr<Store>> store = rows.Migrated(NewAddress());
  ASSERT_TRUE(store.ok()) << store.error().message;
  gpu.identity.erase("clock");
  EXPECT_THAT(DevicesOf(**store), ElementsAre(gpu.Key().text));
  ASSERT_THAT(FindRows(**store, 100, MakeSelection(gpu)), SizeIs(1));
  EXPECT_THAT(FindRows(**store, 100, MakeSelection(gpu)).front().repetitions, SizeIs(2));
  EXPECT_EQ(FindRows(**store, 200, MakeSelection(gpu)).front().repetitions.front().median, Latency(4));
  ExpectSound(**store);
}

TEST_P(OlderIdentityTest, AnUnclearCoreCountStaysUntilItIsClear) {
  OldRows rows(IsSqlite());
  rows.Add(Counted(1), 1, "Linux 1", 100, 5);
  rows.AddRun(Counted(1).Key().text, 1);
  const Result<std::unique_ptr<Store>> store = rows.Migrated(NewAddress());
  ASSERT_TRUE(store.ok()) << store.error().message;
  ASSERT_THAT(DevicesOf(**store), ElementsAre(HasSubstr("/cores_seen=1")));
  ExpectSound(**store);
  // The machine is measured by this version, which tells how many cores it has.
  const std::vector<Measurement> more{MakeRow(200, {7})};
  ASSERT_TRUE((*store)->Import(Counted(2), testing::MakeEnvironment(), more, {}).ok());
  EXPECT_THAT(DevicesOf(**store), ElementsAre(Counted(2).Key().text));
  EXPECT_THAT(FindRows(**store, 100, MakeSelection(Counted(2))), SizeIs(1));
  EXPECT_THAT(FindRows(**store, 200, MakeSelection(Counted(2))), SizeIs(1));
  EXPECT_TRUE((*store)->FindRun("ab", Counted(2).Key(), {}, 1, "onnxruntime")->has_value());
  ExpectSound(**store);
}

// What an earlier version wrote into files comes to the same in whatever order, and is known when it comes again.
TEST_P(OlderIdentityTest, FilesComeToTheSameInAnyOrder) {
  struct File {
    Device device;
    Environment environment;
    std::vector<Measurement> rows;
  };
  Environment one = testing::MakeEnvironment(), two = testing::MakeEnvironment("3.2.0", 2);
  one.evidence[evidence::kAffinity] = two.evidence[evidence::kAffinity] = "pinned";
  std::vector<File> files{{DeviceOfToday(Counted(1), one), one, {MakeRow(100, {5})}},
                          {DeviceOfToday(Counted(2), two), two, {MakeRow(100, {3})}},
                          {Counted(2), one, {MakeRow(200, {4}), MakeRow(100, {5, 5})}}};
  std::vector<std::vector<std::string>> dumps;
  std::vector<std::size_t> order{0, 1, 2};
  do {
    const Result<std::unique_ptr<Store>> store = OpenStore(NewAddress(), OpenMode::kReadWrite);
    ASSERT_TRUE(store.ok());
    for (const std::size_t i : order)
      ASSERT_TRUE((*store)->Import(files[i].device, files[i].environment, files[i].rows, {}).ok());
    for (const File& file : files) EXPECT_EQ((*store)->Import(file.device, file.environment, file.rows, {})->added, 0);
    EXPECT_THAT(DevicesOf(**store), ElementsAre(Counted(2).Key().text));
    ExpectSound(**store);
    const Result<QueryTable> rows = (*store)->AskSql(
        "SELECT w.text || e.key || v.text || m.weight FROM measurements m JOIN workloads w ON w.id = m.workload_id "
        "JOIN environments e ON e.id = m.environment_id JOIN evidence v ON v.id = m.evidence_id ORDER BY 1",
        testing::AsAnyone());
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    std::vector<std::string> dump;
    for (const auto& row : rows->rows) dump.push_back(std::get<std::string>(row[0]));
    dumps.push_back(std::move(dump));
  } while (std::next_permutation(order.begin(), order.end()));
  for (const auto& dump : dumps) EXPECT_EQ(dump, dumps.front());
}

TEST_P(OlderIdentityTest, MigratingKeepsTheStoreAsItWas) {
  OldRows rows(IsSqlite());
  rows.Add(Counted(1), 1, "Linux 1", 100, 5);
  const std::string address = NewAddress();
  ASSERT_TRUE(rows.Make(address).ok());
  if (IsSqlite()) {
    std::filesystem::copy_file(address, address + ".before");
    // A name that is taken is left alone.
    std::filesystem::copy_file(address, address + ".schema-5.bak");
  }
  std::string said;
  const Result<std::unique_ptr<Store>> store =
      OpenStore(address, OpenMode::kReadWrite, [&](const std::string& text) { said += text; });
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ(OpenStore(address, OpenMode::kReadWrite, [&](const std::string&) { said += "again"; }).ok(), true);
  EXPECT_THAT(said, ::testing::Not(HasSubstr("again")));
  if (IsSqlite()) {
    EXPECT_THAT(said, HasSubstr(".schema-5-2.bak"));
    const auto copy = SqliteConnection::Open(address + ".schema-5-2.bak", SqliteConnection::Mode::kReadOnly);
    ASSERT_TRUE(copy.ok());
    EXPECT_EQ(*(*copy)->AskInteger("PRAGMA user_version"), 5);
    EXPECT_EQ(*(*copy)->AskInteger("SELECT count(*) FROM repetitions"), 1);
    EXPECT_EQ(*(*copy)->AskInteger("SELECT count(*) FROM environments WHERE host = 'Linux 1'"), 1);
  } else {
    const auto connection = PostgreSqlConnection::Open(address, true);
    ASSERT_TRUE(connection.ok());
    EXPECT_EQ(*(*connection)->AskInteger("SELECT count(*) FROM infimum_schema_5.repetitions"), 1);
    EXPECT_EQ(*(*connection)->AskInteger("SELECT count(*) FROM infimum_schema_5.environments WHERE host = 'Linux 1'"),
              1);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, OlderIdentityTest, ::testing::Values("Sqlite", "PostgreSql"), testing::ParamName);

}  // namespace
}  // namespace infimum
