// The CUDA runner from outside, on a pretended GPU: real worker processes, real journals, pretended kernels' times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "infimum/results/results_journal.h"
#include "tests/support/folders.h"
#include "tests/support/runner_process.h"
#include "tests/support/temporary_folder.h"

namespace infimum::cuda::gpu_runner_test {
namespace {

using ::testing::HasSubstr;

class GpuRunner : public ::testing::Test {
 protected:
  ~GpuRunner() override { unsetenv("PRETENDED_GPU"); }
  RunnerEnd Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", journal, "--quiet"});
    return RunRunner(testing::Program("infimum-microbench-cuda-rehearsal"), arguments, folder);
  }
  // Of each candidate and state its last row, which has all repetitions.
  std::vector<Measurement> Rows() {
    std::map<std::string, Measurement> last;
    std::ifstream input(journal, std::ios::binary);
    const Status read = ReadJournal(input, journal, [&](ResultsRecord record) -> Status {
      if (auto* row = std::get_if<Measurement>(&record))
        last[row->candidate.name() + " " + std::string(Name(row->cache))] = *row;
      return {};
    });
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
    std::vector<Measurement> rows;
    for (auto& [key, row] : last) rows.push_back(std::move(row));
    return rows;
  }

  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  const std::string journal = temporary.File("r.jsonl");
};

constexpr const char* kRelu = "pointwise kind=relu dtype=f32:-:f32 in=4096";

TEST_F(GpuRunner, RowsOfALayerByTheDevicesOwnClock) {
  const RunnerEnd end = Run({"--layer", kRelu, "--cache", "warm,cold", "--peaks"});
  ASSERT_EQ(end.code, 0) << end.errors;
  int warm = 0, cold = 0;
  for (const Measurement& row : Rows()) {
    ASSERT_EQ(row.outcome, Outcome::kMeasured) << row.reason;
    EXPECT_DOUBLE_EQ(row.repetitions.front().median.count(), row.cache == CacheState::kWarm ? 2 : 3);
    EXPECT_THAT(row.flags, ::testing::Contains("launch_bound"));
    EXPECT_EQ(row.repetitions.front().clocks->low_mhz, 1000);
    (row.cache == CacheState::kWarm ? warm : cold) += 1;
  }
  EXPECT_GT(warm, 0);
  EXPECT_EQ(warm, cold);
}

TEST_F(GpuRunner, ALostContextCostsItsRowAndTheNextWorkerGoesOn) {
  setenv("PRETENDED_GPU", "lost", 1);
  const RunnerEnd end = Run({"--layer", kRelu, "--rounds", "1"});
  ASSERT_EQ(end.code, 0) << end.errors;
  const std::vector<Measurement> rows = Rows();
  ASSERT_FALSE(rows.empty());
  for (const Measurement& row : rows) {
    EXPECT_EQ(row.outcome, Outcome::kFailed);
    EXPECT_THAT(row.reason, HasSubstr("context is lost (running): an illegal memory access"));
  }
}

TEST_F(GpuRunner, ABusyDeviceIsRefusedInOneLine) {
  setenv("PRETENDED_GPU", "company", 1);
  const RunnerEnd refused = Run({"--layer", kRelu});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("1 other process uses this GPU (12 GiB)"));
  EXPECT_EQ(std::count(refused.errors.begin(), refused.errors.end(), '\n'), 1) << refused.errors;
  EXPECT_EQ(Run({"--layer", kRelu, "--backend-option", "busy=allow"}).code, 0);
}

TEST_F(GpuRunner, ALibraryThatIsMissingIsToldOnceAlsoWhereNothingElseIs) {
  setenv("PRETENDED_GPU", "bare", 1);
  const RunnerEnd end = Run({"--layer", kRelu, "--rounds", "1"});
  ASSERT_EQ(end.code, 0) << end.errors;
  EXPECT_EQ(end.errors, "infimum: warning: cuDNN (libcudnn.so.9) was not found\n");
}

TEST_F(GpuRunner, ItsNameIsItsOwnAndWrongOptionsAreUsage) {
  EXPECT_THAT(Run({"--help"}).output, HasSubstr("infimum-microbench-cuda-rehearsal"));
  EXPECT_EQ(Run({"--layer", kRelu, "--backend-option", "colour=blue"}).code, 2);
}

TEST_F(GpuRunner, DeviceMemoryIsBoundedAndToldInTheRow) {
  const RunnerEnd end = Run({"--layer", "pointwise kind=relu dtype=f32:-:f32 in=1048576", "--max-memory", "1M"});
  ASSERT_EQ(end.code, 0) << end.errors;
  for (const Measurement& row : Rows()) {
    EXPECT_EQ(row.outcome, Outcome::kFailed);
    EXPECT_THAT(row.reason, HasSubstr("out of device memory"));
  }
}

TEST_F(GpuRunner, TheSameCommandContinuesAndMeasuresNothingTwice) {
  ASSERT_EQ(Run({"--layer", kRelu}).code, 0);
  const std::vector<Measurement> before = Rows();
  ASSERT_EQ(Run({"--layer", kRelu}).code, 0);
  EXPECT_EQ(Rows(), before);
}

#ifdef INFIMUM_CUDA_RUNNER
TEST_F(GpuRunner, TheRealOneSaysInOneLineThatThereIsNoDriver) {
  const RunnerEnd end = RunRunner(INFIMUM_CUDA_RUNNER, {"--layer", kRelu, "-o", journal}, folder);
  if (end.code == 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.errors, HasSubstr("driver"));
  EXPECT_EQ(std::count(end.errors.begin(), end.errors.end(), '\n'), 1) << end.errors;
  EXPECT_FALSE(std::filesystem::exists(journal));
}

TEST_F(GpuRunner, ACampaignWithoutADriverEndsAtOnceInOneLine) {
  const std::filesystem::path plans = std::filesystem::path(folder) / "campaign/plans";
  std::filesystem::create_directories(plans);
  std::ofstream(plans / "m-b1-strict-f32.plan") << "# infimum plan 1\n" << kRelu << "\n";
  const std::string campaign = "'" + testing::SourceFolder() + "/scripts/gpu_campaign'";
  const std::string said = std::string(folder) + "/said";
  const int status = std::system((campaign + " run '" + plans.parent_path().string() + "' --runner '" +
                                  INFIMUM_CUDA_RUNNER + "' --minutes 1 2>'" + said + "'")
                                     .c_str());
  if (status == 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(WEXITSTATUS(status), 1);
  std::ifstream file(said);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr("infimum: error: cuda: there is no NVIDIA driver"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_FALSE(std::filesystem::exists(plans.parent_path() / "results"));
  EXPECT_EQ(WEXITSTATUS(std::system((campaign + " run x --bogus 2>/dev/null").c_str())), 2);
}
#endif

}  // namespace
}  // namespace infimum::cuda::gpu_runner_test
