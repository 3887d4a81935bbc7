// How long an export of Nsight Systems takes to read, and how much memory: one with as many kernels and calls as the
// argument says is made with SQLite in a temporary folder (some 200 bytes of disk for a kernel and its call). Prints
// the time and the memory against that of the timeline's entries. Fails above 1.8 times the entries' memory; from
// 1,000,000 kernels on also above 3 us of processor time for a kernel and its call, thus 9 s for 3,000,000. Fewer are
// not judged by time, so that no test depends on the machine's.
//
//   benchmarks nsys 3000000
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "src/readers/profiles/nsys/nsys_export.h"
#include "tests/support/benchmark.h"
#include "tests/support/temporary_folder.h"

namespace {

// In the order of a real export, where rows of two streams are nearly in the order of time.
std::string ExportOf(long kernels) {
  const std::string numbers =
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " + std::to_string(kernels) + ") ";
  return R"sql(PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,
  globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
  launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL,
  gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL,
  blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
  localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL,
  sharedMemoryExecuted INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL,
  callchainId INTEGER);
INSERT INTO StringIds VALUES (30, 'cudaLaunchKernel_v7000');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO StringIds
  SELECT 330000 + i, 'void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_' || i || '>(Params)' FROM n;
)sql" + numbers +
         R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 155360295935 + 4000 * i - 5000 * (i % 16 = 0),
  155360297935 + 4000 * i, i % 2, 1, 0, 7 + i % 2, 1000 + i, (281474976710656 | 100 << 24), 330000 + i * 7 % 300,
  331030, 330290, 1, 1, 32, i % 64, 4, 1, 256, 1, 1, 0, 0, 0, 250871808, i, 32768, NULL FROM n;
)sql" + numbers +
         R"sql(INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 155357693245 + 4000 * i, 155357695245 + 4000 * i, 0,
  (281474976710656 | 100 << 24 | 100 + i % 3), 1000 + i, 30, 0, NULL FROM n;
COMMIT)sql";
}

bool Make(const std::string& path, long kernels) {
  sqlite3* database = nullptr;
  char* message = nullptr;
  const bool made = sqlite3_open(path.c_str(), &database) == SQLITE_OK &&
                    sqlite3_exec(database, ExportOf(kernels).c_str(), nullptr, nullptr, &message) == SQLITE_OK;
  if (!made) std::fprintf(stderr, "cannot make %s: %s\n", path.c_str(), message != nullptr ? message : "");
  sqlite3_free(message);
  sqlite3_close(database);
  return made;
}

rusage Usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}
double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}
double ProcessorSeconds(const rusage& usage) { return Seconds(usage.ru_utime) + Seconds(usage.ru_stime); }

int Measure(const std::string& path, long kernels) {
  if (!Make(path, kernels)) return 1;
  const rusage before = Usage();
  const auto start = std::chrono::steady_clock::now();
  const infimum::Result<infimum::Timeline> read = infimum::ReadNsysExport(path);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const rusage after = Usage();
  if (!read) {
    std::fprintf(stderr, "%s\n", read.error().message.c_str());
    return 1;
  }
  const double processor = ProcessorSeconds(after) - ProcessorSeconds(before);
  const double memory = static_cast<double>(after.ru_maxrss - before.ru_maxrss) * 1024 / 1e6;
  const double entries = static_cast<double>(read->device_work.size() * sizeof(infimum::DeviceWork) +
                                             read->host_calls.size() * sizeof(infimum::HostCall)) /
                         1e6;
  std::printf(
      "%ld kernels and as many calls, %.0f MB, in %.2f s (%.2f s of processor time): %.1f MB of memory for %.1f MB "
      "of entries\n",
      kernels, static_cast<double>(std::filesystem::file_size(path)) / 1e6, elapsed.count(), processor, memory,
      entries);
  const bool all = read->device_work.size() == static_cast<std::size_t>(kernels) &&
                   read->host_calls.size() == static_cast<std::size_t>(kernels);
  const bool fast = kernels < 1'000'000 || processor < 3e-6 * static_cast<double>(kernels);
  return all && fast && memory < 8 + 1.8 * entries ? 0 : 1;
}

}  // namespace

INFIMUM_BENCHMARK(nsys, "KERNELS") {
  const long kernels = argc == 2 ? std::atol(argv[1]) : 0;
  if (kernels < 1) {
    return 2;
  }
  const infimum::testing::TemporaryFolder folder;
  return Measure(folder.File("trace.sqlite"), kernels);
}
