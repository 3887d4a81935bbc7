#include "src/app/processes/progress_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum {
namespace {

using ::testing::HasSubstr;

TEST(ProgressLog, SaysPlainLinesWithItsName) {
  std::string text;
  ProgressLog log(Loudness::kNormal, false, [&](std::string_view part) { text += part; });
  log.Say("reading");
  log.Detail("only when verbose");
  log.Warn("noisy");
  EXPECT_EQ(text, "infimum: reading\ninfimum: warning: noisy\n");
}

TEST(ProgressLog, QuietKeepsOnlyWarnings) {
  std::string text;
  ProgressLog log(Loudness::kQuiet, true, [&](std::string_view part) { text += part; });
  log.Say("reading");
  log.Progress("measuring", 1, 2, std::nullopt);
  log.Warn("noisy");
  EXPECT_EQ(text, "infimum: warning: noisy\n");
}

TEST(ProgressLog, ATerminalsProgressIsOneLineThatTheNextWordsErase) {
  std::string text;
  ProgressLog log(Loudness::kNormal, true, [&](std::string_view part) { text += part; });
  log.Progress("measuring", 1, 2, std::chrono::seconds(100));
  EXPECT_THAT(text, HasSubstr("[###############...............] measuring 1/2, 1 min 40 s left"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  log.Say("done");
  EXPECT_THAT(text, HasSubstr("\r\x1b[Kinfimum: done\n"));
}

TEST(ProgressLog, ElsewhereProgressIsAPlainLineAndNotOften) {
  std::string text;
  ProgressLog log(Loudness::kNormal, false, [&](std::string_view part) { text += part; });
  for (int done = 0; done < 1000; ++done) log.Progress("measuring", done, 1000, std::nullopt);
  EXPECT_EQ(text, "infimum: measuring 0/1000\n");
}

}  // namespace
}  // namespace infimum
