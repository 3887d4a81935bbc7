// Every file of the measurements of 2019, into a SQLite file and a PostgreSQL database at once, twice; and every number
// that must come of it. How entries become rows stands in src/readers/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/connection/postgresql_connection.h"
#include "db/connection/sqlite_connection.h"
#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "src/readers/read_results.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_dump.h"
#include "tests/db/store_rows.h"
#include "tests/readers/benanza_archives.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ManifestFile;
using ::testing::Not;
using testing::PostgreSqlServer;
using testing::RawEntries;
using ::testing::StartsWith;

// What is expected of one archive.
struct Archive {
  int files, systems;                                   // all of them; the nvidia_smi.xml among them
  int imported, refused;                                // of the others
  std::int64_t entries;                                 // of those that import: in the JSON as it stands there
  std::int64_t left_out;                                // of the entries
  std::int64_t measured, unsupported, failed, skipped;  // rows
  std::int64_t repetitions;                             // of the measured rows
};
const std::map<std::string, Archive> kArchives = {
    {"mobilenetv2_float32", {23, 8, 15, 0, 5415, 570, 3165, 1620, 0, 0, 3225}},
    {"resnet50_float16", {88, 16, 71, 1, 106145, 639, 14298, 67778, 0, 0, 21452}},
    {"resnet50_float16_cudnn7.6.4.38_V100_nchw", {10, 1, 9, 0, 13455, 81, 1800, 8604, 0, 0, 2682}},
    {"resnet50_float32", {73, 8, 65, 0, 97175, 585, 19979, 53603, 1558, 0, 33151}},
    {"resnet50_float32_cudnn_versions_V100", {30, 5, 25, 0, 37375, 225, 7804, 20919, 177, 0, 12968}},
    {"resnet50_kernel_metrics", {25, 8, 10, 7, 550, 90, 0, 0, 0, 360, 0}},
    {"whole_zoo_batch128_256", {14, 0, 14, 0, 55052, 2052, 7923, 920, 41869, 0, 9595}},
};

// Why a file is refused, by its end.
const std::map<std::string, std::string> kRefused = {
    {"nhwc_low_prec/TITAN_V/256.json", ":12888:5: not valid JSON"},
    {"low_prec_profile/Tesla_V100-SXM2-16GB/2.json", ":5160:5: not valid JSON"},
    {"profile/Quadro_RTX_6000/1.json.gz", ":46:5: not valid JSON"},
    {"profile/Quadro_RTX_6000/32.json.gz", ":46:5: not valid JSON"},
    {"profile/TITAN_V/1.json.gz", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {"profile/TITAN_V/32.json.gz", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {"profile/Tesla_T4/1.json.gz", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {"profile/Tesla_T4/32.json.gz", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
};

// A store that is several, so that each file is read once for all of them.
class Stores {
 public:
  class Import {
   public:
    Status Add(const Device& device, const Environment& environment, std::span<const Measurement> rows,
               std::span<const PeakRate> peaks) {
      for (const auto& import : imports) INFIMUM_RETURN_IF_ERROR(import->Add(device, environment, rows, peaks));
      return {};
    }
    void SwitchTo(const CampaignOrigin& campaign) {
      for (const auto& import : imports) import->SwitchTo(campaign);
    }
    Status AddRun(const RunProfile&) { return Error{"there is no run in this data"}; }
    Result<ImportCount> Commit() {
      std::optional<ImportCount> all;
      for (const auto& import : imports) {
        INFIMUM_ASSIGN_OR_RETURN(const ImportCount count, import->Commit());
        if (all && (all->added != count.added || all->known != count.known)) return Error{"the databases disagree"};
        all = count;
      }
      return all.value_or(ImportCount());
    }
    std::vector<std::unique_ptr<StoreImport>> imports;
  };

  Status Open(const std::string& address) {
    INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, OpenStore(address, OpenMode::kReadWrite));
    stores_.push_back(std::move(store));
    return {};
  }
  Result<std::unique_ptr<Import>> BeginImport(const CampaignOrigin& campaign) {
    newest_campaign = campaign.key;
    auto all = std::make_unique<Import>();
    for (const auto& store : stores_) {
      INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<StoreImport> import, store->BeginImport(campaign));
      all->imports.push_back(std::move(import));
    }
    return all;
  }
  Result<ImportCount> ImportRun(const RunProfile&) { return Error{"there is no run in this data"}; }

  std::string newest_campaign;

 private:
  std::vector<std::unique_ptr<Store>> stores_;
};

struct Outcomes {
  std::map<std::string, std::int64_t> rows;  // by outcome
  std::int64_t repetitions = 0;
};

// One of the files, and what came of it.
struct File {
  std::string archive, path;
  std::uintmax_t bytes = 0;
  std::string sha256, campaign, error;
  ImportCount first, second;
  std::int64_t left_out = 0;
  RawEntries raw;

  bool IsSystem() const { return path.ends_with("/nvidia_smi.xml"); }
};

class Benanza : public ::testing::Test {
 protected:
  // Once for all tests.
  static void SetUpTestSuite() {
    if (!fs::exists(testing::BenanzaFolder())) return;
    folder_ = std::make_unique<testing::TemporaryFolder>();
    stores_ = std::make_unique<Stores>();
    manifest_ = testing::ReadManifest(folder_->path());
    Status opened = stores_->Open(folder_->File("benanza.db"));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    if (PostgreSqlServer* const server = PostgreSqlServer::Get(); server != nullptr) {
      postgresql_ = server->NewDatabase();
      opened = stores_->Open(postgresql_);
      ASSERT_TRUE(opened.ok()) << opened.error().message;
    }
    for (const auto& [name, expected] : kArchives) ASSERT_NO_FATAL_FAILURE(Import(name));
  }
  static void TearDownTestSuite() {
    stores_.reset();
    folder_.reset();
    files_.clear();
  }

  void SetUp() override {
    if (folder_ != nullptr) return;
    ASSERT_EQ(std::getenv("CI"), nullptr) << testing::BenanzaFolder() << " is absent";
    GTEST_SKIP() << testing::BenanzaFolder() << " is absent";
  }

  // All of an archive, and then all of it again.
  static void Import(const std::string& archive) {
    const fs::path unpacked = folder_->path() / archive;
    fs::create_directories(unpacked);
    ASSERT_TRUE(testing::Unpack(testing::BenanzaFolder() / "raw" / (archive + ".tar.xz"), unpacked)) << archive;
    const std::size_t begin = files_.size();
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(unpacked)) {
      if (!entry.is_regular_file()) continue;
      File file;
      file.archive = archive;
      file.path = fs::relative(entry.path(), unpacked).string();
      file.bytes = entry.file_size();
      std::ifstream input(entry.path(), std::ios::binary);
      const std::string content(std::istreambuf_iterator<char>(input), {});
      file.sha256 = Sha256(std::as_bytes(std::span(content)));
      file.raw = testing::CountEntries(entry.path());
      files_.push_back(std::move(file));
    }
    for (std::size_t i = begin; i < files_.size(); ++i) ImportOnce(unpacked / files_[i].path, files_[i]);
    for (std::size_t i = begin; i < files_.size(); ++i) {
      const Result<ImportCount> again = ImportFile(unpacked / files_[i].path, *stores_);
      if (again.ok()) files_[i].second = *again;
      EXPECT_EQ(again.ok(), files_[i].error.empty());
    }
    fs::remove_all(unpacked);
  }

  static void ImportOnce(const fs::path& path, File& file) {
    // "FILE: 38 entries of API left out: why"
    const auto remark = [&](const std::string& text) {
      if (text.find(" left out: ") == std::string::npos) return;
      const std::string sentence = text.substr(text.find(": ") + 2);
      file.left_out += ParseInteger(sentence.substr(0, sentence.find(' '))).value_or(0);
    };
    const Result<ImportCount> count = ImportFile(path, *stores_, remark);
    if (!count.ok()) {
      file.error = count.error().message;
      return;
    }
    file.first = *count;
    file.campaign = stores_->newest_campaign;
  }

  static std::unique_ptr<Connection> Sqlite() {
    auto connection = SqliteConnection::Open(folder_->File("benanza.db"), SqliteConnection::Mode::kReadOnly);
    EXPECT_TRUE(connection.ok());
    return connection.ok() ? std::unique_ptr<Connection>(std::move(*connection)) : nullptr;
  }

  static std::vector<std::string> Ask(const std::string& sql) {
    const std::unique_ptr<Connection> connection = Sqlite();
    const Result<std::vector<std::string>> lines = testing::Ask(*connection, sql);
    EXPECT_TRUE(lines.ok()) << lines.error().message;
    return lines.ok() ? *lines : std::vector<std::string>();
  }

  static std::map<std::string, Outcomes> RowsByArchive() {
    std::map<std::string, std::string> archive_of;
    for (const File& file : files_) archive_of[file.campaign] = file.archive;
    std::map<std::string, Outcomes> by_archive;
    for (const std::string& line : Ask("SELECT c.key, m.outcome, count(*), sum(m.repetition_count) FROM measurements m "
                                       "JOIN campaigns c ON c.id = m.campaign_id GROUP BY c.key, m.outcome")) {
      const std::vector<std::string_view> cells = Split(line, '\t');
      Outcomes& outcomes = by_archive[archive_of.at(std::string(cells[0]))];
      outcomes.rows[std::string(cells[1])] += *ParseInteger(cells[2]);
      outcomes.repetitions += *ParseInteger(cells[3]);
    }
    return by_archive;
  }

  static std::unique_ptr<testing::TemporaryFolder> folder_;
  static std::unique_ptr<Stores> stores_;
  static std::string postgresql_;  // empty where there is no server
  static std::map<std::string, ManifestFile> manifest_;
  static std::vector<File> files_;
};

std::unique_ptr<testing::TemporaryFolder> Benanza::folder_;
std::unique_ptr<Stores> Benanza::stores_;
std::string Benanza::postgresql_;
std::map<std::string, ManifestFile> Benanza::manifest_;
std::vector<File> Benanza::files_;

TEST_F(Benanza, EveryFileOfTheManifestWasSeenAndNoOther) {
  ASSERT_EQ(manifest_.size(), 263u);
  std::map<std::string, int> files, systems;
  for (const File& file : files_) {
    const auto listed = manifest_.find(file.archive + "/" + file.path);
    ASSERT_NE(listed, manifest_.end()) << file.archive << "/" << file.path;
    EXPECT_EQ(listed->second.bytes, file.bytes) << file.path;
    EXPECT_EQ(listed->second.sha256, file.sha256) << file.path;
    ++files[file.archive];
    systems[file.archive] += file.IsSystem() ? 1 : 0;
  }
  EXPECT_EQ(files_.size(), manifest_.size());
  for (const auto& [name, expected] : kArchives) {
    EXPECT_EQ(files[name], expected.files) << name;
    EXPECT_EQ(systems[name], expected.systems) << name;
  }
}

TEST_F(Benanza, FilesImportOrAreRefusedWithTheirCause) {
  std::map<std::string, int> imported, refused;
  for (const File& file : files_) {
    if (file.IsSystem()) {
      EXPECT_THAT(file.error, HasSubstr("neither a results journal")) << file.path;
      continue;
    }
    ++(file.error.empty() ? imported : refused)[file.archive];
    if (file.error.empty()) {
      EXPECT_GT(file.first.added, 0) << file.path;
      EXPECT_EQ(file.first.known, 0) << file.path;
      continue;
    }
    const auto expected = kRefused.find(file.path.substr(file.path.find('/') + 1));
    ASSERT_NE(expected, kRefused.end()) << file.error;
    EXPECT_THAT(file.error, AllOf(HasSubstr(file.path + ":"), HasSubstr(expected->second), Not(HasSubstr("\n"))));
  }
  for (const auto& [name, expected] : kArchives) {
    EXPECT_EQ(imported[name], expected.imported) << name;
    EXPECT_EQ(refused[name], expected.refused) << name;
  }
}

TEST_F(Benanza, RowsByArchiveAndOutcome) {
  std::map<std::string, Outcomes> by_archive = RowsByArchive();
  for (const auto& [name, expected] : kArchives) {
    Outcomes& found = by_archive[name];
    EXPECT_EQ(found.rows["measured"], expected.measured) << name;
    EXPECT_EQ(found.rows["unsupported"], expected.unsupported) << name;
    EXPECT_EQ(found.rows["failed"], expected.failed) << name;
    EXPECT_EQ(found.rows["skipped"], expected.skipped) << name;
    EXPECT_EQ(found.repetitions, expected.repetitions) << name;
  }
  EXPECT_THAT(Ask("SELECT outcome, count(*) FROM measurements GROUP BY outcome ORDER BY outcome"),
              ElementsAre("failed\t43604", "measured\t54969", "skipped\t360", "unsupported\t153444"));
  EXPECT_THAT(Ask("SELECT count(*), count(DISTINCT measurement_id) FROM repetitions"), ElementsAre("83073\t54969"));
}

// What ran is a repetition; of what did not, equal entries are one row, or none where the same was measured.
TEST_F(Benanza, EveryEntryIsARepetitionOrARowOrLeftOut) {
  std::map<std::string, RawEntries> raw;
  std::map<std::string, std::int64_t> left_out;
  for (const File& file : files_) {
    if (!file.error.empty()) continue;
    raw[file.archive] += file.raw;
    left_out[file.archive] += file.left_out;
  }
  std::map<std::string, Outcomes> by_archive = RowsByArchive();
  RawEntries all;
  for (const auto& [name, expected] : kArchives) {
    const RawEntries& entries = raw[name];
    EXPECT_EQ(entries.all, expected.entries) << name;
    EXPECT_EQ(left_out[name], expected.left_out) << name;
    EXPECT_EQ(by_archive[name].repetitions, entries.ran - entries.ran_training) << name;
    std::map<std::string, std::int64_t>& rows = by_archive[name].rows;
    const std::int64_t failures = entries.failed - (left_out[name] - entries.ran_training);
    if (entries.profiled == 0) {
      EXPECT_LE(rows["unsupported"] + rows["failed"], failures) << name;
    } else {
      EXPECT_EQ(entries.profiled, entries.all) << name;
      EXPECT_LE(rows["skipped"], entries.all - left_out[name]) << name;
    }
    all += entries;
  }
  EXPECT_EQ(all.all, 315167);
  EXPECT_EQ(all.ran, 87008);
  EXPECT_EQ(all.failed, 227609);
  EXPECT_EQ(all.profiled, 550);
  EXPECT_EQ(all.ran_training, 3935);
  EXPECT_EQ(all.failed_training, 189);  // and 28 pools with a window larger than their input
}

TEST_F(Benanza, DevicesWithTheirRows) {
  EXPECT_THAT(Ask("SELECT d.name, g.name, count(*) FROM measurements m JOIN devices d ON d.id = m.device_id "
                  "LEFT JOIN generations g ON g.id = d.generation_id "
                  "GROUP BY d.name, g.name ORDER BY d.name"),
              ElementsAre("GRID K520\tKepler\t4178", "Quadro RTX 6000\tTuring\t41407", "TITAN V\tVolta\t33315",
                          "TITAN Xp\tPascal\t17203", "Tesla K80\tKepler\t14416", "Tesla M60\tMaxwell\t14735",
                          "Tesla T4\tTuring\t39095", "Tesla V100-SXM2-16GB\tVolta\t88028"));
}

TEST_F(Benanza, LibraryVersionsWithTheirRows) {
  const auto rows_of = [](const std::string& library) {
    return Ask(
        "SELECT l.version, count(*) FROM measurements m JOIN environment_libraries l "
        "ON l.environment_id = m.environment_id WHERE l.library = '" +
        library + "' GROUP BY l.version ORDER BY l.version");
  };
  EXPECT_THAT(rows_of("cudnn"), ElementsAre("7.5.0\t4624", "7.5.1\t4624", "7.6.0\t4624", "7.6.1\t23426",
                                            "7.6.3\t187026", "7.6.4\t28053"));
  EXPECT_THAT(rows_of("cublas"), ElementsAre("10.0\t18802", "10.1\t233575"));
  EXPECT_THAT(rows_of("cuda_runtime"), ElementsAre("10.1\t252377"));
  EXPECT_THAT(rows_of("cuda_driver"), ElementsAre("10.1\t75100", "10.2\t177277"));
  EXPECT_THAT(Ask("SELECT c.library, count(*) FROM measurements m JOIN candidates c ON c.id = m.candidate_id "
                  "GROUP BY c.library ORDER BY c.library"),
              ElementsAre("cublas\t418", "cudnn-legacy\t251959"));
}

TEST_F(Benanza, CampaignsWorkloadsAndCandidates) {
  EXPECT_THAT(Ask("SELECT (SELECT count(*) FROM campaigns), (SELECT count(*) FROM workloads), "
                  "(SELECT count(*) FROM candidates), (SELECT count(*) FROM environments)"),
              ElementsAre("209\t4643\t77\t8"));
  EXPECT_THAT(Ask("SELECT contract, count(*) FROM measurements GROUP BY contract ORDER BY contract"),
              ElementsAre("f16\t92480", "strict-f32\t159897"));
}

// What CUPTI timed is there, and no bound can choose it.
TEST_F(Benanza, ProfiledRowsHaveNoTime) {
  EXPECT_THAT(Ask("SELECT reason, count(*), count(best_us), sum(repetition_count) FROM measurements "
                  "WHERE outcome = 'skipped' GROUP BY reason"),
              ElementsAre("timed under a profiler (CUPTI)\t360\t0\t0"));
}

TEST_F(Benanza, ImportingEverythingAgainAddsNothing) {
  std::int64_t rows = 0;
  for (const File& file : files_) {
    EXPECT_EQ(file.second.added, 0) << file.path;
    EXPECT_EQ(file.second.known, file.first.added) << file.path;
    rows += file.first.added;
  }
  EXPECT_EQ(rows, 252377);
}

TEST_F(Benanza, BothDatabasesHoldTheSameRowForRow) {
  if (postgresql_.empty()) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << PostgreSqlServer::WhyNot();
    GTEST_SKIP() << PostgreSqlServer::WhyNot();
  }
  Result<std::unique_ptr<PostgreSqlConnection>> server = PostgreSqlConnection::Open(postgresql_, /*read_only=*/true);
  ASSERT_TRUE(server.ok()) << server.error().message;
  const Result<std::vector<std::string>> theirs = testing::DumpStore(**server);
  ASSERT_TRUE(theirs.ok()) << theirs.error().message;
  const Result<std::vector<std::string>> ours = testing::DumpStore(*Sqlite());
  ASSERT_TRUE(ours.ok()) << ours.error().message;
  ASSERT_GT(ours->size(), 252377u + 83073u);
  ASSERT_EQ(ours->size(), theirs->size());
  for (std::size_t i = 0; i < ours->size(); ++i) ASSERT_EQ((*ours)[i], (*theirs)[i]);
}

}  // namespace
}  // namespace infimum
