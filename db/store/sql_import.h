// One import on its way into a store. Rows are staged first; Commit() moves them over in one transaction,
// with statements about whole sets:
//
//   stage:   incoming_rows, incoming_repetitions          any time, any amount
//   commit:  new workloads and candidates -> incoming_accepted (which rows add to what is stored, and the ids
//            that they get) -> measurements, repetitions
//
// Rows are added and never changed. Where the user may delete, what a better row superseded is removed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "db/connection/sql_connection.h"
#include "infimum/db/store.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

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
// incoming_accepted        which rows add to what is stored, and the ids that they get

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
