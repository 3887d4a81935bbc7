#include "src/app/commands/replay/replay.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

RunProfile Stored() {
  RunProfile run;
  run.settings = {{"backend", "onednn"},
                  {"resident_share", "0.250"},
                  {"composition_error_warm", "1.170000"},
                  {"composition_error_cold-weights", "1.040000"}};
  return run;
}

TEST(CompositionOf, ReadsWhatAReplaySaidOfItself) {
  EXPECT_EQ(CompositionOf(Stored()), (CompositionError{1.17, 1.04, 0.25}));
  // A sum of 1 / 1.04 with weights from memory and of 1 / 1.17 with warm caches, a quarter of the way.
  EXPECT_DOUBLE_EQ(CompositionOf(Stored())->value(), 1 / (0.75 / 1.04 + 0.25 / 1.17));
}

TEST(CompositionOf, IsNothingWhereARunSaysTooLittle) {
  for (const char* const name : {"resident_share", "composition_error_warm", "composition_error_cold-weights"}) {
    RunProfile without = Stored();
    without.settings.erase(name);
    EXPECT_EQ(CompositionOf(without), std::nullopt);
    RunProfile wrong = Stored();
    for (const char* const text : {"?", "-1", "nan"}) {
      wrong.settings[name] = text;
      EXPECT_EQ(CompositionOf(wrong), std::nullopt) << name << " " << text;
    }
  }
  EXPECT_EQ(CompositionOf(RunProfile()), std::nullopt);
}

}  // namespace
}  // namespace infimum
