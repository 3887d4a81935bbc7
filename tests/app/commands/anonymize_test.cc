// --anonymize: whatever a model, its run and its files are called, no report says it, and its numbers stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/commands/marked_model.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class Anonymize : public MarkedModel {
 protected:
  std::string Report(const std::string& ending, bool anonymize) const {
    std::vector<std::string> more = {"-o", "report." + ending};
    if (anonymize) more.push_back("--anonymize");
    Run({"report"}, more);
    return program_.Read("report." + ending);
  }

  void ExpectNoTracesInReports() {
    for (const char* ending : {"html", "md", "json", "csv"}) {
      EXPECT_FALSE(TracesOfTheMarker(Report(ending, false)).empty()) << ending << ": nothing is tested";
      EXPECT_THAT(TracesOfTheMarker(Report(ending, true)), ::testing::IsEmpty()) << ending;
    }
    EXPECT_EQ(Numbers(Report("json", true)), Numbers(Report("json", false)));
  }

  void ExpectNoTracesInAnalyses() {
    for (const char* format : {"table", "json", "csv"}) {
      const std::vector<std::string> plain = {"--framework",     "onnxruntime", "--report",
                                              "Xyzzyplugh.html", "--format",    format};
      std::vector<std::string> anonymous = plain;
      anonymous.push_back("--anonymize");
      EXPECT_FALSE(TracesOfTheMarker(Run({"analyze"}, plain).output).empty()) << format << ": nothing is tested";
      EXPECT_THAT(TracesOfTheMarker(Run({"analyze"}, anonymous).output), ::testing::IsEmpty()) << format;
      EXPECT_THAT(TracesOfTheMarker(program_.Read("Xyzzyplugh.html")), ::testing::IsEmpty());
    }
  }
};

TEST_F(Anonymize, NoWriterSaysAName) {
  MeasureAndImport();
  ExpectNoTracesInReports();
  ExpectNoTracesInAnalyses();
}

// Of the real library, whose candidates have sources.
TEST_F(Anonymize, NoSourceOfACandidateSaysAName) {
  backend_ = "onednn";
  budget_ = "10s";
  MeasureAndImport();
  ExpectNoTracesInReports();
  const Json report = Json::parse(Report("json", true));
  ASSERT_FALSE(report["sources"].empty());
  EXPECT_TRUE(report["sources"][0]["text"].is_string()) << report["sources"][0];
}

TEST_F(Anonymize, WhatEverybodyKnowsStays) {
  MeasureAndImport();
  const Json report = Json::parse(Report("json", true)), plain = Json::parse(Report("json", false));
  EXPECT_EQ(report["model"]["name"], "model");
  EXPECT_EQ(report["model"]["sha256"], "");
  EXPECT_EQ(report["model"]["inputs"][0]["name"], "input-1");
  EXPECT_EQ(report["model"]["inputs"][0]["shape"], "2x16x32x32");
  EXPECT_EQ(report["device"], plain["device"]);
  EXPECT_EQ(report["environment"]["host"], "");
  EXPECT_EQ(report["run"]["framework"], "onnxruntime");
  EXPECT_EQ(report["run"]["version"], "1.31.1");
  EXPECT_EQ(report["run"]["settings"], (Json{{"graph_optimization_level", "all"}}));
  std::vector<std::string> custom;
  for (std::size_t i = 0; i < report["layers"].size(); ++i) {
    const Json &layer = report["layers"][i], &own = plain["layers"][i];
    EXPECT_EQ(layer["config"], own["config"]);
    EXPECT_EQ(layer["candidate"], own["candidate"]);
    if (own["op"] == "Conv" || own["op"] == "Relu") {
      EXPECT_EQ(layer["op"], own["op"]);
      EXPECT_EQ(layer["name"], own["op"].get<std::string>() + "-" + std::to_string(i + 1));
    } else if (layer["status"] == "unknown") {
      custom.push_back(layer["op"]);
    }
  }
  EXPECT_THAT(custom, ::testing::ElementsAre("custom-1"));
  EXPECT_EQ(report["workloads"], plain["workloads"]);
  ASSERT_FALSE(report["findings"].empty());
  bool any_command = false;
  for (const Json& finding : report["findings"])
    for (const Json& command : finding["commands"])
      if (command["what"] == "measure") {
        any_command = true;
        EXPECT_THAT(command["command"].get<std::string>(), HasSubstr("--db DB"));
      }
  EXPECT_TRUE(any_command);
}

// The message of a Python that is not there holds its path.
TEST_F(Anonymize, WhatFailedOnTheWayIsNotQuoted) {
  const std::vector<std::string> more = {"--framework", "onnxruntime", "--python", "/nowhere/Xyzzyplugh/python",
                                         "--report",    "out.json"};
  std::vector<std::string> anonymous = more;
  anonymous.push_back("--anonymize");
  const Ended plain = Run({"analyze"}, more);
  EXPECT_THAT(program_.Read("out.json"), HasSubstr("/nowhere/Xyzzyplugh"));
  const Ended ended = Run({"analyze"}, anonymous);
  EXPECT_THAT(TracesOfTheMarker(program_.Read("out.json") + ended.output), ::testing::IsEmpty());
  EXPECT_THAT(program_.Read("out.json"), HasSubstr("A step of the analysis failed"));
}

TEST_F(Anonymize, TheFileIsNotNamedAfterTheModel) {
  Run({"analyze"}, {"--framework", "none", "--anonymize"});
  EXPECT_TRUE(std::filesystem::exists(program_.folder() / "model.html"));
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "Xyzzyplugh.html"));
}

}  // namespace
}  // namespace infimum::testing
