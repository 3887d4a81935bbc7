// A model while a family puts it together: ONNX nodes over tensors with shapes, and the work of each.
//
//   Net net("fc", DataType::kF32, Blocks::kCounted);
//   NetValue x = net.Input("input", {8, 2000}, DataType::kF32);
//   x = net.Repeat(16, net.Relu(net.Gemm(x, 512)), [&](NetValue y) { return net.Relu(net.Gemm(y, 512)); });
//   net.Output("output", net.Gemm(x, 1000));
//   TotalsOf(net).parameters          // 5,473,768; kCounted: the block stands once and counts 16 times
//   WriteOnnx(net, ...)               // kUnrolled: 16 blocks
//
// What cannot be (a shape with more than kMaxElements elements) makes the net invalid from there on: status().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "infimum/layer/layer_config.h"

namespace infimum::synth {

using NetAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, DataType>;
using NetAttributes = std::vector<std::pair<std::string_view, NetAttribute>>;

struct NetValue {
  std::size_t index = 0;
};

struct NetTensor {
  // kScale: what makes a weight's integers numbers; a weight, but no parameter.
  enum class Role { kInput, kWeight, kScale, kNumber, kIndices, kMade };
  Role role = Role::kMade;
  DataType type = DataType::kF32;
  Shape shape;
  std::string name = {};                   // of an input or output of the model; empty: it gets a number
  std::int64_t fan_in = 1;                 // of a weight: how many of its elements make one of a result
  std::vector<double> numbers = {};        // of kNumber, elements that are no weight; of kScale the largest integer
  std::vector<std::int64_t> indices = {};  // of kIndices, its elements
  std::int64_t copies = 1;                 // how often it is there
  std::int64_t outputs = 0;                // and how often as an output of the model
  std::optional<std::size_t> viewed = {};  // the tensor whose memory it is
};

inline bool IsWeight(const NetTensor& tensor) {
  return tensor.role == NetTensor::Role::kWeight || tensor.role == NetTensor::Role::kScale;
}

struct NetNode {
  std::string_view op;                          // of ONNX
  std::vector<std::optional<NetValue>> inputs;  // absent: an optional input that is not given
  std::vector<NetValue> outputs;
  NetAttributes attributes;
  Work work = {};  // nothing of a view
  std::int64_t copies = 1;
  std::vector<NetValue> releases = {};  // of the last node of repeated blocks: what all of them share
};

// Blocks that are repeated stand in the net once for each time, or once and are counted.
enum class Blocks { kUnrolled, kCounted };

// How the weights of a projection are stored: in the net's type, as 8 bits with a scale for each column, or as 4 bits
// with one for each 32 elements of a column.
enum class Storage { kAsType, kInt8, kInt4 };

class Net {
 public:
  Net(std::string name, DataType floats, Blocks blocks) : name_(std::move(name)), floats_(floats), blocks_(blocks) {}

  const std::string& name() const { return name_; }
  DataType floats() const { return floats_; }
  const std::vector<NetTensor>& tensors() const { return tensors_; }
  const std::vector<NetNode>& nodes() const { return nodes_; }
  const std::vector<NetValue>& outputs() const { return outputs_; }
  const Status& status() const { return status_; }
  const Shape& shape(NetValue value) const { return tensors_[value.index].shape; }
  DataType type(NetValue value) const { return tensors_[value.index].type; }

  // What was chosen does not fit together.
  void Refuse(std::string why) { status_ = Error{std::move(why)}; }
  NetValue Input(std::string name, std::vector<std::int64_t> dims, DataType type);
  void Output(std::string name, NetValue value);
  // `block` from x to a tensor of x's shape, so often.
  NetValue Repeat(std::int64_t times, NetValue x, const std::function<NetValue(NetValue)>& block);
  // Within a block: how often it was there before. Names of its inputs and outputs contain it.
  std::int64_t repetition() const { return repetition_; }

  // Of x[rows, k]: x W + b.
  NetValue Gemm(NetValue x, std::int64_t columns);
  // Of x[..., k]: MatMul, and Add of a bias.
  NetValue Linear(NetValue x, std::int64_t columns);
  // Of x[..., k]: MatMul by weights that are stored so, without a bias.
  NetValue Projection(NetValue x, std::int64_t columns, Storage storage);
  NetValue MatMul(NetValue a, NetValue b) { return Product("MatMul", a, b, std::nullopt); }
  // Of square windows, padded as the extent divided by the stride; with a bias, as where a normalization is folded.
  NetValue Convolution(NetValue x, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                       std::int64_t groups = 1);
  NetValue MaxPool(NetValue x, std::int64_t kernel, std::int64_t stride);
  // [n, c, h, w] to [n, c].
  NetValue MeanOfImage(NetValue x);
  NetValue Unary(std::string_view op, PointwiseKind kind, NetValue x);
  NetValue Relu(NetValue x) { return Unary("Relu", PointwiseKind::kRelu, x); }
  NetValue Binary(std::string_view op, PointwiseKind kind, NetValue a, NetValue b);
  NetValue Add(NetValue a, NetValue b) { return Binary("Add", PointwiseKind::kAdd, a, b); }
  NetValue Multiply(NetValue a, NetValue b) { return Binary("Mul", PointwiseKind::kMultiply, a, b); }
  NetValue Scaled(NetValue x, double factor) { return Multiply(x, Number(factor)); }
  // x sigmoid(x), as two operators.
  NetValue Swish(NetValue x) { return Multiply(x, Unary("Sigmoid", PointwiseKind::kSigmoid, x)); }
  // One of two numbers, by a condition.
  NetValue Select(NetValue condition, double if_true, double if_false);
  NetValue Cast(NetValue x, DataType type);
  // Over the last dimension.
  NetValue LayerNormalization(NetValue x);
  NetValue RmsNormalization(NetValue x);  // as six operators
  NetValue Softmax(NetValue x);
  // The largest k of the last dimension, and their places.
  std::pair<NetValue, NetValue> TopK(NetValue x, std::int64_t k);
  // Over one dimension, which is kept with one element or left out.
  NetValue Reduce(std::string_view op, ReductionKind kind, NetValue x, std::int64_t axis, bool keep);
  NetValue Transpose(NetValue x, std::vector<std::int64_t> permutation);
  NetValue Reshape(NetValue x, std::vector<std::int64_t> dims);
  NetValue Concat(const std::vector<NetValue>& parts, std::int64_t axis);
  NetValue Slice(NetValue x, std::int64_t axis, std::int64_t first, std::int64_t count);
  NetValue Gather(NetValue x, NetValue indices, std::int64_t axis);
  // Rows of a table of weights by indices.
  NetValue Embedding(NetValue indices, std::int64_t rows, std::int64_t width) {
    return Gather(Weight({rows, width}, 1), indices, 0);
  }
  // A weight of these dimensions.
  NetValue Weight(std::vector<std::int64_t> dims, std::int64_t fan_in);
  // Constants that are no weights: a scalar, and vectors.
  NetValue Number(double value);
  NetValue Numbers(std::vector<double> values, DataType type);
  NetValue Indices(std::vector<std::int64_t> values);
  // Of x[steps, batch, k], one direction; `op`: LSTM, GRU or RNN. To [steps, batch, hidden].
  NetValue Recurrent(std::string_view op, RecurrentKind kind, NetValue x, std::int64_t hidden);

 private:
  NetValue AddTensor(NetTensor tensor);
  NetValue AddNode(std::string_view op, std::vector<std::optional<NetValue>> inputs, std::vector<std::int64_t> dims,
                   NetAttributes attributes, const std::optional<LayerConfig>& config);
  NetValue Product(std::string_view op, NetValue a, NetValue b, std::optional<NetValue> bias);
  NetValue View(std::string_view op, NetValue x, std::vector<std::int64_t> dims, NetAttributes attributes = {});
  NetValue Dequantized(std::int64_t rows, std::int64_t columns, Storage storage);
  OperandTypes One(NetValue x) const { return {type(x), DataType::kNone, type(x)}; }
  OperandTypes Two() const { return {floats_, floats_, floats_}; }

  std::string name_;
  DataType floats_;
  Blocks blocks_;
  std::int64_t copies_ = 1;  // of what is added now
  std::int64_t repetition_ = 0;
  Status status_;
  std::vector<NetTensor> tensors_;
  std::vector<NetNode> nodes_;
  std::vector<NetValue> outputs_;
};

// What a model is, without a file of it. Bytes are compulsory, layer by layer, as `infimum inspect` counts them.
struct NetTotals {
  std::int64_t parameters = 0;
  Bytes weights;
  Flops flops;  // by the textbook definition
  Bytes moved;
  Bytes memory;  // weights, and the most of inputs, intermediates and outputs that lives at once
  // Of a training step: weights and their gradients, inputs, and all that is made forward, for the way back; without
  // an optimizer's state.
  Bytes training_memory;
  // Forward, and as much for the gradients by operands and by weights.
  Flops training_flops() const { return Flops{3 * flops.value}; }
};
// An error where the net is invalid, or a sum exceeds 64 bits.
Result<NetTotals> TotalsOf(const Net& net);

}  // namespace infimum::synth
