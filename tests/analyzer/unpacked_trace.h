// The text of a file that may be compressed with gzip.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "src/readers/files/input_file.h"

namespace infimum {

inline std::string Unpacked(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  ingest::GzipStream text(file);
  std::ostringstream whole;
  whole << text.rdbuf();
  EXPECT_FALSE(text.error()) << path;
  return whole.str();
}

}  // namespace infimum
