// infimum compare with several runs, and with runs that do not tell under what they ran.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/commands/compare_with_bound.h"

namespace infimum::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class CompareBatches : public ::testing::Test {
 protected:
  void SetUp() override {
    onnx::ModelProto model;
    const auto parsed = onnx::OnnxParser::Parse(model, R"(<ir_version: 9, opset_import: ["" : 17]>
        g (float[batch, 64] x) => (float[batch, 64] y) <int64[2] shape = {64, 64}> {
          w = ConstantOfShape <value = float[1] {0.01}> (shape)
          h = MatMul (x, w)
          y = Relu (h)
        })");
    ASSERT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
    model_ = program_.Write("open.onnx", model.SerializeAsString());
    for (const char* batch : {"batch=1", "batch=64"})
      program_.Run({"analyze", model_, "--backend", "fake", "--framework", "none", "--dim", batch});
  }

  std::string Run(const char* name, const Json& dims, double microseconds) {
    const Json layers = {{{"name", "h"}, {"op", "MatMul"}, {"outputs", {"h"}}, {"samples_us", {microseconds}}},
                         {{"name", "y"}, {"op", "Relu"}, {"outputs", {"y"}}, {"samples_us", {1}}}};
    return program_.Write(name, Json{{"schema", "infimum.run/1"},
                                     {"framework", "engine"},
                                     {"threads", 1},
                                     {"contract", "strict-f32"},
                                     {"dims", dims},
                                     {"layers", layers},
                                     {"end_to_end", {{{"samples_us", {microseconds + 1}}}}}}
                                    .dump());
  }

  Ended Compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"compare", model_, "--backend", "fake"});
    return program_.Infimum(arguments);
  }

  ProgramTest program_;
  std::string model_;
};

TEST_F(CompareBatches, EachRunIsHeldAgainstTheBoundOfItsOwnDimensions) {
  const std::string one = Run("one.json", {{"batch", 1}}, 500), many = Run("many.json", {{"batch", 64}}, 5000);
  const auto bound_of = [&](const std::vector<std::string>& arguments, std::size_t run) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--format", "json"});
    const Ended ended = Compare(all);
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return Json::parse(ended.output)["runs"][run]["bound_us"].get<double>();
  };
  const double small = bound_of({"--run", one}, 0), large = bound_of({"--run", many}, 0);
  EXPECT_GT(large, small);
  EXPECT_EQ(bound_of({"--run", one, "--run", many}, 0), small);
  EXPECT_EQ(bound_of({"--run", one, "--run", many}, 1), large);
  EXPECT_EQ(bound_of({"--run", many, "--run", one}, 1), small);
  const Ended text = Compare({"--run", one, "--run", many});
  EXPECT_THAT(text.output, HasSubstr("(1 thread, strict-f32, batch=1)"));
  EXPECT_THAT(text.output, HasSubstr("(1 thread, strict-f32, batch=64)"));
  // What a run does not tell is said by --dim, else taken from another, and that is said.
  const std::string silent = Run("silent.json", Json::object(), 5000);
  EXPECT_EQ(bound_of({"--run", silent, "--dim", "batch=64"}, 0), large);
  EXPECT_EQ(bound_of({"--run", silent, "--run", many}, 0), large);
  EXPECT_THAT(Compare({"--run", silent, "--run", many}).output,
              HasSubstr("the profile does not record its dimensions: assuming batch=64, as in many.json"));
}

TEST_F(CompareBatches, DimensionsThatARunDoesNotTellAreThoseOfItsShapes) {
  Json run = Json::parse(program_.Read(Run("one.json", Json::object(), 500)));
  for (const int batch : {1, 64}) {
    run["layers"][0]["input_tensors"] = {{{"dtype", "f32"}, {"dims", {batch, 64}}},
                                         {{"dtype", "f32"}, {"dims", {64, 64}}}};
    const Ended ended = Compare({"--run", program_.Write("shapes.json", run.dump())});
    ASSERT_EQ(ended.exit_code, 0) << ended.errors;
    EXPECT_THAT(ended.output, HasSubstr(fmt::format("assuming batch={}, from the shapes of its layers", batch)));
    EXPECT_THAT(ended.output, HasSubstr("times the bound of"));
    program_.Write("batch" + std::to_string(batch) + ".json", run.dump());
  }
  // Of two batches one is no baseline of the other, whatever --dim says of both.
  for (const std::vector<std::string>& dim : {std::vector<std::string>{}, {"--dim", "batch=1"}}) {
    std::vector<std::string> arguments = {"--run", program_.folder() / "batch1.json", "--baseline",
                                          program_.folder() / "batch64.json"};
    arguments.insert(arguments.end(), dim.begin(), dim.end());
    const Ended ended = Compare(arguments);
    EXPECT_EQ(ended.exit_code, 1) << ended.output;
    EXPECT_THAT(ended.errors, HasSubstr("baseline: NOT JUDGED: "));
  }
}

TEST_F(CompareBatches, DimensionsThatDoNotFitNameTheRun) {
  const Ended contradicted = Compare({"--run", Run("one.json", {{"batch", 1}}, 500), "--dim", "batch=64"});
  EXPECT_EQ(contradicted.exit_code, 1);
  EXPECT_THAT(contradicted.errors, HasSubstr("one.json: it ran with batch=1, but --dim says 64"));
  const Ended unknown = Compare({"--run", Run("other.json", {{"sequence", 8}}, 500)});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.errors, HasSubstr("other.json: its dimensions are sequence=8: "));
}

class CompareThreads : public CompareWithBound {
 protected:
  // ONNX Runtime's profile of layers that take half of their best time.
  std::string WriteProfile(const char* name, const Json& statistics) {
    Json events = {{{"cat", "Session"},
                    {"ph", "X"},
                    {"name", "model_loading_uri"},
                    {"ts", 1},
                    {"dur", 1},
                    {"args", Json::object()}}};
    std::int64_t at = 10;
    for (const auto& layer : bound_["layers"]) {
      if (layer["status"] == "free") continue;
      const auto time = static_cast<std::int64_t>(layer["latency_us"].get<double>() / 2) + 1;
      Json arguments = {{"op_name", layer["op"]}, {"node_index", "1"}, {"provider", "CPUExecutionProvider"}};
      if (!statistics.is_null()) arguments["thread_scheduling_stats"] = statistics;
      events.push_back({{"cat", "Node"},
                        {"name", layer["name"].get<std::string>() + "_kernel_time"},
                        {"ts", at},
                        {"dur", time},
                        {"args", arguments}});
      at += time;
    }
    events.push_back(
        {{"cat", "Session"}, {"name", "model_run"}, {"ts", 10}, {"dur", at - 10}, {"args", Json::object()}});
    return program_.Write(name, events.dump());
  }
};

TEST_F(CompareThreads, AreReadFromTheProfileElseTheyAreSaidToBeAssumed) {
  const Json two = {{"main_thread", {{"thread_pool_name", "session-1-intra-op"}}},
                    {"sub_threads", {{"1404", Json::object()}}}};
  const Ended told = Compare({"--run", WriteProfile("two.json", two)});
  ASSERT_EQ(told.exit_code, 0) << told.errors;
  EXPECT_THAT(told.output, HasSubstr("(2 threads, "));
  EXPECT_THAT(told.output, HasSubstr("--threads 2` measures it"));
  const Ended one = Compare({"--run", WriteProfile("one.json", "")});
  EXPECT_THAT(one.output, HasSubstr("(1 thread, "));
  EXPECT_THAT(one.output, Not(HasSubstr("does not record its number of threads")));
  // One thread is told, so that the bound is too high; where it is a guess, nothing is accused.
  EXPECT_THAT(one.output, HasSubstr("under-bound"));
  const Ended none = Compare({"--run", WriteProfile("none.json", nullptr)});
  EXPECT_THAT(none.output, HasSubstr("(1 thread assumed, "));
  EXPECT_THAT(none.output, ContainsRegex("note: the profile does not record its number of threads: assuming 1 thread; "
                                         "--threads N overrides it"));
  EXPECT_THAT(none.output, Not(HasSubstr("under-bound")));
  const Ended person = Compare({"--run", WriteProfile("none.json", nullptr), "--threads", "1"});
  EXPECT_THAT(person.output, HasSubstr("under-bound"));
  EXPECT_THAT(person.output, Not(HasSubstr("does not record its number of threads")));
}

TEST_F(CompareWithBound, AStatedAlignmentOfSeveralRunsGoesToThoseThatHaveItsLayers) {
  const auto run = [&](const char* name, const char* layer) {
    return program_.Write(name, fmt::format(R"({{"schema":"infimum.run/1","framework":"engine","threads":1,
"end_to_end":[{{"samples_us":[50]}}],"layers":[{{"name":"{}","op":"Myelin","samples_us":[40]}}]}})",
                                            layer));
  };
  const std::string a = run("a.json", "fused_1"), b = run("b.json", "myelin_9");
  const auto rows = [&](const char* engine) {
    return program_.Write("al.json", fmt::format(R"({{"schema":"infimum.alignment/1",
"rows":[{{"engine_layers":["{}"],"nodes":["n0"]}}]}})",
                                                 engine));
  };
  const Ended json = Compare({"--run", a, "--run", b, "--alignment", rows("myelin_9"), "--format", "json"});
  ASSERT_EQ(json.exit_code, 0) << json.errors;
  const Json document = Json::parse(json.output);
  EXPECT_EQ(document["layers"][0]["runs"][0]["aligned_by"], "none");
  EXPECT_EQ(document["layers"][0]["runs"][1]["aligned_by"], "stated");
  const auto has = [](const Json& remarks, const std::string& text) {
    return std::find(remarks.begin(), remarks.end(), text) != remarks.end();
  };
  EXPECT_TRUE(has(document["runs"][0]["remarks"], "--alignment names none of its layers"));
  EXPECT_TRUE(has(document["runs"][1]["remarks"], "1 of the 1 row in --alignment is about its layers"));
  const Ended nobody = Compare({"--run", a, "--run", b, "--alignment", rows("zz")});
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.errors, HasSubstr("al.json: row 1: no run has all of its engine layers, zz"));
  const Ended folder = Compare({"--run", a, "--alignment", program_.folder()});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_THAT(folder.errors, HasSubstr("a folder: --alignment wants a file"));
}

TEST_F(CompareWithBound, WhatIsNotKnownIsNullAndNoNegativeStep) {
  const std::string run = program_.Write("zz.json", R"({"schema":"infimum.run/1","framework":"engine","threads":1,
"contract":"strict-f32","end_to_end":[{"samples_us":[5000]}],"layers":[{"name":"zz","op":"Einsum","samples_us":[4000]}]})");
  // A floor and no bound, and nothing of the run at the model's layers.
  const std::string output =
      program_.Run({"compare", model_, "--db", "none.db", "--device", "EPYC 9654", "--run", run, "--format", "json"});
  const Json document = Json::parse(output);
  double sum = document["floor_us"].is_null() ? 0 : document["floor_us"].get<double>();
  for (const Json& step : document["waterfall"]) {
    if (step["step"] == "above-floor") {
      EXPECT_GE(step["latency_us"], 0);
    }
    sum += step["latency_us"].get<double>();
  }
  EXPECT_NEAR(sum, 5000, 1e-6);
  const std::string unknown = program_.Run(
      {"compare", model_, "--db", "none.db", "--device", "no such device", "--run", run, "--format", "json"});
  EXPECT_TRUE(Json::parse(unknown)["floor_us"].is_null());
  EXPECT_TRUE(Json::parse(unknown)["runs"][0]["floor_us"].is_null());
  EXPECT_EQ(Json::parse(unknown)["gates"], Json::array());
}

// Every text of an input reaches a terminal escaped, and nothing of it moves the cursor.
TEST_F(CompareWithBound, NoTextOfAnInputIsAnEscapeSequence) {
  Json run = Json::parse(std::ifstream(WriteRun("plain.json", "n0", 400, 250)));
  const std::string evil = "\x1b[31mred\x07\xe2\x80\xae";
  run["framework"] = evil;
  run["framework_version"] = evil;
  run["warnings"] = {evil + "\nnext"};
  run["settings"] = {{"device_name", evil}};
  run["layers"][0]["algorithm"] = evil;
  run["layers"].push_back({{"name", evil}, {"op", evil}, {"samples_us", {90}}});
  const std::string path = program_.Write(evil + ".json", run.dump());
  run["threads"] = 2;
  run["device"] = evil;
  const std::string other = program_.Write("o" + evil + ".json", run.dump());
  const std::vector<std::vector<std::string>> commands = {
      {"compare", "--run", path},
      {"compare", "--run", path, "--run", other, "--baseline", other},
      {"compare", model_, "--backend", "fake", "--run", path, "--device", bound_["device"], "--max-gap", "1.5"},
      {"compare", model_, "--backend", "fake", "--run", path, "--run", other},
      {"compare", model_, "--run", path, "--alignment", path},
      {"import", path, "--model", model_},
      {"import", path, "--model", model_, "--device", bound_["device"]},
      {"import", evil},
      {"bound", evil},
      {evil}};
  for (const std::vector<std::string>& command : commands) {
    const Ended ended = program_.Infimum(command);
    EXPECT_FALSE((ended.output + ended.errors).empty());
    for (const char* raw : {"\x1b", "\x07", "\xe2\x80\xae"})
      EXPECT_EQ((ended.output + ended.errors).find(raw), std::string::npos)
          << ::testing::PrintToString(command) << ended.output << ended.errors;
  }
}

}  // namespace
}  // namespace infimum::testing
