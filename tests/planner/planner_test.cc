#include "src/planner/planner.h"

#include <gmock/gmock.h>

#include "tests/core/measurement/row_builder.h"
#include "tests/support/graph_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const char* const kAddText = "pointwise kind=add dtype=f32:f32:f32 in=64,64";

// A product twice, a relu once and an add in a loop's body.
ModelGraph Model(const std::string& name) {
  GraphBuilder body("body");
  body.Layer("inner", {"a"}, {"b"}, kAddText);
  GraphBuilder g(name);
  g.graph().sha256 = "0123";
  g.Input("x");
  g.Layer("fc1", {"x"}, {"a"}, kMatMulText);
  g.Layer("view", {"a"}, {"v"});
  g.Layer("fc2", {"v"}, {"c"}, kMatMulText);
  g.Layer("act", {"c"}, {"d"}, kReluText);
  GraphBuilder::AddBody(g.Layer("loop", {}, {"e"}), "body", std::move(body), 10);
  return g.Take();
}

Plan PlanOf(const ModelGraph& graph, const PlanOptions& options = {}) {
  const std::vector<const ModelGraph*> graphs = {&graph};
  return BuildPlan(graphs, options);
}

std::vector<std::string> Texts(const Plan& plan) {
  std::vector<std::string> texts;
  for (const PlanEntry& entry : plan.entries) texts.push_back(Format(entry.workload));
  return texts;
}

Selection Here() {
  Selection selection;
  selection.device = TestDevice().Key();
  selection.environment = TestEnvironment().Key();
  return selection;
}

PlanEntry ReluEntry() {
  PlanEntry entry;
  entry.workload = *ParseWorkload(kReluText);
  return entry;
}

Measurement Unmeasured(Outcome outcome, const std::string& algorithm) {
  Measurement row = TestRow(kReluText, algorithm);
  row.outcome = outcome;
  row.reason = "for a reason";
  row.repetitions.clear();
  return row;
}

Measurement Measured(const std::string& algorithm, double latency, int repetitions) {
  Measurement row = TestRow(kReluText, algorithm);
  row.repetitions.assign(static_cast<std::size_t>(repetitions), Summarize(std::vector<Latency>{Latency(latency)}));
  return row;
}

bool Settled(const std::vector<Measurement>& rows, const SettledRule& rule = {}) {
  return IsSettled(ReluEntry(), rows, rule);
}

// What was begun of others is for whoever asks for them: else a plan that asks for some would never end.
TEST(IsSettled, AsksForRepetitionsOfTheExpectedCandidatesAlone) {
  SettledRule rule;
  rule.repetitions = 3;
  const std::vector<Measurement> rows{Measured("asked", 10, 3), Measured("begun", 9, 1)};
  EXPECT_FALSE(Settled(rows, rule));
  const std::string library = rows[0].candidate.library;
  rule.candidates = [&](const PlanEntry&) { return std::vector<std::string>{library + "/asked"}; };
  EXPECT_TRUE(Settled(rows, rule));
  rule.candidates = [&](const PlanEntry&) { return std::vector<std::string>{library + "/begun"}; };
  EXPECT_FALSE(Settled(rows, rule));
}

TEST(BuildPlan, HoldsEachWorkloadOnceLargestShareFirst) {
  const Plan plan = PlanOf(Model("m"));
  EXPECT_THAT(Texts(plan), ElementsAre(kMatMulText, kReluText, kAddText));
  EXPECT_EQ(plan.entries[0].uses, 2);
  EXPECT_EQ(plan.entries[1].uses, 1);
  EXPECT_EQ(plan.entries[2].uses, 10);
  EXPECT_THAT(plan.comments, ElementsAre("model m sha256=0123"));
}

TEST(BuildPlan, SharesFollowTheRooflineAndAddUpToOne) {
  PlanOptions options;
  options.arithmetic = {1e9};
  options.bandwidth = {1e9};
  const Plan plan = PlanOf(Model("m"), options);
  // The product: 2 * 128 * 768 * 3072 + 128 * 3072 FLOPs twice; the relu: 8 * 802816 bytes; the add: 10 times 768
  // bytes.
  const double product = 2 * (2.0 * 128 * 768 * 3072 + 128 * 3072);
  const double total = product + 8.0 * 802816 + 10 * 768;
  EXPECT_NEAR(plan.entries[0].share, product / total, 1e-12);
  EXPECT_NEAR(plan.entries[1].share, 8.0 * 802816 / total, 1e-12);
  EXPECT_NEAR(plan.entries[2].share, 10 * 768.0 / total, 1e-12);
}

TEST(BuildPlan, MergesModels) {
  const ModelGraph a = Model("a");
  const ModelGraph b = Model("b");
  const std::vector<const ModelGraph*> graphs = {&a, &b};
  const Plan plan = BuildPlan(graphs, {});
  EXPECT_THAT(plan.entries, SizeIs(3));
  EXPECT_EQ(plan.entries[0].uses, 4);
  EXPECT_THAT(plan.comments, ElementsAre("model a sha256=0123", "model b sha256=0123"));
  EXPECT_EQ(plan.entries[0].share, PlanOf(a).entries[0].share);
}

TEST(BuildPlan, OrdersEqualSharesByText) {
  GraphBuilder g;
  g.Layer("b", {}, {"y"}, "pointwise kind=tanh dtype=f32:-:f32 in=64");
  g.Layer("a", {}, {"x"}, "pointwise kind=exponential dtype=f32:-:f32 in=64");
  PlanOptions options;
  options.arithmetic = {1e30};  // bytes decide, which are equal
  const Plan plan = PlanOf(g.graph(), options);
  const std::vector<std::string> texts = Texts(plan);
  EXPECT_TRUE(std::is_sorted(texts.begin(), texts.end()));
  EXPECT_THAT(texts, SizeIs(2));
}

TEST(BuildPlan, TakesTheContractOfTheOptionOrTheWorkload) {
  EXPECT_EQ(PlanOf(Model("m")).entries[0].contract, NumericContract::kStrictF32);
  PlanOptions options;
  options.contract = NumericContract::kBf16;
  EXPECT_EQ(PlanOf(Model("m"), options).entries[0].contract, NumericContract::kBf16);
}

TEST(BuildPlan, OfNothingIsEmptyAndParsesBack) {
  EXPECT_THAT(BuildPlan({}, {}).entries, IsEmpty());
  const Plan plan = PlanOf(Model("m"));
  EXPECT_EQ(*ParsePlan(Format(plan), "plan.txt"), plan);
}

TEST(WithRatesOf, TakesTheBestArithmeticAndTheCopyFromMemoryAtThatManyThreads) {
  DevicePeaks peaks;
  peaks.rates = {{PeakRate::Kind::kCopy, Bytes{1 << 10}, DataType::kF32, 1, 9e10, "measured"},
                 {PeakRate::Kind::kCopy, Bytes{1 << 28}, DataType::kF32, 1, 1.2e10, "measured"},
                 {PeakRate::Kind::kRead, Bytes{1 << 30}, DataType::kF32, 1, 5e10, "measured"},
                 {PeakRate::Kind::kArithmetic, Bytes{}, DataType::kF32, 1, 1e11, "measured"},
                 {PeakRate::Kind::kArithmetic, Bytes{}, DataType::kBF16, 1, 9e11, "measured"},
                 {PeakRate::Kind::kArithmetic, Bytes{}, DataType::kF32, 2, 2e11, "measured"}};
  const PlanOptions options = WithRatesOf(peaks, 1, {});
  EXPECT_EQ(options.arithmetic.value, 1e11);
  EXPECT_EQ(options.bandwidth.value, 1.2e10);
  EXPECT_EQ(WithRatesOf({}, 1, {}).arithmetic, PlanOptions{}.arithmetic);
}

TEST(Settled, NeedsAtLeastOneRowThatWasTried) {
  EXPECT_FALSE(Settled({}));
  EXPECT_FALSE(Settled({Unmeasured(Outcome::kSkipped, "a")}));
  EXPECT_TRUE(Settled({Unmeasured(Outcome::kUnsupported, "a"), Unmeasured(Outcome::kSkipped, "b")}));
  EXPECT_TRUE(Settled({Unmeasured(Outcome::kFailed, "a")}));
  EXPECT_TRUE(Settled({Measured("a", 10, 3), Unmeasured(Outcome::kSkipped, "b")}));
}

TEST(Settled, NeedsTheWantedRepetitionsOfEveryCandidateThatCouldBeTheBest) {
  EXPECT_FALSE(Settled({Measured("a", 10, 2)}));
  EXPECT_FALSE(Settled({Measured("a", 10, 3), Measured("b", 11, 2)}));
  EXPECT_TRUE(Settled({Measured("a", 10, 3), Measured("b", 11, 3)}));
  EXPECT_TRUE(Settled({Measured("a", 10, 3), Measured("b", 20, 1)}));  // twice as slow, stopped early
  EXPECT_FALSE(Settled({Measured("a", 10, 1), Measured("b", 20, 3)}));
  SettledRule many;
  many.repetitions = 5;
  EXPECT_FALSE(Settled({Measured("a", 10, 3)}, many));
}

TEST(Settled, CountsTheFullestRowOfACandidateAndNotTheSumOfItsRows) {
  EXPECT_FALSE(Settled({Measured("a", 10, 1), Measured("a", 10, 2)}));
  EXPECT_TRUE(Settled({Measured("a", 10, 1), Measured("a", 10, 2), Measured("a", 10, 3)}));
}

TEST(Settled, NeedsARowOfEveryExpectedCandidate) {
  SettledRule rule;
  rule.candidates = [](const PlanEntry&) { return std::vector<std::string>{"onednn/a", "onednn/b"}; };
  EXPECT_FALSE(Settled({Measured("a", 10, 3)}, rule));
  EXPECT_TRUE(Settled({Measured("a", 10, 3), Unmeasured(Outcome::kSkipped, "b")}, rule));
}

TEST(LeaveOutKnown, DropsSettledEntriesAndKeepsTheRestWithItsShare) {
  MemorySource source;
  source.Add(Measured("a", 10, 3), TestEnvironment());
  const Plan plan = PlanOf(Model("m"));
  const Result<Plan> rest = LeaveOutKnown(plan, source, Here(), {});
  ASSERT_TRUE(rest.ok());
  EXPECT_THAT(Texts(*rest), ElementsAre(kMatMulText, kAddText));
  EXPECT_EQ(rest->entries[0], plan.entries[0]);
  EXPECT_EQ(rest->comments.back(), "left out 1 of 3 workloads, measured before");
  EXPECT_EQ(*LeaveOutKnown(*rest, source, Here(), {}), *rest);
}

TEST(LeaveOutKnown, KeepsEntriesMeasuredInAnotherEnvironmentDeviceOrContract) {
  MemorySource source;
  source.Add(Measured("a", 10, 3), TestEnvironment("3.1"));
  const Plan plan = PlanOf(Model("m"));
  EXPECT_EQ(*LeaveOutKnown(plan, source, Here(), {}), plan);

  source.Add(Measured("a", 10, 3), TestEnvironment());
  Selection elsewhere = Here();
  elsewhere.device.text = "cpu/another";
  EXPECT_EQ(*LeaveOutKnown(plan, source, elsewhere, {}), plan);

  PlanOptions bf16;
  bf16.contract = NumericContract::kBf16;
  const Plan other = PlanOf(Model("m"), bf16);
  EXPECT_EQ(*LeaveOutKnown(other, source, Here(), {}), other);
}

class BrokenSource : public MeasurementSource {
 public:
  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey>, const Selection&) override {
    return Error{"infimum.db: the disk is on fire"};
  }
  Result<DevicePeaks> Peaks(const DeviceKey&) override { return DevicePeaks{}; }
};

// What a framework took is measured by no runner.
TEST(LeaveOutKnown, KeepsEntriesThatOnlyAFrameworkRan) {
  const Plan plan = PlanOf(Model("m"));
  MemorySource source;
  for (const PlanEntry& entry : plan.entries) {
    Measurement row = TestRow(KeyOf(entry.workload).text);
    row.candidate.library = kObservedLibrary;
    source.Add(row, TestEnvironment());
  }
  EXPECT_EQ(*LeaveOutKnown(plan, source, Here(), {}), plan);
}

TEST(LeaveOutKnown, HandsOnTheErrorOfTheSource) {
  BrokenSource source;
  const Result<Plan> rest = LeaveOutKnown(PlanOf(Model("m")), source, Here(), {});
  ASSERT_FALSE(rest.ok());
  EXPECT_EQ(rest.error().message, "infimum.db: the disk is on fire");
}

}  // namespace
}  // namespace infimum
