#include "src/synth/net.h"

#include <algorithm>
#include <limits>

namespace infimum::synth {
namespace {

// A model of more nodes is a mistake in a range.
constexpr std::size_t kMostNodes = 1'000'000;
// Elements of a column of 4-bit weights that share a scale.
constexpr std::int64_t kScaledBlock = 32;

std::vector<std::int64_t> Joined(std::vector<std::int64_t> dims, std::int64_t last) {
  dims.back() = last;
  return dims;
}

}  // namespace

NetValue Net::AddTensor(NetTensor tensor) {
  if (status_.ok()) {
    const Result<std::int64_t> count = CheckedElementCount(tensor.shape);
    if (!count.ok()) status_ = count.error();
  }
  tensor.copies = copies_;
  tensors_.push_back(std::move(tensor));
  return {tensors_.size() - 1};
}

NetValue Net::Input(std::string name, std::vector<std::int64_t> dims, DataType type) {
  return AddTensor({NetTensor::Role::kInput, type, Shape{std::move(dims)}, std::move(name)});
}

void Net::Output(std::string name, NetValue value) {
  tensors_[value.index].name = std::move(name);
  tensors_[value.index].outputs = copies_;
  outputs_.push_back(value);
}

NetValue Net::Repeat(std::int64_t times, NetValue x, const std::function<NetValue(NetValue)>& block) {
  if (times <= 0 || !status_.ok()) return x;
  const std::size_t first_node = nodes_.size(), first_tensor = tensors_.size(), given = x.index;
  if (blocks_ == Blocks::kUnrolled) {
    for (repetition_ = 0; repetition_ < times && status_.ok(); ++repetition_) x = block(x);
    repetition_ = 0;
  } else {
    const std::int64_t before = copies_;
    copies_ *= times;
    x = block(x);
    copies_ = before;
  }
  // So that the last block is the one that needs most, counted or not.
  std::vector<NetValue> shared;
  for (std::size_t node = first_node; node < nodes_.size(); ++node)
    for (const std::optional<NetValue>& input : nodes_[node].inputs)
      if (input && input->index < first_tensor && input->index != given) shared.push_back(*input);
  if (nodes_.size() > first_node) nodes_.back().releases = std::move(shared);
  return x;
}

NetValue Net::AddNode(std::string_view op, std::vector<std::optional<NetValue>> inputs, std::vector<std::int64_t> dims,
                      NetAttributes attributes, const std::optional<LayerConfig>& config) {
  const DataType type = config ? TypesOf(*config).output : tensors_[inputs[0]->index].type;
  const NetValue output = AddTensor({.type = type, .shape = Shape{std::move(dims)}});
  if (status_.ok() && nodes_.size() >= kMostNodes) status_ = Error{"it has more than a million nodes"};
  if (!status_.ok()) return output;
  NetNode node{op, std::move(inputs), {output}, std::move(attributes)};
  node.copies = copies_;
  if (config) {
    status_ = Validate(*config);
    if (!status_.ok()) return output;
    node.work = WorkOf(*config);
  }
  nodes_.push_back(std::move(node));
  return output;
}

NetValue Net::Weight(std::vector<std::int64_t> dims, std::int64_t fan_in) {
  NetTensor weight{.role = NetTensor::Role::kWeight, .type = floats_, .shape = Shape{std::move(dims)}};
  weight.fan_in = std::max<std::int64_t>(1, fan_in);
  return AddTensor(std::move(weight));
}

NetValue Net::Product(std::string_view op, NetValue a, NetValue b, std::optional<NetValue> bias) {
  if (!status_.ok()) return a;
  // Weights are read as they are stored.
  const NetTensor& stored = tensors_[tensors_[b.index].viewed.value_or(b.index)];
  const bool is_constant = stored.role == NetTensor::Role::kWeight;
  Result<MatMulConfig> config =
      MakeMatMul({floats_, stored.type, floats_}, shape(a), shape(b), bias ? MatMulBias::kColumn : MatMulBias::kNone,
                 is_constant ? Constness::kConstant : Constness::kVariable);
  if (!config.ok()) {
    status_ = config.error();
    return a;
  }
  // One scale for all is a value.
  if (!nodes_.empty() && nodes_.back().op == "DequantizeLinear" && nodes_.back().outputs[0].index == b.index)
    if (const NetTensor& scale = tensors_[nodes_.back().inputs[1]->index]; ElementCount(scale.shape) > 1) {
      const std::int64_t rows = shape(b).dims[0];
      config->scales = {scale.shape.rank() == 1 ? rows : std::min(rows, kScaledBlock), 1, scale.type};
    }
  std::vector<std::optional<NetValue>> inputs{a, b};
  if (bias) inputs.emplace_back(bias);
  std::vector<std::int64_t> dims = Joined(shape(a).dims, shape(b).dims.back());
  for (std::size_t i = 0; i + 2 < std::min(dims.size(), shape(b).rank()); ++i) {
    const std::size_t from_end = i + 3;
    std::int64_t& extent = dims[dims.size() - from_end];
    if (extent == 1) extent = shape(b).dims[shape(b).rank() - from_end];
  }
  return AddNode(op, std::move(inputs), std::move(dims), {}, *config);
}

NetValue Net::Gemm(NetValue x, std::int64_t columns) {
  const std::int64_t depth = shape(x).dims.back();
  const NetValue weight = Weight({depth, columns}, depth);
  return Product("Gemm", x, weight, Weight({columns}, depth));
}

NetValue Net::Linear(NetValue x, std::int64_t columns) {
  const std::int64_t depth = shape(x).dims.back();
  const NetValue product = MatMul(x, Weight({depth, columns}, depth));
  return Add(product, Weight({columns}, depth));
}

NetValue Net::Projection(NetValue x, std::int64_t columns, Storage storage) {
  const std::int64_t depth = shape(x).dims.back();
  if (storage == Storage::kAsType) return MatMul(x, Weight({depth, columns}, depth));
  return MatMul(x, Dequantized(depth, columns, storage));
}

// Runtimes dequantize as they multiply: what is read, and has memory, are the integers.
NetValue Net::Dequantized(std::int64_t rows, std::int64_t columns, Storage storage) {
  const bool is_blocked = storage == Storage::kInt4;
  const NetValue weight = Weight({rows, columns}, rows), scale = Weight({columns}, rows);
  NetTensor &integers = tensors_[weight.index], &factors = tensors_[scale.index];
  integers.type = is_blocked ? DataType::kS4 : DataType::kS8;
  factors.role = NetTensor::Role::kScale;
  factors.numbers = {is_blocked ? 7.0 : 127.0};
  NetAttributes attributes{{"axis", std::int64_t{1}}};
  if (is_blocked) {
    factors.shape = Shape{{(rows + kScaledBlock - 1) / kScaledBlock, columns}};
    attributes = {{"axis", std::int64_t{0}}, {"block_size", kScaledBlock}};
  }
  const NetValue value = View("DequantizeLinear", weight, {rows, columns}, std::move(attributes));
  tensors_[value.index].type = floats_;
  if (status_.ok()) nodes_.back().inputs.emplace_back(scale);
  return value;
}

NetValue Net::Convolution(NetValue x, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                          std::int64_t groups) {
  const std::vector<std::int64_t> dims = shape(x).dims;
  const std::int64_t depth = dims[1] / groups * kernel * kernel, pad = kernel / 2;
  const NetValue weight = Weight({channels, dims[1] / groups, kernel, kernel}, depth), bias = Weight({channels}, depth);
  if (!status_.ok()) return x;
  ConvolutionConfig config{.types = Two(),
                           .input = Shape{dims},
                           .output_channels = channels,
                           .kernel = Shape{{kernel, kernel}},
                           .stride = Shape{{stride, stride}},
                           .dilation = Shape{{1, 1}},
                           .padding = {pad, pad, pad, pad},
                           .groups = groups,
                           .bias = true,
                           .output_padding = {}};
  status_ = Validate(LayerConfig(config));
  if (!status_.ok()) return x;
  return AddNode("Conv", {x, weight, bias}, OutputShape(config).dims,
                 {{"kernel_shape", std::vector<std::int64_t>{kernel, kernel}},
                  {"strides", std::vector<std::int64_t>{stride, stride}},
                  {"pads", config.padding},
                  {"group", groups}},
                 config);
}

NetValue Net::MaxPool(NetValue x, std::int64_t kernel, std::int64_t stride) {
  const std::vector<std::int64_t> dims = shape(x).dims;
  const std::int64_t pad = kernel / 2;
  const auto extent = [&](std::int64_t in) { return (in + 2 * pad - kernel) / stride + 1; };
  PoolingConfig config{.kind = PoolingKind::kMax,
                       .types = One(x),
                       .input = Shape{dims},
                       .output = Shape{{dims[0], dims[1], extent(dims[2]), extent(dims[3])}},
                       .kernel = Shape{{kernel, kernel}},
                       .stride = Shape{{stride, stride}},
                       .dilation = Shape{{1, 1}},
                       .padding = {pad, pad, pad, pad}};
  std::vector<std::int64_t> out = config.output.dims;
  return AddNode("MaxPool", {x}, std::move(out),
                 {{"kernel_shape", std::vector<std::int64_t>{kernel, kernel}},
                  {"strides", std::vector<std::int64_t>{stride, stride}},
                  {"pads", config.padding}},
                 config);
}

NetValue Net::MeanOfImage(NetValue x) {
  const std::vector<std::int64_t> dims = shape(x).dims;
  if (dims[2] * dims[3] == 1) return View("Flatten", x, {dims[0], dims[1]});
  const NetValue mean = AddNode("GlobalAveragePool", {x}, {dims[0], dims[1], 1, 1}, {},
                                PoolingConfig{.kind = PoolingKind::kAverageWithoutPad,
                                              .types = One(x),
                                              .input = Shape{dims},
                                              .output = Shape{{dims[0], dims[1], 1, 1}},
                                              .kernel = Shape{{dims[2], dims[3]}},
                                              .stride = Shape{{1, 1}},
                                              .dilation = Shape{{1, 1}},
                                              .padding = {0, 0, 0, 0}});
  return View("Flatten", mean, {dims[0], dims[1]});
}

NetValue Net::Unary(std::string_view op, PointwiseKind kind, NetValue x) {
  return AddNode(op, {x}, shape(x).dims, {}, Canonicalize(PointwiseConfig{kind, One(x), {shape(x)}}));
}

NetValue Net::Binary(std::string_view op, PointwiseKind kind, NetValue a, NetValue b) {
  if (!status_.ok()) return a;
  const Result<Shape> result = Broadcast(shape(a), shape(b));
  if (!result.ok()) {
    status_ = result.error();
    return a;
  }
  const OperandTypes types{type(a), type(b), ReturnsTruth(kind) ? DataType::kBool : type(a)};
  return AddNode(op, {a, b}, result->dims, {}, Canonicalize(PointwiseConfig{kind, types, {shape(a), shape(b)}}));
}

NetValue Net::Select(NetValue condition, double if_true, double if_false) {
  const OperandTypes types{floats_, DataType::kBool, floats_};
  return AddNode("Where", {condition, Number(if_true), Number(if_false)}, shape(condition).dims, {},
                 Canonicalize(PointwiseConfig{PointwiseKind::kWhere, types, {shape(condition), Shape{}, Shape{}}}));
}

NetValue Net::Cast(NetValue x, DataType to) {
  if (type(x) == to) return x;
  const OperandTypes types{type(x), DataType::kNone, to};
  return AddNode("Cast", {x}, shape(x).dims, {{"to", to}},
                 Canonicalize(PointwiseConfig{PointwiseKind::kCast, types, {shape(x)}}));
}

NetValue Net::Number(double value) {
  const NetValue number = Numbers({value}, floats_);
  tensors_[number.index].shape = Shape{};
  return number;
}

NetValue Net::Numbers(std::vector<double> values, DataType type) {
  NetTensor numbers{
      .role = NetTensor::Role::kNumber, .type = type, .shape = Shape{{static_cast<std::int64_t>(values.size())}}};
  numbers.numbers = std::move(values);
  return AddTensor(std::move(numbers));
}

NetValue Net::Indices(std::vector<std::int64_t> values) {
  NetTensor indices{.role = NetTensor::Role::kIndices,
                    .type = DataType::kS64,
                    .shape = Shape{{static_cast<std::int64_t>(values.size())}}};
  indices.indices = std::move(values);
  return AddTensor(std::move(indices));
}

NetValue Net::LayerNormalization(NetValue x) {
  const Shape input = shape(x);
  const std::int64_t width = input.dims.back(), axis = static_cast<std::int64_t>(input.rank()) - 1;
  const NetValue scale = Weight({width}, 1), bias = Weight({width}, 1);
  return AddNode("LayerNormalization", {x, scale, bias}, input.dims, {{"axis", std::int64_t{-1}}},
                 NormalizationConfig{.kind = NormalizationKind::kLayer,
                                     .types = Two(),
                                     .input = input,
                                     .axis = axis,
                                     .scale = true,
                                     .bias = true});
}

NetValue Net::RmsNormalization(NetValue x) {
  const std::vector<std::int64_t> dims = shape(x).dims;
  // A square by its own name in a layer; exporters write a power.
  const NetValue squares = AddNode("Pow", {x, Number(2)}, dims, {},
                                   Canonicalize(PointwiseConfig{PointwiseKind::kSquare, One(x), {shape(x)}}));
  const auto axis = static_cast<std::int64_t>(dims.size()) - 1;
  const NetValue mean = Reduce("ReduceMean", ReductionKind::kMean, squares, axis, true);
  const NetValue root = Unary("Sqrt", PointwiseKind::kSquareRoot, Add(mean, Number(1e-5)));
  return Multiply(Binary("Div", PointwiseKind::kDivide, x, root), Weight({dims.back()}, 1));
}

NetValue Net::Reduce(std::string_view op, ReductionKind kind, NetValue x, std::int64_t axis, bool keep) {
  const NetValue axes = Indices({axis});
  if (!status_.ok()) return x;
  const Shape input = shape(x);
  const auto at = static_cast<std::ptrdiff_t>(axis);
  std::vector<std::int64_t> dims = input.dims;
  dims[static_cast<std::size_t>(axis)] = 1;
  if (!keep) dims.erase(dims.begin() + at);
  const NetAttributes attributes{{"keepdims", std::int64_t{keep}}};
  const bool is_view = input.dims[static_cast<std::size_t>(axis)] == 1;
  const NetValue result =
      is_view ? View(op, x, std::move(dims), attributes)
              : AddNode(op, {x}, std::move(dims), attributes, MakeReduction(kind, One(x), input, {axis}));
  if (status_.ok()) nodes_.back().inputs.emplace_back(axes);
  return result;
}

std::pair<NetValue, NetValue> Net::TopK(NetValue x, std::int64_t k) {
  const NetValue count = Indices({k});
  if (!status_.ok()) return {x, count};
  const Shape input = shape(x);
  const std::vector<std::int64_t> dims = Joined(input.dims, k);
  const std::int64_t width = input.dims.back();
  const NetValue values = AddNode("TopK", {x, count}, dims, {},
                                  SortConfig{.kind = SortKind::kTopK,
                                             .types = One(x),
                                             .input = Shape{{ElementCount(input) / width, width, 1}},
                                             .axis = 1,
                                             .k = k});
  const NetValue places = AddTensor({.type = DataType::kS64, .shape = Shape{dims}});
  if (status_.ok()) nodes_.back().outputs.push_back(places);
  return {values, places};
}

NetValue Net::Softmax(NetValue x) {
  const Shape input = shape(x);
  return AddNode("Softmax", {x}, input.dims, {{"axis", std::int64_t{-1}}},
                 SoftmaxConfig{.kind = SoftmaxKind::kSoftmax,
                               .types = One(x),
                               .input = input,
                               .axis = static_cast<std::int64_t>(input.rank()) - 1});
}

NetValue Net::Transpose(NetValue x, std::vector<std::int64_t> permutation) {
  if (!status_.ok()) return x;
  const Shape input = shape(x);
  Shape output;
  std::vector<std::int64_t> moved;
  for (const std::int64_t from : permutation) {
    output.dims.push_back(input.dims[static_cast<std::size_t>(from)]);
    if (output.dims.back() != 1) moved.push_back(from);
  }
  // Where only dimensions of one element change places the elements stay where they are.
  if (std::ranges::is_sorted(moved)) return View("Transpose", x, output.dims, {{"perm", std::move(permutation)}});
  const MovementConfig config{.kind = MovementKind::kTranspose,
                              .types = One(x),
                              .inputs = {input},
                              .outputs = {output},
                              .permutation = permutation};
  return AddNode("Transpose", {x}, output.dims, {{"perm", std::move(permutation)}}, Canonicalize(config));
}

NetValue Net::View(std::string_view op, NetValue x, std::vector<std::int64_t> dims, NetAttributes attributes) {
  const NetValue view = AddNode(op, {x}, std::move(dims), std::move(attributes), std::nullopt);
  tensors_[view.index].viewed = tensors_[x.index].viewed.value_or(x.index);
  return view;
}

NetValue Net::Reshape(NetValue x, std::vector<std::int64_t> dims) {
  const NetValue extents = Indices(dims);
  const NetValue view = View("Reshape", x, std::move(dims));
  if (status_.ok()) nodes_.back().inputs.emplace_back(extents);
  return view;
}

NetValue Net::Concat(const std::vector<NetValue>& parts, std::int64_t axis) {
  if (!status_.ok()) return parts[0];
  MovementConfig config{.kind = MovementKind::kConcat,
                        .types = One(parts[0]),
                        .inputs = {},
                        .outputs = {shape(parts[0])},
                        .axis = axis,
                        .permutation = {}};
  std::int64_t& extent = config.outputs[0].dims[static_cast<std::size_t>(axis)];
  extent = 0;
  for (const NetValue part : parts) {
    config.inputs.push_back(shape(part));
    extent += shape(part).dims[static_cast<std::size_t>(axis)];
  }
  std::vector<std::int64_t> dims = config.outputs[0].dims;
  return AddNode("Concat", {parts.begin(), parts.end()}, std::move(dims), {{"axis", axis}},
                 Canonicalize(std::move(config)));
}

NetValue Net::Slice(NetValue x, std::int64_t axis, std::int64_t first, std::int64_t count) {
  if (!status_.ok()) return x;
  Shape output = shape(x);
  output.dims[static_cast<std::size_t>(axis)] = count;
  if (output == shape(x)) return x;
  const MovementConfig config{
      .kind = MovementKind::kSlice, .types = One(x), .inputs = {shape(x)}, .outputs = {output}, .permutation = {}};
  return AddNode("Slice", {x, Indices({first}), Indices({first + count}), Indices({axis})}, output.dims, {},
                 Canonicalize(config));
}

NetValue Net::Gather(NetValue x, NetValue indices, std::int64_t axis) {
  const Shape input = shape(x), at = shape(indices);
  if (!status_.ok()) return indices;
  Shape result = input;
  const auto place = result.dims.erase(result.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  result.dims.insert(place, at.dims.begin(), at.dims.end());
  return AddNode("Gather", {x, indices}, result.dims, {{"axis", axis}},
                 Canonicalize(MovementConfig{.kind = MovementKind::kGather,
                                             .types = {type(x), DataType::kS64, type(x)},
                                             .inputs = {input},
                                             .outputs = {result},
                                             .axis = axis,
                                             .permutation = {},
                                             .indices = ElementCount(at)}));
}

NetValue Net::Recurrent(std::string_view op, RecurrentKind kind, NetValue x, std::int64_t hidden) {
  const std::vector<std::int64_t> dims = shape(x).dims;  // steps, batch, features
  const std::int64_t gates = GateCount(kind) * hidden;
  const NetValue input_weights = Weight({1, gates, dims[2]}, dims[2]), own_weights = Weight({1, gates, hidden}, hidden);
  const NetValue bias = Weight({1, 2 * gates}, hidden);
  const NetValue states =
      AddNode(op, {x, input_weights, own_weights, bias}, {dims[0], 1, dims[1], hidden}, {{"hidden_size", hidden}},
              RecurrentConfig{.kind = kind,
                              .types = Two(),
                              .sequence = dims[0],
                              .batch = dims[1],
                              .input = dims[2],
                              .hidden = hidden,
                              .bias = true});
  return Reshape(states, {dims[0], dims[1], hidden});
}

namespace {

// A sum of products that says whether it stayed exact.
class Sum {
 public:
  void Add(std::int64_t each, std::int64_t copies) {
    std::int64_t product = 0;
    overflows_ = __builtin_mul_overflow(each, copies, &product) || __builtin_add_overflow(value_, product, &value_) ||
                 overflows_;
  }
  std::int64_t value() const { return value_; }
  bool overflows() const { return overflows_; }

 private:
  std::int64_t value_ = 0;
  bool overflows_ = false;
};

std::int64_t BytesOf(const NetTensor& tensor) { return SizeOf(tensor.type, ElementCount(tensor.shape)).value; }

// The most of inputs, intermediates and outputs that lives at once: each intermediate from the node that makes it to
// its last reader, inputs and outputs always; of a block that is counted, its last time.
std::int64_t MostLive(const Net& net) {
  constexpr std::size_t kAlways = static_cast<std::size_t>(-1);
  const std::vector<NetTensor>& tensors = net.tensors();
  const std::vector<NetNode>& nodes = net.nodes();
  const auto memory_of = [&](NetValue value) { return tensors[value.index].viewed.value_or(value.index); };
  std::vector<std::size_t> last(tensors.size(), 0);
  for (std::size_t step = 0; step < nodes.size(); ++step) {
    for (const std::optional<NetValue>& input : nodes[step].inputs)
      if (input) last[memory_of(*input)] = step;
    for (const NetValue shared : nodes[step].releases) last[memory_of(shared)] = step;
  }
  for (const NetValue output : net.outputs()) last[memory_of(output)] = kAlways;
  std::vector<std::int64_t> freed(nodes.size(), 0);
  std::int64_t live = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role == NetTensor::Role::kInput) live += BytesOf(tensors[i]);
    const bool is_made = tensors[i].role == NetTensor::Role::kMade && !tensors[i].viewed;
    if (is_made && last[i] != kAlways) freed[last[i]] += BytesOf(tensors[i]);
  }
  std::int64_t most = live;
  for (std::size_t step = 0; step < nodes.size(); ++step) {
    for (const NetValue output : nodes[step].outputs)
      if (!tensors[output.index].viewed) live += BytesOf(tensors[output.index]);
    most = std::max(most, live);
    live -= freed[step];
  }
  return most;
}

}  // namespace

Result<NetTotals> TotalsOf(const Net& net) {
  INFIMUM_RETURN_IF_ERROR(net.status());
  Sum parameters, weights, flops, moved, training;
  for (const NetTensor& tensor : net.tensors()) {
    const bool is_weight = IsWeight(tensor);
    if (tensor.role == NetTensor::Role::kWeight) parameters.Add(ElementCount(tensor.shape), tensor.copies);
    if (is_weight) weights.Add(BytesOf(tensor), tensor.copies);
    if (is_weight || tensor.role == NetTensor::Role::kInput ||
        (tensor.role == NetTensor::Role::kMade && !tensor.viewed))
      training.Add(BytesOf(tensor), is_weight ? 2 * tensor.copies : tensor.copies);
  }
  for (const NetNode& node : net.nodes()) {
    flops.Add(node.work.direct.value, node.copies);
    moved.Add(node.work.read().value, node.copies);
    moved.Add(node.work.written.value, node.copies);
  }
  Sum memory = weights;
  memory.Add(MostLive(net), 1);
  // Inputs and outputs of the times before.
  for (const NetTensor& tensor : net.tensors()) {
    const std::int64_t times = tensor.role == NetTensor::Role::kInput ? tensor.copies : tensor.outputs;
    if (times > 1) memory.Add(BytesOf(tensor), times - 1);
  }
  constexpr std::int64_t kMostFlops = std::numeric_limits<std::int64_t>::max() / 3;
  if (parameters.overflows() || flops.overflows() || flops.value() > kMostFlops || moved.overflows() ||
      memory.overflows() || training.overflows())
    return Error{"its FLOPs or bytes exceed 64 bits"};
  return NetTotals{parameters.value(),   Bytes{weights.value()}, Flops{flops.value()},
                   Bytes{moved.value()}, Bytes{memory.value()},  Bytes{training.value()}};
}

}  // namespace infimum::synth
