// The measurements of 2019, asked what they are known to say: which version of cuDNN makes ResNet-50 slower on a V100,
// which devices are the fastest, and that f16 does not pay in the layouts that were measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "infimum/db/store.h"
#include "src/app/commands/compare_sides/side_report.h"
#include "src/app/processes/temporary_folder.h"
#include "src/readers/read_results.h"
#include "tests/readers/benanza_archives.h"
#include "tests/support/shared_data.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SidesOf2019 : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!fs::exists(testing::BenanzaFolder())) return;
    Result<TemporaryFolder> folder = TemporaryFolder::Make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    folder_ = new TemporaryFolder(*std::move(folder));
    const Result<std::unique_ptr<Store>> store = OpenStore(Database(), OpenMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.error().message;
    for (const char* archive :
         {"resnet50_float32", "resnet50_float32_cudnn_versions_V100", "resnet50_float16_cudnn7.6.4.38_V100_nchw"})
      ASSERT_TRUE(
          testing::Unpack(testing::BenanzaFolder() / "raw" / (std::string(archive) + ".tar.xz"), folder_->path()));
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_->path())) {
      if (entry.path().filename() != "1.json") continue;  // batch 1
      const Result<ImportCount> count = ImportFile(entry.path(), **store);
      ASSERT_TRUE(count.ok()) << count.error().message;
    }
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  void SetUp() override {
    INFIMUM_NEEDS_DATA(testing::BenanzaFolder());
    INFIMUM_NEEDS_DATA(SharedData("models/resnet50_v1.onnx"));
    options_.models = {SharedData("models/resnet50_v1.onnx")};
    options_.dims = {{"batch", 1}};
    options_.database = Database();
  }

  static std::string Database() { return (folder_->path() / "team.db").string(); }

  ComparisonReport Make() {
    Result<ComparisonReport> report = MakeSideReport(options_);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message);
    return report.ok() ? *std::move(report) : ComparisonReport{};
  }

  static TemporaryFolder* folder_;
  SideReportOptions options_;
};
TemporaryFolder* SidesOf2019::folder_ = nullptr;

TEST_F(SidesOf2019, DevicesStandByGenerationAndTuringLeads) {
  const ComparisonReport report = Make();
  ASSERT_GE(report.sides.size(), 6u);
  EXPECT_TRUE(std::ranges::is_sorted(report.sides, {}, &ReportSide::year));
  ASSERT_GE(report.comparison.order.size(), 2u);
  EXPECT_EQ(report.sides[report.comparison.order[0]].label, "Quadro RTX 6000");
  EXPECT_EQ(report.sides[report.comparison.order[1]].label, "Tesla V100-SXM2-16GB");
  // The V100 has rows of cuDNN 7.6.4 too, with which it is a fifth slower: all are held to the version that all have.
  EXPECT_THAT(report.remarks, Contains(HasSubstr("all are compared with cudnn 7.6.3")));
  // All but the mean over the last feature map, which 2019 did not time.
  EXPECT_EQ(report.comparison.models.front().layers, 121u);
  EXPECT_EQ(report.comparison.models.front().common, 120u);
  // The M60 is faster than the K80 in all, and slower in the element-wise layers, which its narrower memory decides.
  const auto change = std::ranges::find_if(report.comparison.rank_changes, [&report](const RankChange& entry) {
    return report.sides[entry.faster].label == "Tesla M60" && report.sides[entry.slower].label == "Tesla K80";
  });
  ASSERT_NE(change, report.comparison.rank_changes.end());
  EXPECT_EQ(change->name, "pointwise");
}

TEST_F(SidesOf2019, ACampaignWithCudnn764IsSlowerInEveryClassOnAV100) {
  options_.axis = ComparisonAxis::kLibrary;
  options_.devices = {"Tesla V100-SXM2-16GB"};
  options_.libraries = {"cudnn"};
  const ComparisonReport report = Make();
  ASSERT_GE(report.sides.size(), 6u);
  EXPECT_EQ(report.sides.front().label, "cudnn 7.5.0");
  EXPECT_EQ(report.sides.back().label, "cudnn 7.6.4");
  for (std::size_t side = 1; side < report.sides.size(); ++side) {
    const bool is_last = side + 1 == report.sides.size();
    EXPECT_EQ(report.comparison.means[side]->verdict, is_last ? Verdict::kSlower : Verdict::kSame)
        << report.sides[side].label;
    EXPECT_FALSE(report.comparison.means[side]->is_spread_known);
  }
  EXPECT_NEAR(report.comparison.means.back()->ratio, 1.21, 0.01);
  ASSERT_FALSE(report.comparison.regressions.empty());
  const LayerDifference& first = report.comparison.regressions.front();
  EXPECT_EQ(first.side + 1, report.sides.size());
  EXPECT_THAT(report.comparison.layers[first.layer].uses, SizeIs(6));
  EXPECT_NEAR(first.cost.count(), 85.5, 1);
  EXPECT_TRUE(std::ranges::is_sorted(report.comparison.regressions, std::ranges::greater{}, &LayerDifference::cost));
}

TEST_F(SidesOf2019, HalfPrecisionInTheLayoutOfSinglesDoesNotPayOnAV100) {
  options_.axis = ComparisonAxis::kContract;
  options_.devices = {"Tesla V100-SXM2-16GB"};
  const ComparisonReport report = Make();
  ASSERT_THAT(report.sides, SizeIs(2));
  EXPECT_EQ(report.sides[1].label, "f16");
  EXPECT_EQ(report.comparison.means[1]->verdict, Verdict::kSlower);
  EXPECT_THAT(ComparisonHeadline(report), HasSubstr("f16 is slower than strict-f32"));
  EXPECT_THAT(ComparisonText(report, 0), HasSubstr("no kernel as good: cudnn-legacy/implicit_precomp_gemm/tensor_op"));
}

}  // namespace
}  // namespace infimum
