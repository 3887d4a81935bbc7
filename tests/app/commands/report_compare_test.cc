// infimum report compare: runs of SqueezeNet on the fake machine whose times are known, and what is no comparison.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/app/commands/compare_with_bound.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

class ReportCompare : public CompareWithBound {
 protected:
  Ended Report(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"report", "compare", model_, "--backend", "fake"});
    return program_.Infimum(arguments);
  }

  Json JsonOf(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Ended ended = Report(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return Json::parse(ended.output, nullptr, false);
  }

  // The first layer that takes time.
  std::string FirstLayer() const {
    for (const Json& layer : bound_["layers"])
      if (layer["status"] != "free") return layer["name"];
    return "";
  }
};

TEST_F(ReportCompare, BeforeAndAfterIsAVerdictWithItsUncertainty) {
  const std::string before = WriteRun("before.json", "", 0, 0, {0, 1, 2});
  const double whole = layers_us_;
  const std::string after = WriteRun("after.json", FirstLayer(), whole, 0, {0, 1, 2});
  const Json slower = JsonOf({"--run", before, "--run", after});
  EXPECT_EQ(slower["schema"], "infimum.comparison/1");
  EXPECT_EQ(slower["axis"], "change");
  EXPECT_EQ(slower["quantity"], "end to end");
  EXPECT_EQ(slower["baseline"], "before.json");
  const Json& difference = slower["sides"][1]["against_baseline"];
  EXPECT_EQ(difference["verdict"], "slower");
  EXPECT_NEAR(difference["ratio"], 2, 0.01);
  EXPECT_LT(difference["between"][0], difference["ratio"]);
  EXPECT_GT(difference["between"][1], difference["ratio"]);
  ASSERT_EQ(slower["regressions"].size(), 1u);
  EXPECT_EQ(slower["regressions"][0]["layer"], FirstLayer());
  EXPECT_NEAR(slower["regressions"][0]["cost_us"], whole, 1e-6);
  EXPECT_THAT(slower["headline"].get<std::string>(), HasSubstr("after.json is slower than before.json"));

  const Json faster = JsonOf({"--run", after, "--run", before});
  EXPECT_EQ(faster["sides"][1]["against_baseline"]["verdict"], "faster");
  EXPECT_EQ(faster["regressions"].size(), 0u);
  EXPECT_EQ(faster["gains"].size(), 1u);
  const Json same = JsonOf({"--run", before, "--run", WriteRun("again.json", "", 0, 0, {0, 1, 2})});
  EXPECT_EQ(same["sides"][1]["against_baseline"]["verdict"], "same");
  const Json undecided = JsonOf({"--run", before, "--run", WriteRun("noisy.json", "", 0, 0, {0, whole, 3 * whole})});
  EXPECT_EQ(undecided["sides"][1]["against_baseline"]["verdict"], "undecided");
}

TEST_F(ReportCompare, ANoisyRunMakesNoVerdict) {
  const std::string quiet = WriteRun("quiet.json", "", 0, 0, {0, 1, 2});
  const std::string noisy =
      WriteRun("noisy.json", "", 0, 5000, {0, 1, 2}, {{"noisy", "only 3 of 812 inferences had their cores"}});
  const Ended text = Report({"--run", quiet, "--run", noisy});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("no verdict: noisy.json is noisy: only 3 of 812 inferences had their cores"));
  EXPECT_THAT(text.output, Not(HasSubstr("is faster than")));
  const Ended alone = program_.Infimum({"compare", "--run", noisy});
  EXPECT_THAT(alone.output, HasSubstr("the run is noisy: only 3 of 812"));
}

TEST_F(ReportCompare, RunsOfTheStoreStandBesideFiles) {
  Json run = Json::parse(program_.Read(std::filesystem::path(WriteRun("stored.json", "", 0, 0)).filename()));
  run["model_sha256"] = bound_["model"]["sha256"];
  ASSERT_EQ(program_
                .Infimum({"import", program_.Write("stored.json", run.dump()), "--model", model_, "--device",
                          bound_["device"]})
                .exit_code,
            0);
  const std::string file = WriteRun("file.json", FirstLayer(), 5000, 0);
  const Json report = JsonOf({"--by", "change", "--run", file, "--framework", "engine", "--device", bound_["device"]});
  EXPECT_EQ(report["sides"][1]["label"], "engine");
  EXPECT_EQ(report["sides"][1]["against_baseline"]["verdict"], "faster");
  const Ended none = Report({"--framework", "pytorch", "--run", file, "--device", bound_["device"]});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.errors, HasSubstr("holds no run of this model by pytorch"));
}

// Question 7: one table per node over several engines, through fusion.
TEST_F(ReportCompare, RunsOfSeveralEnginesStandInOneTableThroughFusion) {
  const std::string apart = WriteRun("apart.json", "", 0, 0);
  Json run = Json::parse(program_.Read("apart.json"));
  Json layers = Json::array();
  // The other engine runs the first two layers as one, in half their time.
  Json first = run["layers"][0];
  const double both = run["layers"][0]["samples_us"][0].get<double>() + run["layers"][1]["samples_us"][0].get<double>();
  const std::string name = run["layers"][0]["name"], second = run["layers"][1]["name"];
  first["nodes"] = {name, second};
  first["samples_us"] = {both / 2};
  layers.push_back(first);
  for (std::size_t i = 2; i < run["layers"].size(); ++i) layers.push_back(run["layers"][i]);
  run["layers"] = layers;
  run["framework"] = "other";
  const Json report = JsonOf({"--by", "framework", "--run", apart, "--run", program_.Write("fused.json", run.dump())});
  EXPECT_EQ(report["sides"][0]["label"], "engine 1");
  EXPECT_EQ(report["sides"][1]["label"], "other 1");
  bool is_found = false;
  for (const Json& layer : report["layers"]) {
    if (layer["uses"][0]["layer"] != name + " (+1)") continue;
    is_found = true;
    EXPECT_NEAR(layer["sides"][0]["latency_us"], both, 1e-6);
    EXPECT_NEAR(layer["sides"][1]["latency_us"], both / 2, 1e-6);
  }
  EXPECT_TRUE(is_found);
  const Json& node = report["nodes"][1];
  EXPECT_EQ(node["name"], second);
  EXPECT_FALSE(node["sides"][0]["measured_us"].is_null());
  EXPECT_TRUE(node["sides"][1]["measured_us"].is_null());
  EXPECT_EQ(node["sides"][1]["within"], name);
}

TEST_F(ReportCompare, RunsOfSeveralPrecisionsAreCalledByThem) {
  const std::string wide = WriteRun("wide.json", "", 0, 0);
  const Json narrow = {{"contract", "f16"}, {"model_sha256", "another"}};
  const std::string half = WriteRun("half.json", FirstLayer(), 5000, 0, {0, 0, 0}, narrow);
  const Json report = JsonOf({"--by", "precision", "--run", wide, "--run", half});
  EXPECT_EQ(report["sides"][0]["label"], "strict-f32");
  EXPECT_EQ(report["sides"][1]["label"], "f16");
  EXPECT_EQ(report["sides"][1]["against_baseline"]["verdict"], "slower");
  // Why it does not pay is a finding of the narrower run.
  EXPECT_THAT(report["sides"][1]["findings"].dump(), HasSubstr("low-precision-does-not-pay"));

  // What differs says what the comparison is by.
  EXPECT_EQ(JsonOf({"--run", wide, "--run", half})["axis"], "precision");
  const std::string third = WriteRun("third.json", "", 0, 0, {0, 0, 0}, {{"contract", "bf16"}, {"framework", "other"}});
  const Json of_three = JsonOf({"--run", wide, "--run", half, "--run", third});
  EXPECT_EQ(of_three["axis"], "precision");
  EXPECT_THAT(of_three["headline"].get<std::string>(), HasSubstr(" f16 does not pay: "));
  const Json twice = JsonOf({"--run", wide, "--run", wide});
  EXPECT_EQ(twice["axis"], "change");
  EXPECT_EQ(twice["sides"][0]["label"], wide);
  EXPECT_EQ(twice["sides"][1]["label"], wide + " #2");
  const std::string other = WriteRun("other.json", "", 0, 0, {0, 0, 0}, {{"framework", "other"}});
  EXPECT_EQ(JsonOf({"--run", wide, "--run", other})["axis"], "framework");
}

TEST_F(ReportCompare, FewRepetitionsThatLeaveItOpenAreNamedWithTheWayOut) {
  const std::string before = WriteRun("before.json", "", 0, 0, {0, 400});
  const std::string after = WriteRun("after.json", FirstLayer(), 300, 0, {0, 500});
  const Json open = JsonOf({"--run", before, "--run", after});
  EXPECT_EQ(open["sides"][1]["against_baseline"]["verdict"], "undecided");
  ASSERT_EQ(open["cautions"].size(), 1u);
  EXPECT_THAT(open["cautions"][0].get<std::string>(), HasSubstr("with 2 and 2 repetitions: `infimum measure"));
  const std::string far = WriteRun("far.json", FirstLayer(), 10 * layers_us_, 0, {0, 0});
  const std::string same = WriteRun("same.json", "", 0, 0, {0, 0});
  EXPECT_EQ(JsonOf({"--run", same, "--run", far})["cautions"].size(), 0u);
}

TEST_F(ReportCompare, IsWrittenInEveryForm) {
  const std::string before = WriteRun("before.json", "", 0, 0);
  const std::string after = WriteRun("after.json", FirstLayer(), 50, 0);
  const struct {
    const char *file, *begins;
  } kForms[] = {{"c.html", "<!DOCTYPE html>"}, {"c.md", "# "}, {"c.json", "{\n"}, {"c.csv", "layer,model,"}};
  for (const auto& [file, begins] : kForms) {
    const Ended ended = Report({"--run", before, "--run", after, "-o", file});
    ASSERT_EQ(ended.exit_code, 0) << ended.errors;
    EXPECT_THAT(ended.errors, HasSubstr(std::string("wrote ") + file));
    EXPECT_THAT(program_.Read(file), StartsWith(begins));
  }
  EXPECT_THAT(Report({"--run", before, "--run", after}).output, HasSubstr("\nTotals\n"));
  const Ended wrong = Report({"--run", before, "--run", after, "-o", "c.pdf"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.errors, HasSubstr("a report is written as .html, .md, .json or .csv"));
}

// No clock is read: the same data make the same bytes a second later.
TEST_F(ReportCompare, MadeTwiceItIsTheSameBytes) {
  program_.Run({"analyze", model_, "--backend", "fake", "--framework", "none", "--contract", "f16"});
  const std::string before = WriteRun("before.json", "", 0, 0), after = WriteRun("after.json", FirstLayer(), 50, 0);
  const std::vector<std::vector<std::string>> asked = {
      {"--by", "contract", "--contract", "strict-f32", "--contract", "f16"}, {"--run", before, "--run", after}};
  const auto write_all = [&] {
    std::vector<std::string> texts;
    for (const std::vector<std::string>& sides : asked) {
      for (const char* form : {"c.html", "c.md", "c.json", "c.csv"}) {
        std::vector<std::string> arguments = sides;
        arguments.insert(arguments.end(), {"-o", form});
        const Ended ended = Report(arguments);
        EXPECT_EQ(ended.exit_code, 0) << ended.errors;
        texts.push_back(program_.Read(form));
      }
    }
    return texts;
  };
  const std::vector<std::string> texts = write_all();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(write_all(), texts);
  const Json bounds = Json::parse(texts[2]), runs = Json::parse(texts[6]);
  ASSERT_TRUE(bounds["data_as_of"].is_string());
  const std::string data = "Data of " + bounds["data_as_of"].get<std::string>();
  EXPECT_THAT(texts[0], HasSubstr(data + ". Written by infimum "));
  EXPECT_THAT(texts[1], HasSubstr(data + ", by infimum "));
  EXPECT_TRUE(runs["data_as_of"].is_null());  // files of runs do not tell
  EXPECT_THAT(texts[4], Not(HasSubstr("Data of ")));
  EXPECT_THAT(texts[5], HasSubstr("\nWritten by infimum "));
}

TEST_F(ReportCompare, OfTheStoreItTakesTheDevicesThatAreThere) {
  const Ended one = Report({});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_THAT(one.errors, HasSubstr("--by device needs two sides, and 1 is there"));
}

TEST_F(ReportCompare, OptionsOfAnotherAxisAreUsageErrors) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--by", "device", "--run", "a", "--run", "b"},
                                             {"--by", "contract", "--library", "cudnn"},
                                             {"--by", "device", "--contract", "f16", "--contract", "bf16"},
                                             {"--by", "color"},
                                             {"--contract", "f17"},
                                             {"--threshold", "0"}}) {
    const Ended ended = Report(arguments);
    EXPECT_EQ(ended.exit_code, 2) << ::testing::PrintToString(arguments) << ended.errors;
    EXPECT_THAT(ended.errors, StartsWith("infimum: error: "));
  }
  EXPECT_THAT(Report({"--bye", "device"}).errors, HasSubstr("did you mean '--by'?"));
}

TEST_F(ReportCompare, AReportOfOneModelIsAsEver) {
  program_.Run({"report", model_, "--backend", "fake", "-o", "one.html"});
  EXPECT_THAT(program_.Read("one.html"), StartsWith("<!DOCTYPE html>"));
  const Ended none = program_.Infimum({"report"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("MODEL is required"));
  const Ended alone = program_.Infimum({"report", "compare"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.errors, HasSubstr("infimum report compare --help"));
  // A file of this name is a path.
  const Ended file = program_.Infimum({"report", "./compare", "--backend", "fake"});
  EXPECT_EQ(file.exit_code, 1);
  EXPECT_THAT(file.errors, HasSubstr("./compare"));
}

TEST_F(ReportCompare, NoTextOfARunIsAnEscapeSequenceOrAnElement) {
  const std::string evil = "<img src=x onerror=alert(1)>\x1b[31m\x07";
  Json run = Json::parse(program_.Read(std::filesystem::path(WriteRun("plain.json", "", 0, 0)).filename()));
  run["framework"] = evil;
  run["layers"].push_back({{"name", evil}, {"op", evil}, {"samples_us", {90}}});
  run["layers"][0]["algorithm"] = evil;
  const std::string one = program_.Write("one.json", run.dump());
  run["layers"][0]["samples_us"] = {5000};
  const std::string two = program_.Write("two.json", run.dump());
  for (const char* axis : {"change", "framework", "precision"}) {
    const Ended text = Report({"--by", axis, "--run", one, "--run", two});
    ASSERT_EQ(text.exit_code, 0) << text.errors;
    EXPECT_THAT(text.output + text.errors, Not(HasSubstr("\x1b")));
    const Ended page = Report({"--by", axis, "--run", one, "--run", two, "-o", "page.html"});
    ASSERT_EQ(page.exit_code, 0) << page.errors;
    EXPECT_THAT(program_.Read("page.html"), Not(HasSubstr("<img")));
  }
}

}  // namespace
}  // namespace infimum::testing
