// The ten questions, each asked of a report whose answer is known by construction.
#include "reports/model/answers.h"

#include <gtest/gtest.h>

#include "reports/model/report_forms.h"
#include "reports/page/html_report.h"
#include "tests/reports/sample_report.h"

namespace infimum {
namespace {

constexpr std::size_t kQuestions = 10;

// 100 ms measured; layers one by one 80 ms, fused 70, at once 76.
ReportModel Known() {
  ReportModel report;
  report.model_name = "net";
  report.arguments.model = "net.onnx --db team.db";
  report.bench_options = "--db team.db";
  report.neighbours = {true, true, true};
  report.device_key = "cpu/x";
  report.bracket.contract = NumericContract::kStrictF32;
  report.environment.threads = 2;
  report.bracket.coverage = {1, 0, 0, 0};
  report.bracket.floors = {{ProgramClass::kDenseRead, Latency(10'000), "bandwidth memory", {}}};
  const auto bound = [](BoundVariant variant, double ms, std::vector<std::string> tags = {}) {
    return Bound{variant, Latency(ms * 1e3), {Latency(ms * 1e3), Latency(ms * 1010)}, std::move(tags)};
  };
  report.bracket.bounds = {bound(BoundVariant::kSequential, 80),
                           bound(BoundVariant::kParallel, 76, {"longest-path-decides"}),
                           bound(BoundVariant::kFusedSequential, 70)};
  report.bracket.regions = {RegionLatency{}};
  report.region_workloads.resize(1);
  report.bracket.regret = AlgorithmRegret{Latency(4000), 5, true};
  report.bracket.what_ifs = {
      {"contract:bf16", 3, {{BoundVariant::kFusedSequential, Latency(35'000), Latency(35'000)}}, Coverage{1, 0, 0, 0}}};
  report.run = ReportRun{};
  report.run->profile.framework = "engine";
  report.run->profile.framework_version = "1.0";
  report.run->latency = Latency(100'000);
  for (const char* name : {"a_0", "b_1", "b_2"}) AddLayer(MakeLayer(name, "", "", Flops{}, Bytes{}), report);
  AddEngineRow({LayerId(0)}, {"a"}, Latency(60'000), *report.run);
  AddEngineRow({}, {"reorder"}, Latency(20'000), *report.run);
  AddEngineRow({LayerId(1), LayerId(2)}, {"b"}, Latency(20'000), *report.run);
  Waterfall& waterfall = report.waterfall.emplace();
  waterfall.measured = Latency(100'000);
  waterfall.bound = Latency(70'000);
  waterfall.steps = {{GapCause::kHostGaps, Latency(5000), {}},
                     {GapCause::kAlgorithmRegret, Latency(9000), {{"Conv_7", Latency(6000), {}}}},
                     {GapCause::kMissedFusion, Latency(4000), {}},
                     {GapCause::kLayoutChanges, Latency(8000), {}},
                     {GapCause::kMissedParallelism, Latency(3000), {}},
                     {GapCause::kUnexplained, Latency(1000), {}}};
  Finding narrow;
  narrow.kind = "low-precision-does-not-pay";
  narrow.evidence = "118 of 216 layers compute in f32";
  report.findings = {narrow};
  return report;
}

const Answer& Of(const std::vector<Answer>& answers, int number) {
  return answers.at(static_cast<std::size_t>(number - 1));
}

void ExpectSays(const Answer& answer, std::initializer_list<const char*> parts) {
  EXPECT_TRUE(answer.is_known) << answer.question;
  for (const char* part : parts) EXPECT_NE(answer.text.find(part), std::string::npos) << part << " in: " << answer.text;
}

TEST(Answers, OfAKnownModelAreThoseThatAreTrue) {
  const std::vector<Answer> answers = AnswersOf(Known());
  ASSERT_EQ(answers.size(), kQuestions);
  for (std::size_t i = 0; i < kQuestions; ++i) EXPECT_EQ(answers[i].number, static_cast<int>(i + 1));
  ExpectSays(Of(answers, 1), {"70.0 ms", "30 % could be won (30.0 ms)",
                              "The bound lies within 70.0 ms to 70.7 ms (95 %)", "100 % of the work"});
  ExpectSays(Of(answers, 2), {"At most 4.00 ms (5 %)", "longest chain", "engine 1.0 loses 3.00 ms (3 %)"});
  ExpectSays(Of(answers, 3), {"loses 9.00 ms (9 %)", "Conv_7 (6.00 ms)", "costs 4.00 ms over 5 layers"});
  ExpectSays(Of(answers, 4), {"host gaps 5.00 ms (5 %)", "reorders and copies 8.00 ms (8 %)", "unexplained 1.00 ms"});
  ExpectSays(Of(answers, 5), {"win 10.0 ms (14.3 %)", "loses 4.00 ms (4 %)"});
  ExpectSays(Of(answers, 6), {"bf16 wins 35.0 ms (50 %)"});
  ExpectSays(Of(answers, 7), {"3 rows, 1 of them", "80 % of the layers’ time"});
  ExpectSays(Of(answers, 10), {"118 of 216 layers compute in f32"});
  // These are of other reports; this one says which.
  EXPECT_EQ(Of(answers, 8).command, "infimum report compare net.onnx --db team.db --by library --library onednn");
  EXPECT_EQ(Of(answers, 9).command, "infimum report compare net.onnx --db team.db --by device");
}

TEST(Answers, WhatIsNotKnownSaysWhatWouldAnswerIt) {
  ReportModel report;
  report.neighbours = {true, true, true};
  report.arguments.model = "net.onnx --db team.db";
  report.device_key = "cpu/x";
  for (const Answer& answer : AnswersOf(report)) {
    EXPECT_FALSE(answer.is_known) << answer.question << ": " << answer.text;
    EXPECT_FALSE(answer.text.empty()) << answer.question;
    EXPECT_TRUE(answer.command.starts_with("infimum ")) << answer.question << ": " << answer.command;
  }
}

// A comparison over devices, or over contracts, is not told which one.
TEST(Answers, CommandsKeepToWhatTheyCompare) {
  ReportModel report = Known();
  report.arguments.device = "--device V100";
  report.arguments.contract = "--contract f16";
  const std::vector<Answer> answers = AnswersOf(report);
  const std::string command = "infimum report compare net.onnx --db team.db ";
  EXPECT_EQ(Of(answers, 8).command, command + "--by library --library onednn --device V100 --contract f16");
  EXPECT_EQ(Of(answers, 9).command, command + "--by device --contract f16");
  report.findings.clear();
  EXPECT_EQ(Of(AnswersOf(report), 10).command, command + "--by contract --device V100");
}

// A comparison that would find one side alone is not proposed.
TEST(Answers, WithoutOtherRowsProposeNoComparison) {
  ReportModel report = Known();
  report.neighbours = {};
  report.findings.clear();
  const std::vector<Answer> answers = AnswersOf(report);
  for (const int number : {8, 9}) {
    EXPECT_EQ(Of(answers, number).command, "infimum plan net.onnx --db team.db --all -o plan.txt");
    EXPECT_FALSE(Of(answers, number).text.empty());
  }
  EXPECT_EQ(Of(answers, 10).command, "infimum analyze net.onnx --db team.db --contract bf16");
  report.bracket.contract = NumericContract::kInt8;
  EXPECT_EQ(Of(AnswersOf(report), 10).command, "") << "nothing is narrower";
}

TEST(Answers, ProposeTheNarrowTypeThatIsTheFasterOneHere) {
  ReportModel report = Known();
  report.neighbours = {};
  report.findings.clear();
  report.bracket.what_ifs.clear();
  report.arithmetic_roofs = {{"f16 arithmetic", 200e9}, {"bf16 arithmetic", 100e9}};
  for (const int number : {6, 10})
    EXPECT_EQ(Of(AnswersOf(report), number).command, "infimum analyze net.onnx --db team.db --contract f16");
  report.arithmetic_roofs[1].per_second = 300e9;
  EXPECT_EQ(Of(AnswersOf(report), 6).command, "infimum analyze net.onnx --db team.db --contract bf16");
  report.arithmetic_roofs.clear();
  report.device_key = "gpu/x";
  report.bench_options.reset();
  report.arguments.device = "--device H100";
  EXPECT_EQ(Of(AnswersOf(report), 6).command,
            "infimum plan net.onnx --db team.db --device H100 --contract f16 -o plan.txt");
}

TEST(AbsentCauses, NamesWhatARuleWouldHaveFoundAndNothingThatCannotBeThere) {
  ReportModel report = Known();
  const auto kinds = [&report] {
    std::vector<std::string_view> names;
    for (const AbsentCause& one : AbsentCausesOf(report)) names.push_back(one.kind);
    return names;
  };
  // All steps of the example are over a hundredth of its time: whatever their rules said, they were found.
  EXPECT_EQ(kinds(), (std::vector<std::string_view>{"under-bound", "needless-layers"}));
  for (GapStep& step : report.waterfall->steps) step.latency = Latency(500);
  EXPECT_EQ(kinds(),
            (std::vector<std::string_view>{"slower-algorithm", "unfused-chain", "serial-branches", "under-bound",
                                           "layout-changes", "needless-layers", "framework-overhead"}));
  report.bracket.contract = NumericContract::kF16;
  EXPECT_EQ(kinds()[3], "wider-precision");
  Finding half;
  half.kind = "half-precision-not-used";
  report.findings.push_back(half);
  EXPECT_EQ(kinds()[3], "under-bound") << "which is the same cause";
  report.findings.pop_back();
  report.bracket.contract = NumericContract::kStrictF32;
  report.environment.threads = 1;
  Finding launch;
  launch.kind = "launch-bound";
  report.findings.push_back(launch);
  launch.kind = "slower-algorithm";
  report.findings.push_back(launch);
  report.waterfall->bound.reset();
  EXPECT_EQ(kinds(), (std::vector<std::string_view>{"layout-changes", "needless-layers"}));
  report.waterfall.reset();
  EXPECT_TRUE(AbsentCausesOf(report).empty());
}

// On another device's store nothing can be measured here.
TEST(Answers, OfAnotherDeviceTakeWhatWasMeasuredThere) {
  ReportModel report = Known();
  report.run.reset();
  report.waterfall.reset();
  report.bench_options.reset();
  EXPECT_EQ(Of(AnswersOf(report), 4).command, "infimum import PROFILE --model net.onnx --db team.db");
}

TEST(Answers, NoContractThatLacksLayersSeemsToWinThem) {
  ReportModel report = Known();
  report.bracket.what_ifs.front().coverage = Coverage{0.8, 0, 0, 0.2};
  ExpectSays(Of(AnswersOf(report), 6), {"bf16 cannot be told, 20 % of its work has no time"});
  report.bracket.what_ifs.front().coverage = Coverage{1, 0, 0, 0};
  report.bracket.what_ifs.front().bounds.front().gain = Latency(-700);
  ExpectSays(Of(AnswersOf(report), 6), {"bf16 costs 700 µs (1 %)"});
}

TEST(Answers, OneThreadRunsNothingBesideAnything) {
  ReportModel report = Known();
  report.environment.threads = 1;
  ExpectSays(Of(AnswersOf(report), 2), {"Not with one thread"});
  EXPECT_EQ(Of(AnswersOf(report), 2).command, "infimum analyze net.onnx --db team.db --threads 2");
}

// With most of a model unknown no sum of the rest passes for it.
TEST(Answers, SayWhereTheyAreOfAPart) {
  ReportModel report = Known();
  report.bracket.coverage = {0.3, 0, 0, 0.7};
  ExpectSays(Of(AnswersOf(report), 5), {"70 % of its work has no time yet"});
  ExpectSays(Of(AnswersOf(report), 1), {"70 % of its work has no time yet, and what is known adds up to 70.0 ms"});
  report.bracket.coverage = {0.6, 0, 0, 0.4};
  ExpectSays(Of(AnswersOf(report), 2), {"40 % of its work has no time yet"});
}

// A floor weighs a convolution by its bytes: what lacks a sixth of the arithmetic is no "best measured kernels".
TEST(Answers, SayWhatIsMissingByItsArithmetic) {
  ReportModel report = Known();
  report.bracket.coverage = {0.99, 0, 0, 0.01, 0.16};
  for (const int number : {1, 2, 5})
    ExpectSays(Of(AnswersOf(report), number), {"16 % of its work by FLOPs has no time yet"});
  EXPECT_FALSE(IsMeasured(report));
  report.bracket.coverage.missing_flops = 0.6;
  EXPECT_FALSE(PromisesGains(report));
}

TEST(Answers, TheGapHasAnInterval) {
  ReportModel report = Known();
  EXPECT_FALSE(GapOf(report)->interval) << "the run tells no spread";
  EXPECT_EQ(GapOf(report)->latency, Latency(30'000));
  // Of the bound 70.0 ms to 70.7 ms.
  report.run->interval = Interval{Latency(99'000), Latency(104'000)};
  EXPECT_NEAR(GapOf(report)->interval->low.count(), 28'300, 1e-6);
  EXPECT_NEAR(GapOf(report)->interval->high.count(), 34'000, 1e-6);
  ExpectSays(Of(AnswersOf(report), 1), {"30 % could be won (30.0 ms, between 28.3 ms and 34.0 ms)"});
  // Where the floor is above the bound, nothing below the floor can be won.
  report.bracket.floors.front().latency = Latency(80'000);
  EXPECT_EQ(GapOf(report)->latency, Latency(20'000));
}

TEST(Answers, ARunThatDisagreesWithItsLayersIsNotBelieved) {
  ReportModel report = Known();
  report.waterfall->scatter = Latency(-9'000);
  EXPECT_EQ(Of(AnswersOf(report), 1).text.find("measure again"), std::string::npos);
  report.waterfall->scatter = Latency(-20'000);
  ExpectSays(Of(AnswersOf(report), 1), {"Under the profiler its layers make 120 ms: measure again"});
}

// A campaign that a budget ended early: no sum of what is known passes for the model's.
TEST(Answers, OfHardlyAnythingPromiseNothing) {
  ReportModel report = Known();
  report.bracket.coverage = {0.1, 0, 0, 0.4, 0.99};
  EXPECT_FALSE(Of(AnswersOf(report), 2).is_known);
  EXPECT_EQ(Of(AnswersOf(report), 2).text,
            "Too little is measured to tell: 99 % of its work by FLOPs has no time yet.");
  EXPECT_EQ(Of(AnswersOf(report), 2).command, "infimum analyze net.onnx --db team.db");
  report.findings.clear();
  const std::string page = HtmlReport(report);
  EXPECT_NE(page.find("too little of the model was measured to hold the run against"), std::string::npos);
  EXPECT_NE(page.find("no bound that a run could be led down to"), std::string::npos);
  EXPECT_EQ(page.find("no rule found time of this run"), std::string::npos);
}

TEST(Answers, ChangesOfLayoutThatTakeMuchAreInTheHeadline) {
  ReportModel report = Known();
  const auto with_layouts = [&report](double ms) {
    report.bracket.bounds.push_back({BoundVariant::kWithLayouts, Latency(ms * 1e3), {}, {}});
    const std::string text = Of(AnswersOf(report), 1).text;
    report.bracket.bounds.pop_back();
    return text.find("with the changes of layout between them") != std::string::npos;
  };
  EXPECT_FALSE(with_layouts(71));
  EXPECT_TRUE(with_layouts(80));
}

// Not used may be what the exporter left in floating point, not Tensor Cores alone.
TEST(Answers, NarrowUnitsAreUnusedWhereQuantizedLayersRunInFloat) {
  ReportModel report = Known();
  Finding finding;
  finding.kind = "quantized-layers-in-float";
  finding.gain = Latency(16'000);
  finding.evidence = "37 rows compute in floating point";
  report.findings = {finding};
  ExpectSays(Of(AnswersOf(report), 6), {"Not used where they could be (guessed: 16.0 ms): 37 rows compute"});
  report.findings.front().is_part = true;
  ExpectSays(Of(AnswersOf(report), 6), {"16.0 ms and more"});
}

TEST(Answers, StandInThePageAndInMarkdown) {
  const std::string page = HtmlReport(Known()), markdown = MarkdownReport(Known());
  for (const Answer& answer : AnswersOf(Known())) {
    EXPECT_NE(page.find(answer.question), std::string::npos) << answer.question;
    EXPECT_NE(markdown.find(answer.question), std::string::npos) << answer.question;
  }
  EXPECT_NE(page.find("At most 4.00 ms (5 %) of the layers one after the other"), std::string::npos);
}

}  // namespace
}  // namespace infimum
