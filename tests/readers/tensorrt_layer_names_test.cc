#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "src/readers/profiles/tensorrt/tensorrt_words.h"

namespace infimum::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> NodesOf(std::string_view name, std::string_view metadata = "") {
  return CoverOf(name, metadata).nodes;
}

TEST(TensorRtLayerNames, FusedNodesAreJoinedByPluses) {
  EXPECT_THAT(NodesOf("Conv_0"), ElementsAre("Conv_0"));
  EXPECT_THAT(NodesOf("Conv_5 + Add_6 + Relu_7"), ElementsAre("Conv_5", "Add_6", "Relu_7"));
  EXPECT_THAT(NodesOf("conv1 + relu1 || conv2 + relu2"), ElementsAre("conv1", "relu1", "conv2", "relu2"));
  EXPECT_THAT(NodesOf("/model/a+b/Conv"), ElementsAre("/model/a+b/Conv"));
  EXPECT_THAT(NodesOf("a\x7f"
                      "b"),
              ElementsAre("a", "b"));
  EXPECT_THAT(NodesOf("node_of_x + Conv_0 + node_of_x"), ElementsAre("node_of_x", "Conv_0"));
}

TEST(TensorRtLayerNames, PointwiseNetworksNest) {
  EXPECT_THAT(NodesOf("PWN(Relu_5)"), ElementsAre("Relu_5"));
  EXPECT_THAT(NodesOf("PWN(PWN(Sigmoid_1), Mul_2)"), ElementsAre("Sigmoid_1", "Mul_2"));
  EXPECT_THAT(NodesOf("w.weight + /q/QuantizeLinear + /c/Conv + PWN(/r/LeakyRelu)"),
              ElementsAre("/q/QuantizeLinear", "/c/Conv", "/r/LeakyRelu"));
  EXPECT_THAT(NodesOf("PWN((Unnamed Layer* 112) [ElementWise], PWN(PWN((Unnamed Layer* 109) [Constant] + "
                      "(Unnamed Layer* 110) [ElementWise], Exp_3), (Unnamed Layer* 113) [ElementWise]))"),
              ElementsAre("Exp_3"));
}

TEST(TensorRtLayerNames, RegionsTellTheirEnds) {
  const TensorRtCover region = CoverOf("{ForeignNode[/a/Unsqueeze_3 + /a/Unsqueeze_4.../b/Softmax]}", "");
  EXPECT_TRUE(region.is_region);
  EXPECT_THAT(region.nodes, ElementsAre("/a/Unsqueeze_3", "/a/Unsqueeze_4", "/b/Softmax"));
  const TensorRtCover single = CoverOf("{ForeignNode[/a/Softmax]}", "");
  EXPECT_FALSE(single.is_region);
  EXPECT_THAT(single.nodes, ElementsAre("/a/Softmax"));
  // One end is a parameter that the region begins to read.
  EXPECT_THAT(NodesOf("{ForeignNode[encoder.bn1.weight...Softmax_9]}"), ElementsAre("Softmax_9"));
}

TEST(TensorRtLayerNames, ReformatsCoverNoNodeAndServeALayer) {
  for (const std::string_view name : {"Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1",
                                      "Reformatting CopyNode for Output Tensor 12 to Conv_0 + Relu_1",
                                      "Conv_0 + Relu_1 input reformatter 0", "Conv_0 + Relu_1 output reformatter 3"}) {
    const TensorRtCover cover = CoverOf(name, "[ONNX Layer: Conv_0]");
    EXPECT_THAT(cover.nodes, IsEmpty()) << name;
    EXPECT_EQ(cover.serves, "Conv_0 + Relu_1") << name;
  }
  const TensorRtCover network = CoverOf("Reformatting CopyNode for Network Input x", "");
  EXPECT_THAT(network.nodes, IsEmpty());
  EXPECT_EQ(network.serves, "");
}

TEST(TensorRtLayerNames, TensorRtHelperLayersMapToNoNode) {
  for (const std::string_view name :
       {"(Unnamed Layer* 3) [Shuffle]", "[trainStation1]", "__myl_Conv_myl0_3", "_gemm_mha_v2_myl0_4",
        "/neck/Concat_/neck/Resize_output_0_clone_0 copy", "ONNXTRT_Broadcast_7", "b3/read:0",
        "(Unnamed Layer* 718) [NMS]_1_output[DevicetoShapeHostCopy]", "layer1.0.conv1.weight"}) {
    const TensorRtCover cover = CoverOf(name, "");
    EXPECT_THAT(cover.nodes, IsEmpty()) << name;
    EXPECT_EQ(cover.serves, "") << name;
  }
  EXPECT_EQ(CoverOf("reshape_after_Gemm_48", "").serves, "Gemm_48");
  EXPECT_THAT(NodesOf("reshape_after_Gemm_48"), IsEmpty());
  const TensorRtCover mixed = CoverOf("MatMul + (Unnamed Layer* 21) [Shuffle] + unsqueeze_node_after_b + Add_2", "");
  EXPECT_THAT(mixed.nodes, ElementsAre("MatMul", "Add_2"));
  EXPECT_EQ(mixed.serves, "");
}

TEST(TensorRtLayerNames, QuantizationIsNamedAfterItsNode) {
  EXPECT_THAT(NodesOf("features.0.0.weight + QuantizeLinear_8_quantize_scale_node + Conv_12 + PWN(Clip_16)"),
              ElementsAre("QuantizeLinear_8", "Conv_12", "Clip_16"));
  EXPECT_THAT(NodesOf("DequantizeLinear_11_dequantize_scale_node"), ElementsAre("DequantizeLinear_11"));
  EXPECT_THAT(NodesOf("/q/QuantizeLinear_clone_1"), ElementsAre("/q/QuantizeLinear"));
  EXPECT_THAT(NodesOf("node_clone_1"), ElementsAre("node_clone_1"));
  EXPECT_THAT(NodesOf("/a/MatMul_myl0_12"), ElementsAre("/a/MatMul"));
}

TEST(TensorRtLayerNames, MetadataTellMoreThanAName) {
  EXPECT_THAT(NodesOf("__myl_Conv_myl0_3", "[ONNX Layer: Conv_0]\x7f[ONNX Layer: Relu_1]"),
              ElementsAre("Conv_0", "Relu_1"));
  EXPECT_THAT(NodesOf("x", "[ONNX Layer: /a/MatMul][ONNX Layer: /b/Softmax]"), ElementsAre("/a/MatMul", "/b/Softmax"));
  EXPECT_THAT(NodesOf("x", "[ONNX Layer: list[0]]\x7f[SHAPE] y\x7f[ONNX Layer: b]"), ElementsAre("list[0]", "b"));
  EXPECT_THAT(NodesOf("{ForeignNode[a...b]}", "[ONNX Layer: a]\x7f[ONNX Layer: m]\x7f[ONNX Layer: b]"),
              ElementsAre("a", "m", "b"));
  EXPECT_FALSE(CoverOf("{ForeignNode[a...b]}", "[ONNX Layer: a]").is_region);
  EXPECT_THAT(NodesOf("Conv_0", ""), ElementsAre("Conv_0"));
  EXPECT_THAT(NodesOf("Conv_0", "[ONNX Layer: "), ElementsAre("Conv_0"));
}

TEST(TensorRtLayerNames, OptimizationProfilesAreCutOff) {
  std::string_view name = "Conv_0 + Relu_1 [profile 2]";
  EXPECT_EQ(CutOptimizationProfile(name), 2);
  EXPECT_EQ(name, "Conv_0 + Relu_1");
  for (std::string_view other : {"Conv_0", "a [profile x]", "a [profile -1]", " [profile 99999999999999999999]", "]"}) {
    const std::string_view before = other;
    EXPECT_EQ(CutOptimizationProfile(other), 0) << before;
    EXPECT_EQ(other, before);
  }
}

TEST(TensorRtLayerNames, NoTextCrashesOrTakesLong) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "PWN(";
  EXPECT_THAT(NodesOf(deep + std::string(100'000, ')')), IsEmpty());
  std::string wide = "a";
  for (int i = 0; i < 100'000; ++i) wide += " + b" + std::to_string(i);
  EXPECT_THAT(NodesOf(wide), SizeIs(100'001));
  const std::vector<std::string> words = {
      "PWN(", ")", "{ForeignNode[",   "]}",    "...",      " + ",   ", ", " || ", "a",
      "[",    "]", "(Unnamed Layer*", "_myl0", "_clone_1", " copy", ":0"};
  std::mt19937_64 random(5);
  for (int attempt = 0; attempt < 5000; ++attempt) {
    std::string name, metadata;
    for (int i = 0; i < 8; ++i) name += words[random() % words.size()];
    for (int i = 0; i < 4; ++i) metadata += random() % 2 == 0 ? "[ONNX Layer: " : words[random() % words.size()];
    static_cast<void>(CoverOf(name, metadata));
    static_cast<void>(CoverOf(name, ""));
  }
}

}  // namespace
}  // namespace infimum::ingest
