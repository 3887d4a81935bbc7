// Small exports of Nsight Systems, made with SQL in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/support/temporary_folder.h"

namespace infimum::testing {

// Tables as Nsight Systems 2024 to 2026 has them, as far as they are read; no rows.
extern const char* const kNsysTables;

class NsysFiles : public ::testing::Test {
 protected:
  // A database of these statements, in the test's folder.
  std::filesystem::path Make(const std::string& sql, const std::string& name = "trace.sqlite");
  std::filesystem::path Write(std::string_view bytes, const std::string& name);
  // The message of ReadNsysExport() without the folder's name; "" where it reads.
  std::string ErrorOf(const std::filesystem::path& path);
  // Of kNsysTables and these statements.
  std::string ErrorOfRows(const std::string& sql) { return ErrorOf(Make(kNsysTables + sql)); }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

}  // namespace infimum::testing
