// The store over any Connection: one set of statements for SQLite and PostgreSQL.
#pragma once

#include <map>
#include <memory>
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

}  // namespace infimum
