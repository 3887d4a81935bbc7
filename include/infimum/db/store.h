// The store: every measurement that was ever made, with its device and environment.
//
//   Result<std::unique_ptr<Store>> store = OpenStore("infimum.db", OpenMode::kReadWrite);
//   (*store)->Import(device, environment, rows, peaks);   // one transaction, idempotent
//   (*store)->Find(keys, selection);                      // a MeasurementSource
//
//   Result<std::unique_ptr<StoreImport>> import = (*store)->BeginImport({"sha256:...", "1.json"});
//   (*import)->Add(device, environment, rows, peaks);     // any number of times; not visible to others yet
//   (*import)->Commit();                                  // all of it at once
//
//   (*store)->ImportModel(DescribeModel("resnet50", graph, {{"batch", 1}}));   // so that queries can ask about it
//
// Adding the same rows again adds nothing. What Import() or Commit() returned as saved survives a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infimum/db/queries.h"
#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/campaign_origin.h"
#include "infimum/measurement/measurement_source.h"
#include "infimum/results/evaluation_cell.h"

namespace infimum {

// A layer of a model as a store keeps it, so that questions can be about a model:
//   {"node_Conv_1", "Conv", "measurable", "", "convolution dtype=f32:f32:f32 ...", "strict-f32", 1}
struct ModelLayer {
  std::string name;
  std::string op;
  std::string status;           // "measurable", "free", "unknown"
  std::string reason;           // why free or unknown
  std::string workload;         // canonical text; of measurable layers only
  std::string contract;         // that the workload's own types ask for
  std::int64_t executions = 1;  // in each inference; 0 in a branch that need not run
  std::int64_t bytes = 0;       // that it must move
  std::int64_t flops = 0;       // of the conventional algorithm

  friend bool operator==(const ModelLayer&, const ModelLayer&) = default;
};

struct StoredModel {
  std::string name;    // what people call it: the file's name without its extension
  std::string sha256;  // of the file
  std::map<std::string, std::int64_t> dims;
  std::vector<ModelLayer> layers;  // in topological order, those of bodies after the layer that holds them

  friend bool operator==(const StoredModel&, const StoredModel&) = default;
};

// Needs a graph that Validate() accepts.
StoredModel DescribeModel(const std::string& name, const ModelGraph& graph,
                          const std::map<std::string, std::int64_t>& dims);

enum class OpenMode {
  kReadOnly,   // the store must exist
  kReadWrite,  // created where it does not exist
};

struct ImportCount {
  std::int64_t added = 0;
  std::int64_t known = 0;  // were there already

  ImportCount& operator+=(ImportCount other) {
    added += other.added;
    known += other.known;
    return *this;
  }
};

struct DeviceRows {
  Device device;
  std::int64_t measurements = 0;
  std::string newest;  // UTC of its newest measurement
};

// Which rows to hand over; an empty text is every one.
struct RowSelection {
  std::string device = {};    // its name or key
  std::string layer = {};     // a workload's canonical text
  std::string family = {};    // convolution, matmul, region, ...
  std::string model = {};     // the layers of this model, by its name
  std::string library = {};   // of the candidate
  std::string contract = {};  // strict-f32, f16, ...
  std::string outcome = {};   // measured, unsupported, skipped, failed
  std::string campaign = {};  // the name of the file that they came from, or the campaign's key
};

// Rows that share where they were measured and where they came from. Peaks come with the device's first batch.
struct RowBatch {
  const CampaignOrigin& campaign;
  const Device& device;
  const Environment& environment;
  std::span<const Measurement> rows;
  std::span<const PeakRate> peaks;
};

// What a store holds, for people.
struct StoreFacts {
  std::int64_t schema = 0;
  std::int64_t bytes = 0;                                    // on disk
  std::vector<std::pair<std::string, std::int64_t>> tables;  // and their rows, by name
};

// An evaluation, and its cells in their order.
struct StoredCell {
  std::string hash;
  std::string name;  // of its model
  std::string text;  // canonical
};
struct StoredEvaluation {
  std::string hash;
  std::string name;
  std::string text;  // the file
  std::vector<StoredCell> cells;
};

// An attempt at a cell: under way until it has a result, or until its worker is gone.
struct CellAttempt {
  std::int64_t id = 0;
  std::string cell;  // its hash
  std::string device;
  std::string worker;
  std::string begun_at, until;  // UTC
  std::optional<CellResult> result = {};
};

// One file on its way into the store: gathered first, then saved in one transaction. Destroyed before Commit(), it
// leaves nothing behind. Memory does not grow with the number of rows.
class StoreImport {
 public:
  virtual ~StoreImport() = default;
  virtual Status Add(const Device& device, const Environment& environment, std::span<const Measurement> rows,
                     std::span<const PeakRate> peaks) = 0;
  virtual Status AddRun(const RunProfile& run) = 0;
  virtual Status AddModel(const StoredModel& model) = 0;
  // What is added from now on belongs to another campaign.
  virtual void SwitchTo(const CampaignOrigin& campaign) = 0;
  virtual Result<ImportCount> Commit() = 0;
};

class Store : public MeasurementSource {
 public:
  // One at a time for each Store.
  virtual Result<std::unique_ptr<StoreImport>> BeginImport(const CampaignOrigin& campaign) = 0;

  // In one go: all of it or, on an error, nothing.
  Result<ImportCount> Import(const Device& device, const Environment& environment, std::span<const Measurement> rows,
                             std::span<const PeakRate> peaks);
  Result<ImportCount> ImportRun(const RunProfile& run);
  Result<ImportCount> ImportModel(const StoredModel& model);

  // The runs of this model on this device with these dimensions and threads, the newest first and those of
  // evaluations' cells behind the others; and the first alone, nullopt where there is none. Of every framework where
  // none is named.
  virtual Result<std::vector<RunProfile>> FindRuns(const std::string& model_sha256, const DeviceKey& device,
                                                   const std::map<std::string, std::int64_t>& dims,
                                                   std::int64_t threads, const std::string& framework) = 0;
  virtual Result<std::optional<RunProfile>> FindRun(const std::string& model_sha256, const DeviceKey& device,
                                                    const std::map<std::string, std::int64_t>& dims,
                                                    std::int64_t threads, const std::string& framework) = 0;

  virtual Result<std::vector<Device>> Devices() = 0;
  // Without evidence, which belongs to rows.
  virtual Result<std::map<EnvironmentKey, Environment>> Environments() = 0;
  // With what the store has of each, which means to go through all its rows.
  virtual Result<std::vector<DeviceRows>> CountRows() = 0;

  // All rows that `selection` names, the fullest of equal ones, batch by batch; and then, everything else that
  // the store holds. Each ends with the first error of `take`. The store may be written to meanwhile.
  virtual Status VisitRows(const RowSelection& selection, const std::function<Status(const RowBatch&)>& take) = 0;
  virtual Status VisitRuns(const std::function<Status(const RunProfile&)>& take) = 0;
  virtual Status VisitModels(const std::function<Status(const StoredModel&)>& take) = 0;

  // Adds what of it is not there yet.
  virtual Status SaveEvaluation(const StoredEvaluation& evaluation) = 0;
  virtual Status VisitEvaluations(const std::function<Status(const StoredEvaluation&)>& take) = 0;
  // At the cells of an evaluation (by its hash; empty: at all), in the order of their beginning.
  virtual Result<std::vector<CellAttempt>> Attempts(const std::string& evaluation) = 0;
  // Begins one at a cell that is saved, unless `may_begin` objects to those at it on the device so far: of several who
  // ask at once one is first. nullopt where it objects; else the attempt's id.
  virtual Result<std::optional<std::int64_t>> BeginCell(
      const CellAttempt& attempt, const std::function<bool(std::span<const CellAttempt>)>& may_begin) = 0;
  // Once for each attempt.
  virtual Status EndCell(std::int64_t attempt, const CellResult& result) = 0;

  // Makes `from` a part of `into`: processors that differ in nothing but their number of cores. Where the store as it
  // was is kept; empty where it is nowhere but in memory.
  virtual Result<std::string> MergeDevices(const DeviceKey& from, const DeviceKey& into) = 0;

  virtual Result<StoreFacts> Facts() = 0;
  // Whether the store is intact: what the database itself can check, and what it cannot (summaries that
  // disagree with their repetitions, texts that nothing can read). Calls `report` with each thing that is wrong, one
  // line each. An error only where it could not look.
  virtual Status Check(const std::function<void(const std::string& problem)>& report) = 0;

  // `given` by the names of the query's parameters.
  virtual Result<QueryTable> Ask(const NamedQuery& query, const std::map<std::string, std::string>& given) = 0;
  // One SELECT of the user's own. The database itself refuses anything else. On PostgreSQL it is asked as
  // infimum_reader, where that role is there and the user may take it.
  virtual Result<QueryTable> AskSql(const std::string& sql, const SqlLimits& limits = {}) = 0;
};

// "infimum: TEXT", on one line.
void SayOnStandardError(const std::string& text);

// `address` is a path of a SQLite file ("infimum.db", "sqlite:PATH"), ":memory:", or a PostgreSQL database
// ("postgresql://user@host/name"; what it leaves out comes from libpq's environment variables and ~/.pgpass). An older
// schema is migrated (kReadWrite) or, of a file, read through a migrated copy in memory (kReadOnly); a newer one is
// refused. Errors and reports never show a password. `say` gets the place of the backup of a migrated store.
Result<std::unique_ptr<Store>> OpenStore(const std::string& address, OpenMode mode,
                                         const std::function<void(const std::string&)>& say = SayOnStandardError);

// The schema of the store at `address`; 0 where there is none, or nothing yet. Changes nothing.
Result<std::int64_t> SchemaOfStore(const std::string& address);

// Makes the roles of db/roles.sql; for the owner of a PostgreSQL database.
Status MakeRoles(const std::string& address);

// The address as it may be shown: without a password.
std::string ShownAddress(const std::string& address);

// Whether there is anything at `address` that could be opened read-only.
bool StoreExists(const std::string& address);

}  // namespace infimum
