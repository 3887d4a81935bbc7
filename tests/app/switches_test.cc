// A framework's switches from the design to the effects. The script is a stand-in in /bin/sh, whose program takes 1,000
// us and 100 us more without the first switch, 20 us without the second.
#include "src/app/commands/explain/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Noise is what a counter of runs makes it, so that every number is the same each time.
constexpr const char* kScript = R"(
while [ $# -gt 0 ]; do
  case $1 in --design) design=$2;; --output) output=$2;; --switch) switches="$switches[$2]";; esac
  shift
done
[ -n "$BROKEN" ] && { echo "infimum: error: with fast off ONNX Runtime computes other outputs" >&2; exit 1; }
if [ -z "$design" ]; then
  printf '%s' '{"schema":"infimum.switches/1","framework_version":"9.9","inference_us":1000,"notes":["left out: slow"],
    "factors":[{"name":"fast","level0":"as by default","level1":"fast=0"},
               {"name":"small one","level0":"as by default","level1":"small=0"}]}' >$output
  exit
fi
[ "$switches" = "[fast][small one]" ] || exit 3
awk 'BEGIN { printf "{\"schema\":\"infimum.switches/1\",\"notes\":[\"outputs are the same\"],\"noisy\":\"" ENVIRON["NOISY"] "\",\"disturbed\":[1],\"inferences_us\":[" }
  NR <= 720 { time = 1000 + 100 * substr($1, 1, 1) + 20 * substr($1, 2, 1) + (NR * 7) % 5 + (NR == 2 ? 9000 : 0)
              printf (NR > 1 ? "," : "") time }
  END { print "]}" }' $design >$output
)";

class Switches : public ::testing::Test {
 protected:
  Switches() {
    std::filesystem::create_directories(prefix_ / "share/infimum/frameworks");
    WriteScript(kScript);
  }
  void WriteScript(const std::string& script) const {
    std::ofstream(prefix_ / "share/infimum/frameworks/explain_onnxruntime.py") << script;
  }
  Result<SwitchedRun> Explained() const {
    ExplainOptions options;
    options.replay.model = prefix_ / "net.onnx";
    options.switches = "onnxruntime";
    options.replay.python = "/bin/sh";
    options.budget = std::chrono::seconds(1);
    ProgressLog log(Loudness::kQuiet, false, [](std::string_view) {});
    return RunSwitches(Installation(prefix_ / "bin"), options, log);
  }

  const testing::TemporaryFolder folder_;
  const std::filesystem::path prefix_ = folder_.path();
};

TEST_F(Switches, EffectsAreWhatTheProgramTakesLongerWithoutEach) {
  const Result<SwitchedRun> run = Explained();
  ASSERT_TRUE(run.ok()) << run.error().message;
  const Explanation& explanation = run->explanation;
  EXPECT_EQ(explanation.model, "net");
  EXPECT_EQ(explanation.level0, "onnxruntime 9.9 as by default");
  ASSERT_EQ(explanation.factors.size(), 2u);
  EXPECT_EQ(explanation.factors[1].name, "small one");
  EXPECT_EQ(explanation.factors[1].level1, "small=0");
  EXPECT_EQ(explanation.factors[0].kind, FactorKind::kSwitch);
  const Effects& effects = explanation.effects;
  EXPECT_NEAR(effects.effects[0].value.count(), 100, 1);
  EXPECT_NEAR(effects.effects[1].value.count(), 20, 1);
  EXPECT_TRUE(effects.effects[1].is_real());
  EXPECT_NEAR(effects.difference.value.count(), 120, 1);
  EXPECT_TRUE(effects.adds_up());
  // The second run does not count, and is no outlier that the estimate has to find.
  EXPECT_EQ(effects.disturbed, 0u);
  EXPECT_THAT(explanation.notes, ElementsAre("outputs are the same", "left out: slow"));
  ASSERT_FALSE(run->level0.samples.empty());
  EXPECT_LT(*std::ranges::max_element(run->level0.samples), Latency(1010));
}

TEST_F(Switches, ANoisyRunSaysSo) {
  WriteScript(std::string("export NOISY=neighbours\n") + kScript);
  const Result<SwitchedRun> run = Explained();
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->noisy, "neighbours");
  EXPECT_EQ(run->explanation.notes.front(), "noisy: neighbours");
}

TEST_F(Switches, WhatTheScriptSaidLastIsTheError) {
  WriteScript(std::string("BROKEN=1\n") + kScript);
  EXPECT_EQ(Explained().error().message,
            "the switches of onnxruntime could not be explained: with fast off ONNX Runtime computes other outputs");
  WriteScript("while [ $# -gt 1 ]; do shift; done; echo '{\"schema\":\"infimum.switches/1\"}' >$1\n");
  EXPECT_THAT(Explained().error().message, HasSubstr("onnxruntime's switches: 'framework_version' is missing"));
}

TEST_F(Switches, WhereNoneChangesAnythingThereIsNothingToExplain) {
  WriteScript(
      "while [ $# -gt 1 ]; do shift; done; echo '{\"schema\":\"infimum.switches/1\",\"framework_version\":\"9.9\","
      "\"inference_us\":5,\"notes\":[],\"factors\":[]}' >$1\n");
  EXPECT_EQ(Explained().error().message, "no switch of onnxruntime changes anything for this model");
}

TEST(DesignOfSwitches, ItsSettingsAreAsManyAsProcessesHoldSessions) {
  for (std::size_t factors = 1; factors <= 13; ++factors) {
    const std::vector<DesignRun> design = DesignOfSwitches(factors, 5, 1);
    std::set<std::string> settings;
    std::set<std::size_t> blocks;
    for (const DesignRun& run : design) {
      if (!run.is_end) settings.insert(run.levels);
      blocks.insert(run.block);
    }
    EXPECT_LE(settings.size(), kMostPrograms) << factors;
    EXPECT_EQ(blocks.size() * kRunsOfBlock, design.size()) << factors;
    EXPECT_EQ(*blocks.rbegin() + 1, blocks.size()) << factors;
  }
}

}  // namespace
}  // namespace infimum
