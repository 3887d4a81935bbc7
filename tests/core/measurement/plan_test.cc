#include "infimum/measurement/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "infimum/base/text.h"
#include "tests/core/measurement/trials.h"

namespace infimum {
namespace {

const char* const kPlanText =
    "# infimum plan 1\n"
    "# model resnet50 sha256=0123\n"
    "uses=3 share=0.041 contract=strict-f32 convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=64 kernel=3x3 "
    "stride=1x1 dilation=1x1 pad=1,1,1,1 groups=1 bias=no weights=const\n"
    "uses=1 share=0.001 contract=bf16 pointwise kind=relu dtype=f32:-:f32 in=802816\n"
    "uses=2 share=0 contract=strict-f32 region [matmul dtype=f32:f32:f32 a=1x8x8 b=1x8x8 bias=no weights=const](in0,w0)"
    " ; [pointwise kind=relu dtype=f32:-:f32 in=64](%0)\n";

std::string ErrorOf(std::string_view text) {
  const Result<Plan> plan = ParsePlan(text, "plan.txt");
  return plan.ok() ? "no error" : plan.error().message;
}

std::string ErrorOfLine(const std::string& line) { return ErrorOf("# infimum plan 1\n" + line + "\n"); }

TEST(Plan, ParsedAndFormattedIsTheSameText) {
  const Result<Plan> plan = ParsePlan(kPlanText, "plan.txt");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(Format(*plan), kPlanText);
  ASSERT_EQ(plan->entries.size(), 3U);
  EXPECT_EQ(plan->entries[0].uses, 3);
  EXPECT_EQ(plan->entries[0].share, 0.041);
  EXPECT_EQ(plan->entries[1].contract, NumericContract::kBf16);
  EXPECT_EQ(plan->comments, std::vector<std::string>{"model resnet50 sha256=0123"});
}

TEST(Plan, FormattedAndParsedIsTheSamePlan) {
  std::mt19937_64 random(3);
  const Result<Plan> seeds = ParsePlan(kPlanText, "plan.txt");
  for (int trial = 0; trial < 200; ++trial) {
    Plan plan;
    for (int i = 0; i < trial % 4; ++i) {
      std::string comment;
      for (int c = 0; c < trial % 9; ++c) comment += static_cast<char>(' ' + random() % 95);
      plan.comments.push_back(comment);
    }
    for (int i = 0; i < trial % 5; ++i) {
      PlanEntry entry = seeds->entries[random() % seeds->entries.size()];
      entry.uses = 1 + static_cast<std::int64_t>(random() >> 1 >> (random() % 62));
      if (entry.uses < 1) entry.uses = 1;
      entry.share = std::uniform_real_distribution<double>(0, 1)(random);
      entry.contract = static_cast<NumericContract>(random() % 6);
      plan.entries.push_back(entry);
    }
    const Result<Plan> parsed = ParsePlan(Format(plan), "plan.txt");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    ASSERT_EQ(*parsed, plan);
  }
}

TEST(Plan, MayBeWrittenByHand) {
  const Result<Plan> plan = ParsePlan(
      "# infimum plan 1\r\n\r\n  \n#note\ncontract=tf32 uses=2 pointwise kind=relu dtype=f32:-:f32 in=8\n"
      "pointwise kind=relu dtype=f16:-:f16 in=8",
      "plan.txt");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_EQ(plan->entries.size(), 2U);
  EXPECT_EQ(plan->entries[0].uses, 2);
  EXPECT_EQ(plan->entries[0].contract, NumericContract::kTf32);
  EXPECT_EQ(plan->entries[1].contract, NumericContract::kF16);
  EXPECT_EQ(plan->entries[1].uses, 1);
  EXPECT_EQ(plan->comments, std::vector<std::string>{"note"});
}

TEST(Plan, KeepsACommentOnItsLineWhateverAModelIsCalled) {
  Plan plan;
  plan.comments = {"model evil\npointwise kind=relu\r\tx"};
  EXPECT_EQ(Format(plan), "# infimum plan 1\n# model evil pointwise kind=relu  x\n");
}

TEST(Plan, ErrorsNameFileLineAndColumn) {
  EXPECT_EQ(ErrorOf(""), "plan.txt:1:1: not a plan, expected '# infimum plan 1' as the first line");
  EXPECT_EQ(ErrorOf("pointwise kind=relu"), "plan.txt:1:1: not a plan, expected '# infimum plan 1' as the first line");
  EXPECT_EQ(ErrorOf("# infimum plan x\n"),
            "plan.txt:1:16: the plan's version is 'x', expected '# infimum plan 1' as the first line");
  EXPECT_EQ(ErrorOf("# infimum plan 0\n"),
            "plan.txt:1:16: the plan's version is '0', expected '# infimum plan 1' as the first line");
  EXPECT_EQ(ErrorOf("# infimum plan 2\n"),
            "plan.txt:1:16: the plan has version 2, this infimum reads up to 1; use a newer infimum or write the plan "
            "again");
  EXPECT_EQ(ErrorOfLine("uses=0 pointwise kind=relu dtype=f32:-:f32 in=8"),
            "plan.txt:2:6: uses is '0', expected a whole number from 1");
  EXPECT_EQ(ErrorOfLine("uses=1 share=1.5 pointwise kind=relu dtype=f32:-:f32 in=8"),
            "plan.txt:2:14: share is '1.5', expected a number from 0 to 1");
  EXPECT_EQ(ErrorOfLine("share=nan pointwise kind=relu dtype=f32:-:f32 in=8"),
            "plan.txt:2:7: share is 'nan', expected a number from 0 to 1");
  EXPECT_EQ(ErrorOfLine("contract=bf61 pointwise kind=relu dtype=f32:-:f32 in=8"),
            "plan.txt:2:10: unknown contract 'bf61'");
  EXPECT_EQ(ErrorOfLine("contract=int9 pointwise kind=relu dtype=f32:-:f32 in=8"),
            "plan.txt:2:10: unknown contract 'int9', did you mean 'int8'?");
  EXPECT_EQ(ErrorOfLine("  usse=1 pointwise kind=relu dtype=f32:-:f32 in=8"),
            "plan.txt:2:3: unknown field 'usse' before the workload");
  EXPECT_EQ(ErrorOfLine("shar=1 pointwise kind=relu dtype=f32:-:f32 in=8"),
            "plan.txt:2:1: unknown field 'shar' before the workload, did you mean 'share'?");
  EXPECT_EQ(ErrorOfLine("uses=1 "), "plan.txt:2:8: a workload is missing, expected one after the fields");
}

TEST(Plan, ErrorsOfAWorkloadPointIntoTheLine) {
  const std::string workload = "pointwise kind=rely dtype=f32:-:f32 in=8";
  const Result<Workload> alone = ParseWorkload(workload);
  ASSERT_FALSE(alone.ok());
  const std::string& message = alone.error().message;
  const std::size_t colon = message.find(": ");
  ASSERT_NE(colon, std::string::npos) << message;
  const std::optional<std::int64_t> column = ParseInteger(message.substr(0, colon));
  ASSERT_TRUE(column.has_value()) << message;
  EXPECT_EQ(ErrorOfLine("uses=1 " + workload),
            "plan.txt:2:" + std::to_string(*column + 7) + ": " + message.substr(colon + 2));
}

TEST(Plan, SurvivesEveryTruncationAndManyMutations) {
  const std::string text = kPlanText;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const Result<Plan> plan = ParsePlan(text.substr(0, length), "plan.txt");
    if (plan.ok()) {
      EXPECT_TRUE(ParsePlan(Format(*plan), "again").ok());
    }
  }
  std::mt19937_64 random(11);
  int parsed = 0;
  for (int trial = 0; trial < Trials(20000); ++trial) {
    std::string mutated = text;
    for (std::uint64_t i = 0; i <= random() % 3; ++i) {
      mutated[random() % mutated.size()] = static_cast<char>(random());
    }
    const Result<Plan> plan = ParsePlan(mutated, "plan.txt");
    if (plan.ok()) {
      ++parsed;
      ASSERT_EQ(Format(*ParsePlan(Format(*plan), "again")), Format(*plan));
    } else {
      ASSERT_TRUE(plan.error().message.starts_with("plan.txt:"));
    }
  }
  EXPECT_GT(parsed, 0);
}

// The parts have each workload once, and each part as much of what is large.
TEST(Plan, PartsAreDealtInOrderOfShare) {
  std::string text = "# infimum plan 1\n";
  for (int i = 0; i < 10; ++i)
    text += "share=0.0" + std::to_string((i * 7) % 10) +
            " pointwise kind=relu dtype=f32:-:f32 in=" + std::to_string(100 + i) + "\n";
  text += "share=0.5 pointwise kind=relu dtype=f32:-:f32 in=100\n";  // once more
  const Result<Plan> plan = ParsePlan(text, "plan.txt");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  for (std::int64_t count = 1; count < 14; ++count) {
    std::vector<PlanEntry> all(10);
    std::size_t entries = 0;
    for (std::int64_t index = 0; index < count; ++index) {
      const Plan part = PartOf(*plan, {index, count});
      EXPECT_EQ(part.entries.size(), static_cast<std::size_t>(10 / count + (index < 10 % count ? 1 : 0)));
      for (std::size_t i = 0; i < part.entries.size(); ++i)
        all[static_cast<std::size_t>(index) + i * static_cast<std::size_t>(count)] = part.entries[i];
      entries += part.entries.size();
    }
    EXPECT_EQ(entries, 10u);
    EXPECT_EQ(all, PartOf(*plan).entries);
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i - 1].share, all[i].share);
  }
}

TEST(Plan, AShardIsOneOfItsCount) {
  const Result<Shard> shard = ParseShard("3/32");
  ASSERT_TRUE(shard.ok());
  EXPECT_EQ(shard->index, 3);
  EXPECT_EQ(shard->count, 32);
  for (const char* wrong : {"", "3", "3/", "/3", "3/3", "-1/3", "0/0", "1.5/3", "a/b", "1/2/3"})
    EXPECT_FALSE(ParseShard(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace infimum
