// infimum report: its evidence, and that the same data give the same bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "tests/app/commands/compare_with_bound.h"

namespace infimum::testing {
namespace {

using ::testing::HasSubstr;

class Report : public CompareWithBound {
 protected:
  // The store has a run in which this layer is slow.
  void ImportRun(const std::string& slow) {
    const std::string run = WriteRun("run.json", slow, 5000, 100, {0, 0, 0}, {{"framework", "onnxruntime"}});
    program_.Run({"import", run, "--model", model_, "--device", bound_["device"], "--threads", "1"});
  }

  std::string Write(const std::string& name) {
    program_.Run({"report", model_, "--backend", "fake", "-o", name});
    return program_.Read(name);
  }

  std::string FirstConvolution() const {
    for (const auto& layer : bound_["layers"])
      if (layer["op"] == "Conv") return layer["name"];
    return "";
  }
};

TEST_F(Report, MadeTwiceFromTheSameDataIsTheSameBytes) {
  ImportRun(FirstConvolution());
  std::string newest;
  const nlohmann::json report = nlohmann::json::parse(Write("report.json"));
  for (const auto& workload : report["workloads"])
    newest = std::max(newest, workload["measured_at"].get<std::string>());
  ASSERT_FALSE(newest.empty());
  EXPECT_EQ(report["data_as_of"], newest);
  for (const char* ending : {"html", "md", "json", "csv"}) {
    const std::string first = Write(std::string("first.") + ending);
    EXPECT_EQ(first, Write(std::string("second.") + ending)) << ending;
    EXPECT_GT(first.size(), 1000u) << ending;
  }
  EXPECT_THAT(Write("report.html"), HasSubstr(">Data of " + newest + ". Written"));
  EXPECT_THAT(Write("report.md"), HasSubstr("Data of " + newest));
}

TEST_F(Report, ShowsOfEachLayerWhatTheBoundTakesAndWhatItDoesNot) {
  const nlohmann::json report = nlohmann::json::parse(Write("report.json"));
  std::map<std::string, nlohmann::json> bound;
  for (const auto& layer : bound_["layers"]) bound[layer["name"]] = layer;
  std::set<std::string> configs, outcomes;
  std::size_t layers = 0;
  for (const auto& workload : report["workloads"]) {
    EXPECT_TRUE(configs.insert(workload["config"]).second) << "twice: " << workload["config"];
    for (const auto& candidate : workload["candidates"]) {
      const bool is_measured = candidate.contains("latency_us");
      EXPECT_EQ(is_measured, !candidate.contains("outcome"));
      EXPECT_EQ(is_measured, !candidate.contains("reason"));
      if (!is_measured) outcomes.insert(candidate["outcome"]);
    }
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"skipped", "unsupported"}));
  for (const auto& layer : report["layers"]) {
    if (layer["status"] != "measured") continue;
    ++layers;
    const nlohmann::json& workload = report["workloads"][layer["workload"].get<std::size_t>()];
    EXPECT_EQ(workload["config"], layer["config"]);
    const nlohmann::json& best = workload["candidates"][workload["best"].get<std::size_t>()];
    EXPECT_EQ(best["name"], bound[layer["name"]]["candidate"]);
    EXPECT_EQ(best["latency_us"], bound[layer["name"]]["latency_us"]);
    const nlohmann::json& choice = workload["candidates"][workload["library_choice"].get<std::size_t>()];
    EXPECT_EQ(choice["name"], bound[layer["name"]]["library_choice"]["candidate"]);
    EXPECT_EQ(workload["regret_us"], bound[layer["name"]]["library_choice"]["regret_us"]);
  }
  EXPECT_GT(layers, 50u);
  for (const auto& region : report["regions"])
    EXPECT_EQ(report["workloads"][region["workload"].get<std::size_t>()]["config"], region["config"]);
}

TEST_F(Report, FindingsSayWhatWasTriedAndWhyThereIsNoSource) {
  ImportRun(FirstConvolution());
  const nlohmann::json report = nlohmann::json::parse(Write("report.json"));
  std::size_t cases = 0, bricks = 0;
  for (const auto& finding : report["findings"]) {
    for (const auto& one : finding["cases"]) {
      if (one["workload"].is_null()) continue;
      ++cases;
      EXPECT_GE(one["candidates"], one["measured_candidates"]);
      EXPECT_GT(one["measured_candidates"], 0);
      EXPECT_TRUE(one["interval_us"].is_array());
      const std::string command = one["command"];
      EXPECT_THAT(command, HasSubstr("infimum bench --layer '" + one["workload"].get<std::string>() + "'"));
      EXPECT_THAT(command, HasSubstr("--candidate " + one["candidate"].get<std::string>()));
    }
    for (const auto& command : finding["commands"]) {
      if (command["what"] != "brick") continue;
      // As it is printed, from the first word on.
      std::vector<std::string> words;
      std::istringstream text(command["command"].get<std::string>());
      for (std::string word; text >> word;) words.push_back(word);
      EXPECT_EQ(words.front(), "infimum");
      words.erase(words.begin());
      program_.Run(words);
      EXPECT_FALSE(std::filesystem::is_empty(program_.folder() / words.back()));
      ++bricks;
    }
  }
  EXPECT_GT(bricks, 0u);
  EXPECT_GT(cases, 0u);
  ASSERT_FALSE(report["sources"].empty());
  EXPECT_TRUE(report["sources"][0]["file_name"].is_null());
  EXPECT_THAT(report["sources"][0]["reason"], HasSubstr("is from a library that emit does not support"));
}

}  // namespace
}  // namespace infimum::testing
