// The totals that were published in 2019, made again from the layers' times by our rules: every one that the data
// beside the checkout (shared/data/benanza) has layers for. Each must come out within a microsecond; the files hold
// whole nanoseconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "analyzer/benanza2019/benanza_bracket.h"
#include "analyzer/benanza2019/benanza_rules.h"
#include "infimum/base/text.h"
#include "src/readers/read_results.h"
#include "tests/analyzer/benanza_published.h"
#include "tests/readers/benanza_archives.h"
#include "tests/readers/onnx/model_text.h"
#include "tests/support/random_graph.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

using ::testing::IsEmpty;
using testing::PublishedLayer;
using testing::PublishedRow;
using testing::PublishedTotal;
using ::testing::SizeIs;

using Cells = std::map<std::string, std::string>;

constexpr double kMicrosecond = 1;
constexpr const char* kV100 = "Tesla_V100-SXM2-16GB";

double Microseconds(const Cells& row, const std::string& milliseconds) {
  return 1000 * ParseNumber(row.at(milliseconds)).value_or(-1);
}

class BenanzaTotalsData : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!fs::exists(testing::BenanzaFolder())) return;
    temporary_ = std::make_unique<testing::TemporaryFolder>();
    folder_ = temporary_->path();
    for (const char* archive :
         {"layers/layer_stats", "layers/benchinfo_batch1", "layers/benchinfo_batch32", "csv/latency_csv_batch1_32",
          "csv/resnet50_fused_float16_csv_batch1_32", "raw/resnet50_float32"}) {
      ASSERT_TRUE(testing::Unpack(testing::BenanzaFolder() / (std::string(archive) + ".tar.xz"), folder_)) << archive;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "assets/layer_stats"))
      layers_[entry.path().stem().string()] = testing::ReadLayerStats(entry.path());
    const fs::path times =
        testing::Decompress(testing::BenanzaFolder() / "layers/layer_times_batch1_32.csv.xz", folder_);
    for (const Cells& row : testing::ReadTable(times)) {
      rows_[{row.at("gpu"), row.at("model"), row.at("batch")}].push_back(
          {row.at("layer"), row.at("kind") == "bias", false, Latency(ParseNumber(row.at("time_ns")).value() / 1000)});
    }
    for (const char* batch : {"1", "32"}) {
      const std::vector<Cells> bounds =
          testing::ReadTable(testing::BenanzaFolder() / (std::string("lower_bounds_batch") + batch + ".csv"));
      bounds_.insert(bounds_.end(), bounds.begin(), bounds.end());
    }
  }
  static void TearDownTestSuite() {
    temporary_.reset();
    layers_.clear();
    rows_.clear();
    bounds_.clear();
  }

  void SetUp() override {
    if (!folder_.empty()) return;
    ASSERT_EQ(std::getenv("CI"), nullptr) << testing::BenanzaFolder() << " is absent";
    GTEST_SKIP() << testing::BenanzaFolder() << " is absent";
  }

  static fs::path CsvOf(const std::string& kind, const std::string& gpu, const std::string& model,
                        const std::string& batch) {
    return folder_ / "assets" / kind / ("batchsize_" + batch) / gpu / (model + ".csv");
  }

  // Of benchinfo's last element, in whole nanoseconds.
  static double BenchinfoTotal(const std::string& gpu, const std::string& model, const std::string& batch) {
    std::ifstream input(folder_ / "assets/benchinfo" / ("batchsize_" + batch) / gpu / (model + ".json"));
    const std::string text(std::istreambuf_iterator<char>(input), {});
    constexpr std::string_view kTime = "\"RealTime\": ";
    const std::size_t name = text.rfind("\"Name\": \"Total\""), time = text.rfind(kTime);
    if (name == std::string::npos || time == std::string::npos || time < name) return -1;
    const std::size_t begin = time + kTime.size();
    const std::string digits = text.substr(begin, text.find_first_not_of("0123456789", begin) - begin);
    return ParseNumber(digits).value_or(-1000) / 1000;
  }

  static std::unique_ptr<testing::TemporaryFolder> temporary_;
  static fs::path folder_;
  static std::map<std::string, std::vector<PublishedLayer>> layers_;  // by model
  static std::map<std::tuple<std::string, std::string, std::string>, std::vector<PublishedRow>> rows_;
  static std::vector<Cells> bounds_;  // of lower_bounds_batch*.csv
};

std::unique_ptr<testing::TemporaryFolder> BenanzaTotalsData::temporary_;
fs::path BenanzaTotalsData::folder_;
std::map<std::string, std::vector<PublishedLayer>> BenanzaTotalsData::layers_;
std::map<std::tuple<std::string, std::string, std::string>, std::vector<PublishedRow>> BenanzaTotalsData::rows_;
std::vector<Cells> BenanzaTotalsData::bounds_;

// Which layers were benchmarked is published too.
void ExpectCounts(const Cells& bound, const std::vector<PublishedLayer>& layers, const BenanzaTotals& totals) {
  std::set<std::string> names, zero_cost, unlisted;
  for (const PublishedLayer& layer : layers) {
    names.insert(layer.name);
    if (IsZeroCostInBenanza(layer.layer.op)) zero_cost.insert(layer.name);
  }
  for (const std::size_t layer : totals.unlisted) unlisted.insert(layers[layer].name);
  EXPECT_EQ(std::to_string(names.size()), bound.at("layers"));
  EXPECT_EQ(std::to_string(zero_cost.size()), bound.at("layers_zero_cost"));
  EXPECT_EQ(std::to_string(names.size() - zero_cost.size()), bound.at("layers_expected"));
  EXPECT_EQ(std::to_string(names.size() - zero_cost.size() - unlisted.size()), bound.at("layers_timed"));
}

// What all unlisted convolutions took together is published, what each of them took is not: equal shares, of which the
// parallel total must not depend.
void ShareOut(double unlisted_us, const std::vector<std::size_t>& unlisted, std::vector<BenanzaLayer>& layers) {
  for (const std::size_t layer : unlisted) {
    EXPECT_EQ(layers[layer].op, "Conv");
    EXPECT_TRUE(layers[layer].has_bias_row);
    layers[layer].forward = Latency(unlisted_us / static_cast<double>(unlisted.size()));
  }
}

TEST_F(BenanzaTotalsData, SerialAndParallelOfEveryModelWithLayers) {
  ASSERT_THAT(layers_, SizeIs(9));
  ASSERT_THAT(bounds_, SizeIs(160));
  int checked = 0, unused = 0;
  std::map<std::string, int> with_unlisted;  // by model and batch
  for (const Cells& bound : bounds_) {
    const std::string &gpu = bound.at("gpu"), &model = bound.at("model"), &batch = bound.at("batch");
    const auto published = layers_.find(model);
    if (published == layers_.end()) continue;
    SCOPED_TRACE(gpu + " " + model + " " + batch);
    std::vector<BenanzaLayer> layers = testing::WithTimes(published->second, rows_[{gpu, model, batch}], unused);
    BenanzaTotals totals = ComputeBenanzaTotals(layers);
    ExpectCounts(bound, published->second, totals);
    EXPECT_NEAR(totals.serial.count(), Microseconds(bound, "serial_rows_ms"), kMicrosecond);
    if (!totals.unlisted.empty()) {
      ++with_unlisted[model + " " + batch];
      ShareOut(Microseconds(bound, "serial_unlisted_ms"), totals.unlisted, layers);
      totals = ComputeBenanzaTotals(layers);
    }
    const PublishedTotal serial = testing::ReadLatencyCsv(CsvOf("serial_latency", gpu, model, batch));
    EXPECT_NEAR(totals.serial.count(), serial.total.count(), kMicrosecond);
    EXPECT_NEAR(totals.serial.count(), Microseconds(bound, "serial_published_ms"), kMicrosecond);

    ASSERT_TRUE(totals.parallel);
    EXPECT_NEAR(totals.parallel->count(), BenchinfoTotal(gpu, model, batch), kMicrosecond);
    const PublishedTotal parallel = testing::ReadLatencyCsv(CsvOf("latency", gpu, model, batch));
    EXPECT_NEAR(parallel.total.count(), Microseconds(bound, "parallel_published_ms"), kMicrosecond);
    std::optional<Latency> ours = totals.parallel;
    if (bound.at("parallel_published_rule") == "incl_last_layer_other_run") {
      // Its rows are in the table itself.
      EXPECT_EQ(gpu + batch, std::string(kV100) + "1");
      const std::vector<BenanzaLayer> other = testing::WithTimes(published->second, parallel.rows, unused);
      ours = ComputeBenanzaTotals(other, LastLayer::kIncluded).parallel;
      ASSERT_TRUE(ours);
    }
    EXPECT_NEAR(ours->count(), parallel.total.count(), kMicrosecond);
    ++checked;
  }
  EXPECT_EQ(checked, 144);
  EXPECT_EQ(unused, 0);
  // Eight GPUs each.
  EXPECT_EQ(with_unlisted,
            (std::map<std::string, int>{{"BVLC_GoogleNet 1", 8}, {"BVLC_GoogleNet 32", 8}, {"ResNet050-v1 1", 8}}));
}

// Its layers were not published; the totals say that they are a chain, in the order of the rows.
TEST_F(BenanzaTotalsData, DenseNetIsAChain) {
  int checked = 0, unused = 0;
  for (const Cells& bound : bounds_) {
    const std::string &gpu = bound.at("gpu"), &model = bound.at("model"), &batch = bound.at("batch");
    if (layers_.contains(model)) continue;
    EXPECT_EQ(model, "DenseNet-121");
    SCOPED_TRACE(gpu + " " + batch);
    const auto chain = [&](const std::vector<PublishedRow>& rows) {
      std::vector<PublishedLayer> layers;
      for (const PublishedRow& row : rows) {
        if (!layers.empty() && layers.back().name == row.layer) {
          layers.back().layer.has_bias_row = true;
          continue;
        }
        const std::string before = layers.empty() ? "" : layers.back().name;
        layers.push_back({row.layer, {"?", {before}, {row.layer}, std::nullopt, false, std::nullopt}, {}, {}});
      }
      return testing::WithTimes(layers, rows, unused);
    };
    const PublishedTotal serial = testing::ReadLatencyCsv(CsvOf("serial_latency", gpu, model, batch));
    const PublishedTotal parallel = testing::ReadLatencyCsv(CsvOf("latency", gpu, model, batch));
    const BenanzaTotals totals = ComputeBenanzaTotals(chain(rows_[{gpu, model, batch}]));
    EXPECT_NEAR(totals.serial.count(), serial.total.count(), kMicrosecond);
    EXPECT_NEAR(totals.serial.count(), Microseconds(bound, "serial_published_ms"), kMicrosecond);
    const bool other_run = bound.at("parallel_published_rule") == "incl_last_layer_other_run";
    const BenanzaTotals ours = other_run ? ComputeBenanzaTotals(chain(parallel.rows), LastLayer::kIncluded) : totals;
    ASSERT_TRUE(ours.parallel);
    EXPECT_THAT(ours.path, SizeIs(609));
    EXPECT_NEAR(ours.parallel->count(), parallel.total.count(), kMicrosecond);
    ++checked;
  }
  EXPECT_EQ(checked, 16);
  EXPECT_EQ(unused, 0);
}

// `resnet50_*` is the run in which no bias row is lacking, `fused_*` the same with each convolution that has a bias and
// its bias row replaced by one fused call; all other rows are the same.
TEST_F(BenanzaTotalsData, ResNet50WithAndWithoutFusedConvolutions) {
  const std::vector<PublishedLayer>& layers = layers_["ResNet050-v1"];
  int checked = 0, unused = 0;
  std::map<std::string, double> v100;
  for (const char* kind : {"resnet50_latency", "resnet50_serial_latency", "fused_latency", "fused_serial_latency"}) {
    const bool serial = std::string_view(kind).find("serial") != std::string_view::npos;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_ / "assets" / kind)) {
      if (entry.path().extension() != ".csv") continue;
      SCOPED_TRACE(entry.path());
      const PublishedTotal published = testing::ReadLatencyCsv(entry.path());
      const BenanzaTotals totals = ComputeBenanzaTotals(testing::WithTimes(layers, published.rows, unused));
      EXPECT_THAT(totals.unlisted, IsEmpty());
      ASSERT_TRUE(totals.parallel);
      const double ours = serial ? totals.serial.count() : totals.parallel->count();
      EXPECT_NEAR(ours, published.total.count(), kMicrosecond);
      const std::ptrdiff_t fused = std::ranges::count(published.rows, true, &PublishedRow::fused);
      const std::ptrdiff_t bias = std::ranges::count(published.rows, true, &PublishedRow::bias);
      EXPECT_EQ(fused, std::string_view(kind).starts_with("fused") ? 32 : 0);
      EXPECT_EQ(fused + bias, 32);
      const fs::path gpu = entry.path().parent_path();
      if (gpu.filename() == kV100 && gpu.parent_path().filename() == "batchsize_1") v100[kind] = ours;
      ++checked;
    }
  }
  EXPECT_EQ(checked, 4 * 14);
  EXPECT_EQ(unused, 0);
  EXPECT_NEAR(v100["resnet50_latency"], 4393, kMicrosecond);
  EXPECT_NEAR(v100["resnet50_serial_latency"], 4726, kMicrosecond);
  EXPECT_NEAR(v100["fused_latency"], 4073, kMicrosecond);
  EXPECT_NEAR(v100["fused_serial_latency"], 4406, kMicrosecond);
}

// "[conv] y = Conv <kernel_shape = [3, 3], ...> (x, w) " of ResNet050-v1. Strides and padding are not published; the
// shapes leave one choice.
std::string NodeText(const PublishedLayer& published) {
  const std::map<std::string, std::string> names = {{"BatchNorm", "BatchNormalization"},
                                                    {"Pooling", "MaxPool"},
                                                    {"ElementWise", "Add"},
                                                    {"GlobalPooling", "GlobalAveragePool"}};
  const BenanzaLayer& layer = published.layer;
  const auto name = names.find(layer.op);
  std::string text = "[" + published.name + "] " + layer.outputs[0] + " = ";
  text += (name == names.end() ? layer.op : name->second) + " ";
  if (layer.op == "Conv" || layer.op == "Pooling") {
    const std::int64_t kernel = layer.op == "Conv" ? published.input_shapes[1].dims[2] : 3;
    const std::string k = std::to_string(kernel), pad = std::to_string((kernel - 1) / 2);
    const std::string stride = std::to_string(published.input_shapes[0].dims[2] / published.output_shape.dims[2]);
    text += "<kernel_shape = [" + k + ", " + k + "], strides = [" + stride + ", " + stride + "], pads = [" + pad +
            ", " + pad + ", " + pad + ", " + pad + "]> ";
  }
  if (layer.op == "Gemm") text += "<transB = 1> ";
  return text + "(" + Join(layer.inputs, ", ") + ") ";
}

// The model that the tool of 2019 saw, read as `infimum bound --rules` reads it.
ModelGraph GraphOf(const std::vector<PublishedLayer>& layers) {
  std::string shapes, nodes;
  std::set<std::string> known = {"data"};
  for (const PublishedLayer& published : layers) {
    known.insert(published.layer.outputs[0]);
    for (std::size_t i = 0; i < published.layer.inputs.size(); ++i) {
      const std::string& weight = published.layer.inputs[i];
      if (!known.insert(weight).second) continue;
      std::vector<std::string> dims;
      for (const std::int64_t extent : published.input_shapes[i].dims) dims.push_back(std::to_string(extent));
      shapes += (shapes.empty() ? "" : ", ") + std::string("int64[") + std::to_string(dims.size()) + "] " + weight +
                "_shape = {" + Join(dims, ", ") + "}";
      nodes += weight + " = ConstantOfShape (" + weight + "_shape) ";
    }
    nodes += NodeText(published);
  }
  return ReadText("resnet (float[1, 3, 224, 224] data) => (float[1, 1000] " + layers.back().layer.outputs[0] + ") <" +
                      shapes + "> { " + nodes + "}",
                  {}, 21, /*apply_rewrites=*/false);
}

// From the raw entries and an ONNX file, by way of our rows, under the rules that `infimum bound --rules` applies. Four
// of the tables were made from these very files (those of the TITAN V and the RTX 6000 are of a later run). Not exact:
// element-wise layers of as many elements are one workload with one row, the faster (0.8 us less on the M60, at most
// 0.11 us elsewhere), and the tables cut each time off at a nanosecond.
TEST_F(BenanzaTotalsData, RawEntriesBecomeTheSameTotalsThroughOurRows) {
  const ModelGraph model = GraphOf(layers_["ResNet050-v1"]);
  int checked = 0;
  for (const char* gpu : {"Tesla_K80", "Tesla_M60", "Tesla_T4", kV100}) {
    SCOPED_TRACE(gpu);
    MemorySource source;
    Selection selection;
    ResultsTaker taker;
    taker.rows = [&](const Device& device, const Environment& environment, std::span<const Measurement> rows,
                     std::span<const PeakRate>) {
      selection.device = device.Key();
      for (const Measurement& row : rows) source.Add(row, environment);
      return Status();
    };
    taker.remark = [](const std::string&) {};
    const Status read = ReadResultsFile(folder_ / "results/resnet50" / gpu / "1.json", taker);
    ASSERT_TRUE(read.ok()) << read.error().message;
    source.SetPeaks(selection.device, testing::TestPeaks());  // for the weights of what is missing: nothing
    for (const auto& [rules, prefix] :
         {std::pair(BoundRules::kBenanza2019, "resnet50_"), std::pair(BoundRules::kBenanza2019Fused, "fused_")}) {
      Bracket bracket;
      bracket.selection = selection;
      const Result<Bracket> ours = ApplyBenanzaRules(bracket, model, source, rules);
      ASSERT_TRUE(ours.ok()) << ours.error().message;
      ASSERT_THAT(ours->bounds, SizeIs(2));
      EXPECT_EQ(ours->coverage.missing, 0);
      for (const auto& [bound, kind] : {std::pair(0, "serial_latency"), std::pair(1, "latency")}) {
        const double published =
            testing::ReadLatencyCsv(CsvOf(std::string(prefix) + kind, gpu, "ResNet050-v1", "1")).total.count();
        EXPECT_NEAR(ours->bounds[bound].latency.count(), published, kMicrosecond) << prefix << kind;
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 16);
}

}  // namespace
}  // namespace infimum
