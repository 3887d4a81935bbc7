// The layers of layers/FAMILY.txt: one a line, behind '#' a comment.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/folders.h"

namespace infimum::testing {

inline std::vector<std::string> LayerTexts(const std::string& family) {
  std::vector<std::string> layers;
  std::ifstream file(SourceFolder() + "/tests/microbench/cpu/layers/" + family + ".txt");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') layers.push_back(line);
  }
  return layers;
}

// Of each file in layers/, in the order of the alphabet.
inline std::vector<std::string> LayerFamilies() {
  std::vector<std::string> families;
  for (const auto& file : std::filesystem::directory_iterator(SourceFolder() + "/tests/microbench/cpu/layers"))
    families.push_back(file.path().stem().string());
  std::sort(families.begin(), families.end());
  return families;
}

}  // namespace infimum::testing
