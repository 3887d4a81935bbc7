// The gates of infimum compare: what passes, what fails, and what is no pass because it cannot be judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/commands/compare_with_bound.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class CompareGates : public CompareWithBound {
 protected:
  // What a gate could not judge is said, and is an error of one line for each.
  void ExpectNotJudged(const Ended& ended, const std::string& why) {
    EXPECT_EQ(ended.exit_code, 1) << ended.output;
    EXPECT_THAT(ended.errors, HasSubstr(why));
    EXPECT_THAT(ended.errors, HasSubstr("infimum: error: "));
    EXPECT_THAT(ended.output, HasSubstr("NOT JUDGED: "));
  }

  // A run of `count` inferences under a profiler that alternate around this time, and one end-to-end sample.
  std::string WriteProfiled(const char* name, double microseconds, int count) {
    Json samples = Json::array();
    for (int i = 0; i < count; ++i) samples.push_back(microseconds * (i % 2 == 0 ? 1.001 : 0.999));
    return WriteRun(name, "", 0, 0, {0}, {{"profiled_us", samples}});
  }
};

TEST_F(CompareGates, EndWithThreeWhereOneDoesNotHold) {
  const std::string run = WriteRun("now.json", "n0", 400, 250);
  const Ended within = Compare({"--run", run, "--max-gap", "100"});
  EXPECT_EQ(within.exit_code, 0) << within.errors;
  EXPECT_THAT(within.output, HasSubstr("max-gap: held: now.json: takes"));
  const Ended above = Compare({"--run", run, "--max-gap", "1.0001"});
  EXPECT_EQ(above.exit_code, 3) << above.errors;
  EXPECT_THAT(above.output, HasSubstr("max-gap: DID NOT HOLD: now.json: takes"));
  const std::string faster = WriteRun("before.json", "", 0, 0), noisy = WriteRun("noisy.json", "", 0, 0, {0, 400, 900});
  const Ended slower = Compare({"--run", run, "--baseline", faster, "--threshold", "1"});
  EXPECT_EQ(slower.exit_code, 3) << slower.errors;
  EXPECT_THAT(slower.output, HasSubstr("baseline: DID NOT HOLD: now.json: slower: "));
  EXPECT_EQ(Compare({"--run", faster, "--baseline", run, "--threshold", "1"}).exit_code, 0);
  // A spread that is known, and too wide: said, and no failure.
  const Ended undecided = Compare({"--run", run, "--baseline", noisy, "--threshold", "1"});
  EXPECT_EQ(undecided.exit_code, 0);
  EXPECT_THAT(undecided.output, HasSubstr("held: now.json: undecided: "));
  EXPECT_THAT(undecided.output, HasSubstr("cannot decide, more may"));
  // Without a model too, and in every format.
  const Ended alone =
      program_.Infimum({"compare", "--run", run, "--baseline", faster, "--threshold", "1", "--format", "json"});
  EXPECT_EQ(alone.exit_code, 3);
  EXPECT_THAT(alone.errors, HasSubstr("slower"));
  const Json gate = Json::parse(alone.output)["gates"][0];
  EXPECT_EQ(gate["verdict"], "slower");
  EXPECT_EQ(gate["held"], false);
}

TEST_F(CompareGates, ANoisyRunIsNoTimeAndNoBaseline) {
  const std::string reason = "only 3 of 812 inferences had their cores";
  const std::string noisy = WriteRun("noisy.json", "", 0, 9000, {0, 0, 0}, {{"noisy", reason}});
  const std::string quiet = WriteRun("quiet.json", "", 0, 0);
  ExpectNotJudged(Compare({"--run", noisy, "--max-gap", "100"}), "the run is noisy: " + reason);
  ExpectNotJudged(Compare({"--run", noisy, "--baseline", quiet}), "noisy.json is noisy: " + reason);
  ExpectNotJudged(Compare({"--run", quiet, "--baseline", noisy}), "noisy.json is noisy: " + reason);
  const Ended shown = Compare({"--run", noisy});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  const std::string headline = shown.output.substr(0, shown.output.find("\n\n"));
  EXPECT_THAT(headline, HasSubstr("it is noisy"));
  EXPECT_THAT(headline, Not(HasSubstr("times the bound")));
}

TEST_F(CompareGates, ANoisyRunMakesNoHeadlineOfAReport) {
  const std::string sha =
      Json::parse(program_.Infimum({"inspect", model_, "--format", "json"}).output)["model"]["sha256"];
  const Json patch = {{"model_sha256", sha}, {"framework", "onnxruntime"}, {"device", bound_["device"]}};
  Json noisy = patch;
  noisy["noisy"] = "other programs ran";
  const auto headline = [&](const Json& told) -> std::string {
    program_.Run({"import", WriteRun("run.json", "", 0, 9e6, {0, 0, 0}, told)});
    program_.Run({"report", model_, "--backend", "fake", "-o", "r.json"});
    return Json::parse(program_.Read("r.json"))["headline"];
  };
  EXPECT_THAT(headline(noisy), Not(HasSubstr("onnxruntime")));
  EXPECT_THAT(headline(patch), HasSubstr("onnxruntime")) << "the same run on a quiet machine";
}

TEST_F(CompareGates, WithoutABoundNothingIsJudgedAndTheReasonIsTheRightOne) {
  const std::string run = WriteRun("r.json", "", 0, 0, {0, 0, 0}, {{"model_sha256", std::string(64, '0')}});
  EXPECT_EQ(program_.Infimum({"compare", "--run", run, "--max-gap", "1.5"}).exit_code, 2);
  const Ended no_bound =
      program_.Infimum({"compare", model_, "--backend", "fake", "--db", "other.db", "--run", run, "--max-gap", "1.5"});
  ExpectNotJudged(no_bound, "--max-gap needs a bound, and there is none: no floor and no bound: device 'cpu/infimum");
  // On another number of threads nothing was measured either.
  ExpectNotJudged(Compare({"--run", WriteRun("r8.json", "", 0, 0, {0, 0, 0}, {{"threads", 8}}), "--max-gap", "1.5"}),
                  "--max-gap needs a bound, and there is none: no ");
}

TEST_F(CompareGates, ARunOfSomethingElseDoesNotPass) {
  const auto judged = [&](const Json& patch, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--run", WriteRun("r.json", "", 0, 0, {0, 0, 0}, patch), "--max-gap", "100"});
    return Compare(more);
  };
  EXPECT_EQ(judged(nullptr).exit_code, 0);
  ExpectNotJudged(judged({{"model_sha256", std::string(64, '0')}}), "of another file than this model");
  ExpectNotJudged(judged({{"contract", "bf16"}}), "under the contract bf16, the bound is under strict-f32");
  ExpectNotJudged(judged({{"threads", nullptr}}), "give --threads N");
  EXPECT_EQ(judged({{"threads", nullptr}}, {"--threads", "1"}).exit_code, 0);
  ExpectNotJudged(judged({{"threads", 2}}, {"--threads", "1"}), "the run had 2 threads, and --threads asks for");
  // Its layers are nobody's, or only one of many.
  const Json foreign = {{{"name", "zz"}, {"op", "Einsum"}, {"samples_us", {layers_us_}}}};
  ExpectNotJudged(judged({{"layers", foreign}}), "matched no layer of it");
  const Json one = {{{"name", "n0"}, {"op", "Conv"}, {"nodes", {"n0"}}, {"samples_us", {200}}}};
  ExpectNotJudged(judged({{"layers", one}}), "needs a run of the whole model, and it shows nothing of");
}

TEST_F(CompareGates, ARunThatIsFasterThanPossibleDoesNotPass) {
  const auto judged = [&](double microseconds) {
    const Json times = {{{"samples_us", {microseconds}}}, {{"samples_us", {microseconds}}}};
    return Compare({"--run", WriteRun("r.json", "", 0, 0, {0}, {{"end_to_end", times}}), "--max-gap", "100"});
  };
  const double floor = bound_["floor_us"], bound = Bound("fused-parallel");
  ASSERT_LT(floor, bound / 2);
  ExpectNotJudged(judged(floor / 2), "a program that reads every weight once needs");
  ExpectNotJudged(judged(bound / 2), "0.500 times the bound");
  EXPECT_EQ(judged(bound * 1.01).exit_code, 0);
}

TEST_F(CompareGates, ARunWhoseTypesAreNarrowerIsNotHeldAgainstTheBound) {
  Json run = Json::parse(std::ifstream(WriteRun("r.json", "", 0, 0)));
  run.erase("contract");
  for (Json& layer : run["layers"]) layer["input_tensors"] = {{{"dtype", "f16"}, {"dims", {1}}, {"layout", ""}}};
  const Ended ended = Compare({"--run", program_.Write("r.json", run.dump()), "--max-gap", "100"});
  ExpectNotJudged(ended, "compute in narrower types than the bound's (strict-f32)");
  for (Json& layer : run["layers"]) layer["input_tensors"][0]["dtype"] = "f32";
  EXPECT_EQ(Compare({"--run", program_.Write("r.json", run.dump()), "--max-gap", "100"}).exit_code, 0);
}

TEST_F(CompareGates, EveryRunIsHeldAgainstTheBaseline) {
  const std::string good = WriteRun("good.json", "", 0, 0), slow = WriteRun("slow.json", "n0", 900, 0);
  for (const bool with_model : {true, false}) {
    std::vector<std::string> arguments = {"compare"};
    if (with_model) arguments.insert(arguments.end(), {model_, "--backend", "fake"});
    arguments.insert(arguments.end(), {"--run", good, "--run", slow, "--baseline", good, "--format", "json"});
    const Ended ended = program_.Infimum(arguments);
    EXPECT_EQ(ended.exit_code, 3) << ended.errors;
    const Json gates = Json::parse(ended.output)["gates"];
    ASSERT_EQ(gates.size(), 2u);
    EXPECT_EQ(gates[0]["verdict"], "same");
    EXPECT_EQ(gates[1]["verdict"], "slower");
    EXPECT_THAT(gates[1]["run"].get<std::string>(), HasSubstr("slow.json"));
  }
}

TEST_F(CompareGates, ABaselineOfSomethingElseIsRefusedWithWhatDiffers) {
  const Json told = {{"model_sha256", std::string(64, '1')}, {"device", "cpu/a"}, {"dims", {{"batch", 8}}}};
  const std::string run = WriteRun("r.json", "", 0, 0, {0, 0, 0}, told);
  const auto against = [&](Json patch) {
    Json all = told;
    all.merge_patch(patch);
    return program_.Infimum({"compare", "--run", run, "--baseline", WriteRun("b.json", "", 0, 0, {0, 0, 0}, all)});
  };
  EXPECT_EQ(against(Json::object()).exit_code, 0);
  ExpectNotJudged(against({{"model_sha256", std::string(64, '2')}}),
                  "is of another model file (SHA-256 111111111111...");
  ExpectNotJudged(against({{"device", "cpu/b"}}), "ran on cpu/a instead of cpu/b");
  ExpectNotJudged(against({{"threads", 4}}), "ran on 1 thread instead of 4");
  ExpectNotJudged(against({{"contract", "bf16"}}), "kept the contract strict-f32 instead of bf16");
  ExpectNotJudged(against({{"dims", {{"batch", 1}}}}), "has batch=8 instead of 1");
  // What one of them does not tell is no difference.
  EXPECT_EQ(against({{"model_sha256", ""}, {"device", ""}, {"threads", nullptr}, {"contract", ""}, {"dims", nullptr}})
                .exit_code,
            0);
}

TEST_F(CompareGates, WhoTimedEndToEndIsNotAnsweredByTheProfiler) {
  const std::string before = WriteProfiled("before.json", 1000, 12);
  const auto against = [&](const std::string& run) {
    return program_.Infimum({"compare", "--run", run, "--baseline", before});
  };
  // Ten times as long end to end, and as fast as before under the profiler.
  ExpectNotJudged(against(WriteRun("slow.json", "", 0, 1e6, {0}, {{"profiled_us", {1000, 1001, 1000}}})),
                  "needs a spread to tell a difference from noise");
  const Json nothing = {{{"samples_us", {0, 0}}}};
  const Ended zero = against(WriteRun("zero.json", "", 0, 0, {0}, {{"end_to_end", nothing}, {"profiled_us", {0}}}));
  ExpectNotJudged(zero, "this run holds inferences of 0 µs");
  EXPECT_THAT(zero.output + zero.errors, Not(HasSubstr("inf %")));
  EXPECT_THAT(zero.output + zero.errors, Not(HasSubstr("nan")));
}

// ONNX Runtime's own profile: one process, and a sample for each inference.
TEST(CompareGatesOfProfiles, APlainProfileCanFail) {
  const ProgramTest program;
  const auto profile = [&](const char* name, int microseconds) {
    std::ostringstream text;
    text << R"([{"cat":"Session","ph":"X","name":"model_loading_uri","dur":1,"ts":1,"args":{}})";
    for (int i = 0, at = 10; i < 12; ++i, at += microseconds + 100) {
      text << R"(,{"cat":"Node","name":"n0_kernel_time","dur":)" << microseconds << R"(,"ts":)" << at
           << R"(,"args":{"op_name":"Conv","node_index":"1","provider":"CPUExecutionProvider"}})"
           << R"(,{"cat":"Session","name":"model_run","dur":)" << microseconds + 5 + i % 2 << R"(,"ts":)" << at
           << R"(,"args":{}})";
    }
    return program.Write(name, text.str() + "]");
  };
  const std::string before = profile("before.json", 1000);
  EXPECT_EQ(program.Infimum({"compare", "--run", profile("now.json", 1100), "--baseline", before}).exit_code, 3);
  program.Run({"compare", "--run", before, "--baseline", before});
}

TEST_F(CompareGates, ABaselineWhoseLayersShowThatItIsOfSomethingElseIsNotJudged) {
  const std::string now = WriteRun("now.json", "", 0, 0);
  const auto with_layers = [&](const char* name, const auto& change) {
    Json run = Json::parse(program_.Read(WriteRun(name, "", 0, 0)));
    for (Json& layer : run["layers"]) change(layer);
    return program_.Write(name, run.dump());
  };
  const std::string other = with_layers("other.json", [](Json& layer) {
    layer["name"] = "LSTM of " + layer["name"].get<std::string>();
    layer["op"] = "LSTM";
    layer["nodes"] = Json::array();
  });
  ExpectNotJudged(Compare({"--run", now, "--baseline", other}), "as runs of two models would");
  // An engine whose names say nothing is as strange to the model on both sides.
  EXPECT_EQ(Compare({"--run", other, "--baseline", other}).exit_code, 0);
  const auto typed = [](const char* type) {
    return [type](Json& layer) { layer["input_tensors"] = {{{"dtype", type}, {"dims", {1}}}}; };
  };
  const std::string half = with_layers("half.json", typed("f16")), whole = with_layers("whole.json", typed("f32"));
  ExpectNotJudged(Compare({"--run", whole, "--baseline", half}), "reads values of 4 bytes at the narrowest");
  EXPECT_EQ(Compare({"--run", now, "--baseline", half}).exit_code, 0) << "one does not tell its types";
  const auto sized = [&](const char* name, int extent) {
    return with_layers(name, [extent](Json& layer) {
      layer["input_tensors"] = {{{"dtype", "f32"}, {"dims", {extent, 8}}}};
    });
  };
  const std::string small = sized("small.json", 1), large = sized("large.json", 2);
  ExpectNotJudged(program_.Infimum({"compare", "--run", small, "--baseline", large}), "read other shapes in");
  program_.Run({"compare", "--run", small, "--baseline", small});
  // Layers of twice the size under the same names.
  const std::string larger = with_layers("larger.json", [](Json& layer) {
    layer["output_tensors"] = {{{"dtype", "f32"}, {"dims", {1 << 26}}}};
  });
  ExpectNotJudged(Compare({"--run", larger, "--max-gap", "100"}), "make tensors of other sizes");
  // Times of layers alone are less than an inference.
  std::string text = R"([{"cat":"Session","ph":"X","name":"model_loading_uri","dur":1,"ts":1,"args":{}})";
  for (const auto& layer : bound_["layers"])
    if (layer["status"] != "free")
      text += R"(,{"cat":"Node","ph":"X","name":")" + layer["name"].get<std::string>() +
              R"(_kernel_time","dur":3000,"ts":2,"args":{"op_name":")" + layer["op"].get<std::string>() +
              R"(","node_index":"1","provider":"CPUExecutionProvider","thread_scheduling_stats":""}})";
  ExpectNotJudged(Compare({"--run", program_.Write("nodes.json", text + "]"), "--max-gap", "1000000"}),
                  "needs the time of a whole inference");
}

TEST_F(CompareGates, NumbersThatAreNoneAreUsageErrors) {
  const std::string run = WriteRun("r.json", "", 0, 0);
  for (const char* number : {"nan", "-nan", "inf", "0.5", "1e7", "x"})
    EXPECT_EQ(Compare({"--run", run, "--max-gap", number}).exit_code, 2) << number;
  for (const char* number : {"nan", "inf", "0", "-5"})
    EXPECT_EQ(Compare({"--run", run, "--baseline", run, "--threshold", number}).exit_code, 2) << number;
  for (const char* option : {"--rows", "--findings"}) {
    EXPECT_EQ(Compare({"--run", run, option, "-1"}).exit_code, 2) << option;
    EXPECT_EQ(Compare({"--run", run, option, "0"}).exit_code, 0) << option;
  }
}

}  // namespace
}  // namespace infimum::testing
