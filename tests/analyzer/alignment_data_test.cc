// Real runs aligned with their models, by the names that they have, and with the names hidden, by what the layers do,
// their shapes and their order: profiles of ONNX Runtime (shared/data/traces), and runs of OpenVINO, which says of each
// of its layers what it fused (openvino_runs; of other models in the folder INFIMUM_OPENVINO_RUNS, MODEL.json beside
// MODEL.onnx).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "analyzer/alignment/align_run.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"
#include "src/readers/profiles/run_file.h"
#include "tests/support/folders.h"
#include "tests/support/shared_data.h"

namespace infimum::alignment_data_test {
namespace {

const std::filesystem::path kTraces = SharedData("traces");

struct Case {
  const char* model;
  const char* profile;
};

class AlignmentOfRealRuns : public ::testing::TestWithParam<Case> {};

RunProfile WithoutNames(RunProfile run) {
  for (ProfiledLayer& layer : run.layers) {
    layer.name.clear();
    layer.nodes.clear();
    layer.inputs.clear();
    layer.outputs.clear();
  }
  return run;
}

// The row of each engine layer.
std::vector<const AlignedRow*> RowsOf(const Alignment& alignment, std::size_t engine_layers) {
  std::vector<const AlignedRow*> rows(engine_layers, nullptr);
  for (const AlignedRow& row : alignment.rows)
    for (const std::size_t e : row.engine_layers) rows[e] = &row;
  return rows;
}

TEST_P(AlignmentOfRealRuns, ByNameAndWithTheNamesHidden) {
  INFIMUM_NEEDS_DATA(kTraces);
  const Result<ModelGraph> graph = ReadModel(kTraces / "onnx-light" / GetParam().model, ReadOptions{});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  std::ifstream file(kTraces / "ort" / GetParam().profile);
  const Result<RunProfile> read = ReadOnnxRuntimeProfile(file, GetParam().profile);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const RunProfile& run = *read;

  const Alignment named = AlignRun(*graph, run);
  const Alignment hidden = AlignRun(*graph, WithoutNames(run));
  EXPECT_TRUE(named.unmatched_layers.empty());
  const auto by_name = RowsOf(named, run.layers.size());
  const auto by_order = RowsOf(hidden, run.layers.size());
  Latency all{0}, at_layers{0}, same{0};
  for (std::size_t e = 0; e < run.layers.size(); ++e) {
    const Latency time = Quantile(run.layers[e].samples, 0.5);
    all += time;
    ASSERT_NE(by_name[e], nullptr);
    if (by_name[e]->layers.empty()) continue;
    at_layers += time;
    // The engine says the value that it makes: it is one of the row's.
    const std::string& name = run.layers[e].name;
    if (name.ends_with("_nchwc")) {
      const std::string value = name.substr(0, name.size() - 6);
      const bool makes_it = std::any_of(by_name[e]->layers.begin(), by_name[e]->layers.end(), [&](LayerId id) {
        const Layer& layer = graph->layer(id);
        return std::any_of(layer.outputs.begin(), layer.outputs.end(), [&](const std::optional<ValueId>& output) {
          return output && graph->value(*output).name == value;
        });
      });
      EXPECT_TRUE(makes_it) << name;
    }
    // The largest layer of the row tells what it is.
    const auto largest = [&](const std::vector<LayerId>& of) {
      return *std::max_element(of.begin(), of.end(), [&](LayerId a, LayerId b) {
        return graph->layer(a).work.direct.value < graph->layer(b).work.direct.value;
      });
    };
    if (by_order[e] != nullptr && !by_order[e]->layers.empty() &&
        largest(by_order[e]->layers) == largest(by_name[e]->layers))
      same += time;
  }
  EXPECT_GE(at_layers / all, 0.98);
  EXPECT_GE(same / all, 0.90);
  RecordProperty("aligned", std::to_string(at_layers / all));
  RecordProperty("aligned_without_names", std::to_string(same / all));
  std::printf("%s: %.1f %% by name, %.1f %% with the names hidden\n", GetParam().profile, 100 * (at_layers / all),
              100 * (same / all));
}

INSTANTIATE_TEST_SUITE_P(Ort, AlignmentOfRealRuns,
                         ::testing::Values(Case{"light_resnet50.onnx", "light_resnet50_cpu_opt_all.json"},
                                           Case{"light_squeezenet.onnx", "light_squeezenet_cpu_opt_disabled.json"}));

struct Shares {
  double said = 0;               // of all time: of layers whose nodes OpenVINO says, and of its own work
  double named = 0, hidden = 0;  // of that: at the right layers
  std::string wrong;
};

// By names a row is right that holds all nodes that OpenVINO says and none that it says of another row's layers; with
// the names hidden one whose largest layer is that of the right row. Its own work is right in a row without layers.
Shares SharesOf(const ModelGraph& graph, const RunProfile& run) {
  const Alignment named = AlignRun(graph, run);
  const Alignment hidden = AlignRun(graph, WithoutNames(run));
  const auto by_name = RowsOf(named, run.layers.size());
  const auto by_order = RowsOf(hidden, run.layers.size());
  std::map<std::string, std::set<const AlignedRow*>> rows_of;
  for (std::size_t e = 0; e < run.layers.size(); ++e)
    for (const std::string& node : run.layers[e].nodes) rows_of[node].insert(by_name[e]);
  const auto largest_of = [&graph](const AlignedRow& row) {
    const auto largest =
        std::ranges::max_element(row.layers, {}, [&graph](LayerId id) { return graph.layer(id).work.direct.value; });
    return largest == row.layers.end() ? std::string("nothing") : graph.layer(*largest).name;
  };
  Latency all{0}, said{0}, right{0}, found{0};
  Shares shares;
  for (std::size_t e = 0; e < run.layers.size(); ++e) {
    const ProfiledLayer& layer = run.layers[e];
    const Latency time = Quantile(layer.samples, 0.5);
    const bool is_own = OwnWorkOf(layer) != EngineWork::kNone;
    all += time;
    if (layer.nodes.empty() && !is_own) continue;
    said += time;
    std::set<std::string> held;
    for (const LayerId id : by_name[e]->layers) {
      held.insert(graph.layer(id).name);
      held.insert(graph.layer(id).origins.begin(), graph.layer(id).origins.end());
    }
    const bool has_all = std::ranges::all_of(layer.nodes, [&](const std::string& node) { return held.contains(node); });
    const bool has_others = std::ranges::any_of(
        held, [&](const std::string& node) { return rows_of.contains(node) && !rows_of[node].contains(by_name[e]); });
    const bool is_right = layer.nodes.empty() ? by_name[e]->layers.empty() : has_all && !has_others;
    const std::string here = largest_of(*by_name[e]), there = largest_of(*by_order[e]);
    if (is_right) right += time;
    if (is_right && here == there) found += time;
    if (is_right && here == there) continue;
    shares.wrong += fmt::format("  {} ({}, {:.0f} us) is {}: {} by name{}, {} hidden\n", layer.name, layer.op,
                                time.count(), Join(layer.nodes, " "), here, is_right ? "" : " (wrong)", there);
  }
  shares.said = said / all;
  shares.named = right / said;
  shares.hidden = found / said;
  return shares;
}

void ExpectAligned(const std::filesystem::path& model, const std::filesystem::path& file) {
  std::ifstream text(file);
  const Result<RunProfile> run = ReadRun(text, file.filename().string());
  ASSERT_TRUE(run.ok()) << run.error().message;
  ReadOptions options;
  options.dims = run->dims;
  const Result<ModelGraph> graph = ReadModel(model, options);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const Shares shares = SharesOf(*graph, *run);
  EXPECT_GE(shares.named, 0.98) << file << "\n" << shares.wrong;
  EXPECT_GE(shares.hidden, 0.90) << file << "\n" << shares.wrong;
  std::printf("%s: %.1f %% by name, %.1f %% with the names hidden, of %.1f %% whose nodes OpenVINO says\n",
              file.filename().c_str(), 100 * shares.named, 100 * shares.hidden, 100 * shares.said);
}

TEST(AlignmentOfOpenVino, ByNameAndWithTheNamesHidden) {
  const std::filesystem::path folder = testing::SourceFolder() + "/tests/analyzer/openvino_runs";
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".json")
      ExpectAligned(std::filesystem::path(INFIMUM_LIGHT_MODELS) / file.path().stem().concat(".onnx"), file.path());
}

TEST(AlignmentOfOpenVino, OfNamedRunsToo) {
  const char* folder = std::getenv("INFIMUM_OPENVINO_RUNS");
  if (folder == nullptr) GTEST_SKIP() << "INFIMUM_OPENVINO_RUNS names no folder of runs";
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".json")
      ExpectAligned(std::filesystem::path(file.path()).replace_extension(".onnx"), file.path());
}

}  // namespace
}  // namespace infimum::alignment_data_test
