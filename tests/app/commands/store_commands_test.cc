// The store's own commands, as a user types them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class StoreCommands : public ::testing::Test {
 protected:
  // A campaign of the pretended machine, which takes no time.
  void Measure() {
    const testing::Ended ended =
        program_.Infimum({"bench", "--layer", "pointwise kind=relu dtype=f32:-:f32 in=4096", "--backend", "fake",
                          "--backend-option", "frequency=1500", "--db", "a.db", "--quiet"});
    ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  }
  std::string Ask(const std::string& sql, const std::string& database) {
    const testing::Ended ended = program_.Infimum({"query", "--sql", sql, "--db", database, "--format", "csv"});
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return ended.output;
  }

  testing::ProgramTest program_;
};

TEST_F(StoreCommands, AStoreIsMadeOnceMigratedAndCounted) {
  program_.Run({"db", "init", "--db", "new.db"});
  const testing::Ended again = program_.Infimum({"db", "init", "--db", "new.db"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.errors, HasSubstr("new.db: there is already a store"));
  EXPECT_THAT(program_.Infimum({"db", "migrate", "--db", "new.db"}).errors, HasSubstr("already"));
  const testing::Ended none = program_.Infimum({"db", "migrate", "--db", "none.db"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.errors, HasSubstr("none.db: there is no store; `infimum db init` makes one"));
  const testing::Ended stats = program_.Infimum({"db", "stats", "--db", "new.db", "--format", "json"});
  const nlohmann::json facts = nlohmann::json::parse(stats.output);
  EXPECT_EQ(facts["schema"], "infimum.db-stats/1");
  EXPECT_EQ(facts["tables"]["measurements"], 0);
  EXPECT_EQ(program_.Infimum({"db"}).exit_code, 2);
  EXPECT_EQ(program_.Infimum({"db", "roles", "--db", "new.db"}).exit_code, 1);
}

TEST_F(StoreCommands, WhatIsExportedOrMergedIsTheSameElsewhere) {
  Measure();
  const std::string all =
      "SELECT w.text, c.algorithm, m.outcome, m.best_us, m.measured_at, k.source, r.clock_low_mhz FROM measurements m "
      "JOIN "
      "workloads w ON w.id = m.workload_id JOIN candidates c ON c.id = m.candidate_id JOIN campaigns k ON k.id = "
      "m.campaign_id LEFT JOIN repetitions r ON r.measurement_id = m.id ORDER BY c.algorithm, r.position, r.median_us";
  const std::string rows = Ask(all, "a.db");
  EXPECT_THAT(rows, HasSubstr("1500"));
  const testing::Ended exported = program_.Infimum({"export", "--db", "a.db", "-o", "a.jsonl"});
  ASSERT_EQ(exported.exit_code, 0) << exported.errors;
  program_.Run({"import", "a.jsonl", "--db", "b.db"});
  EXPECT_EQ(Ask(all, "b.db"), rows);
  const testing::Ended merged = program_.Infimum({"db", "merge", "a.db", "b.db", "--db", "c.db"});
  ASSERT_EQ(merged.exit_code, 0) << merged.errors;
  EXPECT_THAT(merged.errors, HasSubstr("b.db: 0 rows added to c.db"));
  EXPECT_EQ(Ask(all, "c.db"), rows);
  program_.Run({"db", "check", "--db", "c.db"});
  EXPECT_EQ(program_.Infimum({"export", "--db", "a.db", "--outcome", "lost"}).exit_code, 2);
  const testing::Ended missing = program_.Infimum({"db", "merge", "none.db", "--db", "d.db"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "d.db"));
}

TEST_F(StoreCommands, AModelIsImportedAndAskedAbout) {
  const std::string model = testing::ProgramTest::Light("squeezenet");
  const testing::Ended imported = program_.Infimum({"import", model, "--db", "a.db"});
  ASSERT_EQ(imported.exit_code, 0) << imported.errors;
  EXPECT_THAT(imported.errors, HasSubstr("1 rows added"));
  EXPECT_THAT(Ask("SELECT name FROM models", "a.db"), HasSubstr("light_squeezenet"));
  program_.Run({"query", "coverage", "model=light_squeezenet", "--db", "a.db"});
}

// Datasette binds texts by name, empty ones where nothing was typed; SQLite takes what is not bound for NULL. Both
// stand for a parameter's own value.
TEST_F(StoreCommands, TheQuestionsForDatasetteAnswerTheSame) {
  program_.Run({"db", "init", "--db", "empty.db"});
  Measure();
  std::size_t rows = 0;
  for (const char* database : {"empty.db", "a.db"}) {
    const nlohmann::json metadata = program_.Json({"query", "--datasette", "--db", database});
    const nlohmann::json& queries = metadata["databases"][std::filesystem::path(database).stem().string()]["queries"];
    const nlohmann::json known = program_.Json({"query", "--format", "json"})["rows"];
    EXPECT_EQ(queries.size(), known.size());
    for (const nlohmann::json& row : known) {
      const std::string name = row[0].get<std::string>();
      SCOPED_TRACE(name);
      ASSERT_TRUE(queries.contains(name));
      EXPECT_THAT(queries[name]["description"].get<std::string>(), StartsWith(row[2].get<std::string>()));
      const std::string sql = queries[name]["sql"].get<std::string>();
      EXPECT_THAT(sql, Not(HasSubstr("$")));
      std::vector<std::string> ask{"query", name, "--db", database, "--format", "json"};
      for (const nlohmann::json& parameter : queries[name]["params"]) {
        const std::string word = parameter.get<std::string>();
        EXPECT_THAT(sql, HasSubstr(":" + word));
        if (sql.find("nullif(:" + word + ",") == std::string::npos) ask.push_back(word + "=");
      }
      const nlohmann::json answer = program_.Json(ask);
      const nlohmann::json same = program_.Json({"query", "--sql", sql, "--db", database, "--format", "json"});
      EXPECT_EQ(same["columns"], answer["columns"]);
      EXPECT_EQ(same["rows"], answer["rows"]);
      rows += answer["rows"].size();
    }
    EXPECT_THAT(queries["sweep"]["sql"].get<std::string>(),
                AllOf(HasSubstr("= :evaluation"), HasSubstr("= coalesce(nullif(:field,''),'threads')")));
    // An empty text is the default, so that another word asks for any number.
    EXPECT_THAT(queries["coverage"]["description"].get<std::string>(),
                HasSubstr("threads [1]: threads of a processor; GPUs count as one; any: any number"));
    EXPECT_THAT(queries["coverage"]["sql"].get<std::string>(),
                HasSubstr("CASE :threads WHEN 'any' THEN '' ELSE coalesce(nullif(:threads,''),'1') END = ''"));
  }
  EXPECT_GT(rows, 0);
  EXPECT_EQ(program_.Infimum({"query", "coverage", "--datasette"}).exit_code, 2);
  for (const char* address : {"postgresql://nowhere/x", "nothere.db"})
    EXPECT_EQ(program_.Infimum({"query", "--datasette", "--db", address}).exit_code, 1);
}

TEST_F(StoreCommands, AnotherDeviceIsAnalyzedWithoutMeasuring) {
  const testing::Ended ended = program_.Infimum({"analyze", testing::ProgramTest::Light("squeezenet"), "--device",
                                                 "L40S", "--db", "a.db", "--report", "there.md"});
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("nothing is measured"));
  // Floors, the layers that they are of, what decides each, and what would be measured; a GPU has no threads to be
  // said.
  const std::string report = program_.Read("there.md");
  const std::string bound =
      program_.Run({"bound", testing::ProgramTest::Light("squeezenet"), "--device", "L40S", "--db", "a.db"});
  for (const std::string& text : {report, ended.output, bound}) {
    EXPECT_THAT(text, AllOf(HasSubstr("L40S"), HasSubstr("floor, textbook"), HasSubstr("arithmetic f32"),
                            HasSubstr("infimum plan "), HasSubstr("workloads")));
    for (const char* nothing : {"thread", "0 %,", "overage", "No layer", "No framework", "without a time"})
      EXPECT_THAT(text, Not(HasSubstr(nothing)));
  }
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "a.db"));
  const testing::Ended unknown =
      program_.Infimum({"analyze", testing::ProgramTest::Light("squeezenet"), "--device", "L40Z", "--db", "a.db"});
  EXPECT_EQ(unknown.exit_code, 1);
}

// Files of one name are in many folders.
TEST_F(StoreCommands, AReportsOwnNameTakesNoOtherModelsReport) {
  const auto report = [&](const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"report", folder + "/net.onnx", "--device", "h200", "--db", "none.db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program_.Infimum(arguments).errors;
  };
  for (const char* name : {"squeezenet", "resnet50"}) {
    std::filesystem::create_directory(program_.folder() / name);
    std::filesystem::copy_file(testing::ProgramTest::Light(name), program_.folder() / name / "net.onnx");
  }
  EXPECT_THAT(report("squeezenet", {}), HasSubstr("wrote net.html"));
  const std::string first = program_.Read("net.html");
  const std::string other = report("resnet50", {});
  EXPECT_THAT(other, ::testing::ContainsRegex("wrote net-[0-9a-f]{8}\\.html"));
  EXPECT_EQ(program_.Read("net.html"), first);
  // Each model's own is replaced.
  EXPECT_EQ(report("resnet50", {}), other);
  EXPECT_THAT(report("squeezenet", {}), HasSubstr("wrote net.html"));
  // A report that does not say of which model it is replaces none, nor one another's.
  EXPECT_THAT(report("squeezenet", {"--anonymize"}), HasSubstr("wrote model.html"));
  EXPECT_THAT(report("resnet50", {"--anonymize"}), HasSubstr("wrote model-2.html"));
  // A name that was asked for is taken.
  EXPECT_THAT(report("resnet50", {"-o", "net.html"}), HasSubstr("wrote net.html"));
  EXPECT_NE(program_.Read("net.html"), first);
}

TEST_F(StoreCommands, ACheckSaysWhatIsWrongAndEndsWithOne) {
  Measure();
  const std::string file = program_.Read("a.db");
  // A page of the file somewhere in its middle.
  std::string damaged = file;
  for (std::size_t i = file.size() / 2; i < file.size() / 2 + 3000 && i < file.size(); ++i) damaged[i] = '#';
  program_.Write("a.db", damaged);
  const testing::Ended checked = program_.Infimum({"db", "check", "--db", "a.db"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.errors, StartsWith("infimum: error: a.db: "));
}

}  // namespace
}  // namespace infimum
