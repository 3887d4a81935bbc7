// infimum synth: models of families, listed, written, and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing::synth_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Synth, AListSaysWhatEachModelNeedsAndWritesNone) {
  const ProgramTest program;
  const nlohmann::json list =
      program.Json({"synth", "fc", "--layers", "4..16*2", "--nodes", "64,400000000", "--list", "--format", "json"});
  EXPECT_EQ(list["schema"], "infimum.family/1");
  ASSERT_EQ(list["models"].size(), 6U);
  const nlohmann::json& first = list["models"][0];
  EXPECT_EQ(first["name"], "fc_layers-4_nodes-64_inputs-2000_outputs-1000_batch-1_type-f32");
  EXPECT_EQ(first["choices"]["layers"], 4);
  EXPECT_EQ(first["parameters"], 2001 * 64 + 3 * 65 * 64 + 65 * 1000);
  EXPECT_FALSE(first.contains("refused"));
  // 3 x 400,000,000^2 weights.
  EXPECT_THAT(list["models"][1]["refused"].get<std::string>(), HasSubstr("elements"));
  EXPECT_THAT(program.Run({"synth", "fc", "--layers", "4..16*2", "--list"}), HasSubstr("parameters"));
  EXPECT_THAT(program.Run({"synth", "fc", "--list", "--format", "csv"}), HasSubstr("parameters"));
  for (const fs::directory_entry& entry : fs::directory_iterator(program.folder()))
    EXPECT_NE(entry.path().extension(), ".onnx") << entry.path();
}

TEST(Synth, MistakesAreSaidBeforeAnythingIsWritten) {
  const ProgramTest program;
  const auto refusal = [&](std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), "synth");
    const Ended ended = program.Infimum(arguments);
    EXPECT_EQ(ended.exit_code, code) << ended.errors;
    return ended.errors;
  };
  EXPECT_THAT(refusal({"fc"}, 2), HasSubstr("-o DIR"));
  refusal({}, 2);
  refusal({"gan", "--list"}, 2);
  refusal({"fc", "--depth", "4", "--list"}, 2);
  EXPECT_THAT(refusal({"fc", "--layers", "four", "--list"}, 2), HasSubstr("--layers: 'four' is not a number"));
  EXPECT_THAT(refusal({"transformer", "--hidden", "64,96,100", "--heads", "8", "-o", "m"}, 1),
              HasSubstr("hidden 100 is not divisible by 8 heads"));
  EXPECT_THAT(refusal({"fc", "--nodes", "64,1000000", "-o", "m"}, 1), HasSubstr("of memory, and this machine has"));
  EXPECT_TRUE(fs::is_empty(program.folder() / "m"));
  program.Run({"synth", "fc", "--nodes", "16", "-o", "m"});
  EXPECT_THAT(refusal({"fc", "--nodes", "8,16", "-o", "m"}, 1), HasSubstr("is there already; --force overwrites it"));
  EXPECT_EQ(std::distance(fs::directory_iterator(program.folder() / "m"), fs::directory_iterator()), 1);
  program.Run({"synth", "fc", "--nodes", "8,16", "-o", "m", "--force"});
  EXPECT_EQ(std::distance(fs::directory_iterator(program.folder() / "m"), fs::directory_iterator()), 2);
}

TEST(Synth, OnAFullDiskItFailsAndLeavesNoPartOfAFile) {
  const ProgramTest program;
  const Ended ended = program.Infimum({"synth", "fc", "--seed", "1", "-o", "m"}, {.largest_file = 1 << 20});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("cannot be written"));
  EXPECT_TRUE(fs::is_empty(program.folder() / "m"));
}

TEST(Synth, OnnxRuntimeRunsEachFamilyWithMadeAndStoredWeights) {
  const ProgramTest program;
  program.Run({"synth", "fc", "--layers", "2", "--nodes", "32", "-o", "m"});
  program.Run({"synth", "fc", "--layers", "2", "--nodes", "32", "--type", "f16", "-o", "m"});
  program.Run({"synth",      "cnn", "--block",    "residual,bottleneck",
               "--blocks-1", "1",   "--blocks-2", "2",
               "--blocks-3", "1",   "--blocks-4", "1",
               "--filters",  "8",   "--image",    "64",
               "--seed",     "1",   "-o",         "m"});
  program.Run(
      {"synth", "rnn", "--cell", "rnn,lstm,gru", "--hidden", "16", "--inputs", "24", "--steps", "4", "-o", "m"});
  program.Run({"synth", "transformer", "--layers", "2", "--hidden", "32", "--heads", "4", "--vocabulary", "100",
               "--batch", "1,2", "--seed", "3", "-o", "m"});
  for (const char* const family : {"decoder", "moe"})
    program.Run({"synth", family, "--layers", "2", "--hidden", "32", "--heads", "4", "--kv-heads", "2", "--vocabulary",
                 "100", "--context", "16", "-o", "m"});
  program.Run({"synth",      "decoder", "--layers",     "2",    "--hidden",  "32", "--heads",  "4",
               "--kv-heads", "2",       "--vocabulary", "100",  "--context", "16", "--tokens", "0",
               "--window",   "8",       "--weights",    "int4", "-o",        "m"});
  program.Run({"synth", "recommender", "--tables", "3", "--rows", "100", "--lookups", "4", "-o", "m"});
  int count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(program.folder() / "m")) {
    const Ended ended = program.Infimum(
        {"measure", entry.path().string(), "--seconds", "0.05", "--repetitions", "1", "-o", "run.json"});
    if (LacksFramework(ended)) GTEST_SKIP() << ended.errors;
    EXPECT_EQ(ended.exit_code, 0) << entry.path() << "\n" << ended.errors;
    ++count;
  }
  EXPECT_EQ(count, 13);
}

}  // namespace
}  // namespace infimum::testing::synth_test
