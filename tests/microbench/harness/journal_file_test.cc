#include "microbench/harness/journal/journal_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "microbench/fake/fake_machine.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

using ::testing::HasSubstr;

class Journal : public ::testing::Test {
 protected:
  std::string Text() const {
    std::ifstream input(path);
    return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
  }
  void Put(const std::string& text) const { std::ofstream(path) << text; }
  static Measurement Row(const std::string& algorithm, std::size_t repetitions) {
    Measurement row;
    row.workload.text = "pointwise kind=relu dtype=f32:-:f32 in=8";
    row.candidate = {"fake", algorithm, "any", "any", false};
    row.measured_at = "2026-11-21T10:47:44Z";
    row.repetitions.assign(repetitions, Repetition{1, Latency(2), Latency(2), Latency(2), {Latency(2)}});
    return row;
  }
  Result<EarlierResults> BeginAgain() const {
    Result<std::unique_ptr<JournalFile>> journal = JournalFile::Open(path, SteadyClock());
    if (!journal.ok()) return journal.error();
    return (*journal)->Begin(header);
  }

  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  const std::string path = temporary.File("r.jsonl");
  ResultsHeader header{FakeDevice(0), Environment{}, "fake"};
};

TEST_F(Journal, EachRowIsInTheFileAsSoonAsItIsWritten) {
  const auto journal = *JournalFile::Open(path, SteadyClock());
  ASSERT_TRUE(journal->Begin(header).ok());
  std::int64_t rows = 0;
  for (std::size_t repetitions : {1, 2}) {
    ASSERT_TRUE(journal->Write(Row("simd", repetitions)).ok());
    ++rows;
    std::istringstream input(Text());
    std::int64_t read = 0;
    ASSERT_TRUE(ReadJournal(input, path, [&](const ResultsRecord& record) -> Status {
                  read += std::holds_alternative<Measurement>(record);
                  return {};
                }).ok());
    EXPECT_EQ(read, rows);
  }
  ASSERT_TRUE(journal->Finish().ok());
  EXPECT_THAT(Text(), ::testing::EndsWith("{\"kind\":\"end\",\"rows\":2}\n"));
}

TEST_F(Journal, TheRowWithTheMostRepetitionsCounts) {
  {
    const auto journal = *JournalFile::Open(path, SteadyClock());
    ASSERT_TRUE(journal->Begin(header).ok());
    for (const auto& row : {Row("simd", 1), Row("simd", 3), Row("simd", 2)}) ASSERT_TRUE(journal->Write(row).ok());
    ASSERT_TRUE(journal->Write(Row("scalar", 1)).ok());
  }
  Result<EarlierResults> earlier = BeginAgain();
  ASSERT_TRUE(earlier.ok()) << earlier.error().message;
  ASSERT_EQ(earlier->rows.size(), 2u);
  const auto row = earlier->rows.Find(Row("simd", 0));
  ASSERT_TRUE(row.ok() && *row);
  EXPECT_EQ((*row)->repetitions.size(), 3u);
}

TEST_F(Journal, ATornLineIsCutAtEveryLength) {
  {
    const auto journal = *JournalFile::Open(path, SteadyClock());
    ASSERT_TRUE(journal->Begin(header).ok());
    ASSERT_TRUE(journal->Write(Row("simd", 1)).ok());
    ASSERT_TRUE(journal->Write(Row("scalar", 1)).ok());
  }
  const std::string whole = Text();
  for (std::size_t length = 0; length <= whole.size(); length += 7) {
    Put(whole.substr(0, length));
    const Result<EarlierResults> earlier = BeginAgain();
    ASSERT_TRUE(earlier.ok()) << length << ": " << earlier.error().message;
    const auto lines =
        static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + static_cast<long>(length), '\n'));
    EXPECT_EQ(earlier->rows.size(), lines == 0 ? 0 : lines - 1) << length;
    EXPECT_TRUE(whole.starts_with(Text()) || lines == 0) << length;
    EXPECT_THAT(Text(), ::testing::EndsWith("\n"));
  }
}

TEST_F(Journal, RowsOfAnotherDeviceAreLeftAlone) {
  {
    const auto journal = *JournalFile::Open(path, SteadyClock());
    ASSERT_TRUE(journal->Begin(header).ok());
    ASSERT_TRUE(journal->Write(Row("simd", 1)).ok());
  }
  header.device = FakeDevice(1);
  EXPECT_TRUE(BeginAgain()->rows.empty());
  header.device = FakeDevice(0);
  EXPECT_EQ(BeginAgain()->rows.size(), 1u);
}

TEST_F(Journal, AnotherFileIsRefusedAndNotChanged) {
  for (const std::string text : {"my thesis", "my\nthesis\n", "{\"a\":1}\n", "{\"schema\":\"infimum.bound/1\"}\n"}) {
    Put(text);
    const Result<EarlierResults> earlier = BeginAgain();
    ASSERT_FALSE(earlier.ok()) << text;
    EXPECT_THAT(earlier.error().message, ::testing::StartsWith(path)) << text;
    EXPECT_THAT(earlier.error().message, HasSubstr("name another file"));
    EXPECT_EQ(Text(), text);
  }
}

TEST_F(Journal, TwoWritersAreRefused) {
  const auto journal = *JournalFile::Open(path, SteadyClock());
  const auto second = JournalFile::Open(path, SteadyClock());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, path + ": another runner is writing it; wait until it ends, or name another file");
}

TEST_F(Journal, AnUnwritablePathIsAnErrorAtOnce) {
  const auto journal = JournalFile::Open(folder + "/no/such/folder/r.jsonl", SteadyClock());
  ASSERT_FALSE(journal.ok());
  EXPECT_THAT(journal.error().message, HasSubstr("cannot be written: No such file or directory"));
}

TEST_F(Journal, AFullDiskIsOneClearError) {
  const auto journal = *JournalFile::Open("/dev/full", SteadyClock());
  const Result<EarlierResults> begun = journal->Begin(header);
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().message,
            "/dev/full: writing failed: No space left on device; the rows before it are safe; free some space and "
            "repeat the command");
}

}  // namespace
}  // namespace infimum
