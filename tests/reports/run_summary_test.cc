// What `infimum compare MODEL` prints: nothing wider than the terminal, and parts that add up.
#include "reports/run/run_summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/model/report_model.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

void ExpectNoWiderThan(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), width) << line;
}

Waterfall WaterfallOf(std::size_t parts) {
  Waterfall waterfall;
  waterfall.measured = Latency(1000);
  waterfall.bound = Latency(400);
  waterfall.floor = Latency(100);
  GapStep regret{GapCause::kAlgorithmRegret, Latency(0), {}};
  for (std::size_t i = 0; i < parts; ++i) {
    const Latency latency(600.0 / static_cast<double>(parts));
    regret.parts.push_back({"layer_" + std::to_string(i), latency, {}});
    regret.latency += latency;
  }
  waterfall.steps = {regret,
                     {GapCause::kUnexplained, Latency(0), {}},
                     {GapCause::kAboveFloor, Latency(300), {{"the bound against the floor", Latency(300), {}}}}};
  return waterfall;
}

ModelAccount WideAccount() {
  ModelAccount account;
  account.model = "a_model_whose_name_is_long_enough_to_fill_a_good_part_of_the_line";
  const std::string workload =
      "convolution dtype=f32:f32:f32 in=1x3x224x224 out_channels=64 kernel=3x3 stride=1x1 pad=1,1,1,1 groups=1 bias=no";
  for (int i = 0; i < 3; ++i) {
    RunAccount run;
    run.source = "a_file_with_a_long_name_of_run_" + std::to_string(i) + ".json";
    run.framework = "onnxruntime 1.31.1";
    run.device = "AMD EPYC 9654 96-Core Processor";
    run.conditions = "1 thread, strict-f32";
    run.waterfall = WaterfallOf(30);
    run.remarks = {"the profile does not record its number of threads: assuming 1 thread; --threads N overrides it"};
    run.findings = {
        {"slower-algorithm",
         Latency(600),
         {"Conv_0"},
         "convolutions take 600 us more than the best candidates that were measured for the same work here",
         "another library or version",
         {{"Conv_0", "sm80_xmma_fprop_implicit_gemm", Latency(700), Latency(100), "onednn/jit", workload}}}};
    run.findings[0].commands = {
        {"measure", ReproductionCommand(workload, "--threads 1 --db some/where/infimum.db --backend onednn")}};
    account.runs.push_back(run);
    account.nodes.columns.push_back({run.source, Latency(900), Latency(0), Latency(0), 3});
  }
  for (const char* layer : {"a_layer_whose_exporter_gave_it_the_path_of_its_module/Conv_0", "short"}) {
    NodeRow row{layer, "Conv", {}};
    for (int i = 0; i < 3; ++i) row.cells.push_back({Latency(300), Latency(100), "", {}, AlignmentClue::kNode});
    account.nodes.rows.push_back(row);
  }
  account.gates = {{"max-gap", account.runs[0].source, "above",
                    "takes 1.00 ms, 2.500 times the bound of 400 µs; allowed are 1.5 times", GateOutcome::kNotHeld}};
  return account;
}

TEST(AccountText, FitsTheTerminal) {
  for (const std::size_t width : {80, 100, 132}) ExpectNoWiderThan(AccountText(WideAccount(), {.width = width}), width);
  EXPECT_NE(AccountText(WideAccount(), {.width = 80}).find("max-gap: DID NOT HOLD: "), std::string::npos);
}

TEST(ShellText, IsTheCommandAgainWithoutItsBreaks) {
  const std::string command =
      R"(infimum bench --layer 'relu in=4 "a" b' --name 'it'\''s one' --threads 1 --candidate onednn/brgconv:avx512 -v)";
  for (std::size_t width = 26; width < 120; ++width) {
    std::string text = ShellText(command, width);
    ExpectNoWiderThan(text, width);
    text.pop_back();
    // What a shell does with it.
    for (std::size_t at; (at = text.find("\\\n")) != std::string::npos;) {
      const bool is_quoted = at > 0 && text[at - 1] == '\'' && text[at + 2] == '\'';
      text.erase(is_quoted ? at - 1 : at, is_quoted ? 4 : 2);
    }
    EXPECT_EQ(text, command) << width;
  }
  EXPECT_EQ(ShellText(command, 0), command + "\n");
}

TEST(WaterfallText, AStepOfNoLengthHasNoBar) {
  std::istringstream lines(WaterfallText(WaterfallOf(1), 80));
  for (std::string line; std::getline(lines, line);)
    if (line.find("unexplained") != std::string::npos) {
      EXPECT_EQ(line.find("▒"), std::string::npos) << line;
      return;
    }
  FAIL() << "no line of what is unexplained";
}

TEST(WaterfallJson, PartsAndTheirRestAddUpToTheStep) {
  const nlohmann::json steps = OrderedJson(WaterfallOf(30).steps);
  double sum = steps[0]["rest"]["latency_us"];
  for (const auto& part : steps[0]["parts"]) sum += part["latency_us"].get<double>();
  EXPECT_EQ(steps[0]["parts"].size(), 20u);
  EXPECT_EQ(steps[0]["rest"]["count"], 10);
  EXPECT_NEAR(sum, steps[0]["latency_us"], 1e-9);
  EXPECT_TRUE(OrderedJson(WaterfallOf(20).steps)[0]["rest"].is_null());
}

TEST(Gates, TheWorstDecides) {
  const Gate held{"max-gap", "a", "within", "", GateOutcome::kHeld};
  const Gate not_held{"max-gap", "b", "above", "", GateOutcome::kNotHeld};
  const Gate not_judged = NotJudged("baseline", "c", "no samples");
  EXPECT_EQ(Worst({}), GateOutcome::kHeld);
  EXPECT_EQ(Worst(std::vector{held, held}), GateOutcome::kHeld);
  EXPECT_EQ(Worst(std::vector{held, not_judged}), GateOutcome::kNotJudged);
  EXPECT_EQ(Worst(std::vector{not_judged, not_held, held}), GateOutcome::kNotHeld);
  EXPECT_EQ(GateText(NotJudged("baseline", "c\x1b", "no samples")), "baseline: NOT JUDGED: c\\x1b: no samples");
}

}  // namespace
}  // namespace infimum
