#include "infimum/workflow/replay.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

RunProfile Stored() {
  RunProfile run;
  run.settings = {{"backend", "onednn"},
                  {"cache_of_weights", "cold-weights"},
                  {"composition_error_warm", "1.170000"},
                  {"composition_error_cold-weights", "1.040000"}};
  return run;
}

TEST(CompositionOf, ReadsWhatAReplaySaidOfItself) {
  EXPECT_EQ(CompositionOf(Stored()), (CompositionError{1.17, 1.04, CacheState::kColdWeights}));
  EXPECT_EQ(CompositionOf(Stored())->value(), 1.04);
}

TEST(CompositionOf, IsNothingWhereARunSaysTooLittle) {
  for (const char* const name : {"cache_of_weights", "composition_error_warm", "composition_error_cold-weights"}) {
    RunProfile without = Stored();
    without.settings.erase(name);
    EXPECT_EQ(CompositionOf(without), std::nullopt);
    RunProfile wrong = Stored();
    wrong.settings[name] = "?";
    EXPECT_EQ(CompositionOf(wrong), std::nullopt);
  }
  EXPECT_EQ(CompositionOf(RunProfile()), std::nullopt);
}

}  // namespace
}  // namespace infimum
