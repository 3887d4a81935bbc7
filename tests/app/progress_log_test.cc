#include "src/app/processes/progress_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infimum {
namespace {

using ::testing::HasSubstr;

TEST(Talk, SaysPlainLinesWithItsName) {
  std::string text;
  Talk talk(Loudness::kNormal, false, [&](std::string_view part) { text += part; });
  talk.Say("reading");
  talk.Detail("only when verbose");
  talk.Warn("noisy");
  EXPECT_EQ(text, "infimum: reading\ninfimum: warning: noisy\n");
}

TEST(Talk, QuietKeepsOnlyWarnings) {
  std::string text;
  Talk talk(Loudness::kQuiet, true, [&](std::string_view part) { text += part; });
  talk.Say("reading");
  talk.Progress("measuring", 1, 2, std::nullopt);
  talk.Warn("noisy");
  EXPECT_EQ(text, "infimum: warning: noisy\n");
}

TEST(Talk, ATerminalsProgressIsOneLineThatTheNextWordsErase) {
  std::string text;
  Talk talk(Loudness::kNormal, true, [&](std::string_view part) { text += part; });
  talk.Progress("measuring", 1, 2, std::chrono::seconds(100));
  EXPECT_THAT(text, HasSubstr("[###############...............] measuring 1/2, 1 min 40 s left"));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  talk.Say("done");
  EXPECT_THAT(text, HasSubstr("\r\x1b[Kinfimum: done\n"));
}

TEST(Talk, ElsewhereProgressIsAPlainLineAndNotOften) {
  std::string text;
  Talk talk(Loudness::kNormal, false, [&](std::string_view part) { text += part; });
  for (int done = 0; done < 1000; ++done) talk.Progress("measuring", done, 1000, std::nullopt);
  EXPECT_EQ(text, "infimum: measuring 0/1000\n");
}

}  // namespace
}  // namespace infimum
