// The store: every measurement that was ever made, with its device and environment.
//
//   Result<std::unique_ptr<Store>> store = OpenStore("infimum.db", OpenMode::kReadWrite);
//   (*store)->Import(header, rows);        // one transaction, idempotent
//   (*store)->Find(keys, selection);       // a MeasurementSource
//
// Adding the same rows again adds nothing. What Import() returned as saved survives a crash.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

class Store : public MeasurementSource {
 public:
  // One transaction: all of it or, on an error, nothing.
  virtual Result<ImportCount> Import(const Device& device, const Environment& environment,
                                     std::span<const Measurement> rows, std::span<const PeakRate> peaks) = 0;

  virtual Result<ImportCount> ImportRun(const RunProfile& run) = 0;
  // The newest run of this model on this device with these dimensions and threads; nullopt where none.
  virtual Result<std::optional<RunProfile>> FindRun(const std::string& model_sha256, const DeviceKey& device,
                                                    const std::map<std::string, std::int64_t>& dims,
                                                    std::int64_t threads, const std::string& framework) = 0;

  virtual Result<std::vector<StoredDevice>> Devices() = 0;
};

// `address` is a path of a SQLite file ("infimum.db", "sqlite:PATH"), or ":memory:". A file of an older schema is
// migrated (kReadWrite) or read through a migrated copy in memory (kReadOnly); one of a newer schema is refused.
Result<std::unique_ptr<Store>> OpenStore(const std::string& address, OpenMode mode);

// Whether there is anything at `address` that could be opened read-only.
bool StoreExists(const std::string& address);

}  // namespace infimum
