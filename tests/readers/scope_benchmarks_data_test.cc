// Over the real measurements of 2019, which stand beside the checkout: shared/data/benanza.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "infimum/base/text.h"
#include "src/readers/read_results.h"
#include "tests/readers/benanza_archives.h"
#include "tests/support/shared_data.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

struct Counted {
  std::map<Outcome, int> outcomes;
  int repetitions = 0, files = 0;
  std::set<std::string> devices, libraries;
  std::map<std::string, std::int64_t> left_out;  // what is left out -> how many entries
  std::map<std::string, int> rows_of_library;
};

class ScopeData : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path data = testing::BenanzaFolder() / "raw";
    INFIMUM_NEEDS_DATA(data);
    data_ = data;
  }

  void Read(const std::string& archive, Counted& counted) {
    ASSERT_TRUE(testing::Unpack(data_ / archive, folder_)) << "cannot unpack " << archive;
    ResultsTaker taker;
    taker.rows = [&](const Device& device, const Environment& environment, std::span<const Measurement> rows,
                     std::span<const PeakRate>) {
      counted.devices.insert(device.name + ", " + device.generation);
      counted.libraries.insert(environment.libraries.at("cudnn"));
      for (const Measurement& row : rows) {
        ++counted.outcomes[row.outcome];
        ++counted.rows_of_library[row.candidate.library];
        counted.repetitions += static_cast<int>(row.repetitions.size());
        const Result<Workload> workload = ParseWorkload(row.workload.text);
        EXPECT_TRUE(workload.ok()) << row.workload.text;
        if (workload.ok()) {
          EXPECT_EQ(NativeContract(*workload), row.contract) << row.workload.text;
        }
      }
      return Status();
    };
    // "FILE: 38 entries of API left out: why"
    taker.remark = [&](const std::string& remark) {
      const std::string sentence = remark.substr(remark.find(": ") + 2);
      const std::size_t number_end = sentence.find(' '), why = sentence.find(" left out");
      const std::optional<std::int64_t> number = ParseInteger(sentence.substr(0, number_end));
      ASSERT_TRUE(number && why != std::string::npos) << remark;
      counted.left_out[sentence.substr(number_end + 1, why - number_end - 1)] += *number;
    };
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.path().extension() != ".json") continue;
      ++counted.files;
      const Status status = ReadResultsFile(entry.path(), taker);
      EXPECT_TRUE(status.ok()) << status.error().message;
    }
  }

  fs::path data_;
  const testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

// Each of the 5,415 entries is a repetition, a failure, or counted as left out.
TEST_F(ScopeData, MobileNetOnEightDevices) {
  Counted counted;
  Read("mobilenetv2_float32.tar.xz", counted);
  EXPECT_EQ(counted.files, 15);
  EXPECT_THAT(counted.devices, ElementsAre("GRID K520, Kepler", "Quadro RTX 6000, Turing", "TITAN V, Volta",
                                           "TITAN Xp, Pascal", "Tesla K80, Kepler", "Tesla M60, Maxwell",
                                           "Tesla T4, Turing", "Tesla V100-SXM2-16GB, Volta"));
  EXPECT_THAT(counted.libraries, ElementsAre("7.6.3"));
  EXPECT_THAT(counted.outcomes, ElementsAre(Pair(Outcome::kMeasured, 3165), Pair(Outcome::kUnsupported, 1620)));
  EXPECT_EQ(counted.repetitions, 3225);
  EXPECT_THAT(counted.left_out, ElementsAre(Pair("entries of CUDNN_BATCHNORM_FWD_TRAINING", 570)));
}

// Most entries of this archive failed, after an illegal memory access.
TEST_F(ScopeData, WholeZooWithItsLeftovers) {
#ifdef __SANITIZE_ADDRESS__
  if (getenv("INFIMUM_LONG") == nullptr)
    GTEST_SKIP() << "half a minute under a sanitizer; benanza_tests count the rows of all archives without one";
#endif
  Counted counted;
  Read("whole_zoo_batch128_256.tar.xz", counted);
  EXPECT_EQ(counted.files, 14);
  EXPECT_THAT(counted.devices, SizeIs(7));
  EXPECT_THAT(counted.libraries, ElementsAre("7.6.1", "7.6.3", "7.6.4"));
  EXPECT_THAT(counted.outcomes, ElementsAre(Pair(Outcome::kMeasured, 7923), Pair(Outcome::kUnsupported, 920),
                                            Pair(Outcome::kFailed, 41869)));
  EXPECT_EQ(counted.repetitions, 9595);
  EXPECT_THAT(counted.rows_of_library, ElementsAre(Pair("cublas", 238), Pair("cudnn-legacy", 50474)));
  // The pools have a window that is larger than their padded input, which cuDNN refused.
  EXPECT_THAT(counted.left_out,
              ElementsAre(Pair("entries of CUDNN_BATCHNORM_FWD_TRAINING", 1884),
                          Pair("entries of CUDNN_DROPOUT_FWD", 140), Pair("entries of CUDNN_POOLING_FWD", 28)));
}

}  // namespace
}  // namespace infimum
