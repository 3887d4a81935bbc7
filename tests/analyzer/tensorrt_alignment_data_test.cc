// Real TensorRT engines (shared/data/traces/trex) aligned with the models that they were built from: by their names,
// and with the names hidden. The check is each layer's own name, taken apart here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "analyzer/alignment/align_run.h"
#include "infimum/measurement/statistics.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/profiles/tensorrt/tensorrt_engine.h"
#include "tests/analyzer/resnet_models.h"
#include "tests/readers/onnx/model_text.h"
#include "tests/support/shared_data.h"

namespace infimum::tensorrt_alignment_data_test {
namespace {

const std::filesystem::path kData = SharedData("");

RunProfile EngineOf(const std::string& name) {
  const std::filesystem::path folder = kData / "traces/trex" / name;
  TensorRtFiles files;
  files.layer_info = folder / "engine.graph.json";
  files.profile = folder / "engine.profile.json";
  Result<RunProfile> run = ReadTensorRtEngine(files);
  EXPECT_TRUE(run.ok()) << run.error().message;
  return run.ok() ? *std::move(run) : RunProfile{};
}

// "Conv_5 + Add_6 + Relu_7" -> these three, as far as `known` has them; nothing of a reformat.
std::set<std::string> NodesIn(const std::string& name, const std::set<std::string>& known) {
  std::set<std::string> nodes;
  if (name.starts_with("Reformatting") || name.starts_with("reshape_after")) return nodes;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find(" + ", begin), name.size());
    const std::string piece = name.substr(begin, end - begin);
    if (known.contains(piece)) nodes.insert(piece);
    begin = end + 3;
  }
  return nodes;
}

RunProfile WithoutNames(RunProfile run) {
  std::size_t number = 0;
  for (ProfiledLayer& layer : run.layers) {
    layer.name = "layer " + std::to_string(number++);
    layer.nodes.clear();
    layer.inputs.clear();
    layer.outputs.clear();
    layer.serves.clear();
  }
  return run;
}

Latency TimeOf(const ProfiledLayer& layer) { return layer.samples.empty() ? Latency(0) : Quantile(layer.samples, 0.5); }

struct Shares {
  double right = 0;      // of the time of layers that stand for nodes: in a row with all of their nodes
  double own = 0;        // of all time: shown as the engine's own work
  double unmatched = 0;  // of all time
  std::string wrong;     // which layers are not right
};

// `nodes_of`: the nodes of the model that an engine layer stands for, whatever the aligner was shown. A row is right
// where it holds the heaviest of them and, where the names were shown, all of them and no other layer's.
Shares SharesOf(const ModelGraph& graph, const RunProfile& run, const Alignment& alignment, bool all_of_them,
                const std::function<std::set<std::string>(const ProfiledLayer&)>& nodes_of) {
  std::vector<const AlignedRow*> rows(run.layers.size(), nullptr);
  for (const AlignedRow& row : alignment.rows)
    for (const std::size_t e : row.engine_layers) rows[e] = &row;
  std::map<std::string, std::size_t> owner;  // the engine layer that names a node
  for (std::size_t e = 0; e < run.layers.size(); ++e)
    for (const std::string& node : nodes_of(run.layers[e])) owner[node] = e;
  Shares shares;
  Latency standing{0}, right{0}, all{0};
  for (std::size_t e = 0; e < run.layers.size(); ++e) {
    const Latency time = TimeOf(run.layers[e]);
    all += time;
    const std::set<std::string> nodes = nodes_of(run.layers[e]);
    if (nodes.empty()) continue;
    standing += time;
    std::set<std::string> held, foreign;
    const Layer* heaviest = nullptr;
    for (const LayerId id : rows[e]->layers) {
      const Layer& layer = graph.layer(id);
      if (heaviest == nullptr || layer.work.direct.value > heaviest->work.direct.value) heaviest = &layer;
      std::vector<std::string> names = layer.origins;
      names.push_back(layer.name);
      for (const std::string& name : names) {
        held.insert(name);
        if (owner.contains(name) && rows[owner[name]] != rows[e]) foreign.insert(name);
      }
    }
    bool is_right = heaviest != nullptr;
    if (is_right && all_of_them) {
      is_right = std::ranges::includes(held, nodes) && foreign.empty();
    } else if (is_right) {
      is_right = nodes.contains(heaviest->name) ||
                 std::ranges::any_of(heaviest->origins, [&](const std::string& name) { return nodes.contains(name); });
    }
    if (is_right)
      right += time;
    else
      shares.wrong += "  " + run.layers[e].name + " -> " + (heaviest == nullptr ? "nothing" : heaviest->name) + "\n";
  }
  shares.right = right / standing;
  shares.own = alignment.own / all;
  shares.unmatched = alignment.unmatched / all;
  return shares;
}

std::set<std::string> NodesOf(const ModelGraph& graph) {
  std::set<std::string> nodes;
  for (const Layer& layer : graph.layers) {
    nodes.insert(layer.name);
    nodes.insert(layer.origins.begin(), layer.origins.end());
  }
  return nodes;
}

struct Case {
  const char* engine;
  std::function<onnx::ModelProto()> model;
};

class TensorRtAlignment : public ::testing::TestWithParam<Case> {};

TEST_P(TensorRtAlignment, ByNameAndWithTheNamesHidden) {
  INFIMUM_NEEDS_DATA(kData);
  const Result<ModelGraph> graph = TryRead(GetParam().model());
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const RunProfile run = EngineOf(GetParam().engine);
  const std::set<std::string> known = NodesOf(*graph);
  const auto nodes_of = [&known](const ProfiledLayer& layer) { return NodesIn(layer.name, known); };
  const Alignment named = AlignRun(*graph, run);
  const Shares by_name = SharesOf(*graph, run, named, true, nodes_of);
  const Shares hidden = SharesOf(*graph, run, AlignRun(*graph, WithoutNames(run)), false, nodes_of);
  EXPECT_GE(by_name.right, 0.98) << by_name.wrong;
  EXPECT_EQ(by_name.unmatched, 0);
  EXPECT_TRUE(named.unmatched_layers.empty());
  EXPECT_GE(hidden.right, 0.90) << hidden.wrong;
  std::printf("%s: %.1f %% by name, %.1f %% with the names hidden; %.1f %% of all time is the engine's own\n",
              GetParam().engine, 100 * by_name.right, 100 * hidden.right, 100 * by_name.own);
}

INSTANTIATE_TEST_SUITE_P(Engines, TensorRtAlignment,
                         ::testing::Values(Case{"resnet18_a100_fp16", [] { return ResNet18(false); }},
                                           Case{"resnet18_a100_fp32", [] { return ResNet18(false); }},
                                           Case{"resnet18_a100_int8_qat", [] { return ResNet18(true); }},
                                           Case{"resnet50_rtx3090_fp16", KerasResNet50},
                                           Case{"resnet50_rtx3090_fp32", KerasResNet50}),
                         [](const auto& engine) { return std::string(engine.param.engine); });

// "resnet50/conv3_block2_1_conv/Conv2D" is the convolution whose weights PyTorch calls layer2.1.conv1.weight.
std::string PyTorchWeight(const std::string& keras) {
  if (keras == "Conv__435") return "conv1.weight";
  if (keras == "resnet50/predictions/MatMul") return "fc.weight";
  int stage = 0, block = 0, convolution = 0, end = 0;
  if (std::sscanf(keras.c_str(), "resnet50/conv%d_block%d_%d_conv/Conv2D%n", &stage, &block, &convolution, &end) != 3 ||
      static_cast<std::size_t>(end) != keras.size())
    return "";
  const std::string place = "layer" + std::to_string(stage - 1) + "." + std::to_string(block - 1) + ".";
  return place + (convolution == 0 ? "downsample.0" : "conv" + std::to_string(convolution)) + ".weight";
}

// Another exporter's file of the same network, of which no name is the engine's.
TEST(TensorRtAlignmentData, AnotherExportersModelIsAlignedByShapesAndOrder) {
  INFIMUM_NEEDS_DATA(kData);
  ReadOptions options;
  options.dims = {{"batch", 32}};
  const Result<ModelGraph> graph = ReadModel(kData / "models/resnet50_v1.onnx", options);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  std::map<std::string, std::string> node_of_weight;
  for (const Layer& layer : graph->layers)
    for (const std::optional<ValueId>& input : layer.inputs)
      if (input && graph->value(*input).kind == ValueKind::kWeight)
        node_of_weight.emplace(graph->value(*input).name, layer.name);
  for (const char* engine : {"resnet50_rtx3090_fp16", "resnet50_rtx3090_fp32"}) {
    const RunProfile run = EngineOf(engine);
    const auto nodes_of = [&](const ProfiledLayer& layer) {
      std::set<std::string> nodes;
      for (const std::string& node : layer.nodes)
        if (const auto found = node_of_weight.find(PyTorchWeight(node)); found != node_of_weight.end())
          nodes.insert(found->second);
      return nodes;
    };
    EXPECT_EQ(std::ranges::count_if(run.layers, [&](const auto& layer) { return !nodes_of(layer).empty(); }), 54);
    const Alignment alignment = AlignRun(*graph, run);
    const Shares shares = SharesOf(*graph, run, alignment, false, nodes_of);
    EXPECT_GE(shares.right, 0.90) << shares.wrong;
    std::printf(
        "%s with resnet50_v1.onnx: %.1f %% of its convolutions' and products' time right, %.1f %% own, %.1f %% "
        "unmatched\n",
        engine, 100 * shares.right, 100 * shares.own, 100 * shares.unmatched);
  }
}

}  // namespace
}  // namespace infimum::tensorrt_alignment_data_test
