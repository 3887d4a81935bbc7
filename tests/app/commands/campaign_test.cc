// Campaigns over many machines, as their tasks and users see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/app/commands/program.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Campaigns : public ::testing::Test {
 protected:
  void SetUp() override { program_.Run({"plan", testing::ProgramTest::Light("squeezenet"), "-o", "all.plan"}); }
  testing::Ended Prepare(std::vector<std::string> more, const std::string& folder = "nightly") {
    std::vector<std::string> arguments = {"campaign", "prepare", "all.plan", "--backend", "fake", "--shards",
                                          "3",        "--db",    "team.db",  "-o",        folder};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program_.Infimum(arguments);
  }
  testing::Ended RunPart(int shard, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"campaign", "run", "nightly", "--shard", std::to_string(shard)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program_.Infimum(arguments);
  }
  nlohmann::json Status() { return program_.Json({"campaign", "status", "nightly", "--format", "json"}); }
  std::string RowsOf(const std::string& store) {
    return program_.Run(
        {"query", "--sql",
         "SELECT w.text, c.algorithm, m.cache, m.outcome, m.best_us FROM measurements m JOIN workloads w "
         "ON w.id = m.workload_id JOIN candidates c ON c.id = m.candidate_id ORDER BY 1, 2, 3, 4, 5",
         "--db", store, "--format", "csv"});
  }

  testing::ProgramTest program_;
};

// The parts together are the plan: the same rows as of one runner, none twice.
TEST_F(Campaigns, PartsAddUpToTheWholePlan) {
  const testing::Ended prepared = Prepare({"--cache", "warm"});
  ASSERT_EQ(prepared.exit_code, 0) << prepared.errors;
  EXPECT_THAT(prepared.output, AllOf(HasSubstr("sbatch "), HasSubstr("nightly/campaign.sbatch any\n")));
  EXPECT_THAT(program_.Read("nightly/campaign.sbatch"),
              AllOf(HasSubstr("--array=0-2\n"), Not(HasSubstr("@")), Not(HasSubstr("--gres"))));
  const nlohmann::json before = Status();
  EXPECT_EQ(before["parts"].size(), 3u);
  EXPECT_EQ(before["parts"][0]["state"], "waiting");
  EXPECT_TRUE(before["parts"][0]["expected"].is_null());
  std::int64_t rows = 0;
  for (int shard = 0; shard < 3; ++shard) {
    const testing::Ended part = RunPart(shard);
    ASSERT_EQ(part.exit_code, 0) << part.errors;
    const nlohmann::json now = Status()["parts"][static_cast<std::size_t>(shard)];
    EXPECT_EQ(now["state"], "done");
    EXPECT_EQ(now["rows"], now["expected"]);
    EXPECT_GT(now["rows"], 0);
    EXPECT_EQ(now["hosts"].size(), 1u);
    rows += now["rows"].get<std::int64_t>();
  }
  EXPECT_TRUE(Status()["done"]);
  // A part that is done is imported again, which mends a store that was lost.
  EXPECT_THAT(RunPart(1).errors, HasSubstr("part 1 of 3 (any) is done: 0 rows added"));
  std::filesystem::remove(program_.folder() / "team.db");
  for (int shard = 0; shard < 3; ++shard)
    EXPECT_THAT(RunPart(shard).errors, AllOf(HasSubstr(" is done: "), Not(HasSubstr(": 0 rows added"))));
  program_.Run({"bench", "all.plan", "--backend", "fake", "--db", "one.db"});
  const std::string together = RowsOf("team.db");
  EXPECT_EQ(together, RowsOf("one.db"));
  EXPECT_EQ(std::ranges::count(together, '\n'), rows + 1);
  EXPECT_THAT(program_.Run({"campaign", "status", "nightly"}), Not(HasSubstr("to go on with")));
}

// A part that is killed goes on where it was.
TEST_F(Campaigns, AKilledPartIsContinued) {
  ASSERT_EQ(Prepare({"--backend-option", "pace=20ms"}).exit_code, 0);
  const pid_t running = program_.Start({"campaign", "run", "nightly", "--shard", "0"});
  nlohmann::json part;
  for (int i = 0; i < 500 && (part = Status()["parts"][0])["rows"] < 5; ++i) usleep(20'000);
  EXPECT_EQ(part["state"], "running");
  kill(running, SIGKILL);
  EXPECT_EQ(program_.Finish(running).exit_code, 128 + SIGKILL);
  for (int i = 0; i < 200 && (part = Status()["parts"][0])["state"] == "running"; ++i) usleep(20'000);
  EXPECT_EQ(part["state"], "stopped");
  EXPECT_LT(part["rows"], part["expected"]);
  EXPECT_THAT(program_.Run({"campaign", "status", "nightly"}), HasSubstr("to begin, or to go on with what stopped"));
  ASSERT_EQ(RunPart(0).exit_code, 0);
  part = Status()["parts"][0];
  EXPECT_EQ(part["state"], "done");
  EXPECT_EQ(part["rows"], part["expected"]);
}

// What is measured and cannot be imported stays, and is imported by the next try.
TEST_F(Campaigns, AStoreThatIsAwayCostsNoMeasurement) {
  ASSERT_EQ(Prepare({}).exit_code, 0);
  std::filesystem::create_directory(program_.folder() / "team.db");
  const testing::Ended away = RunPart(2);
  EXPECT_EQ(away.exit_code, 1);
  EXPECT_THAT(away.errors, HasSubstr("team.db"));
  EXPECT_EQ(Status()["parts"][2]["state"], "measured");
  // Tasks run in other folders than the user's.
  EXPECT_THAT(program_.Read("nightly/campaign.json"), HasSubstr((program_.folder() / "team.db").string()));
  std::filesystem::remove(program_.folder() / "team.db");
  ASSERT_EQ(RunPart(2).exit_code, 0);
  EXPECT_EQ(Status()["parts"][2]["state"], "done");
}

// A full disk ends a part with its reason, and the scheduler may try again.
TEST_F(Campaigns, AFullDiskIsReported) {
  ASSERT_EQ(Prepare({}).exit_code, 0);
  const testing::Ended full = program_.Infimum({"campaign", "run", "nightly", "--shard", "0"}, {.largest_file = 2000});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.errors, AllOf(HasSubstr("infimum: error: "), HasSubstr("0.jsonl")));
  ASSERT_EQ(RunPart(0).exit_code, 0);
  EXPECT_EQ(Status()["parts"][0]["rows"], Status()["parts"][0]["expected"]);
}

// What trying again does not mend has exit code 2, so that no scheduler does.
TEST_F(Campaigns, WhatDiffersFromWhatWasPreparedIsRefused) {
  ASSERT_EQ(Prepare({"--kind", "a100,l40s"}).exit_code, 0);
  EXPECT_THAT(Prepare({}).errors, HasSubstr("there is a campaign in this folder"));
  const testing::Ended kind = RunPart(0, {"--kind", "h100"});
  EXPECT_EQ(kind.exit_code, 2);
  EXPECT_THAT(kind.errors, HasSubstr("the campaign has a100, l40s"));
  EXPECT_EQ(RunPart(3).exit_code, 2);
  const std::string settings = program_.Read("nightly/campaign.json");
  std::string other = settings;
  other.replace(other.find("\"infimum\": \""), 12, "\"infimum\": \"9");
  program_.Write("nightly/campaign.json", other);
  const testing::Ended version = RunPart(0);
  EXPECT_EQ(version.exit_code, 2);
  EXPECT_THAT(version.errors, HasSubstr("versions measure differently"));
  program_.Write("nightly/campaign.json", settings);
  program_.Write("nightly/plan.txt", program_.Read("nightly/plan.txt") + "# one more line\n");
  const testing::Ended edited = RunPart(0);
  EXPECT_EQ(edited.exit_code, 2);
  EXPECT_THAT(edited.errors, HasSubstr("edited after the campaign was prepared"));
  EXPECT_EQ(program_.Infimum({"campaign", "status", "nightly"}).exit_code, 1);
}

// Journals of another plan, or of as many parts, would be taken for this one's.
TEST_F(Campaigns, ResultsOfAnotherCampaignAreRefused) {
  std::filesystem::create_directories(program_.folder() / "nightly/results/any");
  EXPECT_THAT(Prepare({}).errors, HasSubstr("there are results of another campaign in this folder; name another"));
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "nightly/campaign.json"));
}

TEST_F(Campaigns, NoPasswordStandsInTheFolder) {
  for (const char* address : {"postgresql://me:secret@db.example.org/x", "host=db user=me password=secret",
                              "host=db password = secret", "sqlite:password=secret"}) {
    const testing::Ended ended = program_.Infimum({"campaign", "prepare", "all.plan", "--db", address, "-o", "n"});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.errors, AllOf(HasSubstr("PGPASSFILE"), Not(HasSubstr("secret"))));
  }
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "n"));
}

TEST_F(Campaigns, KubernetesHasAJobForEachKind) {
  const testing::Ended ended = Prepare({"--engine", "kubernetes", "--kind", "c7i.xlarge,c8g.xlarge"});
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("kubectl apply -f "), HasSubstr("campaign-c8g.xlarge.yaml\n")));
  const std::string job = program_.Read("nightly/campaign-c7i.xlarge.yaml");
  EXPECT_THAT(job, AllOf(ContainsRegex("\n  name: infimum-c7i-xlarge-[0-9a-f]{8}\n"), HasSubstr("completions: 3\n"),
                         HasSubstr("nodeSelector: {node.kubernetes.io/instance-type: \"c7i.xlarge\"}\n"),
                         Not(HasSubstr("@")), Not(HasSubstr("nvidia.com/gpu: "))));
}

// Names of Jobs differ where anything does, and what a user names is a text, whatever signs it has.
TEST_F(Campaigns, TheSchedulerGetsNamesAsTheyAre) {
  std::set<std::string> names;
  for (const std::string folder : {"x,y", "it's"}) {
    ASSERT_EQ(Prepare({"--engine", "kubernetes", "--kind", "H100-SXM,h100-sxm"}, folder).exit_code, 0);
    const std::string quoted = "\"" + (program_.folder() / folder).string() + "\"";
    for (const char* kind : {"H100-SXM", "h100-sxm"}) {
      const std::string job = program_.Read(folder + "/campaign-" + kind + ".yaml");
      EXPECT_THAT(job, AllOf(HasSubstr("run, " + quoted + ", --kind"), HasSubstr("mountPath: " + quoted + "}")));
      names.insert(job.substr(job.find("\n  name: infimum-h100-sxm-"), 35));
    }
  }
  EXPECT_EQ(names.size(), 4u);
  ASSERT_EQ(Prepare({}, "run%j @GPU@").exit_code, 0);
  EXPECT_THAT(program_.Read("run%j @GPU@/campaign.sbatch"),
              AllOf(HasSubstr("/run%j @GPU@' --kind"), HasSubstr("/run%%j @GPU@/logs'/%A_%a.log\n")));
}

}  // namespace
}  // namespace infimum
