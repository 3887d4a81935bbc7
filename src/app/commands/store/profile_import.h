// Profiles of other tools into the store, as runs of a model: what they leave unsaid is told.
//
//   ImportProfiles({"trace.json.gz"}, {.model = "resnet50.onnx", .dims = {{"batch", 8}}, .device = "H100"}, store);
//
// A profile without end-to-end times is kept with the inferences under its profiler: it can be compared, and no bound
// is held against it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/db/store.h"
#include "infimum/measurement/contract.h"

namespace infimum {

struct ProfiledModel {
  std::filesystem::path model;
  std::map<std::string, std::int64_t> dims;
  std::string device;                       // empty: as the profile tells; "here": this one
  std::optional<std::int64_t> threads;      // absent: as the profile tells
  std::optional<NumericContract> contract;  // absent: as the profile tells, else unsaid, and it limits no bound
};

struct ImportedProfiles {
  ImportCount count;
  std::vector<std::string> remarks;  // of each file how much of it is at layers of the model
};

// Files of one engine count as one profile. Nothing is kept where one of them cannot be read; tells no device, or of a
// processor no threads, while none are given; is of another model by its SHA-256; or where less than a fifth of its
// layers' time, or of its layers where they have no times, is at layers of the model.
Result<ImportedProfiles> ImportProfiles(const std::vector<std::filesystem::path>& files, const ProfiledModel& about,
                                        Store& store);

}  // namespace infimum
