// Golden texts: tests/reports/golden/NAME holds what is expected, INFIMUM_UPDATE_GOLDEN=1 writes it anew (read the
// diff before committing it).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/folders.h"

namespace infimum {

inline void ExpectGolden(const std::string& name, const std::string& actual) {
  const std::string path = testing::SourceFolder() + "/tests/reports/golden/" + name;
  if (const char* update = std::getenv("INFIMUM_UPDATE_GOLDEN"); update != nullptr && std::string(update) == "1") {
    std::ofstream out(path, std::ios::binary);
    out << actual;
    ASSERT_TRUE(out.good()) << path;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in.good()) << path << " is missing: run with INFIMUM_UPDATE_GOLDEN=1";
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(expected.str(), actual);
}

}  // namespace infimum
