// Models as benchmarks take them: "resnet50.onnx:batch=1" is the file with `--dim batch=1`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/text.h"

namespace infimum::testing {

inline std::vector<std::string> ModelArguments(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::vector<std::string> arguments{std::filesystem::absolute(text.substr(0, colon)).string()};
  if (colon == std::string::npos) return arguments;
  for (std::string_view binding : Split(std::string_view(text).substr(colon + 1), ',')) {
    arguments.insert(arguments.end(), {"--dim", std::string(binding)});
  }
  return arguments;
}

}  // namespace infimum::testing
