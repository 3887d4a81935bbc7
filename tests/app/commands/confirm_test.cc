// `infimum confirm` end to end on the fake backend, whose noise is asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/commands/program.h"

namespace infimum::testing::confirm_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> With(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const std::vector<std::string> kFake = {"--backend", "fake"};
const std::vector<std::string> kNoisy = {"--backend", "fake", "--backend-option", "process-noise=0.023"};

void Analyze(const ProgramTest& program, const std::vector<std::string>& backend) {
  program.Run(
      With({"analyze", ProgramTest::Light("squeezenet"), "--framework", "none", "--report", "report.html"}, backend));
}

// Of the fused-sequential interval, as a share of the bound.
double WidthOf(const nlohmann::json& bound) {
  for (const auto& one : bound.at("bounds")) {
    if (one.at("variant") != "fused-sequential") continue;
    const auto& interval = one.at("interval_us");
    return (interval[1].get<double>() - interval[0].get<double>()) / one.at("latency_us").get<double>();
  }
  return -1;
}

double StoredWidth(const ProgramTest& program) {
  return WidthOf(program.Json({"bound", ProgramTest::Light("squeezenet"), "--backend", "fake", "--format", "json"}));
}

TEST(Confirm, WithoutNoiseThereIsNothingToMeasureAgain) {
  const ProgramTest program;
  Analyze(program, kFake);
  const Ended ended = program.Infimum(With({"confirm", ProgramTest::Light("squeezenet")}, kFake));
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("confirmed  the interval is 0.00 %"));
  EXPECT_THAT(ended.errors, Not(HasSubstr("configurations again")));
}

TEST(Confirm, MeasuresWhatIsUncertainUntilTheIntervalIsNarrowEnough) {
  const ProgramTest program;
  Analyze(program, kNoisy);
  const double before = StoredWidth(program);
  ASSERT_GT(before, 0.012) << "the noise should show";
  const Ended ended = program.Infimum(
      With({"confirm", ProgramTest::Light("squeezenet"), "--width", "1.0", "--format", "json"}, kNoisy));
  ASSERT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("configurations again"));
  const nlohmann::json confirmed = nlohmann::json::parse(ended.output, nullptr, false);
  const double after = WidthOf(confirmed);
  EXPECT_EQ(confirmed.at("confirmation").at("outcome"), "confirmed");
  EXPECT_NEAR(confirmed.at("confirmation").at("width"), after, 1e-12);
  EXPECT_LE(after, 0.010);
  EXPECT_THAT(ended.errors, HasSubstr("confirmed  the interval is"));
  // What it measured is in the store.
  EXPECT_NEAR(StoredWidth(program), after, 1e-9);
}

TEST(Confirm, ASpentBudgetIsUnconverged) {
  const ProgramTest program;
  Analyze(program, kNoisy);
  const Ended ended = program.Infimum(With({"confirm", ProgramTest::Light("squeezenet"), "--width", "0.05", "--budget",
                                            "2s", "--backend-option", "pace=5ms"},
                                           kNoisy));
  EXPECT_EQ(ended.exit_code, 3) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("unconverged  the interval is"));
  EXPECT_THAT(ended.output, HasSubstr("wanted 0.05 %"));
}

// A second time it goes on with more repetitions than the store has, or says that there are enough.
TEST(Confirm, GoesOnWhereItEnded) {
  const ProgramTest program;
  Analyze(program, kNoisy);
  const std::vector<std::string> confirm =
      With({"confirm", ProgramTest::Light("squeezenet"), "--width", "0.01", "--repetitions", "8"}, kNoisy);
  const Ended first = program.Infimum(confirm);
  EXPECT_EQ(first.exit_code, 3);
  EXPECT_THAT(first.errors, HasSubstr("8 repetitions each"));
  const Ended enough = program.Infimum(confirm);
  EXPECT_EQ(enough.exit_code, 3);
  EXPECT_THAT(enough.errors, Not(HasSubstr("repetitions each")));
  std::vector<std::string> more = confirm;
  more[5] = "16";
  const Ended second = program.Infimum(more);
  EXPECT_THAT(second.errors, HasSubstr("16 repetitions each"));
}

TEST(Confirm, NeedsMeasurementsToBeginWith) {
  const ProgramTest program;
  const Ended without = program.Infimum(With({"confirm", ProgramTest::Light("squeezenet")}, kFake));
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.errors, HasSubstr("no such store; `infimum analyze "));
  Analyze(program, kFake);
  const Ended other = program.Infimum(With({"confirm", ProgramTest::Light("squeezenet"), "--threads", "2"}, kFake));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.errors, HasSubstr("measures it first"));
}

}  // namespace
}  // namespace infimum::testing::confirm_test
