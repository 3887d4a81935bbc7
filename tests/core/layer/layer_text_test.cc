#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "infimum/layer/layer_config.h"
#include "infimum/layer/region.h"
#include "tests/support/random_layer.h"
#include "tests/support/text_cases.h"

namespace infimum::layer_text_test {
namespace {

// "canonical" where it is written as it was read.
template <class Parsed>
std::string WrittenAgain(const std::string& text, const Result<Parsed>& parsed) {
  if (!parsed.ok()) return parsed.error().message;
  const std::string written = Format(*parsed);
  return written == text ? "canonical" : written;
}

class LayerTexts : public ::testing::TestWithParam<testing::TextSection> {};
class RegionTexts : public ::testing::TestWithParam<testing::TextSection> {};

TEST_P(LayerTexts, AreReadAsTheirFileSays) {
  for (const auto& [where, text, expected] : GetParam().cases)
    EXPECT_EQ(std::vector{WrittenAgain(text, ParseLayerConfig(text))}, expected) << where << ": " << text;
}

TEST_P(RegionTexts, AreReadAsTheirFileSays) {
  for (const auto& [where, text, expected] : GetParam().cases)
    EXPECT_EQ(std::vector{WrittenAgain(text, ParseRegion(text))}, expected) << where << ": " << text;
}

INSTANTIATE_TEST_SUITE_P(Tables, LayerTexts,
                         ::testing::ValuesIn(testing::ReadTextCases("tests/core/layer/layer_texts.txt")),
                         testing::kSectionName);
INSTANTIATE_TEST_SUITE_P(Tables, RegionTexts,
                         ::testing::ValuesIn(testing::ReadTextCases("tests/core/layer/region_texts.txt")),
                         testing::kSectionName);

TEST(LayerText, WithoutFieldsOrWithSpacesTooManyIsRefused) {
  const auto read = [](const std::string& text) { return WrittenAgain(text, ParseLayerConfig(text)); };
  EXPECT_EQ(read(""), "1: expected a layer, such as 'pointwise kind=relu dtype=f32:-:f32 in=64'");
  const char* const kMissing = "11: a field is missing here, write name=value with single spaces between";
  EXPECT_EQ(read("pointwise "), kMissing);
  EXPECT_EQ(read("pointwise  kind=relu"), kMissing);
  EXPECT_EQ(WrittenAgain("region ", ParseRegion("region ")),
            "8: expected a member in brackets, such as [pointwise ...](in0), the text ends here");
}

TEST(LayerText, ParsingAFormattedLayerGivesItBack) {
  testing::RandomLayers random(51);
  std::map<std::string_view, int> families;
  for (int i = 0; i < 20000; ++i) {
    const LayerConfig config = random.Layer();
    const std::string text = Format(config);
    const Result<LayerConfig> parsed = ParseLayerConfig(text);
    ASSERT_TRUE(parsed.ok()) << text << "\n" << parsed.error().message;
    ASSERT_EQ(*parsed, config) << text;
    ++families[FamilyOf(config)];
  }
  EXPECT_EQ(families.size(), std::variant_size_v<LayerConfig>);
}

TEST(LayerText, FieldsMayBeTypedInAnyOrderAndAreWrittenInOne) {
  const Result<LayerConfig> config = ParseLayerConfig("pointwise in=64 dtype=f32:-:f32 kind=relu");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(Format(*config), "pointwise kind=relu dtype=f32:-:f32 in=64");
}

}  // namespace
}  // namespace infimum::layer_text_test
