// Over a real export of two H100s, which stands beside the checkout: shared/data/traces/nsys. What is expected is asked
// of the database with SQL of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/readers/profiles/nsys/nsys_export.h"
#include "tests/support/shared_data.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

using Rows = std::vector<std::vector<std::string>>;

class NsysData : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path file = SharedData("traces/nsys/h100_2gpu_1s.sqlite");
    INFIMUM_NEEDS_DATA(file);
    Result<Timeline> read = ReadNsysExport(file);
    ASSERT_TRUE(read.ok()) << read.error().message;
    timeline_ = std::move(read).value();
    ASSERT_EQ(sqlite3_open_v2(("file:" + file.string() + "?immutable=1").c_str(), &database_,
                              SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr),
              SQLITE_OK);
  }
  void TearDown() override { sqlite3_close(database_); }

  Rows Ask(const std::string& sql) {
    Rows rows;
    const auto take = [](void* into, int count, char** values, char** /*names*/) {
      std::vector<std::string>& row = static_cast<Rows*>(into)->emplace_back();
      for (int i = 0; i < count; ++i) row.emplace_back(values[i] == nullptr ? "" : values[i]);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), take, &rows, nullptr), SQLITE_OK) << sqlite3_errmsg(database_);
    return rows;
  }
  // Of two columns, the second a number.
  std::map<std::string, std::int64_t> AskSums(const std::string& sql) {
    std::map<std::string, std::int64_t> sums;
    for (const std::vector<std::string>& row : Ask(sql)) sums[row.at(0)] = std::stoll(row.at(1));
    return sums;
  }
  std::int64_t AskNumber(const std::string& sql) { return std::stoll(Ask(sql).at(0).at(0)); }

  // Nanoseconds by the key that `key_of` gives, of the work that it gives one for.
  template <class Entries, class KeyOf>
  static std::map<std::string, std::int64_t> Sums(const Entries& entries, const KeyOf& key_of) {
    std::map<std::string, std::int64_t> sums;
    for (const auto& entry : entries) {
      const std::string key = key_of(entry);
      if (!key.empty()) sums[key] += entry.duration_ns;
    }
    return sums;
  }
  std::string NameOf(NameId name) const { return std::string(timeline_.names.text(name)); }

  Timeline timeline_;
  sqlite3* database_ = nullptr;
};

TEST_F(NsysData, EveryEventIsThere) {
  std::map<DeviceWorkKind, std::int64_t> work;
  for (const DeviceWork& entry : timeline_.device_work) ++work[entry.kind];
  std::map<HostCallKind, std::int64_t> calls;
  for (const HostCall& call : timeline_.host_calls) ++calls[call.kind];
  EXPECT_THAT(work, ElementsAre(Pair(DeviceWorkKind::kKernel, 3442), Pair(DeviceWorkKind::kCopy, 904),
                                Pair(DeviceWorkKind::kSet, 22)));
  EXPECT_THAT(calls, ElementsAre(Pair(HostCallKind::kRuntime, 5796), Pair(HostCallKind::kAnnotation, 16782)));
  // Synchronisations and the profiler's own cost are not kept.
  EXPECT_EQ(timeline_.events, 3442 + 904 + 22 + 5796 + 16782 + 244 + 198);
  EXPECT_THAT(timeline_.threads,
              SizeIs(AskNumber("SELECT count(*) FROM (SELECT globalTid FROM NVTX_EVENTS UNION SELECT "
                               "globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME)")));
  EXPECT_THAT(timeline_.streams, SizeIs(AskNumber("SELECT count(*) FROM (SELECT deviceId, streamId FROM "
                                                  "CUPTI_ACTIVITY_KIND_KERNEL UNION SELECT deviceId, streamId FROM "
                                                  "CUPTI_ACTIVITY_KIND_MEMCPY UNION SELECT deviceId, streamId FROM "
                                                  "CUPTI_ACTIVITY_KIND_MEMSET)")));
  EXPECT_THAT(timeline_.devices, SizeIs(2));
  EXPECT_THAT(timeline_.remarks, ElementsAre("the names of its GPUs are not in the file (TARGET_INFO_GPU)"));
}

TEST_F(NsysData, TimesByNameAreThoseOfSql) {
  EXPECT_EQ(
      Sums(timeline_.device_work,
           [&](const DeviceWork& work) {
             return work.kind == DeviceWorkKind::kKernel ? NameOf(work.name) : std::string();
           }),
      AskSums("SELECT value, sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName "
              "GROUP BY value"));
  EXPECT_EQ(Sums(timeline_.device_work,
                 [&](const DeviceWork& work) {
                   return work.kind == DeviceWorkKind::kKernel ? NameOf(work.launch) : std::string();
                 }),
            AskSums("SELECT printf('grid [%d,%d,%d] block [%d,%d,%d]', gridX, gridY, gridZ, blockX, blockY, blockZ) AS "
                    "launch, sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY launch"));
  EXPECT_EQ(Sums(timeline_.host_calls,
                 [&](const HostCall& call) {
                   return call.kind == HostCallKind::kRuntime ? NameOf(call.name) : std::string();
                 }),
            AskSums("SELECT substr(value, 1, instr(value, '_v') - 1) AS call, sum(end - start) FROM "
                    "CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId GROUP BY call"));
  EXPECT_EQ(Sums(timeline_.host_calls,
                 [&](const HostCall& call) {
                   return call.kind == HostCallKind::kAnnotation ? NameOf(call.name) : std::string();
                 }),
            AskSums("SELECT text, sum(end - start) FROM NVTX_EVENTS GROUP BY text"));
  EXPECT_EQ(
      Sums(timeline_.device_work,
           [&](const DeviceWork& work) {
             return work.kind == DeviceWorkKind::kCopy ? NameOf(work.name) : std::string();
           }),
      AskSums("SELECT 'Memcpy ' || CASE copyKind WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' WHEN 8 THEN 'DtoD' END || ' (' "
              "|| s.label || ' -> ' || d.label || ')' AS copy, sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN "
              "ENUM_CUDA_MEM_KIND s ON s.id = srcKind JOIN ENUM_CUDA_MEM_KIND d ON d.id = dstKind GROUP BY copy"));
}

TEST_F(NsysData, TimesByDeviceAndThreadAreThoseOfSql) {
  EXPECT_EQ(
      Sums(timeline_.device_work,
           [&](const DeviceWork& work) { return std::to_string(timeline_.streams.at(work.stream).device); }),
      AskSums("SELECT deviceId, sum(d) FROM (SELECT deviceId, end - start AS d FROM CUPTI_ACTIVITY_KIND_KERNEL UNION "
              "ALL SELECT deviceId, end - start FROM CUPTI_ACTIVITY_KIND_MEMCPY UNION ALL SELECT deviceId, end - "
              "start FROM CUPTI_ACTIVITY_KIND_MEMSET) GROUP BY deviceId"));
  EXPECT_EQ(
      Sums(timeline_.host_calls,
           [&](const HostCall& call) {
             const TimelineThread& thread = timeline_.threads.at(call.thread);
             return std::to_string(thread.process) + "/" + std::to_string(thread.thread);
           }),
      AskSums("SELECT printf('%d/%d', globalTid / 16777216 % 16777216, globalTid % 16777216) AS thread, sum(d) FROM "
              "(SELECT globalTid, end - start AS d FROM NVTX_EVENTS UNION ALL SELECT globalTid, end - start FROM "
              "CUPTI_ACTIVITY_KIND_RUNTIME) GROUP BY thread"));
}

TEST_F(NsysData, TheExtentIsThatOfAllTables) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const char* table : {"KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "SYNCHRONIZATION", "OVERHEAD"}) {
    const std::string from = std::string(" FROM CUPTI_ACTIVITY_KIND_") + table;
    first = std::min(first, AskNumber("SELECT min(start)" + from));
    last = std::max(last, AskNumber("SELECT max(end)" + from));
  }
  EXPECT_EQ(timeline_.first_ns, std::min(first, AskNumber("SELECT min(start) FROM NVTX_EVENTS")));
  EXPECT_EQ(timeline_.last_ns, std::max(last, AskNumber("SELECT max(end) FROM NVTX_EVENTS")));
}

// A process's kernels and its calls find each other, and no other's.
TEST_F(NsysData, KernelsFindTheirCallsWithinTheirProcess) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> calls;  // correlation -> start and process
  for (const HostCall& call : timeline_.host_calls)
    if (call.correlation >= 0) calls[call.correlation] = {call.start_ns, timeline_.threads[call.thread].process};
  std::int64_t found = 0, sum = 0;
  for (const DeviceWork& work : timeline_.device_work) {
    const auto call = calls.find(work.correlation);
    if (work.kind != DeviceWorkKind::kKernel || call == calls.end()) continue;
    ++found;
    sum += work.start_ns - call->second.first;
  }
  const std::string within =
      " FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON k.correlationId = r.correlationId AND "
      "k.globalPid >> 24 = r.globalTid >> 24";
  EXPECT_EQ(found, AskNumber("SELECT count(*)" + within));
  EXPECT_EQ(sum, AskNumber("SELECT sum(k.start - r.start)" + within));
  EXPECT_EQ(found, 1632);
}

// The time in which anything runs on a device: of the timeline by merging, of the database by counting at each change.
TEST_F(NsysData, BusyTimeByDevice) {
  std::map<std::int64_t, std::int64_t> busy, until;
  for (const DeviceWork& work : timeline_.device_work) {  // by start
    const std::int64_t device = timeline_.streams[work.stream].device, end = work.start_ns + work.duration_ns;
    std::int64_t& reached = until.emplace(device, INT64_MIN).first->second;
    busy[device] += std::max<std::int64_t>(0, end - std::max(reached, work.start_ns));
    reached = std::max(reached, end);
  }
  for (const auto& [device, time] : busy) {
    std::map<std::int64_t, std::int64_t> changes;
    for (const char* table : {"KERNEL", "MEMCPY", "MEMSET"}) {
      for (const std::vector<std::string>& row : Ask(std::string("SELECT start, end FROM CUPTI_ACTIVITY_KIND_") +
                                                     table + " WHERE deviceId = " + std::to_string(device))) {
        ++changes[std::stoll(row[0])];
        --changes[std::stoll(row[1])];
      }
    }
    std::int64_t running = 0, before = 0, total = 0;
    for (const auto& [when, change] : changes) {
      if (running > 0) total += when - before;
      running += change;
      before = when;
    }
    EXPECT_EQ(running, 0);
    EXPECT_EQ(time, total) << "device " << device;
    EXPECT_GT(time, 22'000'000);
  }
  EXPECT_THAT(busy, SizeIs(2));
}

TEST_F(NsysData, EverythingIsInOrder) {
  const auto by_start = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
  EXPECT_TRUE(std::is_sorted(timeline_.host_calls.begin(), timeline_.host_calls.end(), by_start));
  EXPECT_TRUE(std::is_sorted(timeline_.device_work.begin(), timeline_.device_work.end(), by_start));
}

}  // namespace
}  // namespace infimum
