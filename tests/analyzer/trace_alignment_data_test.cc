// Real traces of PyTorch (shared/data/traces) as runs with layers, aligned with their models. The check goes the other
// way than the aligner: it counts operators in the trace and knows from the model's definition what the k-th of them
// is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/alignment/align_run.h"
#include "analyzer/trace/timeline_run.h"
#include "infimum/measurement/statistics.h"
#include "src/readers/onnx/read_model.h"
#include "src/readers/read_profile.h"
#include "tests/analyzer/transformer_models.h"
#include "tests/readers/onnx/model_text.h"
#include "tests/support/shared_data.h"

namespace infimum::trace_alignment_data_test {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kData = SharedData("");

RunProfile TraceOf(const std::string& name) {
  const auto profiles = ReadProfiles({kData / "traces" / name});
  EXPECT_TRUE(profiles.ok()) << profiles.error().message;
  return profiles.ok() ? RunOf(std::get<Timeline>(profiles->front().profile)) : RunProfile{};
}

// Of "aten::linear#12" the operator and 11.
std::pair<std::string, std::size_t> OrdinalOf(const std::string& name) {
  const std::size_t hash = name.rfind('#');
  return {name.substr(0, hash), std::stoul(name.substr(hash + 1)) - 1};
}

struct Shares {
  double right = 0;                             // of the time of layers that something is expected of
  double observed = 0;                          // likewise, that is a candidate of the right layers
  double expected = 0, own = 0, unmatched = 0;  // of all time
  std::string wrong;
};

// `expected`: nodes that the row of an engine layer must hold. Of the nodes that anything is expected of it must hold
// no others.
Shares SharesOf(const ModelGraph& graph, const RunProfile& run,
                const std::function<std::vector<std::string>(const std::string& op, std::size_t k)>& expected) {
  const Alignment alignment = AlignRun(graph, run);
  std::set<std::string> owned;
  for (const ProfiledLayer& layer : run.layers) {
    const auto [op, k] = OrdinalOf(layer.name);
    for (const std::string& node : expected(op, k)) owned.insert(node);
  }
  std::map<std::size_t, std::set<std::string>> held;  // by engine layer
  for (const AlignedRow& row : alignment.rows)
    for (const std::size_t e : row.engine_layers)
      for (const LayerId layer : row.layers) held[e].insert(graph.layer(layer).name);
  const std::vector<ObservedNode> nodes_observed = ObservedIn(graph, run);
  // Whether a candidate has all of these nodes, and of those that anything is expected of no others.
  const auto is_observed = [&](const std::set<std::string>& nodes) {
    return std::ranges::any_of(nodes_observed, [&](const ObservedNode& node) {
      std::set<std::string> own;
      for (const LayerId layer : node.layers)
        if (owned.contains(graph.layer(layer).name)) own.insert(graph.layer(layer).name);
      return own == nodes;
    });
  };
  Latency all{0}, right{0}, asked{0}, observed{0};
  Shares shares;
  for (std::size_t e = 0; e < run.layers.size(); ++e) {
    const Latency time = Quantile(run.layers[e].samples, 0.5);
    all += time;
    const auto [op, k] = OrdinalOf(run.layers[e].name);
    const std::vector<std::string> nodes = expected(op, k);
    if (nodes.empty()) continue;
    asked += time;
    std::set<std::string> known;
    for (const std::string& node : held[e])
      if (owned.contains(node)) known.insert(node);
    const bool is_right = known == std::set<std::string>(nodes.begin(), nodes.end());
    if (is_right && is_observed(known)) observed += time;
    if (is_right)
      right += time;
    else
      shares.wrong += "  " + run.layers[e].name + " -> " + ::testing::PrintToString(known) + "\n";
  }
  shares.right = right / asked;
  shares.observed = observed / asked;
  shares.expected = asked / all;
  shares.own = alignment.own / all;
  shares.unmatched = alignment.unmatched / all;
  return shares;
}

void Print(const char* trace, const Shares& shares) {
  std::printf(
      "%s: %.1f %% right of the layers that the model has (%.1f %% of all time), %.1f %% candidates of them; %.1f %% "
      "own, "
      "%.1f %% unmatched\n",
      trace, 100 * shares.right, 100 * shares.expected, 100 * shares.observed, 100 * shares.own,
      100 * shares.unmatched);
}

// Of a transformer's block: six linear layers, in this order.
std::string LinearOf(std::size_t k) {
  constexpr std::array<const char*, 6> kRoles = {"q", "k", "v", "out", "up", "down"};
  return "b" + std::to_string(k / 6) + "/" + kRoles[k % 6];
}

std::vector<std::string> AttentionOf(std::size_t k) {
  const std::string block = "b" + std::to_string(k);
  return {block + "/scores", block + "/softmax", block + "/context", block + "/q/scaled", block + "/k/scaled"};
}

std::vector<std::string> GeluOf(const std::string& name) {
  return {name + "/div", name + "/erf", name + "/add", name + "/half", name + "/mul"};
}

std::vector<std::string> WithBias(const std::string& linear) { return {linear, linear + "/bias"}; }

TEST(TraceAlignment, VisionTransformerOnTwoVendorsDevices) {
  INFIMUM_NEEDS_DATA(kData);
  const Result<ModelGraph> graph = TryRead(VisionTransformer());
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const auto expected = [](const std::string& op, std::size_t k) -> std::vector<std::string> {
    const auto block = [](std::size_t i) { return "b" + std::to_string(i); };
    if (op == "aten::conv2d") return {"patches"};
    if (op == "aten::cat") return {"cat"};
    if (op == "aten::add") return {k == 0 ? "position" : block((k - 1) / 2) + "/sum" + std::to_string((k - 1) % 2 + 1)};
    if (op == "aten::layer_norm") return {k == 24 ? "norm" : block(k / 2) + "/norm" + std::to_string(k % 2 + 1)};
    if (op == "aten::linear") return WithBias(k == 72 ? "pooler" : LinearOf(k));
    if (op == "aten::scaled_dot_product_attention") return AttentionOf(k);
    if (op == "aten::gelu") return GeluOf(block(k) + "/gelu");
    if (op == "aten::tanh") return {"pooler/tanh"};
    return {};
  };
  for (const char* trace : {"tracelens/vit_base_infer_h100.json.gz", "tracelens/vit_base_infer_mi300x.json.gz"}) {
    const RunProfile run = TraceOf(trace);
    EXPECT_EQ(run.layers.size(), 150u);
    const Shares shares = SharesOf(*graph, run, expected);
    EXPECT_GE(shares.right, 0.98) << shares.wrong;
    EXPECT_GE(shares.observed, 0.8);
    EXPECT_GE(shares.expected, 0.98);
    EXPECT_LE(shares.unmatched, 0.01);
    Print(trace, shares);
  }
}

TEST(TraceAlignment, BertSmall) {
  INFIMUM_NEEDS_DATA(kData);
  const Result<ModelGraph> graph = TryRead(BertSmall());
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const RunProfile run = TraceOf("tracelens/bert_small_infer_h100.json.gz");
  const auto expected = [](const std::string& op, std::size_t k) -> std::vector<std::string> {
    const auto block = [](std::size_t i) { return "b" + std::to_string(i); };
    if (op == "aten::embedding") return {std::array{"words", "types", "positions"}.at(k)};
    if (op == "aten::add_") return {"add_positions"};
    if (op == "aten::add")
      return {k == 0 ? "add_types" : block((k - 1) / 2) + "/sum" + std::to_string((k - 1) % 2 + 1)};
    if (op == "aten::layer_norm") {
      if (k == 0 || k == 9) return {k == 0 ? "norm" : "head/norm"};
      return {block((k - 1) / 2) + "/norm" + std::to_string((k - 1) % 2 + 1)};
    }
    if (op == "aten::linear") return WithBias(k < 24 ? LinearOf(k) : k == 24 ? "head/transform" : "head/decoder");
    if (op == "aten::scaled_dot_product_attention") return AttentionOf(k);
    if (op == "aten::gelu") return GeluOf(k == 4 ? "head/gelu" : block(k) + "/gelu");
    return {};
  };
  const Shares shares = SharesOf(*graph, run, expected);
  EXPECT_GE(shares.right, 0.98) << shares.wrong;
  EXPECT_GE(shares.observed, 0.8);
  // eq, all and is_nonzero look at the mask, and are no part of the model.
  EXPECT_LE(shares.unmatched, 0.02);
  Print("bert_small_infer_h100", shares);
  ASSERT_EQ(run.profiled.size(), 1u);
  // The span that TraceLens gives, and its idle time: to the 0.24 ns that its doubles are apart.
  EXPECT_NEAR(run.profiled[0].count(), 3907.8, 0.05);
  ASSERT_TRUE(run.idle.has_value());
  EXPECT_NEAR(run.idle->total().count(), 3598.4, 0.05);
}

// The forward pass of six training steps. The k-th convolution is the k-th Conv of the file, as the sizes of their
// weights confirm; batch normalizations, which the file has folded, belong to the convolution before them.
TEST(TraceAlignment, TrainingOfResNet50) {
  INFIMUM_NEEDS_DATA(kData);
  ReadOptions options;
  options.dims = {{"batch", 32}};
  const Result<ModelGraph> graph = ReadModel(kData / "models/resnet50.onnx", options);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const RunProfile run = TraceOf("kineto/resnet50_train_v100_workers0.pt.trace.json.gz");
  ASSERT_FALSE(run.layers.empty());
  EXPECT_THAT(run.warnings.front(), HasSubstr("6 inferences, divided by ProfilerStep"));
  EXPECT_EQ(run.layers.front().samples.size(), 5u);
  EXPECT_EQ(run.profiled.size(), 5u);
  std::map<std::string, std::vector<std::string>> nodes;  // by operator, in the file's order
  std::vector<Shape> weights;
  for (const Layer& layer : graph->layers) {
    if (layer.status == LayerStatus::kFree) continue;
    nodes[layer.op].push_back(layer.name);
    if (layer.op == "Conv") weights.push_back(*graph->value(*layer.inputs[1]).shape);
  }
  ASSERT_EQ(weights.size(), 53u);
  std::size_t convolutions = 0;
  for (const ProfiledLayer& layer : run.layers) {
    if (layer.op != "aten::conv2d") continue;
    ASSERT_LT(convolutions, weights.size());
    EXPECT_EQ(layer.input_tensors.at(1).dims, weights[convolutions++].dims) << layer.name;
  }
  EXPECT_EQ(convolutions, 53u);
  const auto expected = [&nodes](const std::string& op, std::size_t k) -> std::vector<std::string> {
    const std::map<std::string, std::string> ops = {
        {"aten::conv2d", "Conv"},        {"aten::batch_norm", "Conv"}, {"aten::relu_", "Relu"},
        {"aten::max_pool2d", "MaxPool"}, {"aten::linear", "Gemm"},     {"aten::adaptive_avg_pool2d", "ReduceMean"}};
    if (const auto found = ops.find(op); found != ops.end()) return {nodes[found->second].at(k)};
    // The optimizer adds, too.
    if (op == "aten::add_" && k < nodes["Add"].size()) return {nodes["Add"][k]};
    return {};
  };
  const Shares shares =
      SharesOf(*graph, run, [&expected](const std::string& op, std::size_t k) { return expected(op, k); });
  EXPECT_GE(shares.right, 0.98) << shares.wrong;
  EXPECT_GE(shares.observed, 0.8);
  Print("resnet50_train_v100", shares);
}

// What no operator started, and what no model stands for, is there all the same: every nanosecond of the device's work
// is in one layer.
TEST(TraceAlignment, NoWorkIsLost) {
  INFIMUM_NEEDS_DATA(kData);
  for (const char* trace : {"tracelens/cuda_graph_decode_graph_execution.json.gz", "tracelens/gpu_only_mi210.json.gz",
                            "tracelens/torch_compile_triton.json.gz", "tracelens/llm_eager_vllm_b200.json.gz",
                            "tracelens/vit_base_infer_h100.json.gz", "hta/alexnet_train_a100_cuda_sync.json.gz"}) {
    const auto profiles = ReadProfiles({kData / "traces" / trace});
    ASSERT_TRUE(profiles.ok()) << profiles.error().message;
    const Timeline& timeline = std::get<Timeline>(profiles->front().profile);
    std::int64_t all = 0;
    for (const DeviceWork& work : timeline.device_work) all += work.duration_ns;
    const RunProfile run = RunOf(timeline);
    Latency layers{0};
    std::set<std::string> names;
    for (const ProfiledLayer& layer : run.layers) {
      ASSERT_EQ(layer.samples.size(), 1u);
      layers += layer.samples[0];
      EXPECT_TRUE(names.insert(layer.name).second) << layer.name;
    }
    EXPECT_NEAR(layers.count() * 1000, static_cast<double>(all), 1) << trace;
    ASSERT_EQ(run.profiled.size(), 1u) << trace;
    if (!run.idle) continue;
    EXPECT_NEAR(run.profiled[0].count(), (layers - run.idle->overlapped + run.idle->total()).count(), 0.01) << trace;
  }
}

// Ranges that PyTorch's emit_nvtx wrote are operators in an export of Nsight Systems.
TEST(TraceAlignment, NvtxRangesOfPyTorchAreOperators) {
  INFIMUM_NEEDS_DATA(kData);
  const RunProfile run = TraceOf("nsys/h100_2gpu_1s.sqlite");
  std::map<std::string, std::size_t> ops;
  for (const ProfiledLayer& layer : run.layers) ++ops[layer.op];
  EXPECT_GT(ops["aten::linear"], 10u);
  for (const auto& [op, count] : ops) EXPECT_THAT(op, ::testing::Not(HasSubstr("op_id"))) << count;
}

}  // namespace
}  // namespace infimum::trace_alignment_data_test
