// The main job end to end on the fake backend, whose times are exact: every folder takes part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing::analyze_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Analyze(const std::string& model) {
  return {"analyze", ProgramTest::Light(model), "--backend", "fake", "--framework", "none", "--report", "report.html"};
}

nlohmann::json Bound(const ProgramTest& program, const std::string& model) {
  return program.Json({"bound", ProgramTest::Light(model), "--backend", "fake", "--format", "json"});
}

TEST(ReportGraph, KnowsWhichLayerReadsWhich) {
  const ProgramTest program;
  program.Run(Analyze("squeezenet"));
  program.Run({"report", ProgramTest::Light("squeezenet"), "--backend", "fake", "-o", "report.json"});
  const nlohmann::json report = nlohmann::json::parse(program.Read("report.json"), nullptr, false);
  ASSERT_TRUE(report.is_object());
  const nlohmann::json& layers = report.at("layers");
  // The light models make their weights by nodes; what those feed is no business of this test.
  const auto is_weight = [&layers](std::size_t layer) { return layers[layer].at("op") == "ConstantOfShape"; };
  std::map<std::size_t, int> read;  // by layer: how many others it reads
  for (const nlohmann::json& edge : report.at("graph").at("edges")) {
    EXPECT_LT(edge.at(0), edge.at(1));
    if (!is_weight(edge.at(0).get<std::size_t>())) ++read[edge.at(1).get<std::size_t>()];
  }
  int joins = 0, sources = 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    if (is_weight(layer)) continue;
    const bool is_join = layers[layer].at("op") == "Concat";
    joins += is_join;
    sources += read[layer] == 0;
    if (read[layer] == 0) continue;
    EXPECT_EQ(read[layer], is_join ? 2 : 1) << layers[layer].at("name");
  }
  EXPECT_EQ(sources, 1);
  EXPECT_EQ(joins, 8);
}

TEST(Analyze, MeasuresEveryLayerOfResNet50AndWritesTheReport) {
  const ProgramTest program;
  const Ended ended = program.Infimum(Analyze("resnet50"));
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("first answer after"));
  EXPECT_THAT(program.Read("report.html"), HasSubstr("<!DOCTYPE html>"));

  const nlohmann::json bound = Bound(program, "resnet50");
  EXPECT_EQ(bound.at("schema"), "infimum.bound/2");
  const auto& coverage = bound.at("coverage");
  EXPECT_DOUBLE_EQ(coverage.at("missing"), 0.0);
  EXPECT_NEAR(coverage.at("measured").get<double>() + coverage.at("estimated").get<double>() +
                  coverage.at("free").get<double>() + coverage.at("missing").get<double>(),
              1.0, 1e-9);
  EXPECT_GT(bound.at("floor_us").get<double>(), 0.0);
  ASSERT_FALSE(bound.at("bounds").empty());
  EXPECT_LE(bound.at("floor_us").get<double>(), bound.at("bounds")[0].at("latency_us").get<double>());
}

// One of the fake machine's kernels wants the channels last.
TEST(Analyze, MeasuresTheChangesOfLayoutThatItsPlanUses) {
  const ProgramTest program;
  const Ended ended = program.Infimum(Analyze("resnet50"));
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("reorder"));
  const nlohmann::json layouts = Bound(program, "resnet50").at("layouts");
  EXPECT_TRUE(layouts.at("exact"));
  ASSERT_FALSE(layouts.at("transforms").empty());
  for (const auto& transform : layouts.at("transforms")) EXPECT_TRUE(transform.at("measured")) << transform;
}

TEST(Analyze, TheSecondTimeNothingIsMeasuredAndTheBoundIsTheSame) {
  const ProgramTest program;
  program.Run(Analyze("squeezenet"));
  const nlohmann::json first = Bound(program, "squeezenet");
  const Ended again = program.Infimum(Analyze("squeezenet"));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.errors, HasSubstr("nothing is left to be measured"));
  EXPECT_THAT(again.errors, Not(HasSubstr("measuring ")));
  EXPECT_EQ(Bound(program, "squeezenet").at("bounds"), first.at("bounds"));
}

TEST(Analyze, MeasuresSeveralFrameworksAndComparesTheFastest) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  // In place of Python: OpenVINO takes 2 ms, ONNX Runtime 3.
  const std::string python = program.Write("python", R"(#!/bin/sh
name=onnxruntime time=3000 model=$2
case "$1" in *openvino*) name=openvino time=2000;; esac
while [ "$1" != --output ]; do shift; done
printf '{"schema":"infimum.run/1","framework":"%s","framework_version":"1","threads":1,"model_sha256":"%s",' \
  $name $(sha256sum "$model" | cut -d' ' -f1) >"$2"
printf '"end_to_end":[{"samples_us":[%s,%s]}]}' $time $time >>"$2"
)");
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const std::vector<std::string> analyze = {"analyze", model,      "--backend", "fake",     "--framework",
                                            "all",     "--python", python,      "--report", "report.json"};
  const Ended ended = program.Infimum(analyze);
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("openvino 1  "), HasSubstr("onnxruntime 1  ")));
  EXPECT_THAT(ended.errors, HasSubstr("--framework all leaves out pytorch"));
  const auto expect_run = [&](const char* framework, const char* other) {
    const nlohmann::json report = nlohmann::json::parse(program.Read("report.json"), nullptr, false);
    EXPECT_EQ(report.at("run").at("framework"), framework);
    ASSERT_EQ(report.at("other_runs").size(), 1U);
    EXPECT_EQ(report.at("other_runs")[0].at("name"), other);
  };
  expect_run("openvino", "onnxruntime 1");
  EXPECT_THAT(program.Read("report.json"), HasSubstr("--framework openvino"));  // of what measures again
  EXPECT_EQ(Bound(program, "squeezenet").at("upper").size(), 2U);
  EXPECT_THAT(program.Infimum(analyze).errors, Not(HasSubstr("measuring o")));
  const std::vector<std::string> report = {"report", model, "--backend", "fake", "-o", "report.json"};
  program.Run(report);
  expect_run("openvino", "onnxruntime 1");
  std::vector<std::string> of_one = report;
  of_one.insert(of_one.end(), {"--framework", "onnxruntime"});
  program.Run(of_one);
  expect_run("onnxruntime", "openvino 1");
}

TEST(Analyze, AFrameworkThatThereIsNotIsAUsageError) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const Ended unknown = program.Infimum({"analyze", model, "--framework", "onnxruntime,opnvino"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("did you mean 'openvino'"));
  const Ended module = program.Infimum({"analyze", model, "--module", "net.py:make"});
  EXPECT_EQ(module.exit_code, 2);
  EXPECT_THAT(module.errors, HasSubstr("which --framework does not name"));
}

TEST(Analyze, AnInterruptStillWritesTheReportAndKeepsWhatWasMeasured) {
  const ProgramTest program;
  std::vector<std::string> arguments = Analyze("inception_v2");
  arguments.insert(arguments.end(), {"--backend-option", "pace=20ms"});
  const Ended ended = program.Infimum(arguments, {.interrupt_at = "configurations of layers"});
  EXPECT_EQ(ended.exit_code, 1) << ended.errors;
  EXPECT_THAT(program.Read("report.html"), HasSubstr("<!DOCTYPE html>"));
  program.Run(Analyze("inception_v2"));
  EXPECT_DOUBLE_EQ(Bound(program, "inception_v2").at("coverage").at("missing"), 0.0);
}

TEST(Analyze, ASpentBudgetIsSaidAndGoneOnFrom) {
  const ProgramTest program;
  std::vector<std::string> arguments = Analyze("inception_v2");
  arguments.insert(arguments.end(), {"--budget", "4s", "--backend-option", "pace=20ms"});
  const Ended cut = program.Infimum(arguments);
  ASSERT_EQ(cut.exit_code, 0) << cut.errors;
  EXPECT_THAT(cut.errors, HasSubstr("the budget is spent"));
  EXPECT_NE(program.Read("report.html").find("budget of 4 s is spent"), std::string::npos);
  program.Run(Analyze("inception_v2"));
  EXPECT_DOUBLE_EQ(Bound(program, "inception_v2").at("coverage").at("missing"), 0.0);
}

// The real library, whose candidates have layouts: of a few layers, since more would take minutes under a sanitizer.
TEST(Bound, PaysForTheLayoutsOfTheRealLibrary) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const nlohmann::json layers = program.Json({"inspect", model, "--format", "json"}).at("layers");
  // For the device's peaks; how much more it gets done is not asked.
  program.Run({"analyze", model, "--framework", "none", "--budget", "2s", "--report", "report.html"});
  int measured = 0;
  for (const auto& layer : layers) {
    if (layer.at("op") != "Conv" || measured == 2) continue;
    program.Run({"bench", "--layer", layer.at("config").get<std::string>(), "--budget", "10s"});
    ++measured;
  }
  const nlohmann::json bound = program.Json({"bound", model, "--format", "json"});
  std::map<std::string, double> latency;
  for (const auto& one : bound.at("bounds")) latency[one.at("variant")] = one.at("latency_us");
  ASSERT_EQ(latency.count("with-layouts"), 1u);
  EXPECT_GE(latency["with-layouts"], latency["fused-sequential"]);
  const nlohmann::json& layouts = bound.at("layouts");
  EXPECT_TRUE(layouts.at("exact"));
  EXPECT_DOUBLE_EQ(layouts.at("latency_us"), latency["with-layouts"]);
  double sum = 0;
  for (const auto& unit : layouts.at("units")) sum += unit.at("latency_us").get<double>();
  for (const auto& transform : layouts.at("transforms")) sum += transform.at("latency_us").get<double>();
  EXPECT_NEAR(sum, latency["with-layouts"], 1e-6 * sum);
}

TEST(Analyze, PrintsTheComparisonAsCsv) {
  const ProgramTest program;
  std::vector<std::string> arguments = Analyze("squeezenet");
  arguments.insert(arguments.end(), {"--format", "csv"});
  const std::string output = program.Run(arguments);
  EXPECT_THAT(output, HasSubstr("label,operators,family,status"));
  EXPECT_THAT(output, HasSubstr("convolution dtype=f32:f32:f32"));
}

TEST(Analyze, AReadOnlyOrForeignStoreIsRefusedInOneLine) {
  const ProgramTest program;
  program.Write("notes.db", "these are no measurements");
  std::vector<std::string> arguments = Analyze("squeezenet");
  arguments.insert(arguments.end(), {"--db", "notes.db"});
  const Ended ended = program.Infimum(arguments);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("infimum: error: notes.db: "));
  EXPECT_EQ(program.Read("notes.db"), "these are no measurements");
}

TEST(Plan, LeavesOutWhatTheStoreHas) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const std::string before = program.Run({"plan", model, "--backend", "fake"});
  EXPECT_THAT(before, HasSubstr("convolution dtype=f32:f32:f32"));
  program.Run(Analyze("squeezenet"));
  const Ended after = program.Infimum({"plan", model, "--backend", "fake"});
  EXPECT_THAT(after.output, Not(HasSubstr("convolution dtype")));
}

TEST(Bench, TheReproductionCommandOfALayerShowsItsCandidates) {
  const ProgramTest program;
  const std::string output = program.Run(
      {"bench", "--backend", "fake", "--layer", "pointwise kind=relu dtype=f32:-:f32 in=802816", "--format", "json"});
  EXPECT_THAT(output, HasSubstr("measured"));
  const Ended mistyped =
      program.Infimum({"bench", "--backend", "fake", "--layer", "pointwise knd=relu dtype=f32:-:f32 in=8"});
  EXPECT_EQ(mistyped.exit_code, 2);
  EXPECT_THAT(mistyped.errors, HasSubstr("did you mean 'kind'?"));
  EXPECT_EQ(program.Infimum({"bench", "--backend", "fake"}).exit_code, 2);
  EXPECT_EQ(program.Infimum({"bench", "p.txt", "--layer", "pointwise kind=relu dtype=f32:-:f32 in=8"}).exit_code, 2);
  EXPECT_EQ(program.Infimum({"bench", "p.txt", "--tier", "best"}).exit_code, 2);
  EXPECT_EQ(program.Infimum({"bench", "p.txt", "--backend-option", "x"}).exit_code, 2);
}

TEST(Bench, ShowsWhatItMeasuredNotWhatTheStoreKnew) {
  const ProgramTest program;
  const std::vector<std::string> bench = {
      "bench", "--backend", "fake", "--layer", "pointwise kind=relu dtype=f32:-:f32 in=802816", "--format", "csv"};
  const std::string first = program.Run(bench);
  // Another pretended machine under the same name: other times, which the store does not have.
  std::vector<std::string> other = bench;
  other.insert(other.end(), {"--backend-option", "noise=0.5"});
  const std::string second = program.Run(other);
  EXPECT_NE(first, second);
  EXPECT_EQ(program.Infimum(bench).output, first);
}

TEST(Bench, WeightsFromMemoryAreABoundOfTheirOwn) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  program.Run(Analyze("squeezenet"));
  const auto bound = [&](const std::string& cache) {
    return program.Json({"bound", model, "--backend", "fake", "--format", "json", "--cache", cache});
  };
  const nlohmann::json warm = bound("warm");
  EXPECT_EQ(warm.at("best_known_us"), Bound(program, "squeezenet").at("best_known_us")) << "none from memory is known";
  EXPECT_GT(bound("cold-weights").at("coverage").at("missing").get<double>(), 0.5);

  // What has no weights is known already.
  const std::vector<std::string> plan{"plan", model, "--backend", "fake", "--cache", "cold-weights", "-o", "plan.txt"};
  program.Run(plan);
  EXPECT_THAT(program.Read("plan.txt"), AllOf(HasSubstr("convolution dtype"), Not(HasSubstr("pooling"))));
  const std::string bench = program.Run(
      {"bench", "plan.txt", "--backend", "fake", "--cache", "cold-weights", "--budget", "10m", "--format", "csv"});
  EXPECT_THAT(bench, AllOf(HasSubstr(",cold-weights,measured"), Not(HasSubstr(",warm,"))));

  const nlohmann::json cold = bound("cold-weights");
  EXPECT_EQ(cold.at("selection").at("cache"), "cold-weights");
  EXPECT_NEAR(cold.at("coverage").at("missing").get<double>(), 0, 1e-12);
  for (std::size_t i = 0; i < cold.at("bounds").size(); ++i) {
    const auto& each = cold.at("bounds")[i];
    EXPECT_THAT(each.at("assumptions"), ::testing::Contains("cold-weights"));
    // 1.2 million weights of four bytes take 0.5 ms at 10 GB/s, which every way to run the model pays.
    EXPECT_GT(each.at("latency_us").get<double>(), warm.at("bounds")[i].at("latency_us").get<double>() + 400);
  }
  // The fake machine's memory is as fast as its caches.
  EXPECT_DOUBLE_EQ(Bound(program, "squeezenet").at("context").at("near_share"), 1);
  program.Run(plan);
  EXPECT_THAT(program.Read("plan.txt"), Not(HasSubstr("convolution dtype")));
  EXPECT_EQ(program.Infimum({"bound", model, "--cache", "cold-wieghts"}).exit_code, 2);
}

TEST(Query, ListsWhatThereIsAndAnswersFromTheStore) {
  const ProgramTest program;
  const std::string list = program.Run({"query"});
  EXPECT_THAT(list, HasSubstr("best-candidate"));
  program.Run({"bench", "--backend", "fake", "--layer", "pointwise kind=relu dtype=f32:-:f32 in=8"});
  const std::string answer =
      program.Run({"query", "best-candidate", "layer=pointwise kind=relu dtype=f32:-:f32 in=8", "--format", "json"});
  EXPECT_THAT(answer, HasSubstr("infimum.query/1"));
  EXPECT_THAT(answer, HasSubstr("fake/"));
  EXPECT_THAT(program.Infimum({"query", "best-candidat"}).errors, HasSubstr("did you mean 'best-candidate'?"));
  EXPECT_THAT(program.Infimum({"query", "--sql", "DELETE FROM measurements"}).errors, HasSubstr("only read"));
  EXPECT_THAT(program.Infimum({"query", "--sql", "SELECT count(*) AS rows_there FROM measurements"}).output,
              HasSubstr("rows_there"));
}

nlohmann::json BoundByRules(const ProgramTest& program, const std::string& rules) {
  return program.Json(
      {"bound", ProgramTest::Light("squeezenet"), "--backend", "fake", "--rules", rules, "--format", "json"});
}

TEST(Bound, ByTheRulesOf2019HasTheirTwoBounds) {
  const ProgramTest program;
  program.Run(Analyze("squeezenet"));
  const nlohmann::json fused = BoundByRules(program, "benanza-2019-fused");
  ASSERT_EQ(fused.at("bounds").size(), 2u);
  EXPECT_EQ(fused.at("bounds")[0].at("variant"), "benanza-2019-fused-serial");
  EXPECT_EQ(fused.at("bounds")[1].at("variant"), "benanza-2019-fused-parallel");
  EXPECT_LT(fused.at("bounds")[1].at("latency_us"), fused.at("bounds")[0].at("latency_us"));
  double sum = 0;
  std::map<std::string, int> seen;
  for (const nlohmann::json& layer : fused.at("layers")) {
    const std::string op = layer.at("op"), status = layer.at("status");
    ++seen[op];
    if (op == "Conv") {
      EXPECT_EQ(status, "measured");
    }
    if (op == "Concat") {
      EXPECT_EQ(layer.at("latency_us"), 0.0);
    }
    if (op == "Dropout") {
      EXPECT_EQ(status, "missing");
    }
    if (!layer.at("latency_us").is_null()) sum += layer.at("latency_us").get<double>();
  }
  EXPECT_EQ(seen["Conv"], 26);
  EXPECT_EQ(seen["Concat"], 8);
  EXPECT_EQ(seen["Dropout"], 1);
  EXPECT_NEAR(fused.at("bounds")[0].at("latency_us").get<double>(), sum, 1e-6);
  EXPECT_EQ(fused.at("floor_us"), Bound(program, "squeezenet").at("floor_us"));
}

// The backend measured each convolution together with its bias, which these rules do not count.
TEST(Bound, ByTheRulesOf2019NamesTheRowsThatItLacks) {
  const ProgramTest program;
  program.Run(Analyze("squeezenet"));
  const nlohmann::json bound = BoundByRules(program, "benanza-2019");
  EXPECT_GT(bound.at("coverage").at("missing").get<double>(), 0.0);
  for (const nlohmann::json& layer : bound.at("layers")) {
    if (layer.at("op") != "Conv") continue;
    EXPECT_TRUE(layer.at("latency_us").is_null());
    EXPECT_THAT(layer.at("reason").get<std::string>(), AllOf(HasSubstr("no row of conv"), HasSubstr("bias=no")));
  }
  for (const char* format : {"table", "csv"}) {
    const Ended ended = program.Infimum({"bound", ProgramTest::Light("squeezenet"), "--backend", "fake", "--rules",
                                         "benanza-2019", "--format", format});
    EXPECT_THAT(ended.output, AllOf(HasSubstr("benanza-2019-serial"), HasSubstr("benanza-2019-parallel")));
  }
}

TEST(Bound, OfADataSheetNeedsNoStoreAndClaimsNoBound) {
  const ProgramTest program;
  const std::string sheet = program.Run({"bound", ProgramTest::Light("squeezenet"), "--device", "L40S"});
  EXPECT_THAT(sheet, HasSubstr("roofline"));
  EXPECT_THAT(sheet, Not(HasSubstr("sequential")));
  EXPECT_THAT(program.Infimum({"bound", ProgramTest::Light("squeezenet"), "--device", "L40S", "--threads", "2"}).errors,
              HasSubstr("applies to CPUs only"));
}

}  // namespace
}  // namespace infimum::testing::analyze_test
