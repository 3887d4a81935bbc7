// Rows, devices and files that the store's tests share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "infimum/db/store.h"
#include "tests/support/temporary_folder.h"

namespace infimum::testing {

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

// "opened", or why the store cannot be opened.
std::string ErrorOfOpening(const std::string& address, OpenMode mode = OpenMode::kReadWrite);

// Names the tests of a suite whose parameter is the kind of store.
inline std::string ParamName(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

// What the store finds for one workload; fails the test on an error.
std::vector<Measurement> FindRows(Store& store, std::int64_t elements, const Selection& selection);

}  // namespace infimum::testing
