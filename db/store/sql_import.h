// One import on its way into a store. Rows are staged first (row_stage.h); Commit() moves them over in one transaction,
// with statements about whole sets:
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
#include <tuple>
#include <utility>
#include <vector>

#include "db/connection/sql_connection.h"
#include "db/store/row_stage.h"
#include "infimum/db/store.h"

namespace infimum {

class SqlImport : public StoreImport {
 public:
  static Result<std::unique_ptr<StoreImport>> Begin(Connection& connection, const CampaignOrigin& campaign);
  ~SqlImport() override;

  Status Add(const Device& device, const Environment& environment, std::span<const Measurement> rows,
             std::span<const PeakRate> peaks) override;
  Status AddRun(const RunProfile& run) override;
  Status AddModel(const StoredModel& model) override;
  void SwitchTo(const CampaignOrigin& campaign) override { campaign_ = campaign; }
  Result<ImportCount> Commit() override;

 private:
  // Where rows were measured and where they came from: an entry of incoming_origins.
  struct Origin {
    Device device;
    Environment environment;
    CampaignOrigin campaign;
    std::vector<PeakRate> peaks = {};
    bool has_rows = false;
    std::int64_t device_id = 0;
  };

  SqlImport(Connection& connection, CampaignOrigin campaign)
      : connection_(connection), stage_(connection), campaign_(std::move(campaign)) {}

  Origin& OriginOf(const Device& device, const Environment& environment);

  Status SaveOrigins();
  Result<std::int64_t> SaveDevice(const Device& device);
  Result<std::int64_t> SaveEnvironment(const Environment& environment);
  Result<std::int64_t> SaveEvidence(const Environment& environment);
  Result<std::int64_t> SaveCampaign(const CampaignOrigin& campaign);
  Status SaveNames();
  Result<std::int64_t> SaveRows();
  Result<std::int64_t> SavePeaks();
  Result<std::int64_t> SaveRuns();

  // The id of the row of `table` whose column `name` has this value; where there is none, one with these `columns` too
  // is added.
  Result<std::int64_t> IdOf(const std::string& table, const std::string& name, const std::string& value,
                            const std::string& columns, const std::vector<SqlValue>& values);

  Connection& connection_;
  RowStage stage_;
  CampaignOrigin campaign_;  // of what is added now
  std::vector<Origin> origins_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> origin_index_;
  std::vector<RunProfile> runs_;
  std::vector<StoredModel> models_;
  std::int64_t staged_peaks_ = 0;
};

}  // namespace infimum
