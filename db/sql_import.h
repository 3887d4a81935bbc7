// One import on its way into a store. Rows are staged in temporary tables, which only this connection sees and which
// take no lock; Commit() moves them over in one transaction, with statements about whole sets:
//
//   stage:   incoming_rows, incoming_repetitions          any time, any amount
//   commit:  new workloads and candidates -> incoming_accepted (which rows say more than what is there, and the ids
//            that they get) -> measurements, repetitions
//
// Rows are added and never changed. Where the user may delete, what a better row superseded is removed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/sql_connection.h"
#include "infimum/db/store.h"

namespace infimum {

class SqlImport : public StoreImport {
 public:
  static Result<std::unique_ptr<StoreImport>> Begin(Connection& connection, const CampaignOrigin& campaign);
  ~SqlImport() override;

  Status Add(const Device& device, const Environment& environment, std::span<const Measurement> rows,
             std::span<const PeakRate> peaks) override;
  Status AddRun(const RunProfile& run) override;
  Result<ImportCount> Commit() override;

 private:
  // Where rows were measured: an entry of incoming_origins.
  struct Origin {
    Device device;
    Environment environment;
    std::vector<PeakRate> peaks;
    std::int64_t device_id = 0;
    std::int64_t environment_id = 0;
  };

  SqlImport(Connection& connection, CampaignOrigin campaign)
      : connection_(connection), campaign_(std::move(campaign)) {}

  std::size_t OriginOf(const Device& device, const Environment& environment);
  Status StageRows(std::size_t origin, std::span<const Measurement> rows);
  Status StageRepetitions(std::span<const Measurement> rows);
  Status Unstage();

  Status SaveOrigins();
  Result<std::int64_t> SaveCampaign();
  Status SaveNames();
  Result<std::int64_t> SaveRows(std::int64_t campaign_id);
  Result<std::int64_t> SavePeaks();
  Result<std::int64_t> SaveRuns();

  // The id of the row of `table` whose `key` is this; `insert` adds it, with $1 its id and $2 its key.
  Result<std::int64_t> IdOf(const std::string& table, const std::string& key, const std::string& columns,
                            const std::vector<SqlValue>& values);

  Connection& connection_;
  CampaignOrigin campaign_;
  std::vector<Origin> origins_;
  std::map<std::pair<std::string, std::string>, std::size_t> origin_index_;
  std::vector<RunProfile> runs_;
  std::int64_t staged_ = 0;
  std::int64_t staged_peaks_ = 0;
};

}  // namespace infimum
