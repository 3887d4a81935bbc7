#include "tests/support/text_cases.h"

#include <fstream>
#include <stdexcept>

#include "tests/support/folders.h"

namespace infimum::testing {

std::vector<TextSection> ReadTextCases(const std::string& path) {
  std::ifstream file(SourceFolder() + "/" + path);
  std::vector<TextSection> sections;
  std::string* above = nullptr;  // what a line with four spaces goes on with
  int number = 0;
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(path + ":" + std::to_string(number) + what);
  };
  const auto check_last = [&] {
    if (sections.empty()) return;
    if (sections.back().cases.empty()) fail(": the section above has no cases");
    if (sections.back().cases.back().expected.empty()) fail(": the case above expects nothing");
  };
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with("#")) continue;
    if (line.starts_with("== ")) {
      check_last();
      sections.push_back({line.substr(3), {}});
      above = nullptr;
      continue;
    }
    if (sections.empty()) fail(": a case before the first section");
    std::vector<TextCase>& cases = sections.back().cases;
    if (line.starts_with("    ")) {
      if (above == nullptr) fail(": no line to go on with");
      *above += line.substr(3);
    } else if (line.starts_with("  ")) {
      if (cases.empty()) fail(": an expectation without an input");
      above = &cases.back().expected.emplace_back(line.substr(2));
    } else {
      if (!cases.empty()) check_last();
      above = &cases.emplace_back(TextCase{name + ":" + std::to_string(number), line, {}}).input;
    }
  }
  if (sections.empty()) fail(": no cases");
  check_last();
  return sections;
}

}  // namespace infimum::testing
