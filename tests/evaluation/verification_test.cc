#include "src/evaluation/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace infimum::verification_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Processes of about `center`, so far apart; with beats of the metronome where it is told one.
CellResult Made(double center, double spread, unsigned seed, std::optional<Beat> beat = std::nullopt,
                int processes = 3) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> noise(0, spread);
  CellResult result;
  result.framework_version = "1.31.1";
  result.evidence = {{"system", "Linux 6.1"},
                     {"outputs", R"([{"name":"y","dims":[1,4],"type":"float32","norm":2,"values":[1,-1,1,-1]}])"}};
  for (int i = 0; i < processes; ++i) {
    const Latency median(center * noise(random));
    result.repetitions.push_back({100, median * 0.99, median, median * 1.05, {}, std::nullopt, beat});
  }
  return result;
}

TEST(Verify, TheSameTwiceIsSame) {
  const Verification verified = Verify(Made(100, 0.005, 1), Made(100, 0.005, 2), 0.05);
  EXPECT_EQ(verified.verdict, Verdict::kSame);
  EXPECT_EQ(verified.numbers, Numbers::kSame);
  EXPECT_THAT(verified.causes, IsEmpty());
}

TEST(Verify, OfFortySeldomOneIsAnotherAndASlowDownIsFound) {
  int wrong = 0, undecided = 0, found = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const Verification same = Verify(Made(100, 0.01, 2 * seed), Made(100, 0.01, 2 * seed + 1), 0.05);
    wrong += same.verdict == Verdict::kFaster || same.verdict == Verdict::kSlower;
    undecided += same.verdict == Verdict::kUndecided;
    found += Verify(Made(115, 0.01, 2 * seed), Made(100, 0.01, 2 * seed + 1), 0.05).verdict == Verdict::kSlower;
  }
  EXPECT_LE(wrong, 10);      // one of 40
  EXPECT_LE(undecided, 80);  // eight of 40
  EXPECT_GE(found, 380);     // 38 of 40
}

// Measured on where it is open: of `center` now, 100 before, so far apart from process to process; 1,000 times.
struct Rates {
  double same = 0, faster = 0, slower = 0, undecided = 0, times = 0;  // of the cell's processes, in the mean
};
Rates RatesOf(double center, double spread, int processes, double threshold) {
  constexpr unsigned kRounds = 2000;
  Rates rates;
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    CellResult now = Made(center, spread, 9 * seed, std::nullopt, processes);
    CellResult before = Made(100, spread, 9 * seed + 1, std::nullopt, processes);
    unsigned more = 9 * seed + 2;
    const auto adding = [&](double about) {
      return [&, about](std::int64_t count, CellResult& result) -> Result<std::string> {
        const CellResult further = Made(about, spread, more++, std::nullopt, static_cast<int>(count));
        result.repetitions.insert(result.repetitions.end(), further.repetitions.begin(), further.repetitions.end());
        return std::string();
      };
    };
    EXPECT_TRUE(MeasureUntilFirm(before, threshold, processes, adding(100)).ok());
    const Result<Verification> verified =
        VerifyMeasuringOn(now, before, threshold, Bytes{0}, processes, adding(center));
    double& count = verified->verdict == Verdict::kSame     ? rates.same
                    : verified->verdict == Verdict::kFaster ? rates.faster
                    : verified->verdict == Verdict::kSlower ? rates.slower
                                                            : rates.undecided;
    count += 1.0 / kRounds;
    rates.times += static_cast<double>(now.repetitions.size()) / processes / kRounds;
  }
  return rates;
}

TEST(VerifyMeasuringOn, IsSeldomWrongWhereTheDifferenceIsJustTheThreshold) {
  for (const double spread : {0.005, 0.03})
    for (const int processes : {2, 3, 5}) {
      EXPECT_LE(RatesOf(107.49, spread, processes, 0.075).slower, 0.05) << spread << " " << processes;
      EXPECT_LE(RatesOf(107.51, spread, processes, 0.075).same, 0.05) << spread << " " << processes;
    }
}

TEST(VerifyMeasuringOn, DecidesWhatOneLookLeavesOpen) {
  // Processes as far apart as those of a model whose weights are in shared caches: 8 % from end to end of five.
  const Rates untouched = RatesOf(100, 0.034, 5, 0.075), slower = RatesOf(115, 0.034, 5, 0.075);
  EXPECT_LE(untouched.faster + untouched.slower, 0.001);
  EXPECT_GE(untouched.same, 0.85);
  EXPECT_GE(slower.slower, 0.88);
  EXPECT_LE(untouched.times, 3);
  // Nothing more is measured where the first look tells.
  EXPECT_NEAR(RatesOf(100, 0.005, 5, 0.075).times, 1, 0.01);
}

TEST(Verify, ABurstInOneProcessBeforeKeepsNothingOpen) {
  const Beat usual{Latency(28), Latency(49)}, met{Latency(28), Latency(78)};
  CellResult before = Made(100, 0.004, 1, usual, 8);
  before.repetitions.back().median = Latency(225);
  before.repetitions.back().beat = met;
  EXPECT_TRUE(IsFirm(before, 0.075));
  EXPECT_EQ(Verify(Made(100, 0.004, 2, usual, 8), before, 0.075).verdict, Verdict::kSame);
  EXPECT_EQ(Verify(Made(115, 0.004, 2, usual, 8), before, 0.075).verdict, Verdict::kSlower);
  EXPECT_FALSE(IsFirm(Made(100, 0.06, 3), 0.075));
  EXPECT_FALSE(IsFirm(CellResult(), 0.075));
}

TEST(VerifyMeasuringOn, EndsWithTheLastLookAndSaysWhatWouldTell) {
  std::vector<std::int64_t> asked;
  const auto add = [&asked](double spread) {
    return [&asked, spread](std::int64_t count, CellResult& result) -> Result<std::string> {
      asked.push_back(count);
      const CellResult more = Made(107, spread, 7, std::nullopt, static_cast<int>(count));
      result.repetitions.insert(result.repetitions.end(), more.repetitions.begin(), more.repetitions.end());
      return std::string();
    };
  };
  CellResult now = Made(107, 0.1, 1);
  const Result<Verification> open = VerifyMeasuringOn(now, Made(100, 0.002, 2), 0.05, Bytes{0}, 3, add(0.1));
  EXPECT_EQ(open->verdict, Verdict::kUndecided);
  EXPECT_THAT(asked, ::testing::ElementsAre(3, 6));
  EXPECT_EQ(open->undecided, "the processes (12 now, 3 before) are too far apart: a quieter machine would tell");
  now = Made(107, 0.002, 1);
  EXPECT_THAT(VerifyMeasuringOn(now, Made(100, 0.1, 2), 0.05, Bytes{0}, 3, add(0.002))->undecided,
              HasSubstr("(12 now, 3 before) are too far apart: those before by themselves, so"));
  // What keeps it from measuring on is said, and other numbers need no time.
  asked.clear();
  now = Made(107, 0.1, 1);
  EXPECT_THAT(VerifyMeasuringOn(now, Made(100, 0.002, 2), 0.05, Bytes{0}, 3,
                                [](auto, auto&) -> Result<std::string> { return std::string("no time"); })
                  ->undecided,
              HasSubstr("too far apart: a quieter machine would tell; no time"));
  now.evidence["outputs"] = R"([{"name":"y","dims":[1,4],"type":"float32","norm":2,"values":[1,-1,1,1]}])";
  EXPECT_EQ(VerifyMeasuringOn(now, Made(100, 0.002, 2), 0.05, Bytes{0}, 3, add(0.1))->numbers, Numbers::kDiffer);
  EXPECT_THAT(asked, IsEmpty());
}

TEST(Verify, AnotherPaceOfTheMachineIsNoVerdict) {
  const Beat usual{Latency(100), Latency(130)}, slow{Latency(115), Latency(150)};
  const Verification slower = Verify(Made(115, 0.003, 1, slow), Made(100, 0.003, 2, usual), 0.05);
  EXPECT_EQ(slower.verdict, Verdict::kUndecided);
  EXPECT_THAT(slower.undecided, HasSubstr("another pace"));
  // At one pace it is the program.
  EXPECT_EQ(Verify(Made(115, 0.003, 1, usual), Made(100, 0.003, 2, usual), 0.05).verdict, Verdict::kSlower);
  // Nor does it hide one: that all takes as long on a slower machine is a gain, or is not of this loop.
  EXPECT_EQ(Verify(Made(100, 0.003, 1, slow), Made(100, 0.003, 2, usual), 0.05).verdict, Verdict::kUndecided);
  const Beat hardly{Latency(104), Latency(133)};
  EXPECT_EQ(Verify(Made(100, 0.01, 1, hardly), Made(100, 0.01, 2, usual), 0.05).verdict, Verdict::kSame);
  // And a machine that is slower hides no gain that is larger.
  EXPECT_EQ(Verify(Made(60, 0.003, 1, slow), Made(100, 0.003, 2, usual), 0.05).verdict, Verdict::kFaster);
}

TEST(Verify, AFullerCacheIsAnotherPaceOfWhatReadsMuch) {
  const Beat usual{Latency(28), Latency(49), Latency(20)}, full{Latency(28), Latency(49), Latency(23.4)};
  CellResult now = Made(115, 0.003, 1, full), before = Made(100, 0.003, 2, usual);
  before.facts.bytes = Bytes{10 << 20};
  EXPECT_THAT(Verify(now, before, 0.05).undecided, HasSubstr("held to the metronome's cache it would be same"));
  EXPECT_EQ(Verify(now, before, 0.05, Bytes{64 << 20}).verdict, Verdict::kSlower);  // less than a quarter of the cache
  // What reads 2 MiB in 100 us takes at most 3.4 us longer for it.
  before.facts.bytes = Bytes{2 << 20};
  EXPECT_EQ(Verify(now, before, 0.05).verdict, Verdict::kSlower);
  EXPECT_EQ(Verify(Made(100, 0.003, 3, full), before, 0.05).verdict, Verdict::kSame);
  // A result of before the cache had a loop.
  before.facts.bytes = std::nullopt;
  for (Repetition& repetition : before.repetitions) repetition.beat->cache = Latency(0);
  EXPECT_EQ(Verify(now, before, 0.05).verdict, Verdict::kSlower);
}

TEST(Verify, OtherNumbersAreFoundAndRoundingIsNone) {
  CellResult now = Made(100, 0.005, 1);
  now.evidence["outputs"] = R"([{"name":"y","dims":[1,4],"type":"float32","norm":2.00001,"values":[1.0001,-1,1,-1]}])";
  EXPECT_EQ(Verify(now, Made(100, 0.005, 2), 0.05).numbers, Numbers::kSame);
  now.evidence["outputs"] = R"([{"name":"y","dims":[1,4],"type":"float32","norm":2,"values":[1,-1,1,1]}])";
  const Verification verified = Verify(now, Made(100, 0.005, 2), 0.05);
  EXPECT_EQ(verified.numbers, Numbers::kDiffer);
  EXPECT_THAT(verified.numbers_text, HasSubstr("output 'y'"));
  now.evidence["outputs"] = R"([{"name":"y","dims":[1,2],"type":"float32","norm":2,"values":[1,-1]}])";
  EXPECT_EQ(Verify(now, Made(100, 0.005, 2), 0.05).numbers, Numbers::kDiffer);
  now.evidence["outputs"] = "damaged";
  EXPECT_EQ(Verify(now, Made(100, 0.005, 2), 0.05).numbers, Numbers::kUnknown);
}

TEST(Verify, WhatIsOtherwiseIsNamed) {
  CellResult now = Made(100, 0.005, 1);
  now.framework_version = "1.32.0";
  now.evidence["system"] = "Linux 6.12";
  now.evidence["clocks"] = "performance";
  EXPECT_THAT(Verify(now, Made(100, 0.005, 2), 0.05).causes,
              ::testing::ElementsAre("framework 1.31.1 -> 1.32.0", "clocks none -> performance",
                                     "system Linux 6.1 -> Linux 6.12"));
}

TEST(Verify, WithoutATimeThereIsNoVerdict) {
  CellResult failed;
  failed.state = CellState::kTimeout;
  failed.reason = "had not ended after 5 s";
  EXPECT_THAT(Verify(failed, Made(100, 0.005, 2), 0.05).not_comparable, HasSubstr("timeout now"));
  EXPECT_THAT(Verify(failed, failed, 0.05).not_comparable, HasSubstr("timeout as before"));
}

TEST(Verify, CellsThatDifferSayInWhat) {
  EvaluationCell before, now;
  before.model.family = now.model.family = "fc";
  before.framework.name = now.framework.name = "onnxruntime";
  now.threads = 2;
  now.framework.options["optimization"] = "basic";
  now.cores = "1";
  const std::vector<std::string> changes = DifferencesOf(before, now);
  EXPECT_THAT(changes, Contains("threads 1 -> 2"));
  EXPECT_THAT(changes, Contains("framework.options.optimization none -> basic"));
  EXPECT_THAT(changes, Contains("cores none -> 1"));
}

}  // namespace
}  // namespace infimum::verification_test
