// report compare --anonymize: on every axis and in every form no name, and the numbers of the plain report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/commands/marked_model.h"

namespace infimum::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

class AnonymizeComparison : public MarkedModel {
 protected:
  // The store has all of it under two contracts but for the custom operator, and a run; two more runs are files.
  void SetUp() override {
    MarkedModel::SetUp();
    MeasureAndImport();
    Run({"analyze"}, {"--framework", "none", "--budget", "60s", "--report", "half.json", "--contract", "f16"});
    Json run = Json::parse(program_.Read("Xyzzyplugh/run.json"));
    for (std::size_t i = 0; i < run["layers"].size(); ++i)
      run["layers"][i]["input_tensors"] = {{{"dtype", "f32"}, {"dims", {i + 2, 16}}}};
    run["model_sha256"] = std::string(64, 'a');
    before_ = program_.Write("Xyzzyplugh/Xyzzyplugh_before.json", run.dump());
    run["framework"] = "xyzzyplughrt";
    run["framework_version"] = "2.0-Xyzzyplugh";
    run["model_sha256"] = std::string(64, 'b');
    run["contract"] = "f16";
    run["layers"][0]["samples_us"] = {9000};
    run["layers"][1]["algorithm"] = "";
    // Its layers do not stand where they stood: only by their names it is seen that they read the same shapes.
    run["layers"].insert(run["layers"].begin(),
                         Json{{"name", "reorder Xyzzyplugh_x"}, {"op", "ReorderInput"}, {"samples_us", {10}}});
    for (Json& repetition : run["end_to_end"])
      repetition["samples_us"][0] = repetition["samples_us"][0].get<double>() * 3;
    after_ = program_.Write("Xyzzyplugh/Xyzzyplugh_after.json", run.dump());
    run["device"] = "Xyzzyplugh accelerator";
    run["contract"] = "xyzzyplugh-types";
    run.erase("dims");
    elsewhere_ = program_.Write("Xyzzyplugh/Xyzzyplugh_elsewhere.json", run.dump());
  }

  // Named as in MarkedModel::With, with the sides' options.
  Ended Compare(std::vector<std::string> sides, std::vector<std::string> more, bool anonymize) const {
    sides.insert(sides.end(), more.begin(), more.end());
    if (anonymize) sides.emplace_back("--anonymize");
    return Run({"report", "compare"}, sides);
  }

  Json JsonOf(const std::vector<std::string>& sides) const {
    return Json::parse(Compare(sides, {"--format", "json"}, true).output);
  }

  void ExpectNoTraces(const std::vector<std::string>& sides) const {
    SCOPED_TRACE(::testing::PrintToString(sides));
    for (const char* form : {"Xyzzyplugh.html", "Xyzzyplugh.md", "Xyzzyplugh.json", "Xyzzyplugh.csv"}) {
      Compare(sides, {"-o", form}, false);
      EXPECT_FALSE(TracesOfTheMarker(program_.Read(form)).empty()) << form << ": nothing is tested";
      const Ended ended = Compare(sides, {"-o", form}, true);
      EXPECT_THAT(TracesOfTheMarker(program_.Read(form)), IsEmpty()) << form;
      EXPECT_THAT(TracesOfTheMarker(ended.output + ended.errors), IsEmpty()) << form;
    }
    for (const char* format : {"table", "json", "csv"}) {
      const std::vector<std::string> form = {"--format", format};
      EXPECT_FALSE(TracesOfTheMarker(Compare(sides, form, false).output).empty()) << format << ": nothing is tested";
      const Ended ended = Compare(sides, form, true);
      EXPECT_THAT(TracesOfTheMarker(ended.output + ended.errors), IsEmpty()) << format;
    }
    const std::vector<std::string> json = {"--format", "json"};
    EXPECT_EQ(Numbers(Compare(sides, json, true).output), Numbers(Compare(sides, json, false).output));
  }

  std::string before_, after_, elsewhere_;
};

TEST_F(AnonymizeComparison, NoWriterSaysANameOfBounds) {
  const std::vector<std::string> sides = {"--by", "contract", "--contract", "strict-f32", "--contract", "f16"};
  ExpectNoTraces(sides);
  const Json report = JsonOf(sides);
  EXPECT_EQ(report["models"][0]["name"], "model");
  EXPECT_THAT(report["headline"].get<std::string>(), HasSubstr("model"));
  ASSERT_FALSE(report["gaps"].empty());  // the custom operator
  EXPECT_EQ(report["gaps"][0]["model"], "model");
  bool has_custom = false;
  for (const Json& layer : report["layers"]) has_custom |= layer["uses"][0]["layer"] == "custom-1-7";
  EXPECT_TRUE(has_custom) << report["layers"];
}

TEST_F(AnonymizeComparison, NoWriterSaysANameOfRunsBeforeAndAfter) {
  const std::vector<std::string> sides = {"--by", "change", "--run", before_, "--run", after_};
  ExpectNoTraces(sides);
  const Json report = JsonOf(sides);
  EXPECT_EQ(report["sides"][0]["label"], "run-1");
  EXPECT_EQ(report["sides"][1]["label"], "run-2");
  EXPECT_EQ(report["sides"][0]["framework"], "onnxruntime 1.31.1");
  EXPECT_EQ(report["sides"][1]["framework"], "engine");
  EXPECT_EQ(report["sides"][1]["environment"], "1 thread, dim-1=2");
  EXPECT_EQ(report["sides"][1]["against_baseline"]["verdict"], "slower");
  const std::vector<std::string> cautions = report["cautions"], remarks = report["remarks"];
  EXPECT_THAT(cautions, Contains(HasSubstr("is of another model file")));
  EXPECT_THAT(remarks, Not(Contains(HasSubstr("read other shapes"))));
}

TEST_F(AnonymizeComparison, NoWriterSaysANameOfRunsOfSeveralPrecisions) {
  const std::vector<std::string> sides = {"--by", "precision", "--run", before_, "--run", after_};
  ExpectNoTraces(sides);
  EXPECT_EQ(JsonOf(sides)["sides"][1]["label"], "f16");
}

TEST_F(AnonymizeComparison, NoWriterSaysANameOfEngines) {
  ExpectNoTraces({"--by", "framework", "--run", after_, "--framework", "onnxruntime"});
  // Nobody knows where it ran, nor in what.
  const std::vector<std::string> sides = {"--by", "framework", "--run", elsewhere_, "--run", after_, "--run", before_};
  ExpectNoTraces(sides);
  const Json report = JsonOf(sides);
  EXPECT_EQ(report["sides"][0]["label"], "engine (run-1)");
  EXPECT_EQ(report["sides"][1]["label"], "engine (run-2)");
  EXPECT_EQ(report["sides"][2]["label"], "onnxruntime 1.31.1");
}

}  // namespace
}  // namespace infimum::testing
