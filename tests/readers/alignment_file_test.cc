#include "src/readers/profiles/alignment_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace infimum::alignment_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Result<std::vector<AlignmentOverride>> Parse(const std::string& text) {
  std::istringstream input(text);
  return ReadAlignmentFile(input, "mine.json");
}

std::string ErrorOf(const std::string& text) {
  const auto read = Parse(text);
  return read.ok() ? "" : read.error().message;
}

TEST(AlignmentFile, RowsAreReadWithTheirPlace) {
  const auto read = Parse(R"({"schema": "infimum.alignment/1", "rows": [
      {"engine_layers": ["a + b -> c", "d"], "nodes": ["Conv_0"]}, {"engine_layers": ["move"], "nodes": []}]})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_THAT(*read, SizeIs(2));
  EXPECT_THAT(read->at(0).engine_layers, ElementsAre("a + b -> c", "d"));
  EXPECT_THAT(read->at(0).nodes, ElementsAre("Conv_0"));
  EXPECT_EQ(read->at(0).origin, "mine.json: row 1");
  EXPECT_THAT(read->at(1).nodes, IsEmpty());
}

TEST(AlignmentFile, AnErrorNamesTheRowAndItsFault) {
  EXPECT_EQ(ErrorOf("{"), "mine.json: byte 2: not valid JSON; is the file cut off?");
  EXPECT_EQ(ErrorOf("[]"), "mine.json: not a JSON object");
  EXPECT_EQ(ErrorOf(R"({"rows": []})"), "mine.json: 'schema' is missing");
  EXPECT_EQ(ErrorOf(R"({"schema": "infimum.alignment/2", "rows": []})"),
            "mine.json: 'schema' is 'infimum.alignment/2', expected infimum.alignment/1");
  const std::string head = R"({"schema": "infimum.alignment/1", "rows": )";
  EXPECT_EQ(ErrorOf(head + "3}"), "mine.json: 'rows' is not a list");
  EXPECT_EQ(ErrorOf(head + R"([], "row": []})"), "mine.json: unknown field 'row', did you mean 'rows'?");
  EXPECT_EQ(ErrorOf(head + "[7]}"), "mine.json: row 1: not an object with 'engine_layers' and 'nodes'");
  EXPECT_EQ(ErrorOf(head + R"([{"engine_layers": ["a"], "nodes": []}, {"engine_layer": ["a"], "nodes": []}]})"),
            "mine.json: row 2: unknown field 'engine_layer', did you mean 'engine_layers'?");
  EXPECT_EQ(ErrorOf(head + R"([{"engine_layers": [], "nodes": []}]})"),
            "mine.json: row 1: 'engine_layers' is missing or empty; name at least one");
  EXPECT_EQ(
      ErrorOf(head + R"([{"engine_layers": ["a"]}]})"),
      "mine.json: row 1: 'nodes' is missing; an empty list marks engine layers that compute none of the model's nodes");
  EXPECT_NE(ErrorOf(head + R"([{"engine_layers": "a", "nodes": []}]})"), "");
  EXPECT_NE(ErrorOf(head + R"([{"engine_layers": ["a"], "nodes": [1]}]})"), "");
}

}  // namespace
}  // namespace infimum::alignment_file_test
