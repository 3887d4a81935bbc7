// Stores whose times are known, asked on each axis: what the report finds is known too.
#include "src/app/commands/compare_sides/side_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "infimum/db/store.h"
#include "src/app/models/model_variant.h"
#include "src/app/processes/temporary_folder.h"
#include "src/readers/onnx/read_model.h"
#include "tests/support/marker.h"
#include "tests/support/random_graph.h"

namespace infimum {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What a row takes of 100 us, by its family.
struct Times {
  double convolution = 1, pointwise = 1, matmul = 1;
};

// Of which every name has the marker.
constexpr const char* kMarked = R"(<ir_version: 8, opset_import: ["" : 17, "xyzzyplugh.ops" : 1]>
      Xyzzyplugh (float[Xyzzyplugh_batch, 8, 16, 16] Xyzzyplugh_x)
        => (float[Xyzzyplugh_batch, 10] Xyzzyplugh_y, float[Xyzzyplugh_batch, 10] Xyzzyplugh_z)
      <int64[4] Xyzzyplugh_ws = {8, 8, 3, 3}, int64[2] Xyzzyplugh_ms = {2048, 10}, int64[2] Xyzzyplugh_fs = {0, -1}> {
        Xyzzyplugh_w = ConstantOfShape <value: tensor = float[1] {0.1}> (Xyzzyplugh_ws)
        Xyzzyplugh_m = ConstantOfShape <value: tensor = float[1] {0.1}> (Xyzzyplugh_ms)
        [z_Xyzzyplugh_conv] Xyzzyplugh_a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (Xyzzyplugh_x, Xyzzyplugh_w)
        [Xyzzyplugh_cast] Xyzzyplugh_h = Cast <to = 10> (Xyzzyplugh_a)
        [Xyzzyplugh_back] Xyzzyplugh_b = Cast <to = 1> (Xyzzyplugh_h)
        [a_Xyzzyplugh_relu] Xyzzyplugh_d = Relu (Xyzzyplugh_b)
        [Xyzzyplugh_flat] Xyzzyplugh_e = Reshape (Xyzzyplugh_d, Xyzzyplugh_fs)
        [Xyzzyplugh_fc] Xyzzyplugh_y = MatMul (Xyzzyplugh_e, Xyzzyplugh_m)
        [Xyzzyplugh_blend] Xyzzyplugh_z = xyzzyplugh.ops.XyzzyplughBlend (Xyzzyplugh_y)
      })";

class SideReport : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::Make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    folder_.emplace(*std::move(folder));
    options_.database = (folder_->path() / "team.db").string();
    options_.models = {Write("net.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
      net (float[1, 8, 16, 16] x) => (float[1, 10] y)
      <int64[4] ws = {8, 8, 3, 3}, int64[2] ms = {2048, 10}, int64[2] fs = {0, -1}> {
        w = ConstantOfShape <value: tensor = float[1] {0.1}> (ws)
        m = ConstantOfShape <value: tensor = float[1] {0.1}> (ms)
        a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)
        b = Relu (a)
        c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, w)
        d = Relu (c)
        e = Reshape (d, fs)
        y = MatMul (e, m)
      })")};
  }

  std::filesystem::path Write(const std::string& name, const char* text) {
    onnx::ModelProto model;
    const auto parsed = onnx::OnnxParser::Parse(model, text);
    EXPECT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
    const std::filesystem::path path = folder_->path() / name;
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    return path;
  }

  static Device MakeDevice(const std::string& name, const std::string& generation) {
    Device device;
    device.kind = DeviceKind::kGpu;
    device.name = name;
    device.vendor = "Test";
    device.generation = generation;
    device.identity = {{"name", name}};
    return device;
  }

  // Rows of every layer but those that take nothing here, each of three repetitions, or of one number.
  void Add(const Device& device, const std::string& cudnn, const Times& times, bool has_spread = true,
           std::optional<NumericContract> contract = {}) {
    const Result<ModelUnder> under = ReadModelUnder(options_.models.front(), options_.dims, contract);
    ASSERT_TRUE(under.ok()) << under.error().message;
    Environment environment;
    environment.libraries = {{"cudnn", cudnn}, {"cublas", "10.1"}};
    environment.evidence = evidence_;
    std::vector<Measurement> rows;
    for (const Layer& layer : under->graph.layers) {
      if (!layer.workload) continue;
      const std::string_view family = FamilyOf(*layer.workload);
      const double time = 100 * (family == "convolution" ? times.convolution
                                 : family == "matmul"    ? times.matmul
                                                         : times.pointwise);
      if (!(time > 0)) continue;
      std::vector<Latency> medians = {Latency(time)};
      if (has_spread) medians = {Latency(time), Latency(time * 1.001), Latency(time * 1.002)};
      Measurement row = testing::MeasuredRow(KeyOf(*layer.workload), "best", medians);
      if (!has_spread) row.repetitions.front().samples.clear();
      row.candidate.library = library_;
      row.device = device.Key();
      row.environment = environment.Key();
      row.measured_at = measured_at_;
      row.contract = under->selected.value_or(NativeContract(*layer.workload));
      rows.push_back(std::move(row));
    }
    const Result<std::unique_ptr<Store>> store = OpenStore(options_.database, OpenMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.error().message;
    const std::vector<PeakRate> peaks = testing::TestPeaks().rates;
    const Result<ImportCount> count = (*store)->Import(device, environment, rows, peaks);
    ASSERT_TRUE(count.ok()) << count.error().message;
  }

  ComparisonReport Make() {
    Result<ComparisonReport> report = MakeSideReport(options_);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message);
    return report.ok() ? *std::move(report) : ComparisonReport{};
  }
  std::string ErrorOf() {
    const Result<ComparisonReport> report = MakeSideReport(options_);
    return report.ok() ? "" : report.error().message;
  }
  static std::vector<std::string> Labels(const ComparisonReport& report) {
    std::vector<std::string> labels;
    for (const ReportSide& side : report.sides) labels.push_back(side.label);
    return labels;
  }

  std::optional<TemporaryFolder> folder_;
  SideReportOptions options_;
  std::string library_ = "cudnn";                     // of the candidates of rows that are added
  std::string measured_at_ = "2026-11-21T10:47:44Z";  // of rows that are added
  std::map<std::string, std::string> evidence_;       // of rows that are added
};

// Question 9: which generation, by which layers, and where the order is another.
TEST_F(SideReport, DevicesStandByYearWithTheClassInWhichTheOrderIsAnother) {
  Add(MakeDevice("Middle", "Pascal"), "7.6.4", {.convolution = 2, .pointwise = 0.2, .matmul = 2});
  Add(MakeDevice("Young", "Volta"), "7.6.4", {.convolution = 1, .pointwise = 0.5, .matmul = 1});
  Add(MakeDevice("Old", "Kepler"), "7.6.4", {.convolution = 8, .pointwise = 4, .matmul = 8});
  const ComparisonReport report = Make();
  EXPECT_THAT(Labels(report), ElementsAre("Old", "Middle", "Young"));
  EXPECT_EQ(report.sides[0].year, 2013);
  EXPECT_THAT(report.comparison.order, ElementsAre(2, 1, 0));
  const ModelTotal& model = report.comparison.models.front();
  EXPECT_NEAR(model.times[0].latency->count(), 3200, 5);  // two convolutions and activations, a product
  EXPECT_NEAR(model.times[2].latency->count(), 400, 1);
  EXPECT_TRUE(model.times[2].interval);
  EXPECT_EQ(model.common, 5u);
  ASSERT_THAT(report.comparison.rank_changes, SizeIs(1));
  const RankChange& change = report.comparison.rank_changes.front();
  EXPECT_EQ(report.sides[change.faster].label, "Young");
  EXPECT_EQ(report.sides[change.slower].label, "Middle");
  EXPECT_EQ(change.name, "pointwise");
  EXPECT_NEAR(change.lost.count(), 60, 1);
  EXPECT_THAT(report.gaps, IsEmpty());
  EXPECT_THAT(ComparisonHeadline(report), HasSubstr("of 3 devices Young is the fastest"));
}

TEST_F(SideReport, ASideOfSeveralHostsWhoseClocksDifferIsACaution) {
  const Device shared = MakeDevice("Shared", "Volta");
  evidence_ = {{evidence::kHost, "a"}, {evidence::kClocks, "locked"}};
  Add(shared, "7.6.4", {.convolution = 1, .pointwise = 0});
  Add(MakeDevice("Single", "Kepler"), "7.6.4", {.convolution = 8});
  evidence_ = {{evidence::kHost, "b"}, {evidence::kClocks, "locked"}};
  Add(shared, "7.6.4", {.convolution = 0});
  const auto says = HasSubstr("Shared: The measurements come from 2 machines");
  EXPECT_THAT(Make().remarks, Contains(says));
  EXPECT_THAT(Make().cautions, IsEmpty());
  evidence_[evidence::kClocks] = "free";
  Add(shared, "7.6.4", {.convolution = 0, .matmul = 0.9});
  EXPECT_THAT(Make().cautions, ElementsAre(says));
}

TEST_F(SideReport, ItsDataAreAsOldAsTheNewestRow) {
  const Device old = MakeDevice("Old", "Kepler"), young = MakeDevice("Young", "Volta");
  measured_at_ = "2026-11-21T10:47:44Z";
  Add(old, "7.6.4", {});
  measured_at_ = "2026-11-20T23:59:59Z";
  Add(young, "7.6.4", {.convolution = 0.5});
  EXPECT_EQ(Make().data_as_of, "2026-11-21T10:47:44Z");
  EXPECT_EQ(DataAsOf(Make()), "Data of 2026-11-21T10:47:44Z");
  EXPECT_EQ(ComparisonJson(Make()), ComparisonJson(Make()));
}

// Question 8: what gets slower for my models with the newer library.
TEST_F(SideReport, VersionsOfALibraryShowRegressionsWithTheirCostAndUses) {
  const Device device = MakeDevice("Card", "Volta");
  Add(device, "7.10.0", {.convolution = 0.5, .pointwise = 1.5, .matmul = 1.01});
  Add(device, "7.9.1", {});
  options_.axis = ComparisonAxis::kLibrary;
  options_.devices = {"Card"};
  options_.libraries = {"cudnn"};
  const ComparisonReport report = Make();
  EXPECT_THAT(Labels(report), ElementsAre("cudnn 7.9.1", "cudnn 7.10.0"));
  ASSERT_THAT(report.comparison.regressions, SizeIs(1));
  const LayerDifference& slower = report.comparison.regressions.front();
  EXPECT_EQ(report.comparison.layers[slower.layer].family, "pointwise");
  EXPECT_THAT(report.comparison.layers[slower.layer].uses, SizeIs(2));
  EXPECT_NEAR(slower.cost.count(), 100, 1);
  ASSERT_THAT(report.comparison.gains, SizeIs(1));
  EXPECT_NEAR(report.comparison.gains.front().cost.count(), -100, 1);
  EXPECT_EQ(report.comparison.means[1]->verdict, Verdict::kSame);
  EXPECT_THAT(ComparisonHeadline(report), HasSubstr("2 layers take 100 µs longer in all"));
  EXPECT_THAT(report.sides[1].environment, HasSubstr("cudnn 7.10.0"));

  options_.libraries = {"cudnn 7.10.0", "cudnn 7.9.1"};
  EXPECT_THAT(Labels(Make()), ElementsAre("cudnn 7.10.0", "cudnn 7.9.1"));
  options_.libraries = {"cudnn 7.9.1", "cudnn 8"};
  EXPECT_THAT(ErrorOf(), HasSubstr("but with 7.9.1, 7.10.0"));
  options_.libraries = {};
  EXPECT_THAT(ErrorOf(), HasSubstr("--by library needs a library"));
}

// Question 10: why less precision is not faster here.
// A ranking of devices with several versions of a library is of both: it says so, and can be put right.
TEST_F(SideReport, DevicesThatWereMeasuredWithSeveralVersionsAreNamedAndCanBeHeldToOne) {
  const Device slow = MakeDevice("Slow", "Pascal"), fast = MakeDevice("Fast", "Volta");
  Add(slow, "7.6.3", {.convolution = 2, .pointwise = 2, .matmul = 2});
  Add(fast, "7.6.3", {.convolution = 1, .pointwise = 1, .matmul = 1});
  measured_at_ = "2026-11-22T10:47:44Z";
  Add(fast, "7.6.4", {.convolution = 4, .pointwise = 4, .matmul = 4});
  const ComparisonReport held = Make();
  EXPECT_THAT(held.comparison.order, ElementsAre(1, 0));
  EXPECT_THAT(held.cautions, IsEmpty());
  EXPECT_THAT(held.remarks, Contains(HasSubstr("all are compared with cudnn 7.6.3")));
  EXPECT_THAT(held.remarks, Contains(HasSubstr("the store also has Fast with cublas 10.1, cudnn 7.6.4")));

  options_.libraries = {"cudnn 7.6.3"};
  const ComparisonReport one = Make();
  EXPECT_THAT(one.comparison.order, ElementsAre(1, 0));
  EXPECT_THAT(one.cautions, IsEmpty());

  // Where the version that all have knows less, nothing is left out for it.
  const Device third = MakeDevice("Third", "Turing");
  options_.libraries = {};
  Add(third, "7.6.3", {.convolution = 1, .pointwise = 1, .matmul = 0});
  Add(third, "7.6.4", {.convolution = 1, .pointwise = 1, .matmul = 1});
  options_.devices = {"Slow", "Fast", "Third"};
  const ComparisonReport mixed = Make();
  ASSERT_THAT(mixed.cautions, SizeIs(1));
  EXPECT_THAT(mixed.cautions.front(), HasSubstr("Fast, Third with cublas 10.1, cudnn 7.6.4"));
  EXPECT_THAT(mixed.cautions.front(), HasSubstr("--library 'cudnn 7.6.3' compares all with one"));

  options_.libraries = {"cudnn 7.6.4"};
  options_.devices = {"Slow", "Fast"};
  EXPECT_THAT(ErrorOf(), HasSubstr("nothing was measured with it on Slow"));
  options_.libraries = {"cudnn"};
  EXPECT_THAT(ErrorOf(), HasSubstr("--library 'cudnn 7.6.3'"));
}

TEST_F(SideReport, ContractsSayWhichLayersDoNotGainAndWhy) {
  const Device device = MakeDevice("Card", "Volta");
  Add(device, "7.6.4", {.convolution = 1, .pointwise = 1, .matmul = 1});
  Add(device, "7.6.4", {.convolution = 0.4, .pointwise = 1, .matmul = 2}, true, NumericContract::kF16);
  options_.axis = ComparisonAxis::kContract;
  options_.devices = {"Card"};
  const ComparisonReport report = Make();
  EXPECT_THAT(Labels(report), ElementsAre("strict-f32", "f16"));
  ASSERT_THAT(report.comparison.regressions, SizeIs(1));
  EXPECT_EQ(report.comparison.layers[report.comparison.regressions.front().layer].family, "matmul");
  EXPECT_THAT(ComparisonText(report, 0), HasSubstr("What does not get faster, and why"));
  EXPECT_THAT(ComparisonText(report, 0), HasSubstr("what a kernel costs to start"));
  // The others have no rows, and that is said.
  EXPECT_THAT(report.remarks, Contains(HasSubstr("left out: bf16")));
}

TEST_F(SideReport, RowsOfOneNumberHaveNoSpreadAndTheThresholdStandsForIt) {
  Add(MakeDevice("Old", "Kepler"), "7.6.4", {}, false);
  Add(MakeDevice("Young", "Volta"), "7.6.4", {.convolution = 1.04, .pointwise = 1.06, .matmul = 1}, false);
  const ComparisonReport report = Make();
  for (const SetLayer& layer : report.comparison.layers) {
    ASSERT_TRUE(layer.differences[1]);
    EXPECT_FALSE(layer.differences[1]->is_spread_known);
    EXPECT_EQ(layer.differences[1]->verdict, layer.family == "pointwise" ? Verdict::kSlower : Verdict::kSame);
  }
  EXPECT_THAT(report.remarks, Contains(HasSubstr("without a spread")));
}

TEST_F(SideReport, WhatASideLacksIsLeftOutOfAllAndNamedWithItsCommand) {
  Add(MakeDevice("Old", "Kepler"), "7.6.4", {});
  Add(MakeDevice("Young", "Volta"), "7.6.4", {.convolution = 0, .pointwise = 0.5, .matmul = 0.5});
  EXPECT_THAT(ErrorOf(), HasSubstr("needs two sides"));
  EXPECT_THAT(ErrorOf(), HasSubstr("left out: Young"));
  options_.devices = {"Old", "Young"};
  const ComparisonReport report = Make();
  const ModelTotal& model = report.comparison.models.front();
  EXPECT_EQ(model.layers, 5u);
  EXPECT_EQ(model.common, 3u);
  EXPECT_NEAR(model.times[0].latency->count(), 300, 1);
  EXPECT_NEAR(report.comparison.means[1]->ratio, 0.5, 1e-3);
  ASSERT_THAT(report.gaps, SizeIs(1));
  EXPECT_EQ(report.gaps[0].side, 1u);
  EXPECT_EQ(report.gaps[0].layers, 2u);
  EXPECT_THAT(report.gaps[0].command, HasSubstr("infimum plan "));
  EXPECT_THAT(report.gaps[0].command, HasSubstr("--device Young"));
}

TEST_F(SideReport, OneSideIsNoComparison) {
  EXPECT_THAT(ErrorOf(), HasSubstr("no such store"));
  Add(MakeDevice("Old", "Kepler"), "7.6.4", {});
  EXPECT_THAT(ErrorOf(), HasSubstr("--by device needs two sides, and 1 is there"));
  options_.devices = {"Old", "Old"};
  EXPECT_THAT(ErrorOf(), HasSubstr("given twice"));
  options_.axis = ComparisonAxis::kChange;
  options_.runs = {"one.json"};
  EXPECT_THAT(ErrorOf(), HasSubstr("at least two runs"));
}

TEST_F(SideReport, ADimensionThatNoModelHasIsAnError) {
  Add(MakeDevice("Old", "Kepler"), "7.6.4", {});
  options_.models.push_back(options_.models.front());
  options_.dims = {{"batch", 2}};
  EXPECT_THAT(ErrorOf(), HasSubstr("--dim batch=2: none of the models has this dimension"));
}

// A cast that only one contract has moves the layers behind it: they keep their names.
TEST_F(SideReport, WithoutNamesItsNumbersAreTheSameOnEveryAxisOfBounds) {
  const Device old = MakeDevice("Old", "Kepler"), young = MakeDevice("Young", "Volta");
  options_.models = {Write("Xyzzyplugh.onnx", kMarked), Write("Xyzzyplugh2.onnx", kMarked)};
  options_.dims = {{"Xyzzyplugh_batch", 2}};
  library_ = "Xyzzyplughlib";
  Add(old, "7.6.4", {.convolution = 8, .pointwise = 4, .matmul = 0});
  library_ = "cudnn";
  Add(young, "7.6.4", {});
  Add(young, "7.10.0", {.convolution = 0.5, .pointwise = 1.5, .matmul = 1.01});
  Add(young, "7.6.4", {.convolution = 0.4, .pointwise = 1, .matmul = 2}, true, NumericContract::kF16);
  for (const ComparisonAxis axis : {ComparisonAxis::kDevice, ComparisonAxis::kLibrary, ComparisonAxis::kContract}) {
    SCOPED_TRACE(Name(axis));
    options_.axis = axis;
    options_.devices =
        axis == ComparisonAxis::kDevice ? std::vector<std::string>{"Old", "Young"} : std::vector<std::string>{"Young"};
    options_.libraries = {};
    if (axis == ComparisonAxis::kLibrary) options_.libraries = {"cudnn"};
    options_.anonymize = false;
    const ComparisonReport plain = Make();
    options_.anonymize = true;
    const ComparisonReport report = Make();
    EXPECT_EQ(testing::Numbers(ComparisonJson(report)), testing::Numbers(ComparisonJson(plain)));
    EXPECT_EQ(Labels(report), Labels(plain));
    const auto forms = [](const ComparisonReport& made) {
      return std::vector{ComparisonJson(made),    ComparisonCsv(made),  ComparisonMarkdown(made),
                         ComparisonText(made, 0), ComparisonPage(made), ComparisonHeadline(made)};
    };
    for (const std::string& text : forms(report)) EXPECT_THAT(testing::TracesOfTheMarker(text), IsEmpty());
    EXPECT_FALSE(testing::TracesOfTheMarker(ComparisonCsv(plain)).empty()) << "nothing is tested";
    EXPECT_EQ(report.comparison.models[1].name, "model-2");
    if (axis != ComparisonAxis::kDevice) continue;
    ASSERT_THAT(report.gaps, ::testing::Not(IsEmpty()));
    EXPECT_THAT(ComparisonCsv(report), HasSubstr("other/candidate-1"));
    EXPECT_EQ(report.gaps[0].command, "infimum plan MODEL --dim dim-1=2 --db DB --device Old -o plan.txt");
  }
}

}  // namespace
}  // namespace infimum
