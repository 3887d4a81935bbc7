// Rows, devices and files that the store's tests share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "infimum/db/store.h"

namespace infimum::testing {

// An empty folder of its own, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string File(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Device MakeDevice(const std::string& model = "1");
Environment MakeEnvironment(const std::string& library_version = "3.2.0", std::int64_t threads = 1);

// A workload of so many elements.
WorkloadKey MakeWorkload(std::int64_t elements);

// One repetition of each of these medians.
Measurement MakeRow(std::int64_t elements, std::vector<double> medians_us);
Measurement MakeFailure(std::int64_t elements, Outcome outcome, const std::string& reason);

PeakRate MakePeak(double per_second, std::int64_t working_set = 1 << 20);
RunProfile MakeRun();

Selection MakeSelection(const Device& device, std::int64_t threads = 1);

// The tests' server knows its superuser alone.
inline SqlLimits AsAnyone() {
  SqlLimits limits;
  limits.as_superuser = true;
  return limits;
}

// What the store finds for one workload; fails the test on an error.
std::vector<Measurement> FindRows(Store& store, std::int64_t elements, const Selection& selection);

}  // namespace infimum::testing
