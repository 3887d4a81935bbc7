// Rows on their way into a store, in temporary tables that only this connection sees and that take no lock: any amount
// of them, at any time, before the one transaction that moves them over (sql_import.h).
//
//   INFIMUM_RETURN_IF_ERROR(stage.Clear());
//   INFIMUM_RETURN_IF_ERROR(stage.Add(origin, rows));   // origin: the caller's number for where they were measured
//   ... statements over incoming_rows and incoming_repetitions ...
//   INFIMUM_RETURN_IF_ERROR(stage.Clear());
//
// incoming_rows            one a measurement, in the order of their coming (`place`)
// incoming_repetitions     by the same place
// incoming_origins         device, environment, evidence and campaign of an origin, filled in by the transaction
// incoming_accepted        which rows say more than what is there, and the ids that they get
#pragma once

#include <cstdint>
#include <span>

#include "db/connection/sql_connection.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

class RowStage {
 public:
  explicit RowStage(Connection& connection) : connection_(connection) {}

  // Empty tables, whether there were none yet or some of an import that failed. Not within a transaction.
  Status Clear();
  Status Add(std::int64_t origin, std::span<const Measurement> rows);
  std::int64_t size() const { return size_; }

 private:
  Status AddRows(std::int64_t origin, std::span<const Measurement> rows);
  Status AddRepetitions(std::span<const Measurement> rows);

  Connection& connection_;
  std::int64_t size_ = 0;
};

}  // namespace infimum
