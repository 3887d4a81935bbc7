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

std::string ErrorOf(std::string_view text) {
  const Result<Region> region = ParseRegion(text);
  return region.ok() ? "(no error)" : region.error().message;
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

TEST(Region, CanonicalTextsNeverChange) {
  const std::string texts[] = {
      "region [convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 stride=1x1 dilation=1x1 "
      "pad=1,1,1,1 groups=1 bias=no weights=const](in0,w0) ; [pointwise kind=add dtype=f32:f32:f32 "
      "in=200704,200704](%0,in1) ; [pointwise kind=relu dtype=f32:-:f32 in=200704](%1)",
      Text(kAdd, "(in0,w0)", kRelu, "(%0) out=%0,%1"),
      Text(kAdd, "(w0,w1)", kRelu, "(%0)"),
  };
  for (const std::string& text : texts) {
    const Result<Region> region = ParseRegion(text);
    ASSERT_TRUE(region.ok()) << region.error().message;
    EXPECT_EQ(Format(*region), text);
  }
}

TEST(Region, ErrorsGiveTheColumnTheReasonAndTheRemedy) {
  EXPECT_EQ(ErrorOf("regio"), "1: expected a region, such as 'region [pointwise ...](in0)', not 'regio'");
  EXPECT_EQ(ErrorOf("region "), "8: expected a member in brackets, such as [pointwise ...](in0), the text ends here");
  EXPECT_EQ(ErrorOf("region [relu"), "8: this '[' is never closed, add ']'");
  EXPECT_EQ(ErrorOf("region [pointwise kid=relu](in0)"), "19: unknown field 'kid' for pointwise, did you mean 'kind'?");
  const std::string relu = "region " + std::string(kRelu);
  EXPECT_EQ(ErrorOf(relu), "51: expected the member's operands, such as (in0,w0), the text ends here");
  EXPECT_EQ(ErrorOf(relu + "(in0"), "51: this '(' is never closed, add ')'");
  EXPECT_EQ(ErrorOf(relu + "(x0)"), "52: 'x0' is not an operand, write in0, w0 or %0");
  EXPECT_EQ(ErrorOf(relu + "(in-1)"), "52: 'in-1' is not an operand, write in0, w0 or %0");
  EXPECT_EQ(ErrorOf(relu + "(in0);"), "56: expected ' ; ' and a further member, or the end, not ';'");
  EXPECT_EQ(ErrorOf(relu + "(in0) out=in0"), "61: 'in0' is not a member, write out=%0,%1");
}

TEST(Region, MembersMustFitTogether) {
  const std::string relu = "region " + std::string(kRelu);
  EXPECT_EQ(ErrorOf(relu + "(in0,in1)"), "1: member %0: pointwise takes 1 operands here, not 2");
  EXPECT_EQ(ErrorOf(relu + "(%0)"), "1: member %0: %0 is not an earlier member");
  EXPECT_EQ(ErrorOf(relu + "(in1)"),
            "1: member %0: in1 is out of order, numbers count up from 0 in order of first use: the next is 0");
  EXPECT_EQ(ErrorOf(relu + "(in0) out=%1"), "1: output %1 is not a member");
  EXPECT_EQ(ErrorOf(Text(kAdd, "(in0,w0)", kRelu, "(%0) out=%0")),
            "1: the last member must be an output, add %1 to out");
  EXPECT_EQ(ErrorOf(Text(kAdd, "(in0,w0)", kRelu, "(%0) out=%1,%0")),
            "1: outputs must ascend, sort them and name each once");
  EXPECT_EQ(ErrorOf(Text(kAdd, "(in0,w0)", kRelu, "(in1)")),
            "1: member %0 is neither used nor an output, remove it or add it to out");
  EXPECT_EQ(ErrorOf(Text(kAdd, "(in0,w0)", kRelu, "(w0) out=%0,%1")),
            "1: member %1: w0 has 8 elements, but 32 are wanted here");
  EXPECT_EQ(ErrorOf(Text(kAdd, "(in0,w0)", "[pointwise kind=relu dtype=f32:-:f32 in=33]", "(%0)")),
            "1: member %1: %0 has 32 elements, but 33 are wanted here");
  EXPECT_EQ(ErrorOf("region [matmul dtype=f32:f32:f32 a=1x2x3 b=1x3x4 bias=no weights=const](in0,in1)"),
            "1: member %0: in1 stands where the configuration has a constant, write w0 or weights=variable");
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
