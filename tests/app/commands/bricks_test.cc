// infimum synth bricks: what is listed, written, refused, and whether bricks compute what their model does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "infimum/base/text.h"
#include "tests/app/commands/program.h"
#include "tests/support/folders.h"
#include "tests/support/shared_data.h"

namespace infimum::testing::bricks_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SynthBricks, AListSaysHowOftenAndWhereEachIs) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const nlohmann::json list = program.Json({"synth", "bricks", model, model, "--list", "--format", "json"});
  EXPECT_EQ(list["schema"], "infimum.bricks/1");
  std::set<std::string> texts;
  for (const nlohmann::json& brick : list["bricks"]) {
    EXPECT_TRUE(texts.insert(brick["text"]).second) << brick;
    ASSERT_EQ(brick["models"].size(), 2U) << brick;
    EXPECT_EQ(brick["models"][0]["times"], brick["models"][1]["times"]);
    EXPECT_LT(brick["file_bytes"], 30'000);
  }
  EXPECT_EQ(list["bricks"][0]["models"][0]["model"], "light_squeezenet");
  EXPECT_EQ(list["bricks"][0]["models"][0]["layers"].size(), 1U);
  EXPECT_THAT(program.Run({"synth", "bricks", model, "--list"}), HasSubstr("FLOP"));
  EXPECT_THAT(program.Run({"synth", "bricks", model, "--list", "--format", "csv"}), HasSubstr("convolution dtype="));
  const std::string anonymous = program.Run({"synth", "bricks", model, "--list", "--anonymize", "--cut", "fused"});
  EXPECT_THAT(anonymous, Not(HasSubstr("squeezenet")));
  EXPECT_FALSE(fs::exists(program.folder() / "bricks"));
}

TEST(SynthBricks, MistakesAreSaidBeforeAnythingIsWritten) {
  const ProgramTest program;
  const std::string model = ProgramTest::Light("squeezenet");
  const auto refusal = [&](std::vector<std::string> more, int code) {
    std::vector<std::string> arguments{"synth", "bricks", model};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = program.Infimum(arguments);
    EXPECT_EQ(ended.exit_code, code) << ended.errors;
    return ended.errors;
  };
  EXPECT_THAT(refusal({}, 2), HasSubstr("-o DIR"));
  EXPECT_THAT(refusal({"--weights", "random", "-o", "b"}, 2), HasSubstr("made, model or seed:N"));
  EXPECT_THAT(refusal({"--weights", "seed:x", "-o", "b"}, 2), HasSubstr("seed"));
  refusal({"--block", "2", "--cut", "fused", "-o", "b"}, 2);
  EXPECT_THAT(refusal({"--layer", "nowhere", "-o", "b"}, 1), HasSubstr("there is no layer 'nowhere'"));
  EXPECT_FALSE(fs::exists(program.folder() / "b"));
  program.Run({"synth", "bricks", model, "--block", "200", "-o", "b"});
  EXPECT_EQ(std::distance(fs::directory_iterator(program.folder() / "b"), fs::directory_iterator()), 1);
  EXPECT_THAT(refusal({"--block", "200", "-o", "b"}, 1), HasSubstr("is there already; --force overwrites it"));
  program.Run({"synth", "bricks", model, "--block", "200", "-o", "b", "--force"});
  const Ended full =
      program.Infimum({"synth", "bricks", model, "--weights", "seed:1", "-o", "f"}, {.largest_file = 1 << 14});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.errors, HasSubstr("cannot be"));
}

struct Case {
  std::string model;
  std::string dims = "";
};

// By tests/app/bricks_check.py.
void HoldAgainstModel(const fs::path& model, const std::string& options) {
  const fs::path program = Program("infimum");
  std::ifstream python_file(program.parent_path().parent_path() / "share/infimum/python");
  std::string python;
  std::getline(python_file, python);
  if (const char* given = std::getenv("INFIMUM_PYTHON"); given != nullptr) python = given;
  const fs::path source = SourceFolder();
  const std::string command = Join(
      std::vector<std::string>{python.empty() ? "python3" : ShellQuoted(python), "-B",
                               ShellQuoted((source / "tests/app/bricks_check.py").string()),
                               ShellQuoted(program.string()), ShellQuoted((source / "scripts/frameworks").string()),
                               ShellQuoted(model.string()), options, "2>&1"},
      " ");
  std::FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  Ended ended;
  std::array<char, 256> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) ended.errors += piece.data();
  ended.exit_code = pclose(pipe);
  if (LacksFramework(ended)) GTEST_SKIP() << ended.errors;
  EXPECT_EQ(ended.exit_code, 0) << command << "\n" << ended.errors;
}

TEST(SynthBricks, ComputeWhatTheirModelDoes) {
  for (const char* options : {"--cut layers", "--cut fused", "--block 4"})
    HoldAgainstModel(ProgramTest::Light("squeezenet"), options);
}

class BricksOfData : public ::testing::TestWithParam<Case> {};

TEST_P(BricksOfData, ComputeWhatTheirModelDoes) {
  const fs::path model = SharedData("models") / (GetParam().model + ".onnx");
  INFIMUM_NEEDS_DATA(model);
  for (const char* options : {"--cut layers", "--cut fused", "--block 5"})
    HoldAgainstModel(model, GetParam().dims + " " + options);
}

INSTANTIATE_TEST_SUITE_P(Models, BricksOfData,
                         ::testing::Values(Case{"lstm"}, Case{"mobilenet_v2", "--dim batch=2"}, Case{"resnet50-int8"},
                                           Case{"resnet50-f16", "--dim batch=1"}, Case{"lraspp_mobilenet_v3"}));

}  // namespace
}  // namespace infimum::testing::bricks_test
