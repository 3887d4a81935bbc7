#include "infimum/layer/region.h"

#include <gtest/gtest.h>

#include "infimum/layer/workload.h"
#include "tests/support/random_layer.h"

namespace infimum::region_test {
namespace {

constexpr std::string_view kAdd = "[pointwise kind=add dtype=f32:f32:f32 in=4x8,8]";
constexpr std::string_view kRelu = "[pointwise kind=relu dtype=f32:-:f32 in=32]";

std::string Text(std::string_view first, std::string_view operands, std::string_view second, std::string_view rest) {
  return "region " + std::string(first) + std::string(operands) + " ; " + std::string(second) + std::string(rest);
}

TEST(Region, ParsingAFormattedRegionGivesItBack) {
  testing::RandomLayers random(61);
  for (int i = 0; i < 10000; ++i) {
    const Region region = random.Fusion();
    const std::string text = Format(region);
    ASSERT_TRUE(Validate(region).ok()) << text << "\n" << Validate(region).error().message;
    const Result<Region> parsed = ParseRegion(text);
    ASSERT_TRUE(parsed.ok()) << text << "\n" << parsed.error().message;
    ASSERT_EQ(*parsed, region) << text;
  }
}

TEST(Region, WorkCountsBytesFromOutsideOnceAndInnerOnesNever) {
  const Result<Region> region =
      ParseRegion(Text(kAdd, "(in0,w0)", "[pointwise kind=multiply dtype=f32:f32:f32 in=4x8,8]", "(%0,w0)"));
  ASSERT_TRUE(region.ok()) << region.error().message;
  const Work work = WorkOf(*region);
  EXPECT_EQ(work.direct.value, 64);
  EXPECT_EQ(work.operand_reads, (std::vector<Bytes>{{4 * 32}, {4 * 8}}));
  EXPECT_EQ(work.written.value, 4 * 32);
}

TEST(Region, AValueThatIsUsedOutsideIsWrittenToo) {
  const Result<Region> region = ParseRegion(Text(kAdd, "(in0,w0)", kRelu, "(%0) out=%0,%1"));
  ASSERT_TRUE(region.ok()) << region.error().message;
  EXPECT_EQ(WorkOf(*region).written.value, 2 * 4 * 32);
}

TEST(Region, MovesNoMoreThanItsMembersApart) {
  testing::RandomLayers random(62);
  for (int i = 0; i < 5000; ++i) {
    const Region region = random.Fusion();
    const Work together = WorkOf(region);
    Work apart;
    Bytes read;
    for (const RegionMember& member : region.members) {
      const Work work = WorkOf(member.config);
      apart.direct += work.direct;
      apart.written += work.written;
      read += work.read();
    }
    SCOPED_TRACE(Format(region));
    ASSERT_EQ(together.direct, apart.direct);
    ASSERT_LE(together.read(), read);
    ASSERT_LE(together.written, apart.written);
  }
}

TEST(Workload, IsALayerOrARegionByItsFirstWord) {
  testing::RandomLayers random(63);
  for (int i = 0; i < 5000; ++i) {
    const Workload workload = random.Either();
    const Result<Workload> parsed = ParseWorkload(Format(workload));
    ASSERT_TRUE(parsed.ok()) << Format(workload) << "\n" << parsed.error().message;
    ASSERT_EQ(*parsed, workload);
    ASSERT_EQ(KeyOf(*parsed).text, Format(workload));
    ASSERT_EQ(WorkOf(*parsed), WorkOf(workload));
  }
  EXPECT_EQ(ParseWorkload("regions").error().message, "1: unknown layer family 'regions', did you mean 'region'?");
}

TEST(Workload, TheFamilyOfARegionIsThatOfItsFirstProduct) {
  const auto family = [](const std::string& text) { return FamilyOf(*ParseWorkload(text)); };
  EXPECT_EQ(family(Text(kAdd, "(in0,w0)", kRelu, "(%0)")), "pointwise");
  EXPECT_EQ(family(Text(kRelu, "(in0)", "[matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x2 bias=no weights=const]", "(%0,w0)")),
            "matmul");
  EXPECT_EQ(family("pointwise kind=relu dtype=f32:-:f32 in=32"), "pointwise");
}

TEST(HasConstants, IsOfWeightsThatAreKnownBeforeTheFirstInference) {
  const auto has = [](const char* text) {
    const Result<Workload> workload = ParseWorkload(text);
    EXPECT_TRUE(workload.ok()) << text << ": " << (workload.ok() ? "" : workload.error().message);
    return workload.ok() && HasConstants(*workload);
  };
  EXPECT_TRUE(has("matmul dtype=f32:f32:f32 a=1x8x8 b=1x8x8 bias=no weights=const"));
  EXPECT_FALSE(has("matmul dtype=f32:f32:f32 a=1x8x8 b=1x8x8 bias=no weights=variable"));
  EXPECT_FALSE(has("pointwise kind=relu dtype=f32:-:f32 in=64"));
  EXPECT_FALSE(has("normalization kind=layer dtype=f32:f32:f32 in=8x64 axis=1 scale=yes bias=yes"));
  const auto sum = [&](const char* operands) { return has(Text(kAdd, operands, kRelu, "(%0)").c_str()); };
  EXPECT_TRUE(sum("(in0,w0)"));
  EXPECT_FALSE(sum("(in0,in1)"));
}

}  // namespace
}  // namespace infimum::region_test
