// Compressed files are read as what they hold, and damaged ones end in one line. What was compressed is made with zlib
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "infimum/db/store.h"
#include "infimum/results/results_journal.h"
#include "src/readers/files/input_file.h"
#include "src/readers/profiles/run_file.h"
#include "src/readers/read_results.h"
#include "tests/support/temporary_folder.h"

namespace infimum::gzip_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Gzip(const std::string& text, int level = 6) {
  z_stream deflater{};
  EXPECT_EQ(deflateInit2(&deflater, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&deflater, text.size()), '\0');
  deflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  deflater.avail_in = static_cast<uInt>(text.size());
  deflater.next_out = reinterpret_cast<Bytef*>(packed.data());
  deflater.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&deflater, Z_FINISH), Z_STREAM_END);
  packed.resize(deflater.total_out);
  deflateEnd(&deflater);
  return packed;
}

// So many MiB of one byte, in members of one each.
std::string GzipOf(char byte, int mebibytes) {
  const std::string member = Gzip(std::string(std::size_t{1} << 20, byte), 9);
  std::string packed;
  for (int i = 0; i < mebibytes; ++i) packed += member;
  return packed;
}

ResultsHeader MakeHeader() {
  ResultsHeader header;
  header.device.vendor = "Test";
  header.device.identity = {{"model", "1"}};
  header.backend = "fake";
  return header;
}

Measurement MakeRow(std::int64_t elements) {
  Measurement row;
  row.workload = {"pointwise kind=relu dtype=f32:-:f32 in=" + std::to_string(elements)};
  row.candidate.library = "onednn";
  row.candidate.algorithm = "eltwise";
  row.measured_at = "2026-11-21T10:47:44Z";
  row.repetitions = {{3, Latency(1), Latency(2), Latency(3), {Latency(2)}}};
  return row;
}

std::string Journal(std::int64_t rows) {
  std::string text = FormatRecord(MakeHeader()) + "\n";
  for (std::int64_t i = 1; i <= rows; ++i) text += FormatRecord(MakeRow(i)) + "\n";
  return text;
}

// Of another program.
std::string Benchmarks(int rows) {
  std::string text = "{\"context\":{\"date\":\"2026-11-21T10:47:44Z\",\"executable\":\"./b\"},\n\"benchmarks\":[";
  for (int i = 1; i <= rows; ++i) {
    text += std::string(i > 1 ? ",\n" : "\n") + R"({"name":"pointwise kind=relu dtype=f32:-:f32 in=)" +
            std::to_string(i) + R"(/a","iterations":10,"real_time":2.5,"time_unit":"us"})";
  }
  return text + "]}\n";
}

std::string RunText() {
  RunProfile run;
  run.framework = "onnxruntime";
  run.end_to_end = {{{Latency(5)}}};
  return FormatRun(run);
}

struct Taken {
  std::vector<Measurement> rows;
  std::vector<std::string> runs;
  std::string error;
};

Taken Read(const std::string& bytes) {
  Taken taken;
  ResultsTaker taker;
  taker.rows = [&](const Device&, const Environment&, std::span<const Measurement> rows, std::span<const PeakRate>) {
    taken.rows.insert(taken.rows.end(), rows.begin(), rows.end());
    return Status();
  };
  taker.run = [&](const RunProfile& run) {
    taken.runs.push_back(FormatRun(run));
    return Status();
  };
  std::istringstream input(bytes);
  const Status status = ReadResults(input, "x", taker);
  if (!status.ok()) taken.error = status.error().message;
  return taken;
}

TEST(Gzip, EveryKindIsReadAsIfItWereNotCompressed) {
  const std::string google_benchmark = FormatGoogleBenchmark({MakeHeader(), MakeRow(1), MakeRow(2)});
  for (const std::string& text : {Journal(1500), google_benchmark, Benchmarks(1500), RunText()}) {
    const Taken plain = Read(text);
    ASSERT_EQ(plain.error, "");
    ASSERT_GT(plain.rows.size() + plain.runs.size(), 0u);
    for (const int level : {0, 1, 9}) {
      const Taken packed = Read(Gzip(text, level));
      EXPECT_EQ(packed.error, "");
      EXPECT_EQ(packed.rows, plain.rows);
      EXPECT_EQ(packed.runs, plain.runs);
    }
  }
}

TEST(Gzip, SeveralMembersAreOneTextAndZerosMayFollow) {
  const std::string text = Journal(900);
  const std::string members = Gzip(text.substr(0, 70'000)) + Gzip("") + Gzip(text.substr(70'000));
  EXPECT_EQ(Read(members).rows, Read(text).rows);
  EXPECT_EQ(Read(members + std::string(100'000, '\0')).error, "");
  for (const std::string& rest : {std::string("hello"), std::string("\0\0x", 3), std::string("\0", 1) + Gzip("x")})
    EXPECT_THAT(Read(Gzip(text) + rest).error, HasSubstr("something other than gzip follows"));
}

TEST(Gzip, TheLastBytesDecideToo) {
  std::string run = RunText();
  const std::string schema = R"("schema": "infimum.run/1")";
  run.replace(run.find(schema), schema.size(), "\"note\": \"" + std::string(200'000, 'x') + "\"");
  run.insert(run.rfind('}'), "," + schema);
  EXPECT_EQ(Read(run).error, "");
  EXPECT_EQ(Read(Gzip(run)).runs.size(), 1u);
}

TEST(Gzip, ACutAtAnyByteIsAnError) {
  for (const std::string& text : {Journal(700), Benchmarks(700)}) {
    const std::string packed = Gzip(text);
    for (std::size_t size = 2; size < packed.size(); size += 1 + packed.size() / 41) {
      const Taken taken = Read(packed.substr(0, size));
      EXPECT_EQ(taken.error,
                "x: byte " + std::to_string(size) + ": the gzip data is cut off here; fetch or write the file again");
    }
  }
}

TEST(Gzip, ADamagedByteIsAnErrorOfOneLineAndNeverACrash) {
  const std::string text = Journal(200), packed = Gzip(text);
  const Taken plain = Read(text);
  std::mt19937_64 random(11);
  std::size_t refused = 0;
  for (int attempt = 0; attempt < 300; ++attempt) {
    std::string damaged = packed;
    const std::size_t place = 2 + random() % (packed.size() - 2);
    damaged[place] = static_cast<char>(damaged[place] ^ (1 + random() % 255));
    const Taken taken = Read(damaged);
    if (taken.error.empty()) {
      EXPECT_EQ(taken.rows, plain.rows) << "byte " << place;  // of the header, such as its time
    } else {
      ++refused;
      EXPECT_THAT(taken.error, AllOf(StartsWith("x: byte "), Not(HasSubstr("\n"))));
    }
  }
  EXPECT_GT(refused, 270u);
}

TEST(Gzip, ABombIsRefusedBeforeItBursts) {
  for (const char byte : {'\0', ' ', '\n', 'x'}) {
    const std::string bomb = GzipOf(byte, 4096);
    ASSERT_LT(bomb.size(), std::size_t{8} << 20);
    EXPECT_THAT(Read(bomb).error, AllOf(StartsWith("x: byte "), HasSubstr("200 times the size"), HasSubstr("gunzip")));
  }
  // A bomb within a bomb is not unpacked.
  EXPECT_THAT(Read(Gzip(GzipOf(' ', 16))).error, HasSubstr("compressed by gzip twice"));
}

TEST(Gzip, ARunIsReadAsAWholeAndSoMayNotGrowWithoutEnd) {
  // The noise keeps the whole below what counts as a bomb. What is wrong right behind it saves the parser the rest.
  std::mt19937_64 random(5);
  std::string noise(3 << 20, ' ');
  for (char& c : noise) c = static_cast<char>('a' + random() % 26);
  const std::string run = RunText(), head = run.substr(0, run.rfind('}')) + ",\"note\":\"" + noise + "\"";
  EXPECT_THAT(Read(Gzip(head + "!") + GzipOf('x', 129)).error, AllOf(StartsWith("x: byte "), HasSubstr("128 MiB")));
  EXPECT_THAT(Read(Gzip(head + "!") + GzipOf('x', 2)).error, HasSubstr("not valid JSON"));
  EXPECT_EQ(Read(Gzip(head + "}")).error, "");
}

TEST(Gzip, ALimitEndsTheText) {
  std::istringstream file(Gzip(std::string(300'000, 'x')));
  ingest::GzipStream stream(file);
  stream.LimitTo(100'000);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  EXPECT_LE(text.size(), 100'000u);
  ASSERT_TRUE(stream.error());
  EXPECT_THAT(stream.error()->message, HasSubstr("decompress it with gunzip"));
}

TEST(Gzip, TheTextCanBeReadAgainFromItsStartAndReportsItsPosition) {
  const std::string text = Journal(800);
  std::istringstream file(Gzip(text));
  ASSERT_TRUE(ingest::IsGzip(file));
  ingest::GzipStream stream(file);
  for (int pass = 0; pass < 3; ++pass) {
    std::string part(static_cast<std::size_t>(pass) * 40'000, '\0');
    stream.read(part.data(), static_cast<std::streamsize>(part.size()));
    EXPECT_EQ(stream.tellg(), static_cast<std::streamoff>(part.size()));
    EXPECT_EQ(part, text.substr(0, part.size()));
    stream.seekg(0);
    ASSERT_TRUE(stream.good());
  }
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);
  stream.clear();
  stream.seekg(0, std::ios::end);
  EXPECT_FALSE(stream.good());
  EXPECT_FALSE(stream.error());
}

TEST(Gzip, TheSameTextIsTheSameCampaignUnderAnyNameAndCompression) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  std::ofstream(folder / "a.json", std::ios::binary) << Benchmarks(50);
  std::ofstream(folder / "a.json.gz", std::ios::binary) << Gzip(Benchmarks(50));
  std::ofstream(folder / "b", std::ios::binary) << Gzip(Benchmarks(50), 1);
  std::ofstream(folder / "c.json", std::ios::binary) << Gzip(Benchmarks(51));
  const Result<std::string> key = CampaignKeyOf(folder / "a.json");
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(*CampaignKeyOf(folder / "a.json.gz"), *key);
  EXPECT_EQ(*CampaignKeyOf(folder / "b"), *key);
  EXPECT_NE(*CampaignKeyOf(folder / "c.json"), *key);
  Result<std::unique_ptr<Store>> store = OpenStore(":memory:", OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(ImportFile(folder / "a.json.gz", **store)->added, 50);
  EXPECT_EQ(ImportFile(folder / "a.json", **store)->added, 0);
  const std::string packed = Gzip(Benchmarks(500));
  std::ofstream(folder / "cut.gz", std::ios::binary) << packed.substr(0, packed.size() - 4);
  EXPECT_THAT(ImportFile(folder / "cut.gz", **store).error().message, HasSubstr("cut off here"));
  EXPECT_EQ((*store)->CountRows()->at(0).measurements, 50);
}

}  // namespace
}  // namespace infimum::gzip_test
