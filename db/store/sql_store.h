// The store over any Connection: one set of statements for SQLite and PostgreSQL.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/connection/sql_connection.h"
#include "db/store/stored_rows.h"
#include "infimum/db/store.h"

namespace infimum {

class SqlStore : public Store {
 public:
  // `connection` is at the newest schema.
  explicit SqlStore(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<std::unique_ptr<StoreImport>> BeginImport(const CampaignOrigin& campaign) override;
  Result<std::vector<RunProfile>> FindRuns(const std::string& model_sha256, const DeviceKey& device,
                                           const std::map<std::string, std::int64_t>& dims, std::int64_t threads,
                                           const std::string& framework) override;
  Result<std::optional<RunProfile>> FindRun(const std::string& model_sha256, const DeviceKey& device,
                                            const std::map<std::string, std::int64_t>& dims, std::int64_t threads,
                                            const std::string& framework) override;
  Result<std::vector<Device>> Devices() override;
  Result<std::map<EnvironmentKey, Environment>> Environments() override;
  Result<std::vector<DeviceRows>> CountRows() override;
  Status VisitRows(const RowSelection& selection, const std::function<Status(const RowBatch&)>& take) override;
  Status VisitRuns(const std::function<Status(const RunProfile&)>& take) override;
  Status VisitModels(const std::function<Status(const StoredModel&)>& take) override;
  Status SaveEvaluation(const StoredEvaluation& evaluation) override;
  Status VisitEvaluations(const std::function<Status(const StoredEvaluation&)>& take) override;
  Result<std::vector<CellAttempt>> Attempts(const std::string& evaluation) override;
  Result<std::optional<std::int64_t>> BeginCell(
      const CellAttempt& attempt, const std::function<bool(std::span<const CellAttempt>)>& may_begin) override;
  Status EndCell(std::int64_t attempt, const CellResult& result) override;
  Result<std::string> MergeDevices(const DeviceKey& from, const DeviceKey& into) override;
  Result<StoreFacts> Facts() override;
  Status Check(const std::function<void(const std::string& problem)>& report) override;
  Result<QueryTable> Ask(const NamedQuery& query, const std::map<std::string, std::string>& given) override;
  Result<QueryTable> AskSql(const std::string& sql, const SqlLimits& limits) override;
  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> workloads, const Selection& selection) override;
  Result<DevicePeaks> Peaks(const DeviceKey& device) override;

 private:
  Result<std::vector<StoredRow>> RowsOf(std::span<const WorkloadKey> workloads, const Selection& selection);

  std::unique_ptr<Connection> connection_;
};

Result<PeakRate::Kind> FindPeakKind(std::string_view name);

// Of the next row of a table, in a transaction that the caller ends.
Result<std::int64_t> NextId(Connection& connection, const char* table);

// Going through all rows that a selection names: for exports and merges.

// By campaign, device, environment and evidence, a page at a time, so that memory does not grow with the store and
// another connection may write meanwhile: what it adds may or may not be seen, what was there before is.
Status VisitStoredRows(Connection& connection, const RowSelection& selection,
                       const std::function<Status(const RowBatch&)>& take);

// Models and their layers in the store.

// In a transaction that the caller ends. How many were not there yet: a model that was read differently (by a version
// that knows more operators) is another one, the newest of a file is the one that queries see.
Result<std::int64_t> SaveModels(Connection& connection, std::span<const StoredModel> models);

// All of them, also those that a newer reading replaced, in order of import.
Status ReadModels(Connection& connection, const std::function<Status(const StoredModel&)>& take);

// Whether a store is as it was written: what a database sees for itself, and what only its makers can.
//
//   CheckStore(connection, [](const std::string& problem) { ... });
//   // "measurements: 3 rows whose best_us is not the smallest median of their repetitions, the first with id 17"

Status CheckStore(Connection& connection, const std::function<void(const std::string& problem)>& report);

// What a store holds, counted.

Result<StoreFacts> ReadFacts(Connection& connection);

}  // namespace infimum
