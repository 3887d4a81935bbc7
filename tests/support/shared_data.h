// Real models, traces and measurements that stand beside the checkout, and not in it: ../shared/data. A test that needs
// them skips where they are absent, and fails where CI is set: there they have to be.
//
//   TEST(Traces, AreRead) {
//     const std::filesystem::path folder = SharedData("traces/hta");
//     INFIMUM_NEEDS_DATA(folder);
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tests/support/folders.h"

#define INFIMUM_NEEDS_DATA(path)                                        \
  if (!std::filesystem::exists(path)) {                                 \
    if (std::getenv("CI") != nullptr) FAIL() << (path) << " is absent"; \
    GTEST_SKIP() << (path) << " is absent";                             \
  }                                                                     \
  static_assert(true)

namespace infimum {

inline std::filesystem::path SharedData(std::string_view path) {
  return std::filesystem::path(testing::SourceFolder()).parent_path() / "shared" / "data" / path;
}

}  // namespace infimum
