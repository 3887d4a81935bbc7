// The hash of an evaluation: the same for whatever means the same cells, another for whatever may change a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "src/evaluation/evaluation.h"
#include "tests/support/cases.h"

namespace infimum::evaluation_hash_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::Cases;
using Random = std::mt19937;

std::string HashOfText(const std::string& text) {
  const Result<Evaluation> evaluation = ParseEvaluation(text);
  EXPECT_TRUE(evaluation.ok()) << evaluation.error().message << "\n" << text;
  const Result<std::vector<PlannedCell>> cells = CellsOf(*evaluation, ".", 10'000);
  EXPECT_TRUE(cells.ok()) << cells.error().message << "\n" << text;
  return HashOf(*cells);
}

std::int64_t Pick(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

Json RandomModel(Random& random) {
  const bool is_fc = Pick(random, 0, 1) == 0;
  Json model = {{"family", is_fc ? "fc" : "rnn"}, {"choices", Json::object()}};
  Json& choices = model["choices"];
  choices["layers"] = Json::array({Pick(random, 1, 4), Pick(random, 5, 9)});
  choices[is_fc ? "nodes" : "hidden"] = Pick(random, 1, 999);
  if (Pick(random, 0, 1) == 0) choices["batch"] = Pick(random, 2, 64);
  if (Pick(random, 0, 2) == 0) choices["type"] = "f16";
  if (Pick(random, 0, 2) == 0) model["weights"] = Pick(random, 1, 9);
  if (Pick(random, 0, 3) == 0) model["threads"] = Json::array({Pick(random, 2, 9)});
  return model;
}

Json RandomEvaluation(Random& random) {
  Json json = {{"schema", "infimum.evaluation/1"}, {"models", Json::array()}};
  for (std::int64_t i = Pick(random, 1, 3); i > 0; --i) json["models"].push_back(RandomModel(random));
  if (Pick(random, 0, 1) == 0) json["name"] = "name " + std::to_string(Pick(random, 0, 99));
  if (Pick(random, 0, 1) == 0) json["threads"] = Json::array({Pick(random, 1, 2), Pick(random, 3, 4)});
  if (Pick(random, 0, 2) == 0) json["cores"] = "0";
  if (Pick(random, 0, 2) == 0) json["input"] = Pick(random, 2, 9);
  if (Pick(random, 0, 2) == 0) json["contracts"] = Json::array({"own", "bf16"});
  if (Pick(random, 0, 1) == 0) json["method"] = {{"processes", Pick(random, 4, 9)}};
  return json;
}

Json Shuffled(const Json& json, Random& random) {
  if (json.is_array()) {
    std::vector<Json> elements;
    for (const Json& element : json) elements.push_back(Shuffled(element, random));
    std::ranges::shuffle(elements, random);
    return elements;
  }
  if (!json.is_object()) return json;
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  std::ranges::shuffle(names, random);
  Json shuffled = Json::object();
  for (const std::string& name : names) shuffled[name] = Shuffled(json[name], random);
  return shuffled;
}

// What says what is so anyway.
void SpellOut(Json& json, Random& random) {
  const auto say = [&](Json& object, const char* name, const Json& usual) {
    if (!object.contains(name) && Pick(random, 0, 1) == 0) object[name] = usual;
  };
  say(json, "description", "for people");
  say(json, "threads", Json::array({1}));
  say(json, "devices", Json::array({"here"}));
  say(json, "frameworks", Json::array({{{"name", "onnxruntime"}}}));
  say(json, "contracts", Json::array({"own"}));
  say(json, "input", 1);
  say(json, "method", {{"seconds", 1}, {"processes", 3}, {"time_limit_s", 300}});
  for (Json& model : json["models"]) {
    say(model["choices"], "type", "f32");
    say(model["choices"], "batch", 1);
  }
}

// One effective field, another value.
void Change(Json& json, Random& random) {
  Json& model = json["models"][0];
  const Json one = Json::array({8, 9});
  switch (Pick(random, 0, 12)) {
    case 0:
      json["threads"] = json.contains("threads") ? Json::array({77}) : Json::array({1, 77});
      // Unless all models have their own.
      for (Json& each : json["models"]) each.erase("threads");
      return;
    case 1:
      json["cores"] = json.contains("cores") ? "1" : "0";
      return;
    case 2:
      json["input"] = 77;
      return;
    case 3:
      json["contracts"] = Json::array({"f16"});
      return;
    case 4:
      json["method"]["seconds"] = 0.5;
      return;
    case 5:
      json["method"]["processes"] = 17;
      return;
    case 6:
      json["method"]["time_limit_s"] = 17;
      return;
    case 7:
      json["method"]["memory_limit"] = 1 << 30;
      return;
    case 8:
      model["choices"]["layers"] = 77;
      return;
    case 9:
      model["choices"]["batch"] = 777;
      return;
    case 10:
      model["weights"] = 777;
      return;
    case 11: {
      const char* const members[] = {"version", "mode", "module"};
      Json framework = {{"name", "onnxruntime"}, {members[Pick(random, 0, 2)], "other"}};
      if (Pick(random, 0, 1) == 0) framework["options"] = {{"optimization", "basic"}};
      json["frameworks"] = Json::array({framework});
      return;
    }
    default:
      json["devices"] = Json::array({"H200"});
  }
}

TEST(EvaluationHash, RandomFilesAreTheSameReorderedAndOthersWhereAFieldIs) {
  Random random(27);
  for (std::size_t round = 0; round < Cases(10'000); ++round) {
    const Json json = RandomEvaluation(random);
    const std::string hash = HashOfText(json.dump());
    Json same = Shuffled(json, random);
    SpellOut(same, random);
    ASSERT_EQ(HashOfText(same.dump(static_cast<int>(Pick(random, -1, 4)))), hash) << json << "\n" << same;
    Json other = json;
    Change(other, random);
    ASSERT_NE(HashOfText(other.dump()), hash) << json << "\n" << other;
  }
}

}  // namespace
}  // namespace infimum::evaluation_hash_test
