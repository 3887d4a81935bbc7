// Cases whose input and expectation are text, in a file: a new case is lines of text.
//
//   # a comment
//   == AreViewsWhereOnlyOnesMove        a section: the cases of one test
//   Transpose (f32 1x8 -> f32 8x1)      from the line's start: the input of a case
//     free: moves only dimensions of 1  after two spaces: what is expected, a text for each line
//       and goes on                     after four: the line above goes on
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace infimum::testing {

struct TextCase {
  std::string where;  // "matmul.txt:12"
  std::string input;
  std::vector<std::string> expected;
};

struct TextSection {
  std::string name;
  std::vector<TextCase> cases;
};

// Of a file named from the sources' folder. Throws where the file is missing, a section is empty or a line is neither.
std::vector<TextSection> ReadTextCases(const std::string& path);

inline void PrintTo(const TextSection& section, std::ostream* out) { *out << section.name; }

// The names of an INSTANTIATE_TEST_SUITE_P whose parameters are sections.
inline constexpr auto kSectionName = [](const auto& info) { return info.param.name; };

}  // namespace infimum::testing
