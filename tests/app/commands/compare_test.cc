// infimum compare: what profiles say, through the real program.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/commands/compare_with_bound.h"
#include "tests/app/commands/program.h"
#include "tests/support/shared_data.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;

// Two operators; the device waits for the second one's launch, then a copy that nothing hides.
constexpr const char* kTrace = R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","numSms":132}],
"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":0,"dur":20,"args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":5,"dur":5,"args":{"correlation":11}},
{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":100,"dur":20,"args":{"External id":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":105,"dur":5,"args":{"correlation":12}},
{"ph":"X","cat":"kernel","name":"gemm<script>\u001b[31m","pid":0,"tid":7,"ts":15,"dur":25.5,"args":{"device":0,"stream":7,"correlation":11}},
{"ph":"X","cat":"kernel","name":"relu","pid":0,"tid":7,"ts":115,"dur":4,"args":{"device":0,"stream":7,"correlation":12}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":7,"ts":119,"dur":10,"args":{"device":0,"stream":7}}
]})";

TEST(Compare, ShowsWhereADevicesTimeWentAndWhatToChange) {
  const ProgramTest program;
  const std::string trace = program.Write("t.json", kTrace);
  const std::string output = program.Run({"compare", "--run", trace});
  EXPECT_THAT(output, HasSubstr("device 0, NVIDIA H100"));
  EXPECT_THAT(output, HasSubstr("idle: not asked yet"));
  EXPECT_THAT(output, HasSubstr("aten::linear"));
  EXPECT_THAT(output, HasSubstr("critical path over the whole trace   129 µs"));
  EXPECT_THAT(output, HasSubstr("1. host-bound, bounded: up to 74.5 µs"));
  EXPECT_THAT(output, HasSubstr("2. exposed-copies, bounded: up to 10.0 µs"));
  // A terminal is told nothing by a kernel's name.
  EXPECT_EQ(output.find('\x1b'), std::string::npos);
}

TEST(Compare, WhatCouldNotBeReadStandsInTheFirstLineAndIsJudgedByNoGate) {
  const ProgramTest program;
  std::string odd = kTrace;
  odd.replace(odd.find("\"dur\":25.5"), 10, "\"dur\":null");
  const std::string trace = program.Write("t.json", odd);
  const std::string shown = program.Run({"compare", "--run", trace});
  EXPECT_THAT(shown, HasSubstr("without about 33.3 % of the devices' time, which could not be read"));
  EXPECT_THAT(shown, HasSubstr("events skipped"));
  const Ended json = program.Infimum({"compare", "--run", trace, "--format", "json"});
  EXPECT_NEAR(nlohmann::json::parse(json.output)["runs"][0]["skipped_share"].get<double>(), 1.0 / 3, 1e-9);
  const Ended gate = program.Infimum({"compare", "--run", trace, "--baseline", trace});
  EXPECT_EQ(gate.exit_code, 1);
  EXPECT_THAT(gate.errors, HasSubstr("--baseline needs all of both runs' time, and about 33.3 % of the time of"));
}

TEST(Compare, JsonAndCsvHaveTheSameNumbers) {
  const ProgramTest program;
  const std::string trace = program.Write("t.json", kTrace);
  const Ended json = program.Infimum({"compare", "--run", trace, "--format", "json"});
  ASSERT_EQ(json.exit_code, 0) << json.errors;
  const nlohmann::json document = nlohmann::json::parse(json.output);
  EXPECT_EQ(document["schema"], "infimum.compare/1");
  const nlohmann::json& run = document["runs"][0];
  EXPECT_EQ(run["kind"], "timeline");
  const nlohmann::json& device = run["activity"][0];
  EXPECT_EQ(device["busy_us"], 39.5);
  EXPECT_EQ(device["span_us"], 114.0);
  EXPECT_EQ(device["idle_us"]["host"], 64.5);
  EXPECT_EQ(device["idle_us"]["launch"], 10.0);
  EXPECT_EQ(run["critical_path"]["length_us"], 129.0);
  EXPECT_EQ(run["kernels"][0]["total_us"], 25.5);
  EXPECT_EQ(run["kernels"][0]["operator"], "aten::linear");
  EXPECT_EQ(run["findings"][0]["kind"], "host-bound");
  EXPECT_EQ(run["findings"][0]["gain_us"], 74.5);
  EXPECT_EQ(run["findings"][0]["known"], "bounded");
  const std::string csv = program.Run({"compare", "--run", trace, "--run", trace, "--format", "csv"});
  EXPECT_THAT(csv, HasSubstr("aten::linear,1,25.5,25.5,25.5"));
  std::istringstream lines(csv);
  int count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  EXPECT_EQ(count, 7);
}

TEST(Compare, LayersOfARunStandByTime) {
  const ProgramTest program;
  const std::string profile =
      program.Write("p.json",
                    R"([{"cat":"Session","ph":"X","name":"model_loading_uri","dur":1,"ts":1,"args":{}},
{"cat":"Node","ph":"X","name":"conv1_kernel_time","dur":30,"ts":2,"args":{"op_name":"Conv","node_index":"1","provider":"CPUExecutionProvider"}},
{"cat":"Node","ph":"X","name":"relu1_kernel_time","dur":10,"ts":40,"args":{"op_name":"Relu","node_index":"2","provider":"CPUExecutionProvider"}},
{"cat":"Session","ph":"X","name":"model_run","dur":45,"ts":2,"args":{}}])");
  const std::string output = program.Run({"compare", "--run", profile});
  EXPECT_THAT(output, HasSubstr("onnxruntime, 2 layers, 40.0 µs in layers"));
  EXPECT_LT(output.find("conv1"), output.find("relu1"));
}

TEST(Compare, MistakesAreOneClearLine) {
  const ProgramTest program;
  EXPECT_EQ(program.Infimum({"compare"}).exit_code, 2);
  const Ended page = program.Infimum({"compare", "--run", program.Write("t0.json", kTrace), "-o", "x.html"});
  EXPECT_EQ(page.exit_code, 2) << "a page that holds text";
  EXPECT_THAT(page.errors, HasSubstr("infimum report compare"));
  const Ended absent = program.Infimum({"compare", "--run", "nowhere.json"});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.errors, HasSubstr("nowhere.json: cannot be read: No such file or directory"));
  const Ended other = program.Infimum({"compare", "--run", program.Write("x.json", "{\"a\":1}")});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.errors, HasSubstr("x.json: not a known profile"));
  const Ended cut = program.Infimum({"compare", "--run", program.Write("c.json", std::string(kTrace).substr(0, 700))});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_THAT(cut.errors, HasSubstr("within the trace"));
  const Ended import = program.Infimum({"import", program.Write("t.json", kTrace)});
  EXPECT_EQ(import.exit_code, 1);
  EXPECT_THAT(import.errors, HasSubstr("infimum compare --run shows its content"));
}

TEST(Compare, AModelsLayersStandInOneTableOverSeveralRuns) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const auto profile = [&](const char* name, int conv, int relu) {
    return program.Write(
        name, fmt::format(R"([{{"cat":"Session","ph":"X","name":"model_loading_uri","dur":1,"ts":1,"args":{{}}}},
{{"cat":"Node","ph":"X","name":"n0_kernel_time","dur":{},"ts":2,"args":{{"op_name":"Conv","node_index":"1","provider":"P"}}}},
{{"cat":"Node","ph":"X","name":"n1_kernel_time","dur":{},"ts":40,"args":{{"op_name":"Relu","node_index":"2","provider":"P"}}}},
{{"cat":"Node","ph":"X","name":"ReorderOutput_kernel_time","dur":7,"ts":60,"args":{{"op_name":"ReorderOutput","node_index":"3","provider":"P"}}}},
{{"cat":"Session","ph":"X","name":"model_run","dur":70,"ts":2,"args":{{}}}}])",
                          conv, relu));
  };
  const std::string a = profile("a.json", 30, 10), b = profile("b.json", 20, 13);
  const std::string table = program.Run({"compare", model, "--run", a, "--run", b});
  EXPECT_THAT(table, HasSubstr("a.json"));
  EXPECT_THAT(table, ::testing::ContainsRegex("n0 +Conv +30.0 µs +20.0 µs"));
  const Ended json = program.Infimum({"compare", model, "--run", a, "--run", b, "--format", "json"});
  ASSERT_EQ(json.exit_code, 0) << json.errors;
  const nlohmann::json document = nlohmann::json::parse(json.output);
  EXPECT_EQ(document["schema"], "infimum.compare/1");
  EXPECT_EQ(document["runs"][1]["layers_us"], 40.0);
  EXPECT_EQ(document["runs"][1]["engine_only_us"], 7.0);
  EXPECT_EQ(document["layers"][1]["runs"][0]["measured_us"], 10.0);
  // A profile that ends early is no reason to put the other layers to its last one.
  EXPECT_GT(document["runs"][0]["unmatched_layers"], 20);
  EXPECT_EQ(document["runs"][1]["unmatched_us"], 0.0);
  // A trace's operators are layers too: the one product of SqueezeNet's classifier is a convolution, so none fits.
  const nlohmann::json traced =
      program.Json({"compare", model, "--run", program.Write("t.json", kTrace), "--format", "json"})["runs"][0];
  EXPECT_EQ(traced["layers_us"], 39.5);
  EXPECT_EQ(traced["critical_path"]["length_us"], 129.0);
}

TEST(Compare, APersonsAlignmentWins) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const std::string run = program.Write("r.json", R"({"schema":"infimum.run/1","framework":"engine",
"end_to_end":[{"samples_us":[50]}],"layers":[{"name":"myelin_17","op":"Myelin","samples_us":[40]}]})");
  const auto rows = [&](const char* nodes) {
    return program.Write("a.json", fmt::format(R"({{"schema":"infimum.alignment/1",
"rows":[{{"engine_layers":["myelin_17"],"nodes":[{}]}}]}})",
                                               nodes));
  };
  const Ended json =
      program.Infimum({"compare", model, "--run", run, "--alignment", rows(R"("n0","n1")"), "--format", "json"});
  ASSERT_EQ(json.exit_code, 0) << json.errors;
  const nlohmann::json layer = nlohmann::json::parse(json.output)["layers"][0];
  EXPECT_EQ(layer["aligned_by"], "stated");
  EXPECT_EQ(layer["measured_us"], 40.0);
  const Ended unknown = program.Infimum({"compare", model, "--run", run, "--alignment", rows(R"("n9999")")});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.errors, HasSubstr("n9999"));
  EXPECT_EQ(program.Infimum({"compare", "--run", run, "--alignment", rows("")}).exit_code, 2);
}

TEST_F(CompareWithBound, TheWayFromMeasuredToFloorAddsUpAndNamesItsCauses) {
  const Ended json = Compare({"--run", WriteRun("r.json", "n0", 400, 250), "--format", "json"});
  ASSERT_EQ(json.exit_code, 0) << json.errors;
  const nlohmann::json document = nlohmann::json::parse(json.output);
  std::map<std::string, double> steps;
  double sum = document["runs"][0]["floor_us"];
  for (const auto& step : document["waterfall"]) sum += steps[step["step"]] = step["latency_us"];
  EXPECT_NEAR(sum, document["measured_us"].get<double>(), 1e-6);
  EXPECT_NEAR(document["measured_us"].get<double>(), layers_us_ + 250, 1e-6);
  EXPECT_NEAR(steps["host-gaps"], 250, 1e-6);
  EXPECT_NEAR(steps["algorithm-regret"], 400, 1e-6);
  EXPECT_NEAR(steps["missed-fusion"], Bound("sequential") - Bound("fused-sequential"), 1e-6);
  EXPECT_NEAR(steps["unexplained"], 0, 1e-6);
  EXPECT_NEAR(document["bound_us"].get<double>(), Bound("fused-parallel"), 1e-6);
  EXPECT_NEAR(document["gap"].get<double>(), (layers_us_ + 250) / Bound("fused-parallel"), 1e-9);
  EXPECT_EQ(document["layers"][0]["name"], "n0");
  EXPECT_NEAR(document["layers"][0]["measured_us"].get<double>() - document["layers"][0]["bound_us"].get<double>(), 400,
              1e-6);
  bool is_named = false;
  for (const auto& finding : document["findings"])
    if (finding["kind"] == "slower-algorithm") {
      is_named = true;
      EXPECT_NEAR(finding["gain_us"].get<double>(), 400, 1e-6);
      EXPECT_EQ(finding["known"], "guessed");
      EXPECT_EQ(finding["layers"][0], "n0");
      EXPECT_THAT(finding["cases"][0]["workload"].get<std::string>(),
                  HasSubstr("in=1x3x224x224 out_channels=64 kernel=3x3"));
    }
  EXPECT_TRUE(is_named);
}

TEST_F(CompareWithBound, TheTextSaysTheSame) {
  const Ended text = Compare({"--run", WriteRun("r.json", "n0", 400, 250)});
  ASSERT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("squeezenet on engine 1"));
  EXPECT_THAT(text.output, HasSubstr(" times the bound of "));
  EXPECT_THAT(text.output, ::testing::ContainsRegex("host gaps +.250 µs"));
  EXPECT_THAT(text.output, ::testing::ContainsRegex("slower kernels than known +.400 µs"));
  EXPECT_THAT(text.output, HasSubstr("measure: infimum bench --layer 'convolution "));
  const Ended csv = Compare({"--run", program_.folder() / "r.json", "--format", "csv"});
  EXPECT_THAT(csv.output, HasSubstr("layer,op,r.json us,r.json best us,r.json within"));
}

TEST_F(CompareWithBound, WithoutAProfileTheStoresOwnRunIsTaken) {
  const Ended none = Compare({});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.errors, ::testing::ContainsRegex("holds no run of this model by onnxruntime on .* with 1 thread: "));
  EXPECT_THAT(Compare({"--device", "h200"}).errors, HasSubstr("by onnxruntime on NVIDIA H200: --run FILE"));
}

TEST_F(CompareWithBound, AnImportedProfileIsComparedFromTheStore) {
  const std::string profile =
      program_.Write("p.json", R"([{"cat":"Session","ph":"X","name":"model_loading_uri","dur":1,"ts":1,"args":{}},
{"cat":"Node","ph":"X","name":"n0_kernel_time","dur":3000,"ts":2,"args":{"op_name":"Conv","node_index":"1","provider":"CPUExecutionProvider"}},
{"cat":"Session","ph":"X","name":"model_run","dur":3100,"ts":2,"args":{}}])");
  const Ended no_device = program_.Infimum({"import", profile, "--model", model_});
  EXPECT_EQ(no_device.exit_code, 1);
  EXPECT_THAT(no_device.errors, HasSubstr("give --device NAME"));
  const std::string device = bound_["device"];
  const std::vector<std::string> arguments = {"import",   profile, "--model",    model_,
                                              "--device", device,  "--contract", "strict-f32"};
  const Ended no_threads = program_.Infimum(arguments);
  EXPECT_EQ(no_threads.exit_code, 1);
  EXPECT_THAT(no_threads.errors,
              HasSubstr("p.json: the profile does not record its number of threads: give --threads N"));
  std::vector<std::string> whole = arguments;
  whole.insert(whole.end(), {"--threads", "1"});
  const Ended imported = program_.Infimum(whole);
  ASSERT_EQ(imported.exit_code, 0) << imported.errors;
  EXPECT_THAT(imported.errors, HasSubstr("p.json: 100 % of the layers' time is at layers of "));
  EXPECT_THAT(imported.errors, HasSubstr(": 1 run added, 0 were known"));
  EXPECT_THAT(program_.Infimum(whole).errors, HasSubstr("0 runs added, 1 was known"));
  const Ended json = Compare({"--format", "json"});
  ASSERT_EQ(json.exit_code, 0) << json.errors;
  EXPECT_EQ(nlohmann::json::parse(json.output)["runs"][0]["layers_us"], 3000.0);
  EXPECT_EQ(program_.Infimum({"import", profile, "--device", device}).exit_code, 2);
  const Ended result =
      program_.Infimum({"import", program_.Write("x.json", "{}"), "--model", model_, "--device", device});
  EXPECT_EQ(result.exit_code, 1);
}

TEST_F(CompareWithBound, AProfileOfAnotherModelIsNotImported) {
  const auto import = [&](const char* layers) {
    const std::string run = program_.Write("r.json", fmt::format(R"({{"schema":"infimum.run/1","framework":"engine",
"threads":1,"end_to_end":[{{"samples_us":[50]}}],"layers":[{}]}})",
                                                                 layers));
    return program_.Infimum({"import", run, "--model", model_, "--device", bound_["device"].get<std::string>()});
  };
  const Ended other = import(R"({"name":"encoder","op":"LSTM","samples_us":[40]},
{"name":"n0","op":"Conv","nodes":["n0"],"samples_us":[2]})");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.errors, HasSubstr("r.json: 4.8 % of the layers' time is at layers of "));
  EXPECT_THAT(other.errors, HasSubstr("too little for a run of this model"));
  // Without times its layers count.
  EXPECT_EQ(import(R"({"name":"encoder","op":"LSTM"})").exit_code, 1);
  EXPECT_EQ(import(R"({"name":"n0","op":"Conv","nodes":["n0"]})").exit_code, 0);
}

// Every real trace that this is for reads, or is refused with a reason.
TEST(Compare, RealProfilesAreShown) {
  const std::filesystem::path traces = SharedData("traces");
  INFIMUM_NEEDS_DATA(traces);
  const ProgramTest program;
  int shown = 0;
  for (const char* folder : {"tracelens", "hta", "kineto", "nsys", "ort"}) {
    for (const auto& entry : std::filesystem::directory_iterator(traces / folder)) {
      const std::string path = entry.path().string();
      if (entry.is_directory()) continue;
      const Ended ended = program.Infimum({"compare", "--run", path, "--format", "json"});
      if (path.ends_with(".xplane.pb")) {
        EXPECT_EQ(ended.exit_code, 1) << path;
        EXPECT_THAT(ended.errors, HasSubstr("not a known profile"));
        continue;
      }
      EXPECT_EQ(ended.exit_code, 0) << ended.errors;
      if (ended.exit_code != 0) continue;
      EXPECT_EQ(nlohmann::json::parse(ended.output)["runs"].size(), 1u) << path;
      ++shown;
    }
  }
  EXPECT_EQ(shown, 19);
  for (const char* pair :
       {"light_resnet50 light_resnet50_cpu_opt_all", "light_squeezenet light_squeezenet_cpu_opt_disabled"}) {
    const std::string model(pair, std::string(pair).find(' ')), run(pair + model.size() + 1);
    const nlohmann::json compared =
        program.Json({"compare", (traces / "onnx-light" / (model + ".onnx")).string(), "--run",
                      (traces / "ort" / (run + ".json")).string(), "--format", "json"});
    const nlohmann::json column = compared["runs"][0];
    EXPECT_GE(column["aligned_share"], 0.98) << pair;
    EXPECT_EQ(column["unmatched_layers"], 0) << pair;
  }
  for (const auto& entry : std::filesystem::directory_iterator(traces / "trex")) {
    const nlohmann::json run = program.Json({"compare", "--run", entry.path().string(), "--format", "json"})["runs"][0];
    EXPECT_GT(run["layers"].size(), 30u) << entry.path();
    EXPECT_GT(run["layers_us"], 1000.0) << entry.path();
  }
}

}  // namespace
}  // namespace infimum::testing
