// The layers of layers/FAMILY.txt: one a line, behind '#' a comment.
#pragma once

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

}  // namespace infimum::testing
