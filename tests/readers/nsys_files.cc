#include "tests/readers/nsys_files.h"

#include <sqlite3.h>
#include <stdlib.h>

#include <fstream>

#include "src/readers/profiles/nsys/nsys_export.h"

namespace infimum::testing {

namespace fs = std::filesystem;

const char* const kNsysTables = R"sql(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,
  gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,
  graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
  globalTid INTEGER, textId INTEGER);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
INSERT INTO StringIds VALUES (12, 'gemm<float>(float*)'), (13, 'gemm'), (30, 'cudaLaunchKernel_v7000');
)sql";

fs::path NsysFiles::Make(const std::string& sql, const std::string& name) {
  const fs::path path = folder_ / name;
  fs::remove(path);
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, ("PRAGMA synchronous = OFF; BEGIN;" + sql + ";COMMIT").c_str(), nullptr, nullptr,
                         &message),
            SQLITE_OK)
      << message;
  sqlite3_free(message);
  sqlite3_close(database);
  return path;
}

fs::path NsysFiles::Write(std::string_view bytes, const std::string& name) {
  const fs::path path = folder_ / name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::string NsysFiles::ErrorOf(const fs::path& path) {
  const Result<Timeline> read = ReadNsysExport(path);
  if (read.ok()) return "";
  std::string message = read.error().message;
  const std::string folder = folder_.string() + "/";
  for (std::size_t at = 0; (at = message.find(folder)) != std::string::npos;) message.erase(at, folder.size());
  return message;
}

}  // namespace infimum::testing
