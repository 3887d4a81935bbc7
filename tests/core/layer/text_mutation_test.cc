// Damaged texts: parsing never crashes, and what it accepts has a stable canonical text.
#include <gtest/gtest.h>

#include <string>

#include "infimum/layer/workload.h"
#include "tests/support/random_layer.h"

namespace infimum {
namespace {

void ExpectErrorOrStableText(const std::string& text) {
  const Result<Workload> workload = ParseWorkload(text);
  if (!workload.ok()) {
    const std::string& message = workload.error().message;
    ASSERT_FALSE(message.empty());
    // On one line, and starting with a column of the text.
    ASSERT_EQ(message.find_first_of("\n\r"), std::string::npos) << message;
    ASSERT_GE(std::stoull(message), 1U) << message;
    ASSERT_LE(std::stoull(message), text.size() + 1) << message << "\n" << text;
    ASSERT_NE(message.back(), '.') << message;
    return;
  }
  const std::string canonical = Format(*workload);
  const Result<Workload> again = ParseWorkload(canonical);
  ASSERT_TRUE(again.ok()) << canonical << "\n" << again.error().message;
  ASSERT_EQ(Format(*again), canonical);
  ASSERT_EQ(*again, *workload);
  ASSERT_GE(WorkOf(*workload).read().value, 0);
}

std::string Mutated(testing::RandomLayers& random, std::string text, const std::string& other) {
  static const std::vector<std::string> kTokens = {"0",
                                                   "-1",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "140737488355328",
                                                   "16777217",
                                                   "x",
                                                   ",",
                                                   "=",
                                                   ":",
                                                   "-",
                                                   " ",
                                                   " ; ",
                                                   "%0",
                                                   "in",
                                                   "scalar",
                                                   "yes",
                                                   "const",
                                                   "axis=0",
                                                   "[",
                                                   "](",
                                                   ")",
                                                   std::string(1, '\0'),
                                                   "\xff",
                                                   "\xc3\xb6"};
  const auto position = [&] {
    return static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(text.size()) + 1));
  };
  const std::int64_t mutations = random.Between(1, 4);
  for (std::int64_t i = 0; i < mutations; ++i) {
    const std::size_t at = position();
    switch (random.Below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        text.erase(at, static_cast<std::size_t>(random.Between(1, 6)));
        break;
      case 2:
        text.insert(at, random.OneOf(kTokens));
        break;
      case 3:
        text.insert(at, text.substr(position(), static_cast<std::size_t>(random.Between(1, 20))));
        break;
      case 4: {  // one number becomes another
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        text.replace(digit, text.find_first_not_of("0123456789", digit) - digit,
                     std::to_string(random.Between(0, 1 << 20)));
        break;
      }
      default:
        text = text.substr(0, at) + other.substr(std::min(at, other.size()));
        break;
    }
  }
  return text;
}

TEST(TextMutation, ADamagedTextIsRefusedOrHasAStableCanonicalText) {
  testing::RandomLayers random(71);
  std::string previous = "region";
  for (int i = 0; i < 60000; ++i) {
    const std::string text = Format(random.Either());
    const std::string mutated = Mutated(random, text, previous);
    ASSERT_NO_FATAL_FAILURE(ExpectErrorOrStableText(mutated)) << mutated;
    previous = text;
  }
}

TEST(TextMutation, RandomBytesAreRefused) {
  testing::RandomLayers random(72);
  for (int i = 0; i < 2000; ++i) {
    std::string text(static_cast<std::size_t>(random.Below(200)), '\0');
    for (char& c : text) c = static_cast<char>(random.Below(256));
    ASSERT_FALSE(ParseWorkload(text).ok());
  }
}

TEST(TextMutation, AMegabyteOfAnythingIsRefusedQuicklyAndBriefly) {
  const auto repeated = [](std::string_view piece) {
    std::string text;
    while (text.size() < (1U << 20)) text += piece;
    return text;
  };
  const std::string relu = "pointwise kind=relu dtype=f32:-:f32 in=";
  for (const std::string& text : {
           repeated("a"),
           repeated(" "),
           repeated(std::string_view("\0", 1)),
           repeated("region "),
           repeated("["),
           relu + repeated("9"),
           relu + repeated("1x"),
           relu + repeated("1x") + "1",
           relu + repeated("1,") + "1",
           relu + repeated("-"),
           relu + repeated("\xff"),
           "pointwise " + repeated("kind=relu "),
           "pointwise " + repeated("k"),
           "reduction kind=sum dtype=f32:-:f32 in=4 axes=" + repeated("0,") + "0",
           "movement kind=concat dtype=f32:-:f32 in=" + repeated("1,") + "1 out=1 axis=0",
           "region " + repeated("[pointwise kind=relu dtype=f32:-:f32 in=1](in0) ; "),
           "region [pointwise kind=relu dtype=f32:-:f32 in=1](" + repeated("in0,") + ")",
           "region [pointwise kind=relu dtype=f32:-:f32 in=1](in0) out=" + repeated("%0,"),
       }) {
    const Result<Workload> workload = ParseWorkload(text);
    ASSERT_FALSE(workload.ok()) << text.substr(0, 100);
    EXPECT_LT(workload.error().message.size(), 1000U) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace infimum
