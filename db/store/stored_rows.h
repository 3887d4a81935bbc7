// Rows as they come out of the tables: what reading by workload (sql_store) and going through all (sql_visit) share.
//
//   prepare(fmt::format("SELECT {} FROM ... WHERE m.device_id = $1", kRowColumns))
//   INFIMUM_ASSIGN_OR_RETURN(StoredRow row, RowFrom(*statement, connection));   // without its repetitions
//   INFIMUM_RETURN_IF_ERROR(ReadRepetitions(connection, places, rows));         // of all of them in one question
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "db/connection/sql_connection.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

// Where a row is in the store.
struct RowPlace {
  std::int64_t id = 0;
  std::int64_t weight = 0;
  double best = 0;  // the point value in us; infinite where it was not measured
};

struct StoredRow {
  RowPlace place;
  Measurement row;  // without its repetitions
};

// Over measurements m, workloads w, candidates c, environments e, evidence v and devices d.
inline constexpr const char* kRowColumns =
    "m.id, w.text, c.library, c.algorithm, c.input_layout, c.output_layout, m.library_choice, m.contract, e.key, "
    "m.measured_at, m.outcome, m.reason, m.numeric_error, m.flags, m.weight, m.best_us, m.cache, d.key, v.text, "
    "m.constant_bytes";
Result<StoredRow> RowFrom(const Statement& statement, const Connection& connection);

// Fills in `rows[i]`, which is that of `places[i]`.
Status ReadRepetitions(Connection& connection, std::span<const RowPlace> places, std::span<Measurement> rows);

// Without evidence.
Result<std::map<EnvironmentKey, Environment>> ReadEnvironments(Connection& connection);

// From the columns of kDeviceColumns, beginning at column `first`; tables devices d, generations g.
inline constexpr const char* kDeviceColumns =
    "d.kind, d.name, d.vendor, g.name, d.identity, d.cores, d.last_level_cache_bytes, d.memory_bytes";
inline constexpr const char* kDeviceTables = "devices d LEFT JOIN generations g ON g.id = d.generation_id";
Result<Device> DeviceFrom(const Statement& statement);

// As they are stored: of a peak the best rate ever seen, no data sheets.
Result<std::vector<PeakRate>> ReadPeaks(Connection& connection, const std::string& device_key);

}  // namespace infimum
