// What becomes of each operator: the cases of lowering/*.txt, a file for each family.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/readers/onnx/lowering_support.h"
#include "tests/support/folders.h"
#include "tests/support/text_cases.h"

namespace infimum {
namespace {

using testing::TextCase;
using testing::TextSection;

class Lowerings : public ::testing::TestWithParam<TextSection> {};

// The same must hold of each case with its inputs, shapes and attributes damaged in a hundred ways: none may crash.
TEST_P(Lowerings, AreWhatTheirFileSays) {
  std::mt19937 random(7);  // one for all cases, so that each is damaged in other ways
  for (const TextCase& c : GetParam().cases) {
    SCOPED_TRACE(c.where + ": " + c.input);
    const TestNode node(c.input);
    const Lowering lowering = Lower(node.View());
    ExpectSound(lowering);
    ASSERT_EQ(c.expected.size(), 1u);
    EXPECT_EQ(TextOf(lowering), c.expected.front());
    for (int i = 0; i < 100; ++i) {
      TestNode damaged(c.input);
      for (int j = 0; j <= i % 3; ++j) Damage(damaged, random);
      ExpectSound(Lower(damaged.View()));
      if (::testing::Test::HasFailure()) return;  // one broken invariant would repeat a thousand times
    }
  }
}

std::vector<TextSection> AllSections() {
  const std::string folder = "tests/readers/onnx/lowering/";
  std::set<std::string> families;
  for (const auto& file : std::filesystem::directory_iterator(testing::SourceFolder() + "/" + folder))
    families.insert(file.path().stem().string());
  std::vector<TextSection> sections;
  for (const std::string& family : families)
    for (TextSection& section : testing::ReadTextCases(folder + family + ".txt"))
      sections.push_back({family + "_" + section.name, std::move(section.cases)});
  return sections;
}

INSTANTIATE_TEST_SUITE_P(Tables, Lowerings, ::testing::ValuesIn(AllSections()), testing::kSectionName);

}  // namespace
}  // namespace infimum
