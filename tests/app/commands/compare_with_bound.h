// SqueezeNet on the fake machine, whose times are exact, and runs of it that are built layer by layer: what
// `infimum compare` says of them is known to the microsecond.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/commands/program.h"

namespace infimum::testing {

class CompareWithBound : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = ProgramTest::Light("squeezenet");
    program_.Run({"analyze", model_, "--backend", "fake", "--framework", "none"});
    bound_ = program_.Json({"bound", model_, "--backend", "fake", "--layers", "--format", "json"});
  }

  // Every layer at its best, one by one; `slow` takes so many microseconds more, and the whole `outside` more; `spread`
  // is what each of its processes took beyond that. `patch` is merged into the file (RFC 7396).
  std::string WriteRun(const char* name, const std::string& slow, double more, double outside,
                       std::vector<double> spread = {0, 0, 0}, const nlohmann::json& patch = nullptr) {
    nlohmann::json layers = nlohmann::json::array();
    double sum = 0;
    for (const auto& layer : bound_["layers"]) {
      if (layer["status"] == "free") continue;
      const double time = layer["latency_us"].get<double>() + (layer["name"] == slow ? more : 0);
      sum += time;
      layers.push_back(
          {{"name", layer["name"]}, {"op", layer["op"]}, {"nodes", {layer["name"]}}, {"samples_us", {time}}});
    }
    layers_us_ = sum;
    nlohmann::json end_to_end = nlohmann::json::array();
    for (const double by : spread) end_to_end.push_back({{"samples_us", {sum + outside + by}}});
    nlohmann::json run = {{"schema", "infimum.run/1"},      {"framework", "engine"}, {"framework_version", "1"},
                          {"contract", "strict-f32"},       {"threads", 1},          {"end_to_end", end_to_end},
                          {"profiled_us", {sum + outside}}, {"layers", layers}};
    if (!patch.is_null()) run.merge_patch(patch);
    return program_.Write(name, run.dump());
  }

  Ended Compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"compare", model_, "--backend", "fake"});
    return program_.Infimum(arguments);
  }

  double Bound(const char* variant) const {
    for (const auto& bound : bound_["bounds"])
      if (bound["variant"] == variant) return bound["latency_us"];
    ADD_FAILURE() << variant;
    return 0;
  }

  ProgramTest program_;
  std::string model_;
  nlohmann::json bound_;
  double layers_us_ = 0;
};

}  // namespace infimum::testing
