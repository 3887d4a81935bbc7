#include "tests/analyzer/transformer_models.h"

#include "tests/analyzer/onnx_text_builder.h"
#include "tests/readers/onnx/model_text.h"

namespace infimum {
namespace {

class TransformerBuilder {
 public:
  TransformerBuilder(int batch, int words, int width, int heads, int inner)
      : batch_(batch), words_(words), width_(width), heads_(heads), inner_(inner) {}

  std::string Node(const std::string& name, const std::string& call) { return text_.Node(name, name + ":0", call); }
  std::string Weight(const std::vector<int>& dims) { return text_.Weight(dims); }

  std::string Linear(const std::string& name, const std::string& x, int inputs, int outputs) {
    const std::string y = Node(name, "MatMul (" + x + ", " + Weight({inputs, outputs}) + ")");
    return Node(name + "/bias", "Add (" + y + ", " + Weight({outputs}) + ")");
  }

  std::string Norm(const std::string& name, const std::string& x) {
    return Node(name, "LayerNormalization (" + x + ", " + Weight({width_}) + ", " + Weight({width_}) + ")");
  }

  std::string Add(const std::string& name, const std::string& a, const std::string& b) {
    return Node(name, "Add (" + a + ", " + b + ")");
  }

  std::string Gelu(const std::string& name, const std::string& x) {
    std::string y = Node(name + "/div", "Div (" + x + ", number)");
    y = Node(name + "/erf", "Erf (" + y + ")");
    y = Node(name + "/add", "Add (" + y + ", number)");
    y = Node(name + "/half", "Mul (number, " + y + ")");
    return Node(name + "/mul", "Mul (" + x + ", " + y + ")");
  }

  std::string Attention(const std::string& block, const std::string& x) {
    const std::string q = Scaled(block + "/q", Heads(block + "/q", x, "[0, 2, 1, 3]"));
    const std::string k = Scaled(block + "/k", Heads(block + "/k", x, "[0, 2, 3, 1]"));
    const std::string v = Heads(block + "/v", x, "[0, 2, 1, 3]");
    std::string y = Node(block + "/scores", "MatMul (" + q + ", " + k + ")");
    y = Node(block + "/softmax", "Softmax <axis = -1> (" + y + ")");
    y = Node(block + "/context", "MatMul (" + y + ", " + v + ")");
    y = Node(block + "/context/turned", "Transpose <perm = [0, 2, 1, 3]> (" + y + ")");
    y = Node(block + "/context/flat", "Reshape (" + y + ", flat)");
    return Linear(block + "/out", y, width_, width_);
  }

  std::string FeedForward(const std::string& block, const std::string& x) {
    return Linear(block + "/down", Gelu(block + "/gelu", Linear(block + "/up", x, width_, inner_)), inner_, width_);
  }

  onnx::ModelProto Model(const std::string& inputs, const std::string& output, const std::string& shape) const {
    return OnnxTextBuilder::Unescaped(ModelOf(
        fmt::format("g ({}) => (float{} {}) <float number = {{0.5}}, int64[4] heads = {{{}, {}, {}, {}}}, "
                    "int64[3] flat = {{{}, {}, {}}}, int64[3] pixels = {{{}, {}, -1}}, int64 first = {{0}}> {{\n{}}}",
                    inputs, shape, output, batch_, words_, heads_, width_ / heads_, batch_, words_, width_, batch_,
                    width_, text_.text())));
  }

 private:
  std::string Heads(const std::string& name, const std::string& x, const std::string& order) {
    const std::string y = Node(name + "/heads", "Reshape (" + Linear(name, x, width_, width_) + ", heads)");
    return Node(name + "/turned", "Transpose <perm = " + order + "> (" + y + ")");
  }
  std::string Scaled(const std::string& name, const std::string& x) {
    return Node(name + "/scaled", "Mul (" + x + ", number)");
  }

  OnnxTextBuilder text_;
  int batch_, words_, width_, heads_, inner_;
};

}  // namespace

onnx::ModelProto VisionTransformer() {
  TransformerBuilder model(4, 197, 768, 12, 3072);
  std::string x = model.Node("patches", "Conv <kernel_shape = [16, 16], strides = [16, 16]> (image, " +
                                            model.Weight({768, 3, 16, 16}) + ", " + model.Weight({768}) + ")");
  x = model.Node("patches/flat", "Reshape (" + x + ", pixels)");
  x = model.Node("patches/turned", "Transpose <perm = [0, 2, 1]> (" + x + ")");
  x = model.Node("cat", "Concat <axis = 1> (" + model.Weight({4, 1, 768}) + ", " + x + ")");
  x = model.Add("position", x, model.Weight({1, 197, 768}));
  for (int i = 0; i < 12; ++i) {
    const std::string block = "b" + std::to_string(i);
    x = model.Add(block + "/sum1", model.Attention(block, model.Norm(block + "/norm1", x)), x);
    x = model.Add(block + "/sum2", model.FeedForward(block, model.Norm(block + "/norm2", x)), x);
  }
  x = model.Node("first", "Gather <axis = 1> (" + model.Norm("norm", x) + ", first)");
  x = model.Node("pooler/tanh", "Tanh (" + model.Linear("pooler", x, 768, 768) + ")");
  return model.Model("float[4, 3, 224, 224] image", x, "[4, 768]");
}

onnx::ModelProto BertSmall() {
  TransformerBuilder model(1, 141, 512, 8, 2048);
  const auto embedding = [&](const std::string& name, int rows, const std::string& indices) {
    return model.Node(name, "Gather (" + model.Weight({rows, 512}) + ", " + indices + ")");
  };
  std::string x = embedding("words", 30522, "words_in");
  x = model.Add("add_types", x, embedding("types", 2, "types_in"));
  x = model.Norm("norm", model.Add("add_positions", x, embedding("positions", 512, "positions_in")));
  for (int i = 0; i < 4; ++i) {
    const std::string block = "b" + std::to_string(i);
    x = model.Norm(block + "/norm1", model.Add(block + "/sum1", model.Attention(block, x), x));
    x = model.Norm(block + "/norm2", model.Add(block + "/sum2", model.FeedForward(block, x), x));
  }
  x = model.Norm("head/norm", model.Gelu("head/gelu", model.Linear("head/transform", x, 512, 512)));
  x = model.Linear("head/decoder", x, 512, 30522);
  return model.Model("int64[1, 141] words_in, int64[1, 141] types_in, int64[1, 141] positions_in", x,
                     "[1, 141, 30522]");
}

}  // namespace infimum
