// The store: every measurement that was ever made, with its device and environment.
//
//   Result<std::unique_ptr<Store>> store = OpenStore("infimum.db", OpenMode::kReadWrite);
//   (*store)->Import(device, environment, rows, peaks);   // one transaction, idempotent
//   (*store)->Find(keys, selection);                      // a MeasurementSource
//
//   Result<std::unique_ptr<StoreImport>> import = (*store)->BeginImport({"sha256:...", "1.json"});
//   (*import)->Add(device, environment, rows, peaks);     // as often as there is something; nobody sees it yet
//   (*import)->Commit();                                  // all of it at once
//
// Adding the same rows again adds nothing. What Import() or Commit() returned as saved survives a crash.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infimum/db/queries.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum {

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

struct StoredDevice {
  Device device;
  std::int64_t measurements = 0;
  std::string newest;  // UTC of its newest measurement
};

// What rows came from. Rows of two campaigns that measured the same stand side by side; within one a row with more
// repetitions takes the place of one with fewer.
struct CampaignOrigin {
  std::string key;     // the same for the same content; "" for rows that belong to no campaign
  std::string source;  // for people: a file's name
};

// One file on its way into the store: gathered first, then saved in one transaction. Destroyed before Commit(), it
// leaves nothing behind. Memory does not grow with the number of rows.
class StoreImport {
 public:
  virtual ~StoreImport() = default;
  virtual Status Add(const Device& device, const Environment& environment, std::span<const Measurement> rows,
                     std::span<const PeakRate> peaks) = 0;
  virtual Status AddRun(const RunProfile& run) = 0;
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

  // The newest run of this model on this device with these dimensions and threads; nullopt where none.
  virtual Result<std::optional<RunProfile>> FindRun(const std::string& model_sha256, const DeviceKey& device,
                                                    const std::map<std::string, std::int64_t>& dims,
                                                    std::int64_t threads, const std::string& framework) = 0;

  virtual Result<std::vector<StoredDevice>> Devices() = 0;

  // `given` by the names of the query's parameters.
  virtual Result<QueryTable> Ask(const NamedQuery& query, const std::map<std::string, std::string>& given) = 0;
  // One SELECT of the user's own. The database itself refuses anything else.
  virtual Result<QueryTable> AskSql(const std::string& sql) = 0;
};

// `address` is a path of a SQLite file ("infimum.db", "sqlite:PATH"), ":memory:", or a PostgreSQL database
// ("postgresql://user@host/name"; what it leaves out comes from libpq's environment variables and ~/.pgpass). An older
// schema is migrated (kReadWrite) or, of a file, read through a migrated copy in memory (kReadOnly); a newer one is
// refused. Errors and reports never show a password.
Result<std::unique_ptr<Store>> OpenStore(const std::string& address, OpenMode mode);

// The address as it may be shown: without a password.
std::string ShownAddress(const std::string& address);

// Whether there is anything at `address` that could be opened read-only.
bool StoreExists(const std::string& address);

}  // namespace infimum
