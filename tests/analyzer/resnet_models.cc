#include "tests/analyzer/resnet_models.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/analyzer/onnx_text_builder.h"
#include "tests/readers/onnx/model_text.h"

namespace infimum {
namespace {

std::string ConvolutionCall(const std::string& x, const std::string& weights, int kernel, int stride, int pad) {
  return fmt::format("Conv <kernel_shape = [{0}, {0}], strides = [{1}, {1}], pads = [{2}, {2}, {2}, {2}]> ({3}, {4})",
                     kernel, stride, pad, x, weights);
}

// Nodes are numbered as they come, constants too.
class NumberedBuilder {
 public:
  explicit NumberedBuilder(bool quantized) : quantized_(quantized) {}

  std::string Node(const std::string& op, const std::string& arguments, const std::string& attributes = "") {
    const std::string name = fmt::format("{}_{}", op, next_);
    return text_.Node(name, fmt::format("v{}", next_++), fmt::format("{} {} ({})", op, attributes, arguments));
  }

  // Scale, zero point and, of weights, axis are constants.
  std::string Quantized(const std::string& x, int channels) {
    if (!quantized_) return x;
    next_ += channels > 0 ? 3 : 2;
    const std::string scale = channels > 0 ? text_.Weight({channels}) : "scale";
    const std::string attributes = channels > 0 ? "<axis = 0>" : "";
    const std::string quantized = Node("QuantizeLinear", x + ", " + scale, attributes);
    return Node("DequantizeLinear", quantized + ", " + scale, attributes);
  }

  std::string Convolution(const std::string& x, int inputs, int outputs, int kernel, int stride) {
    const std::string input = Quantized(x, 0);
    const std::string weights = Quantized(text_.Weight({outputs, inputs, kernel, kernel}), outputs);
    const std::string name = fmt::format("Conv_{}", next_);
    const std::string y =
        text_.Node(name, fmt::format("v{}", next_++), ConvolutionCall(input, weights, kernel, stride, kernel / 2));
    if (!quantized_) return y;
    const std::string c = text_.Weight({outputs});
    return Node("BatchNormalization", fmt::format("{0}, {1}, {1}, {1}, {1}", y, c));
  }

  std::string Block(const std::string& x, int inputs, int outputs, int stride) {
    const std::string first = Node("Relu", Convolution(x, inputs, outputs, 3, stride));
    const std::string second = Convolution(first, outputs, outputs, 3, 1);
    const std::string other = inputs == outputs ? x : Convolution(x, inputs, outputs, 1, stride);
    return Node("Relu", Node("Add", second + ", " + other));
  }

  OnnxTextBuilder& text() { return text_; }

 private:
  bool quantized_;
  OnnxTextBuilder text_;
  int next_ = 0;
};

}  // namespace

onnx::ModelProto ResNet18(bool quantized) {
  NumberedBuilder model(quantized);
  std::string x = model.Node("Relu", model.Convolution("image", 3, 64, 7, 2));
  x = model.Node("MaxPool", x, "<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>");
  int channels = 64;
  for (const int wider : {64, 128, 256, 512}) {
    x = model.Block(x, channels, wider, channels == wider ? 1 : 2);
    x = model.Block(x, wider, wider, 1);
    channels = wider;
  }
  x = model.Node("GlobalAveragePool", x);
  x = model.Quantized(model.Node("Flatten", x), 0);
  const std::string weights = model.Quantized(model.text().Weight({1000, 512}), 1000);
  const std::string y = model.Node("Gemm", x + ", " + weights + ", " + model.text().Weight({1000}), "<transB = 1>");
  return ModelOf(
      fmt::format("g (float[32, 3, 224, 224] image) => (float[32, 1000] {}) <float scale = {{0.1}}> {{\n{}}}", y,
                  model.text().text()));
}

onnx::ModelProto KerasResNet50() {
  OnnxTextBuilder model;
  const std::string net = "resnet50/";
  std::string x = model.Node(net + "conv1_conv/Conv2D__6", net + "conv1_conv/Conv2D__6:0",
                             "Transpose <perm = [0, 3, 1, 2]> (image)");
  const auto convolution = [&](const std::string& name, const std::string& input, int inputs, int outputs, int kernel,
                               int stride) {
    return model.Node(
        net + name + "_conv/Conv2D", net + name + "_bn/FusedBatchNormV3:0",
        ConvolutionCall(input, model.Weight({outputs, inputs, kernel, kernel}), kernel, stride, kernel / 2));
  };
  const auto relu = [&](const std::string& name, const std::string& input) {
    return model.Node(net + name + "/Relu", net + name + "/Relu:0", "Relu (" + input + ")");
  };
  x = model.Node("Conv__435", net + "conv1_bn/FusedBatchNormV3:0",
                 ConvolutionCall(x, model.Weight({64, 3, 7, 7}), 7, 2, 3));
  x = relu("conv1_relu", x);
  x = model.Node(net + "pool1_pad/Pad", net + "pool1_pad/Pad:0", "Pad (" + x + ", pads)");
  x = model.Node(net + "pool1_pool/MaxPool", net + "pool1_pool/MaxPool:0",
                 "MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (" + x + ")");
  int channels = 64, stage = 2;
  for (const int blocks : {3, 4, 6, 3}) {
    const int width = 32 << (stage - 1), stride = stage == 2 ? 1 : 2;
    for (int block = 1; block <= blocks; ++block) {
      const std::string name = fmt::format("conv{}_block{}_", stage, block);
      const int first_stride = block == 1 ? stride : 1;
      std::string other = x;
      if (block == 1) other = convolution(name + "0", x, channels, 4 * width, 1, stride);
      std::string y = relu(name + "1_relu", convolution(name + "1", x, channels, width, 1, first_stride));
      y = relu(name + "2_relu", convolution(name + "2", y, width, width, 3, 1));
      y = convolution(name + "3", y, width, 4 * width, 1, 1);
      y = model.Node(net + name + "add/add", net + name + "add/add:0", "Add (" + other + ", " + y + ")");
      x = relu(name + "out", y);
      channels = 4 * width;
    }
    ++stage;
  }
  x = model.Node(net + "avg_pool/Mean", net + "avg_pool/Mean:0", "GlobalAveragePool (" + x + ")");
  x = model.Node(net + "avg_pool/Mean_Squeeze", net + "avg_pool/Mean_squeezed:0", "Flatten (" + x + ")");
  x = model.Node(net + "predictions/MatMul", net + "predictions/MatMul:0",
                 "MatMul (" + x + ", " + model.Weight({2048, 1000}) + ")");
  x = model.Node(net + "predictions/BiasAdd", net + "predictions/BiasAdd:0",
                 "Add (" + x + ", " + model.Weight({1000}) + ")");
  model.Node(net + "predictions/Softmax", "predictions", "Softmax (" + x + ")");
  return OnnxTextBuilder::Unescaped(
      ModelOf(fmt::format("g (float[32, 224, 224, 3] image) => (float[32, 1000] predictions) "
                          "<int64[8] pads = {{0, 0, 1, 1, 0, 0, 1, 1}}> {{\n{}}}",
                          model.text())));
}

}  // namespace infimum
