// Every input that is worth keeping goes through its target in the ordinary tests: no fuzzer is needed for that.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_input.h"
#include "tests/support/folders.h"

// INFIMUM_FUZZ_TARGETS: X(chakra_trace) X(gzip_stream) ..., each LLVMFuzzerTestOneInput renamed.
#define X(name) extern "C" int Fuzz_##name(const std::uint8_t* data, std::size_t size);
INFIMUM_FUZZ_TARGETS
#undef X

namespace infimum {
namespace {

struct Target {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

void PrintTo(const Target& target, std::ostream* stream) { *stream << target.name; }

class Corpus : public ::testing::TestWithParam<Target> {};

TEST_P(Corpus, KeepsThePromisesOfItsReader) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::SourceFolder()) / "tests" / "fuzz" / "corpus" / GetParam().name;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  ASSERT_FALSE(files.empty()) << folder;
  std::sort(files.begin(), files.end());
  bool sound = false;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << path;
    const std::string input(std::istreambuf_iterator<char>(file), {});
    // The last one that is named is the one that a reader died of.
    SCOPED_TRACE(path);
    std::fprintf(stderr, "%s\n", path.filename().c_str());
    const std::size_t refused = fuzz::Refusals();
    EXPECT_EQ(GetParam().run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()), 0);
    // Else the fuzzer would start from nothing but errors.
    if (path.stem() == "sound") {
      sound = true;
      EXPECT_EQ(fuzz::Refusals(), refused);
    }
  }
  EXPECT_TRUE(sound) << folder << " has no file that is sound";
}

#define X(name) Target{#name, Fuzz_##name},
constexpr Target kTargets[] = {INFIMUM_FUZZ_TARGETS};
#undef X
INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, ::testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace infimum
