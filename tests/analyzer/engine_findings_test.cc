#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/analyzer/built_run.h"

namespace infimum::engine_findings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ProfiledLayer Layer(std::string name, std::string op, double microseconds, std::vector<std::string> inputs = {},
                    std::vector<std::string> outputs = {}) {
  return testing::Ran(std::move(name), std::move(op), std::move(inputs), std::move(outputs), microseconds);
}

std::optional<Finding> FindingOf(const RunProfile& run, const std::string& kind) {
  return testing::Find(FindingsOf(run), kind);
}

RunProfile RunOf(std::vector<ProfiledLayer> layers) {
  RunProfile run;
  run.framework = "onnxruntime";
  run.layers = std::move(layers);
  return run;
}

TEST(LayoutChangesFinding, IsTheTimeOfTheEnginesOwnReorders) {
  const RunProfile run =
      RunOf({Layer("ReorderInput", "ReorderInput", 5, {"x"}, {"a"}), Layer("conv_nchwc", "Conv", 100, {"a"}, {"b"}),
             Layer("ReorderOutput", "ReorderOutput", 20, {"b"}, {"c"}), Layer("mul", "Mul", 10, {"c", "c2"}, {"d"})});
  const std::optional<Finding> finding = FindingOf(run, "layout-changes");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Latency(25));
  EXPECT_THAT(finding->layers, ElementsAre("ReorderOutput", "ReorderInput"));
  EXPECT_THAT(finding->evidence, HasSubstr("needed by Mul (once)"));
}

TEST(LayoutChangesFinding, AModelsOwnTransposeIsNone) {
  EXPECT_FALSE(
      FindingOf(RunOf({Layer("conv", "Conv", 100), Layer("attention/Transpose", "Transpose", 50)}), "layout-changes"));
  EXPECT_FALSE(
      FindingOf(RunOf({Layer("conv", "Conv", 1000), Layer("ReorderOutput", "ReorderOutput", 5)}), "layout-changes"));
  ProfiledLayer quantizes = Layer("QuantizeLinear_2", "Reformat", 30);
  quantizes.nodes = {"QuantizeLinear_2"};
  EXPECT_FALSE(FindingOf(RunOf({Layer("conv", "CaskConvolution", 100), quantizes}), "layout-changes"));
  EXPECT_FALSE(FindingOf(RunOf({}), "layout-changes"));
}

TEST(QuantizedInFloatFinding, NamesTheLayersThatStayedInFloat) {
  const RunProfile run =
      RunOf({Layer("q", "QuantizeLinear", 10), Layer("c1", "QLinearConv", 100), Layer("d", "DequantizeLinear", 30),
             Layer("c2", "Conv", 400), Layer("c3", "Conv", 300), Layer("Transpose_token_1", "Transpose", 7)});
  const std::optional<Finding> finding = FindingOf(run, "quantized-layers-in-float");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Latency(47));
  EXPECT_THAT(finding->layers, ElementsAre("c2", "c3"));
  EXPECT_THAT(finding->evidence, HasSubstr("2 of 3 convolutions and matmuls run in floating point"));
  EXPECT_TRUE(finding->is_part) << "what the layers would win on 8 bits comes on top";
  ASSERT_EQ(finding->cases.size(), 2u);
  EXPECT_EQ(finding->cases[0].layer, "c2");
  EXPECT_EQ(finding->cases[0].measured, Latency(400));
  EXPECT_FALSE(finding->cases[0].best);
}

ProfiledTensor Of(const char* dtype) { return {dtype, {1, 64, 8, 8}, ""}; }

// ONNX Runtime has no kernel that reads signed 8 bits and writes unsigned ones: the layer stays in float between them.
TEST(QuantizedInFloatFinding, ActivationsOfTwoTypesAreTheCauseWhereTheyAre) {
  const auto run_of = [](const char* from, const char* to) {
    ProfiledLayer quantized = Layer("q0", "QLinearConv", 100, {"x"}, {"a"});
    ProfiledLayer dequantizes = Layer("d", "DequantizeLinear", 30, {"a"}, {"b"});
    dequantizes.input_tensors = {Of(from)};
    ProfiledLayer convolution = Layer("c", "Conv", 400, {"b", "w"}, {"e"});
    ProfiledLayer quantizes = Layer("q", "QuantizeLinear", 20, {"e"}, {"f"});
    quantizes.output_tensors = {Of(to)};
    return RunOf({quantized, dequantizes, convolution, quantizes});
  };
  const std::optional<Finding> mixed = FindingOf(run_of("s8", "u8"), "quantized-layers-in-float");
  ASSERT_TRUE(mixed);
  EXPECT_THAT(mixed->evidence, HasSubstr("1 of them are between DequantizeLinear and QuantizeLinear"));
  EXPECT_THAT(mixed->action, HasSubstr("unsigned 8 bits throughout"));
  RunProfile without = run_of("s8", "u8");
  without.settings = {{"graph_optimization_level", "all"}};
  without.layers.front().op = "Relu";
  EXPECT_THAT(FindingOf(without, "quantized-layers-in-float")->action, Not(HasSubstr("unsigned 8 bits throughout")))
      << "a provider without kernels on 8 bits";
  const std::optional<Finding> alike = FindingOf(run_of("u8", "u8"), "quantized-layers-in-float");
  ASSERT_TRUE(alike);
  EXPECT_THAT(alike->action, HasSubstr("are between DequantizeLinear and QuantizeLinear already"));
}

// Quantized outputs would be of no use: the arithmetic is meant in floating point, the weights alone are stored in
// less.
TEST(QuantizedInFloatFinding, OfWeightsAloneTheRemedyIsToReadThemAsStored) {
  const auto run_of = [](const char* view) {
    ProfiledLayer dequantizes = Layer("d", "DequantizeLinear", 300, {"w", "s"}, {"f"});
    dequantizes.input_tensors = {Of("s4")};
    return RunOf({dequantizes, Layer("t", view, 5, {"f"}, {"t"}), Layer("mm1", "MatMul", 400, {"x", "t"}, {"e"}),
                  Layer("mm2", "MatMulNBits", 20, {"e", "w2", "s2"}, {"y"})});
  };
  const std::optional<Finding> finding = FindingOf(run_of("Transpose"), "quantized-layers-in-float");
  ASSERT_TRUE(finding);
  EXPECT_THAT(finding->layers, ElementsAre("mm1"));
  EXPECT_THAT(finding->action, HasSubstr("quant_format=QuantFormat.QOperator"));
  EXPECT_THAT(finding->action, Not(HasSubstr("quantized output of its own")));
  RunProfile engine = run_of("Transpose");
  engine.framework = "tensorrt";
  EXPECT_THAT(FindingOf(engine, "quantized-layers-in-float")->action, HasSubstr("reads such weights as they are"));
  EXPECT_THAT(FindingOf(run_of("Mul"), "quantized-layers-in-float")->action, Not(HasSubstr("MatMulNBits")));
}

// The model's input comes in as floating point, and has to be quantized whatever is changed.
TEST(QuantizedInFloatFinding, QuantizingTheModelsInputIsNoLoss) {
  ProfiledLayer input = Layer("q", "QuantizeLinear", 50, {"input"}, {"a"});
  const RunProfile run =
      RunOf({input, Layer("d", "DequantizeLinear", 30, {"a"}, {"b"}), Layer("c", "Conv", 400, {"b"}, {"e"}),
             Layer("q2", "QuantizeLinear", 20, {"e"}, {"f"})});
  EXPECT_EQ(FindingOf(run, "quantized-layers-in-float")->gain, Latency(50));
}

// As TensorRT has it: the model's QuantizeLinear is a Reformat, and a convolution on 8 bits may write f16.
TEST(QuantizedInFloatFinding, ConversionsBetweenLayersOnEightBitsAreTold) {
  ProfiledLayer quantizes = Layer("QuantizeLinear_2", "Reformat", 30), convolution = Layer("c", "CaskConvolution", 100);
  quantizes.nodes = {"QuantizeLinear_2"};
  convolution.input_tensors = {{"s8", {1, 64, 8, 8}, ""}};
  convolution.output_tensors = {{"s8", {1, 64, 8, 8}, ""}};
  RunProfile run = RunOf({quantizes, convolution});
  run.framework = "tensorrt";
  EXPECT_FALSE(FindingOf(run, "quantization-conversions")) << "the input has to be quantized";
  run.layers[1].output_tensors = {{"f16", {1, 64, 8, 8}, ""}};
  const std::optional<Finding> finding = FindingOf(run, "quantization-conversions");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Latency(30));
  EXPECT_THAT(finding->evidence, HasSubstr("1 of 1 convolutions and matmuls compute on 8 bits and write floating"));
  EXPECT_FALSE(FindingOf(run, "quantized-layers-in-float"));
  run.layers[1].input_tensors.front().dtype = "f16";
  EXPECT_TRUE(FindingOf(run, "quantized-layers-in-float"));
}

TEST(LayoutChangesFinding, AroundLayersOnEightBitsTheNeighboursAreToBlame) {
  const RunProfile run = RunOf({Layer("c1", "QLinearConv", 100), Layer("Transpose_token_1", "Transpose", 30),
                                Layer("c2", "QLinearConv", 100), Layer("ReorderOutput", "ReorderOutput", 2)});
  EXPECT_THAT(FindingOf(run, "layout-changes")->action, HasSubstr("quantize the layers between them too"));
}

TEST(QuantizedInFloatFinding, BelowTheExtendedLevelThatIsTheCause) {
  RunProfile run =
      RunOf({Layer("q", "QuantizeLinear", 10), Layer("d", "DequantizeLinear", 30), Layer("c", "Conv", 400)});
  EXPECT_THAT(FindingOf(run, "quantized-layers-in-float")->action,
              HasSubstr("ORT_ENABLE_ALL, unless it was set already"));
  run.settings = {{"graph_optimization_level", "basic"}};
  EXPECT_THAT(FindingOf(run, "quantized-layers-in-float")->action, HasSubstr("ORT_ENABLE_ALL (it was basic)"));
  run.settings = {{"graph_optimization_level", "all"}};
  EXPECT_THAT(FindingOf(run, "quantized-layers-in-float")->action, HasSubstr("a quantized output of its own"));
}

TEST(QuantizedInFloatFinding, IsNotThereForAFloatModelNorAWholeQuantizedOne) {
  EXPECT_FALSE(FindingOf(RunOf({Layer("c", "Conv", 100), Layer("t", "Transpose", 50)}), "quantized-layers-in-float"));
  EXPECT_FALSE(FindingOf(
      RunOf({Layer("q", "QuantizeLinear", 10), Layer("c", "QLinearConv", 100), Layer("d", "DequantizeLinear", 10)}),
      "quantized-layers-in-float"));
}

TEST(HalfInSingleFinding, IsToldByTheNamesThatTheEngineGave) {
  const RunProfile run = RunOf(
      {Layer("InsertedPrecisionFreeCast_conv_nchwc", "Conv", 100), Layer("cast", "Cast", 8), Layer("max", "Max", 20)});
  const std::optional<Finding> finding = FindingOf(run, "half-precision-not-used");
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->gain, Latency(28));
  EXPECT_THAT(finding->evidence, HasSubstr("1 of 3 layers"));
  EXPECT_THAT(finding->evidence, HasSubstr("Max (once): 20.0 µs"));
  EXPECT_THAT(finding->action, HasSubstr("run the f32 model"));
}

TEST(HalfInSingleFinding, CountsWhatReadsSinglePrecisionUnderItsOwnName) {
  RunProfile run = RunOf(
      {Layer("InsertedPrecisionFreeCast_x", "Cast", 8), Layer("conv", "Conv", 100), Layer("gather", "Gather", 3)});
  run.layers[1].input_tensors = {{"f32", {1, 3, 8, 8}, ""}};
  run.layers[2].input_tensors = {{"f16", {10, 8}, ""}, {"s64", {1}, ""}};
  EXPECT_THAT(FindingOf(run, "half-precision-not-used")->evidence, HasSubstr("1 of 3 layers, 100 µs of 111 µs"));
}

TEST(HalfInSingleFinding, ACastOfTheModelIsNone) {
  EXPECT_FALSE(FindingOf(RunOf({Layer("conv", "Conv", 100), Layer("cast", "Cast", 80)}), "half-precision-not-used"));
}

}  // namespace
}  // namespace infimum::engine_findings_test
