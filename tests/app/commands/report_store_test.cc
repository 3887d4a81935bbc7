// infimum report store: a site that is written again and again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing::report_store_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportStore : public ::testing::Test {
 protected:
  void Measure(const std::string& model, const std::string& store) {
    program_.Run({"analyze", ProgramTest::Light(model), "--backend", "fake", "--framework", "none", "--db", store,
                  "--report", "page.html"});
  }
  // What it says, its exit code being 0.
  std::string Site(const std::string& store, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"report", "store", "--db", store};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = program_.Infimum(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.errors;
    return ended.errors;
  }
  nlohmann::json State() { return nlohmann::json::parse(program_.Read("site/site.json")); }
  std::string Everything() {
    std::string text;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(program_.folder() / "site"))
      if (file.is_regular_file())
        text += file.path().filename().string() + "\n" + program_.Read(fs::relative(file, program_.folder()).string());
    return text;
  }

  ProgramTest program_;
};

// A model that the store gets becomes a page and a change; what is as it was is not written again.
TEST_F(ReportStore, IsWrittenAgainWhereSomethingChanged) {
  Measure("bvlc_alexnet", "team.db");
  EXPECT_THAT(Site("team.db"), AllOf(HasSubstr("1 model on 1 device"), HasSubstr("5 files written, 0 as they were")));
  EXPECT_THAT(program_.Read("site/index.html"), HasSubstr("Nothing since the first site in this folder."));
  const nlohmann::json first = State();
  ASSERT_EQ(first["places"].size(), 1u);
  EXPECT_TRUE(first["places"][0]["complete"]);
  // The sum of rows, which `bound` has too (but where concatenations and splits need move nothing, and here is none).
  const nlohmann::json bound = program_.Json(
      {"bound", ProgramTest::Light("bvlc_alexnet"), "--backend", "fake", "--db", "team.db", "--format", "json"});
  for (const nlohmann::json& variant : bound["bounds"]) {
    if (variant["variant"] != "sequential") continue;
    EXPECT_NEAR(first["places"][0]["bound_us"], variant["latency_us"].get<double>(), 1e-6);
  }

  EXPECT_THAT(Site("team.db"), HasSubstr("0 files written, 5 as they were, 0 removed"));
  EXPECT_EQ(State(), first);
  // A page that somebody removed comes back.
  fs::remove(program_.folder() / "site/index.html");
  EXPECT_THAT(Site("team.db"), HasSubstr("1 file written, 4 as they were"));
  EXPECT_EQ(State(), first);
  Measure("shufflenet", "team.db");
  EXPECT_THAT(Site("team.db"), HasSubstr("2 models on 1 device"));
  const nlohmann::json second = State();
  ASSERT_EQ(second["changes"].size(), 1u) << second["changes"];
  EXPECT_EQ(second["changes"][0]["what"], "bound is complete");
  EXPECT_THAT(second["changes"][0]["where"], HasSubstr("light_shufflenet"));
  EXPECT_EQ(second["since"], first["data_as_of"]);
  // What changed stays until something else does.
  EXPECT_THAT(Site("team.db"), HasSubstr("0 files written"));
  EXPECT_EQ(State(), second);

  // Another store without the model: its page goes, what is not the site's stays.
  program_.Write("site/notes.txt", "mine");
  Measure("bvlc_alexnet", "other.db");
  EXPECT_THAT(Site("other.db"), HasSubstr("1 removed"));
  EXPECT_EQ(program_.Read("site/notes.txt"), "mine");
  for (const fs::directory_entry& file : fs::directory_iterator(program_.folder() / "site/models"))
    EXPECT_THAT(file.path().string(), Not(HasSubstr("shufflenet")));
}

TEST_F(ReportStore, FoldersOfOthersAreLeftAlone) {
  Measure("squeezenet", "team.db");
  fs::create_directory(program_.folder() / "site");
  program_.Write("site/index.html", "mine");
  const Ended refused = program_.Infimum({"report", "store", "--db", "team.db"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("site: holds other files and no site"));
  EXPECT_EQ(program_.Read("site/index.html"), "mine");
  fs::remove_all(program_.folder() / "site");

  Site("team.db");
  nlohmann::json state = State();
  program_.Write("victim.html", "mine");
  for (const char* path : {"../victim.html", "models/../../victim.html", "/etc/passwd", "site.json", "models", ""})
    state["files"].push_back(path);
  program_.Write("site/site.json", state.dump());
  Site("team.db");
  EXPECT_EQ(program_.Read("victim.html"), "mine");
  EXPECT_TRUE(fs::is_directory(program_.folder() / "site/models"));

  program_.Write("site/site.json", "{\"schema\": \"infimum.site/2\"}");
  const Ended newer = program_.Infimum({"report", "store", "--db", "team.db"});
  EXPECT_EQ(newer.exit_code, 1);
  EXPECT_THAT(newer.errors, HasSubstr("infimum.site/2"));
  program_.Write("file", "");
  EXPECT_THAT(program_.Infimum({"report", "store", "--db", "team.db", "-o", "file"}).errors,
              HasSubstr("file: is no folder"));
}

TEST_F(ReportStore, AnonymousSitesNameNoModelAndNoStore) {
  const fs::path secret = program_.folder() / "secretnet.onnx";
  fs::copy_file(ProgramTest::Light("squeezenet"), secret);
  program_.Run({"analyze", secret.string(), "--backend", "fake", "--framework", "none", "--db", "secret.db", "--report",
                "page.html"});
  Site("secret.db", {"--anonymize"});
  EXPECT_THAT(Everything(), AllOf(Not(HasSubstr("secret")), HasSubstr("model-1")));
  // The names come back into a folder as another site, not as changes.
  Site("secret.db");
  EXPECT_THAT(Everything(),
              AllOf(HasSubstr("secretnet"), HasSubstr("Nothing since the first site"), Not(HasSubstr("model-1"))));
}

// A full disk leaves pages that open, and the next time writes the rest.
TEST_F(ReportStore, AFullDiskIsReportedAndMended) {
  Measure("squeezenet", "team.db");
  const Ended full = program_.Infimum({"report", "store", "--db", "team.db"}, {.largest_file = 9000});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.errors, HasSubstr("infimum: error: "));
  EXPECT_THAT(Site("team.db"), HasSubstr("written"));
  EXPECT_THAT(Site("team.db"), HasSubstr("0 files written, 5 as they were"));
}

TEST_F(ReportStore, AStoreWithoutModelsHasAnIndex) {
  program_.Run({"db", "init", "--db", "empty.db"});
  EXPECT_THAT(Site("empty.db"), HasSubstr("3 files written"));
  EXPECT_EQ(program_.Infimum({"report", "store", "--db", "none.db"}).exit_code, 1);
}

}  // namespace
}  // namespace infimum::testing::report_store_test
