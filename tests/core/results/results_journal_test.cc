#include "infimum/results/results_journal.h"

#include <gmock/gmock.h>

#include <limits>
#include <random>
#include <sstream>

#include "tests/core/measurement/trials.h"
#include "tests/core/results/records.h"

namespace infimum::results_journal_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string ErrorOf(const std::string& text) { return ErrorOfReading(ReadJournal, text); }

// The journal's second line, a row, with `from` replaced by `to`.
std::string ErrorOfRowWith(const std::string& from, const std::string& to) {
  std::string row = FormatRecord(TestRow());
  const std::size_t place = row.find(from);
  if (place == std::string::npos) {
    ADD_FAILURE() << from << " is not in " << row;
    return "";
  }
  row.replace(place, from.size(), to);
  return ErrorOf(FormatRecord(TestHeader()) + "\n" + row + "\n");
}

TEST(Journal, HasTheDocumentedText) {
  Measurement row = TestRow();
  row.repetitions = Repetitions({{10.5, 10.25, 11}});
  row.flags = {"noisy"};
  EXPECT_EQ(FormatRecord(row),
            R"({"kind":"measurement","workload":"pointwise kind=relu dtype=f32:-:f32 in=802816",)"
            R"("candidate":{"library":"onednn","algorithm":"jit:avx2","input_layout":"any","output_layout":"any",)"
            R"("library_choice":true},"contract":"strict-f32","cache":"warm","measured_at":"2026-05-01T10:00:00Z",)"
            R"("outcome":"measured","numeric_error":1.5e-07,"flags":["noisy"],"repetitions":[{"count":3,)"
            R"("minimum_us":10.25,"median_us":10.5,"p95_us":10.95,"samples_us":[10.5,10.25,11.0]}]})");
  EXPECT_THAT(FormatRecord(TestHeader()),
              StartsWith(R"({"schema":"infimum.results/2","kind":"header","device":{"kind":"cpu","name":)"));
  EXPECT_EQ(FormatRecord(TestPeaks()[0]),
            R"({"kind":"peak","rate":{"kind":"copy","working_set_bytes":1024,"bytes_per_second":12500000000.5,)"
            R"("threads":1,"source":"measured"}})");
  EXPECT_EQ(FormatRecord(TestPeaks()[1]),
            R"({"kind":"peak","rate":{"kind":"arithmetic","type":"bf16","flops_per_second":1000000000000.0,)"
            R"("threads":2,"source":"data sheet: a page"}})");
  EXPECT_EQ(FormatEnd(812), R"({"kind":"end","rows":812})");
}

TEST(Journal, ReadGivesBackWhatWasWritten) {
  const std::vector<ResultsRecord> records = TestRecords();
  EXPECT_EQ(ReadAll(ReadJournal, JournalOf(records) + FormatEnd(4) + "\n"), records);
}

TEST(Journal, KeepsClocksAndTheCampaignThatRowsCameFrom) {
  ResultsHeader header = TestHeader();
  header.campaign = CampaignOrigin{"sha256:00", "1.json"};
  Measurement row = TestRow();
  row.repetitions = Repetitions({{10.5, 10.25, 11}});
  row.repetitions[0].clocks = ClockRange{1200.5, 3600};
  const std::vector<ResultsRecord> records = {header, row};
  EXPECT_EQ(ReadAll(ReadJournal, JournalOf(records)), records);
  EXPECT_EQ(ReadAll(ReadGoogleBenchmark, FormatGoogleBenchmark(records)), records);
  EXPECT_EQ(ErrorOfRowWith("\"minimum_us\":10.25", "\"clock_mhz\":[2000,1000],\"minimum_us\":10.25"),
            "r.jsonl:2: repetitions[0]: clock_mhz: expected [lowest, highest]");
  EXPECT_EQ(ErrorOfRowWith("\"minimum_us\":10.25", "\"clock_mhz\":[2000],\"minimum_us\":10.25"),
            "r.jsonl:2: repetitions[0]: clock_mhz: expected [lowest, highest]");
}

TEST(Journal, KeepsBeatsAndRefusesThoseThatCannotBe) {
  Measurement row = TestRow();
  row.repetitions = Repetitions({{10.5, 10.25, 11}, {10}});
  row.repetitions[1].beat = Beat{Latency(100.5), Latency(410)};
  EXPECT_THAT(FormatRecord(row), HasSubstr(R"(11.0]},{"count":1,"minimum_us":10.0,"median_us":10.0,"p95_us":10.0,)"
                                           R"("samples_us":[10.0],"beat_us":[100.5,410.0]}]})"));
  const std::vector<ResultsRecord> records = {TestHeader(), row};
  EXPECT_EQ(ReadAll(ReadJournal, JournalOf(records)), records);
  EXPECT_EQ(ReadAll(ReadGoogleBenchmark, FormatGoogleBenchmark(records)), records);
  const auto error_of = [](const std::string& beat) {
    return ErrorOfRowWith("\"minimum_us\":10.25", "\"beat_us\":" + beat + ",\"minimum_us\":10.25");
  };
  EXPECT_EQ(error_of("null"), "no error");
  for (const char* const beat : {"[]", "[100]", "[100,400,1,2]", "[100,400,0]", "[0,400]", "[100,0]"})
    EXPECT_EQ(error_of(beat),
              "r.jsonl:2: repetitions[0]: beat_us: expected [arithmetic, memory] or [arithmetic, memory, cache], all "
              "more than 0");
  EXPECT_EQ(error_of("[100,-400]"), "r.jsonl:2: repetitions[0]: 'beat_us' is -400, expected a number from 0 to 1e+15");
  EXPECT_EQ(error_of("[1e300,400]"),
            "r.jsonl:2: repetitions[0]: 'beat_us' is 1e+300, expected a number from 0 to 1e+15");
  EXPECT_EQ(error_of("[100,\"400\"]"),
            "r.jsonl:2: repetitions[0]: 'beat_us' is the text '400', expected a number from 0 to 1e+15");
  EXPECT_EQ(error_of("\"fast\""), "r.jsonl:2: repetitions[0]: 'beat_us' is the text 'fast', expected a list");
}

TEST(Journal, KeepsEveryDoubleExactly) {
  std::mt19937_64 random(1);
  std::vector<ResultsRecord> records = {TestHeader()};
  for (int i = 0; i < 500; ++i) {
    Measurement row = TestRow();
    std::vector<Latency> samples;
    for (int k = 0; k <= i % 70; ++k) {
      samples.emplace_back(std::ldexp(std::generate_canonical<double, 53>(random), i % 40 - 20));
    }
    row.repetitions = {Summarize(samples)};
    row.numeric_error = std::generate_canonical<double, 53>(random);
    if (i % 3 != 0) row.constants = Bytes{static_cast<std::int64_t>(random() >> 24)};
    records.push_back(row);
  }
  EXPECT_EQ(ReadAll(ReadJournal, JournalOf(records)), records);
}

TEST(Journal, GivesRowsTheDeviceAndEnvironmentOfTheLatestHeader) {
  ResultsHeader second = TestHeader();
  second.environment.threads = 2;
  Measurement row = TestRow();
  row.device.text = "ignored";
  const auto read = ReadAll(ReadJournal, JournalOf({TestHeader(), row, second, row}));
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(std::get<Measurement>(read[1]).environment, TestHeader().environment.Key());
  EXPECT_EQ(std::get<Measurement>(read[3]).environment, second.environment.Key());
  EXPECT_EQ(std::get<Measurement>(read[3]).device, TestDevice().Key());
}

// What stood beside the libraries is evidence, and a processor's cores are those that there were.
TEST(Journal, ReadsVersion1) {
  const std::string header =
      R"({"schema":"infimum.results/1","kind":"header","device":{"kind":"cpu","name":"Test","vendor":"AuthenticAMD",)"
      R"("generation":"Zen 3","identity":{"cores":"63","family":"25"},"cores":63,"last_level_cache_bytes":33554432,)"
      R"("memory_bytes":8589934592},"environment":{"libraries":{"onednn":"3.2.0 gomp"},"threads":1,)"
      R"("affinity":"pinned","clock_policy":"","host":"Linux 6.1","infimum_version":"0.1.0"},"backend":"onednn"})";
  const auto read = ReadAll(ReadJournal, header + "\n" + FormatRecord(TestRow()) + "\n");
  ASSERT_EQ(read.size(), 2U);
  const auto& found = std::get<ResultsHeader>(read[0]);
  EXPECT_EQ(
      found.environment.evidence,
      (Evidence{{evidence::kAffinity, "pinned"}, {evidence::kSystem, "Linux 6.1"}, {evidence::kInfimum, "0.1.0"}}));
  EXPECT_EQ(found.environment.Key().text, "threads=1/library:onednn=3.2.0%20gomp");
  EXPECT_EQ(found.device.Key().text, "cpu/AuthenticAMD/family=25/cores=64");
  EXPECT_EQ(found.device.cores, 64);
  EXPECT_EQ(std::get<Measurement>(read[1]).device, found.device.Key());
  EXPECT_EQ(std::get<Measurement>(read[1]).evidence, found.environment.Told());
}

TEST(Journal, BringsWorkloadsIntoTheirCanonicalText) {
  const std::string text = JournalOf({TestHeader(), TestRow("pointwise kind=relu dtype=f32:-:f32 in=0802816")});
  EXPECT_EQ(std::get<Measurement>(ReadAll(ReadJournal, text).at(1)).workload.text, kReluText);
}

TEST(Journal, IgnoresATornLastLineAtEveryPlaceOfTheTear) {
  const std::string header = FormatRecord(TestHeader()) + "\n";
  const std::string row = FormatRecord(TestRow());
  for (std::size_t length = 0; length < row.size(); ++length) {
    EXPECT_THAT(ReadAll(ReadJournal, header + row.substr(0, length)), ElementsAre(ResultsRecord(TestHeader())));
  }
  EXPECT_EQ(ReadAll(ReadJournal, header + row).size(), 2U);  // complete, only its end is missing
  EXPECT_THAT(ReadAll(ReadJournal, header.substr(0, 40)), IsEmpty());
}

TEST(Journal, RefusesABrokenLineInTheMiddle) {
  EXPECT_EQ(ErrorOf(FormatRecord(TestHeader()) + "\n{\"kind\":\"measu\n" + FormatRecord(TestRow()) + "\n"),
            "r.jsonl:2:15: not valid JSON; remove the line or restore the file");
  EXPECT_EQ(ErrorOf("pointwise kind=relu\n"), "r.jsonl:1:1: not valid JSON; remove the line or restore the file");
  EXPECT_EQ(ErrorOf("{\"kind\":1e999}\n"),
            "r.jsonl:1:1: holds a number that is too large; remove the line or restore the file");
}

TEST(Journal, PassesOverEmptyLinesAndUnknownFields) {
  std::string row = FormatRecord(TestRow());
  row.insert(1, "\"colour\":{\"of\":[\"day\"]},");
  EXPECT_EQ(ReadAll(ReadJournal, FormatRecord(TestHeader()) + "\r\n\n  \n" + row + "\n").size(), 2U);
  EXPECT_THAT(ReadAll(ReadJournal, ""), IsEmpty());
}

TEST(Journal, RefusesNewerVersionsAndOtherSchemas) {
  const auto with_schema = [](const std::string& schema) {
    std::string header = FormatRecord(TestHeader());
    header.replace(header.find("infimum.results/2"), 17, schema);
    return ErrorOf(header + "\n");
  };
  EXPECT_EQ(with_schema("infimum.results/3"),
            "r.jsonl:1: these results have version 3, this infimum reads up to 2; use a newer infimum");
  EXPECT_EQ(with_schema("infimum.bound/1"), "r.jsonl:1: the schema is 'infimum.bound/1', expected 'infimum.results/2'");
  EXPECT_EQ(with_schema("infimum.results/0"),
            "r.jsonl:1: the schema is 'infimum.results/0', expected 'infimum.results/2'");
}

TEST(Journal, NamesWhatIsWrongWithARecord) {
  EXPECT_EQ(ErrorOf("[]\n"), "r.jsonl:1: expected an object");
  EXPECT_EQ(ErrorOf("{}\n"), "r.jsonl:1: 'kind' is missing");
  EXPECT_EQ(ErrorOf("{\"kind\":7}\n"), "r.jsonl:1: 'kind' is 7, expected a text");
  EXPECT_EQ(ErrorOf(FormatRecord(TestRow()) + "\n"),
            "r.jsonl:1: a record of kind 'measurement' comes before any header");
  EXPECT_EQ(ErrorOf(FormatRecord(TestHeader()) + "\n{\"kind\":\"peek\"}\n"),
            "r.jsonl:2: unknown kind 'peek', did you mean 'peak'?");
  EXPECT_EQ(ErrorOfRowWith("\"strict-f32\"", "\"strict-f3\""),
            "r.jsonl:2: 'contract' has the unknown value 'strict-f3', did you mean 'strict-f32'?");
  EXPECT_EQ(ErrorOfRowWith("\"warm\"", "[\"warm\"]"), "r.jsonl:2: 'cache' is a list, expected a text");
  EXPECT_EQ(ErrorOfRowWith("\"library\":\"onednn\"", "\"library\":\"one/dnn\""),
            "r.jsonl:2: candidate: 'library' is 'one/dnn', expected a name without '/'");
  EXPECT_THAT(ErrorOfRowWith("jit:avx2", "jit\\n"), HasSubstr("'algorithm' is "));
  EXPECT_EQ(ErrorOfRowWith("10:00:00Z", "10:00"),
            "r.jsonl:2: 'measured_at' is '2026-05-01T10:00', expected a UTC time like 2026-11-21T10:47:44Z");
  EXPECT_THAT(ErrorOfRowWith("2026-05", "2026-13"), HasSubstr("expected a UTC time"));
  EXPECT_EQ(ErrorOfRowWith("\"library_choice\":true", "\"library_choice\":1"),
            "r.jsonl:2: candidate: 'library_choice' is 1, expected true or false");
  EXPECT_THAT(ErrorOfRowWith("kind=relu", "kind=rely"), StartsWith("r.jsonl:2: workload: "));
  EXPECT_EQ(ErrorOfRowWith("\"outcome\":\"measured\"", "\"outcome\":\"failed\""),
            "r.jsonl:2: failed, but with repetitions");
  EXPECT_EQ(
      ErrorOf(FormatRecord(TestHeader()) + "\n{\"kind\":\"peak\",\"rate\":{\"kind\":\"copy\",\"working_set_bytes\":8,"
                                           "\"bytes_per_second\":0,\"threads\":1,\"source\":\"\"}}\n"),
      "r.jsonl:2: the rate is 0, expected a positive one");
}

TEST(Journal, RefusesTimesThatCannotBe) {
  EXPECT_EQ(ErrorOfRowWith("\"minimum_us\":10.25", "\"minimum_us\":-1"),
            "r.jsonl:2: repetitions[0]: 'minimum_us' is -1, expected a number from 0 to 1e+15");
  EXPECT_EQ(ErrorOfRowWith("\"minimum_us\":10.25", "\"minimum_us\":1e300"),
            "r.jsonl:2: repetitions[0]: 'minimum_us' is 1e+300, expected a number from 0 to 1e+15");
  EXPECT_EQ(ErrorOfRowWith("\"minimum_us\":10.25", "\"minimum_us\":null"),
            "r.jsonl:2: repetitions[0]: 'minimum_us' is missing");
  EXPECT_THAT(ErrorOfRowWith("\"minimum_us\":10.25", "\"minimum_us\":NaN"), HasSubstr("not valid JSON"));
  EXPECT_EQ(ErrorOfRowWith("\"minimum_us\":10.25", "\"minimum_us\":\"10\""),
            "r.jsonl:2: repetitions[0]: 'minimum_us' is the text '10', expected a number from 0 to 1e+15");
  EXPECT_EQ(ErrorOfRowWith("\"minimum_us\":10.25", "\"minimum_us\":99"),
            "r.jsonl:2: repetitions[0]: expected 'minimum_us' <= 'median_us' <= 'p95_us'");
  EXPECT_EQ(ErrorOfRowWith("\"minimum_us\":10.25,\"median_us\":10.5", "\"minimum_us\":0,\"median_us\":0"),
            "r.jsonl:2: repetitions[0]: 'median_us' is 0, expected more");
  EXPECT_EQ(ErrorOfRowWith("\"count\":3", "\"count\":0"),
            "r.jsonl:2: repetitions[0]: 'count' is 0, expected a whole number from 1");
  EXPECT_EQ(ErrorOfRowWith("\"count\":3", "\"count\":2.5"),
            "r.jsonl:2: repetitions[0]: 'count' is 2.5, expected a whole number from 1");
  EXPECT_EQ(ErrorOfRowWith("\"count\":3", "\"count\":18446744073709551615"),
            "r.jsonl:2: repetitions[0]: 'count' is 18446744073709551615, expected a whole number from 1");
  EXPECT_EQ(ErrorOfRowWith("\"count\":3", "\"count\":2"),
            "r.jsonl:2: repetitions[0]: 'samples_us' has 3 samples, expected at most 'count' and 64");
}

TEST(Journal, WritesAnErrorThatIsNotFiniteAsTheLargestNumber) {
  Measurement row = TestRow();
  row.numeric_error = std::numeric_limits<double>::infinity();
  const auto read = ReadAll(ReadJournal, JournalOf({TestHeader(), row}));
  EXPECT_EQ(std::get<Measurement>(read.at(1)).numeric_error, std::numeric_limits<double>::max());
}

TEST(Journal, WritesTextThatIsNotUtf8AsReplacementCharacters) {
  Measurement row = TestRow();
  row.outcome = Outcome::kFailed;
  row.repetitions.clear();
  row.reason = "broken \xff bytes";
  const auto read = ReadAll(ReadJournal, JournalOf({TestHeader(), row}));
  EXPECT_EQ(std::get<Measurement>(read.at(1)).reason, "broken \xef\xbf\xbd bytes");
}

TEST(Journal, RefusesLinesWithoutEndAndDeepNesting) {
  EXPECT_EQ(ErrorOf(std::string(kMaxJournalLine + 1, ' ')),
            "r.jsonl:1: the line is longer than 16 MiB; this is no results journal");
  EXPECT_EQ(ErrorOf(std::string(1 << 20, '[') + "\n"),
            "r.jsonl:1:33: nested deeper than 32 levels; remove the line or restore the file");
  EXPECT_EQ(ErrorOf(std::string(1 << 20, '[')), "no error");  // torn
}

TEST(Journal, StopsWithTheErrorOfTheTaker) {
  std::istringstream input(JournalOf(TestRecords()));
  int taken = 0;
  const Status status = ReadJournal(input, "r.jsonl", [&](const ResultsRecord&) -> Status {
    if (++taken == 2) return Error{"enough"};
    return {};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "r.jsonl:2: enough");
  EXPECT_EQ(taken, 2);
}

TEST(Journal, SurvivesManyMutations) {
  const std::string text = JournalOf(TestRecords());
  std::mt19937_64 random(5);
  int valid = 0;
  for (int trial = 0; trial < Trials(5000); ++trial) {
    const std::string mutated = Mutated(text, random);
    std::istringstream input(mutated);
    const Status status = ReadJournal(input, "r.jsonl", [](const ResultsRecord& record) -> Status {
      FormatRecord(record);
      return {};
    });
    if (status.ok()) {
      ++valid;
    } else {
      ASSERT_THAT(status.error().message, StartsWith("r.jsonl:"));
    }
  }
  EXPECT_GT(valid, Trials(50));
}

TEST(Journal, SurvivesTruncationAtEveryByte) {
  const std::string text = JournalOf(TestRecords());
  for (std::size_t length = 0; length <= text.size(); ++length) {
    ASSERT_EQ(ErrorOf(text.substr(0, length)), "no error") << length;
  }
}

}  // namespace
}  // namespace infimum::results_journal_test
