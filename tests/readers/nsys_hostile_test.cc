// Exports that are no exports, or damaged, or made to do harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "src/readers/profiles/nsys/nsys_export.h"
#include "tests/readers/nsys_files.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string BytesOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class NsysHostile : public testing::NsysFiles {
 protected:
  // Kernels of these values of start, end, device, stream, correlation, process and name.
  std::string ErrorOfKernel(const std::string& values) {
    return ErrorOfRows(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, "
        "demangledName, "
        "contextId, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ) SELECT *, 1, 13, 1, 1, 1, 1, 1, 1 FROM "
        "(VALUES (1, 2, 0, 7, 1, 1<<24, 12), (" +
        values + "))");
  }
};

TEST_F(NsysHostile, ValuesThatAreNot) {
  const std::string row = "trace.sqlite: CUPTI_ACTIVITY_KIND_KERNEL row 2: ";
  EXPECT_EQ(ErrorOfKernel("20, 10, 0, 7, 1, 1<<24, 12"), row + "'end' is before 'start'");
  EXPECT_EQ(ErrorOfKernel("'ten', 10, 0, 7, 1, 1<<24, 12"), row + "'start' is 'ten', not an integer");
  EXPECT_EQ(ErrorOfKernel("1, 1.5, 0, 7, 1, 1<<24, 12"), row + "'end' is a number with a fraction, not an integer");
  EXPECT_EQ(ErrorOfKernel("1, 9223372036854775807, 0, 7, 1, 1<<24, 12"),
            row + "'end' is 9223372036854775807, not a time in nanoseconds");
  EXPECT_EQ(ErrorOfKernel("1, 2, x'00ff', 7, 1, 1<<24, 12"), row + "'deviceId' is '', not an integer");
  EXPECT_EQ(ErrorOfKernel("1, 2, 0, 7, 1, 1<<24, 99"), row + "'demangledName' is 99, which StringIds does not contain");
  EXPECT_EQ(ErrorOfKernel("1, 2, 0, 7, 1, 1<<24, -9223372036854775808"),
            row + "'demangledName' is -9223372036854775808, which StringIds does not contain");
  // None of ours to judge: a time before the origin, numbers without a meaning.
  EXPECT_EQ(ErrorOfKernel("-20, -10, -1, 9223372036854775807, -1, -1, 12"), "");
}

TEST_F(NsysHostile, TextsThatAreNot) {
  const std::string kernel =
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 1, 7, 1, 0, 50, 13, 1, 1, 1, 1, 1, 1, NULL);";
  const std::string row = "trace.sqlite: CUPTI_ACTIVITY_KIND_KERNEL row 1: 'demangledName' ";
  EXPECT_EQ(ErrorOfRows(kernel + "INSERT INTO StringIds VALUES (50, x'00')"),
            row + "is 50, whose value in StringIds is not a text");
  EXPECT_EQ(ErrorOfRows(kernel + "INSERT INTO StringIds VALUES (50, CAST(zeroblob(2000000) AS TEXT))"),
            row + "is a text of 2000000 bytes; a name has at most 1048576");
  EXPECT_EQ(ErrorOfRows(kernel + "INSERT INTO StringIds VALUES (50, CAST(x'ff41' AS TEXT))"), "");
  EXPECT_THAT(
      ErrorOfRows(kernel + "DROP TABLE StringIds"),
      StartsWith(row + "refers to a table StringIds, which the file lacks; export all of the report: nsys export"));
  // Files that the report keeps as texts do not matter.
  EXPECT_EQ(ErrorOfRows("INSERT INTO StringIds VALUES (51, CAST(zeroblob(90000000) AS TEXT))"), "");
}

TEST_F(NsysHostile, TablesThatAreNot) {
  const std::string no_kernels =
      "trace.sqlite: no table CUPTI_ACTIVITY_KIND_KERNEL: no work of a GPU was traced, or not exported; record with "
      "nsys "
      "profile --trace=cuda,nvtx, then: nsys export --type sqlite REPORT.nsys-rep";
  EXPECT_EQ(ErrorOfRows("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL"), no_kernels);
  EXPECT_EQ(
      ErrorOfRows("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE "
                  "n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n) SELECT start FROM n"),
      no_kernels);
  EXPECT_EQ(
      ErrorOfRows("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN end"),
      "trace.sqlite: CUPTI_ACTIVITY_KIND_KERNEL has no column 'end' (schema 3.25.0); export the report with a newer "
      "Nsight Systems: nsys export --type sqlite REPORT.nsys-rep");
  // What is computed is no column of the export.
  EXPECT_THAT(
      ErrorOfRows("DROP TABLE NVTX_EVENTS; DROP TABLE META_DATA_EXPORT; CREATE TABLE NVTX_EVENTS (start, end AS "
                  "(zeroblob(1000000000)), eventType)"),
      StartsWith("trace.sqlite: NVTX_EVENTS has no column 'end' (an unknown schema); "));
  EXPECT_EQ(ErrorOf(Make("CREATE TABLE notes (text)")),
            "trace.sqlite: a SQLite database, but not an export of Nsight Systems, which has a table "
            "CUPTI_ACTIVITY_KIND_KERNEL; make one with: nsys export --type sqlite REPORT.nsys-rep");
}

TEST_F(NsysHostile, FilesThatAreNot) {
  EXPECT_EQ(ErrorOf(folder_ / "absent.sqlite"), "absent.sqlite: cannot be read: No such file or directory");
  EXPECT_EQ(ErrorOf("/dev/null"), "/dev/null: not a file");
  fs::create_directory(folder_ / "folder");
  EXPECT_EQ(ErrorOf(folder_ / "folder"), "folder: a folder; name the exported file in it");
  const std::string export_it = "Nsight Systems writes one with: nsys export --type sqlite REPORT.nsys-rep";
  EXPECT_EQ(ErrorOf(Write("", "empty.sqlite")), "empty.sqlite: not a SQLite database; " + export_it);
  EXPECT_EQ(ErrorOf(Write("{}", "x.json")), "x.json: not a SQLite database; " + export_it);
  EXPECT_EQ(ErrorOf(Write("anything", "run.nsys-rep")),
            "run.nsys-rep: a report of Nsight Systems, which only its own programs read; export it: nsys export --type "
            "sqlite --output run.sqlite run.nsys-rep");
  EXPECT_EQ(ErrorOf(Write("\x1f\x8b\x08", "x.sqlite.gz")),
            "x.sqlite.gz: compressed with gzip; reading a database needs random access, so decompress it first");
  EXPECT_EQ(ErrorOf(Make("PRAGMA application_id = 1768842861; CREATE TABLE x (y)")),
            "trace.sqlite: a store of infimum, not an export of Nsight Systems; give it as --db");
  EXPECT_THAT(ErrorOf(Write(std::string("SQLite format 3\0", 16), "short.sqlite")), HasSubstr("not a database"));
}

TEST_F(NsysHostile, AFileThatIsStillWritten) {
  std::string bytes = BytesOf(Make(testing::kNsysTables));
  bytes[18] = bytes[19] = 2;  // written through a log
  const fs::path path = Write(bytes, "logged.sqlite");
  EXPECT_EQ(ErrorOf(path), "");
  Write("not merged yet", "logged.sqlite-wal");
  EXPECT_EQ(ErrorOf(path),
            "logged.sqlite: some of its data is still in logged.sqlite-wal; end the program that writes it, or merge "
            "them: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'");
  fs::remove(folder_ / "logged.sqlite-wal");
  Write("to be rolled back", "logged.sqlite-journal");
  EXPECT_THAT(ErrorOf(path), StartsWith("logged.sqlite: it is being written, or its writer was stopped"));
}

// Pages that all have one child have more rows than there is time to read.
TEST_F(NsysHostile, ATableOfRowsWithoutEndEnds) {
  constexpr std::size_t kPage = 512;
  std::string bytes = BytesOf(Make(
      "PRAGMA page_size = 512; COMMIT; VACUUM; BEGIN; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, "
      "streamId, correlationId, shortName); CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO "
      "StringIds VALUES (1, 'k'); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) "
      "INSERT "
      "INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i, 0, 7, i, 1 FROM n"));
  // The table's root: the first page of inner nodes.
  std::size_t root = 1;
  while ((root + 1) * kPage <= bytes.size() && bytes[root * kPage] != 5) ++root;
  ASSERT_LE((root + 1) * kPage, bytes.size());
  const auto number = [&](std::size_t at) {
    return std::size_t{static_cast<unsigned char>(bytes[at])} * 256 + static_cast<unsigned char>(bytes[at + 1]);
  };
  const std::string node = bytes.substr(root * kPage, kPage);
  const std::size_t cells = number(root * kPage + 3);
  ASSERT_GT(cells, 20u);
  // The children of the root, which are leaves, become nodes like it: each with the next as its only child.
  std::vector<std::size_t> chain = {root};
  for (std::size_t i = 0; i < 8; ++i) chain.push_back(number(number(root * kPage + 12 + 2 * i) + root * kPage + 2) - 1);
  for (std::size_t level = 0; level + 1 < chain.size(); ++level) {
    const std::size_t page = chain[level] * kPage, child = chain[level + 1] + 1;
    bytes.replace(page, kPage, node);
    const auto point = [&](std::size_t at) {
      bytes[at] = bytes[at + 1] = 0;
      bytes[at + 2] = static_cast<char>(child / 256);
      bytes[at + 3] = static_cast<char>(child % 256);
    };
    point(page + 8);
    for (std::size_t cell = 0; cell < cells; ++cell) point(page + number(page + 12 + 2 * cell));
  }
  EXPECT_THAT(ErrorOf(Write(bytes, "endless.sqlite")), HasSubstr("damaged: it has more rows than its"));
}

TEST_F(NsysHostile, NoDamageIsACrash) {
  const std::string sound = BytesOf(
      Make(std::string(testing::kNsysTables) +
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO "
           "CUPTI_ACTIVITY_KIND_KERNEL "
           "SELECT 10 * i, 10 * i + 5, i % 2, 1, 7, i, 100<<24, 12, 13, i, 1, 1, 32, 1, 1, NULL FROM n;"
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO "
           "CUPTI_ACTIVITY_KIND_RUNTIME "
           "SELECT 10 * i, 10 * i + 2, 100<<24 | 1, i, 30 FROM n;"
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO NVTX_EVENTS "
           "SELECT 10 * i, 10 * i + 2, 59, 'range ' || i, 100<<24 | 1, NULL FROM n;"));
  std::mt19937 random(2);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = sound;
    if (round % 5 == 0) {
      bytes.resize(below(bytes.size()));
    } else if (round % 5 == 1) {
      // A page in another's place.
      bytes.replace(below(bytes.size() / 4096) * 4096, 4096, sound, below(sound.size() / 4096) * 4096, 4096);
    } else {
      // Where pages and the header keep their structure, every second time.
      for (std::size_t flips = below(8) + 1; flips > 0; --flips) {
        const std::size_t at = round % 2 == 0 ? below(bytes.size() / 4096) * 4096 + below(110) : below(bytes.size());
        bytes[at] = static_cast<char>(random());
      }
    }
    const std::string error = ErrorOf(Write(bytes, "damaged.sqlite"));
    refused += error.empty() ? 0 : 1;
    EXPECT_TRUE(error.empty() || error.starts_with("damaged.sqlite: ")) << "round " << round << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace infimum
