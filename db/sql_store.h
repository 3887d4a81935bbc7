// The store over any Connection: one set of statements for SQLite and PostgreSQL.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/sql_connection.h"
#include "infimum/db/store.h"

namespace infimum {

class SqlStore : public Store {
 public:
  // `connection` is at the newest schema.
  explicit SqlStore(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<std::unique_ptr<StoreImport>> BeginImport(const CampaignOrigin& campaign) override;
  Result<std::optional<RunProfile>> FindRun(const std::string& model_sha256, const DeviceKey& device,
                                            const std::map<std::string, std::int64_t>& dims, std::int64_t threads,
                                            const std::string& framework) override;
  Result<std::vector<StoredDevice>> Devices() override;
  Result<QueryTable> Ask(const NamedQuery& query, const std::map<std::string, std::string>& given) override;
  Result<QueryTable> AskSql(const std::string& sql) override;
  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> workloads, const Selection& selection) override;
  Result<DevicePeaks> Peaks(const DeviceKey& device) override;

 private:
  // A row as it was read, and its place in the store.
  struct StoredRow {
    std::int64_t id = 0;
    std::int64_t weight = 0;
    double best = 0;  // the point value; infinite where it was not measured
    Measurement row;
  };
  Result<std::vector<StoredRow>> RowsOf(std::span<const WorkloadKey> workloads, const Selection& selection);
  Status ReadRepetitions(std::vector<StoredRow>& rows);
  Result<std::map<EnvironmentKey, Environment>> Environments();
  // Without their measurements; `condition` may ask for $1, the key.
  Result<std::vector<StoredDevice>> DevicesWhere(const std::string& condition, const std::string& key);

  std::unique_ptr<Connection> connection_;
};

// "read", "write", "copy", "arithmetic".
std::string_view Name(PeakRate::Kind kind);
Result<PeakRate::Kind> FindPeakKind(std::string_view name);

}  // namespace infimum
