#include "src/synth/onnx_file.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "src/readers/onnx/parse/proto_conversion.h"
#include "src/synth/weight_values.h"

namespace infimum::synth {
namespace {

// The first with bf16 in all operators that families use.
constexpr std::int64_t kOpset = 22, kIrVersion = 10;
constexpr std::int64_t kSmallest = 1024;  // bytes of a weight that goes beside the model
constexpr std::int64_t kAlignment = 4096;

// Integers are even, and their scale makes the largest what is the most of a weight that is stored as it is.
WeightValues ValuesOf(const NetTensor& tensor) {
  WeightValues values = ValuesOfProduct(tensor.type, tensor.fan_in);
  if (tensor.role == NetTensor::Role::kScale) return {tensor.type, values.made, values.spread / tensor.numbers[0], 0};
  if (IsInteger(tensor.type)) return {tensor.type, 1, 0, tensor.type == DataType::kS4 ? 7.0 : 127.0};
  return values;
}

void SetAttribute(const std::pair<std::string_view, NetAttribute>& from, onnx::AttributeProto& to) {
  to.set_name(std::string(from.first));
  if (const auto* integer = std::get_if<std::int64_t>(&from.second)) {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(*integer);
  } else if (const auto* number = std::get_if<double>(&from.second)) {
    to.set_type(onnx::AttributeProto::FLOAT);
    to.set_f(static_cast<float>(*number));
  } else if (const auto* type = std::get_if<DataType>(&from.second)) {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(OnnxTypeOf(*type));
  } else if (const auto* text = std::get_if<std::string>(&from.second)) {
    to.set_type(onnx::AttributeProto::STRING);
    to.set_s(*text);
  } else {
    to.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : std::get<std::vector<std::int64_t>>(from.second)) to.add_ints(value);
  }
}

void Describe(const NetTensor& tensor, const std::string& name, onnx::ValueInfoProto& info) {
  info.set_name(name);
  onnx::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(OnnxTypeOf(tensor.type));
  for (const std::int64_t extent : tensor.shape.dims) type.mutable_shape()->add_dim()->set_dim_value(extent);
}

class Writer {
 public:
  Writer(const Net& net, const WeightOptions& options) : net_(net), options_(options) {
    model_.set_ir_version(kIrVersion);
    model_.set_producer_name("infimum");
    model_.add_opset_import()->set_version(kOpset);
    model_.mutable_graph()->set_name(net.name());
  }

  // Weights beside the model go into `data`.
  Status Write(std::ostream& data, const std::string& data_name) {
    onnx::GraphProto& graph = *model_.mutable_graph();
    std::size_t weights = 0;
    for (std::size_t i = 0; i < net_.tensors().size(); ++i) {
      const NetTensor& tensor = net_.tensors()[i];
      if (tensor.role == NetTensor::Role::kInput) Describe(tensor, NameOf(i), *graph.add_input());
      if (tensor.role == NetTensor::Role::kIndices) AddIndices(tensor.indices, NameOf(i));
      if (tensor.role == NetTensor::Role::kNumber) AddNumber(i);
      if (!IsWeight(tensor)) continue;
      if (options_.seed) {
        AddStored(i, weights++, data, data_name);
      } else {
        AddMade(i);
      }
    }
    for (std::size_t i = 0; i < net_.nodes().size(); ++i) {
      const NetNode& node = net_.nodes()[i];
      onnx::NodeProto& to = *graph.add_node();
      to.set_op_type(std::string(node.op));
      to.set_name(std::string(node.op) + "_" + std::to_string(i));
      for (const std::optional<NetValue>& input : node.inputs) to.add_input(input ? NameOf(input->index) : "");
      for (const NetValue output : node.outputs) to.add_output(NameOf(output.index));
      for (const auto& attribute : node.attributes) SetAttribute(attribute, *to.add_attribute());
    }
    for (const NetValue output : net_.outputs())
      Describe(net_.tensors()[output.index], NameOf(output.index), *graph.add_output());
    return data ? Status() : Status(Error{"writing weights failed"});
  }

  std::string Text() const { return model_.SerializeAsString(); }

 private:
  std::string NameOf(std::size_t tensor) const {
    const NetTensor& of = net_.tensors()[tensor];
    if (!of.name.empty()) return of.name;
    return (IsWeight(of) ? "weight_" : "tensor_") + std::to_string(tensor);
  }

  void AddIndices(const std::vector<std::int64_t>& values, const std::string& name) {
    onnx::TensorProto& to = *model_.mutable_graph()->add_initializer();
    to.set_name(name);
    to.set_data_type(onnx::TensorProto::INT64);
    to.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) to.add_int64_data(value);
  }

  void AddNumber(std::size_t tensor) {
    const NetTensor& of = net_.tensors()[tensor];
    onnx::TensorProto& to = *model_.mutable_graph()->add_initializer();
    to.set_name(NameOf(tensor));
    to.set_data_type(OnnxTypeOf(of.type));
    for (const std::int64_t extent : of.shape.dims) to.add_dims(extent);
    for (const double number : of.numbers) AppendValue(of.type, number, *to.mutable_raw_data());
  }

  void AddMade(std::size_t tensor) {
    const NetTensor& weight = net_.tensors()[tensor];
    const std::string name = NameOf(tensor), shape = name + "_shape";
    AddIndices(weight.shape.dims, shape);
    onnx::NodeProto& node = *model_.mutable_graph()->add_node();
    node.set_op_type("ConstantOfShape");
    node.set_name(name + "_made");
    node.add_input(shape);
    // ONNX Runtime makes no constants of 4 bits, but converts to them.
    const bool is_converted = weight.type == DataType::kS4;
    node.add_output(is_converted ? name + "_bytes" : name);
    onnx::AttributeProto& value = *node.add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    value.mutable_t()->add_dims(1);
    const DataType type = is_converted ? DataType::kS8 : weight.type;
    value.mutable_t()->set_data_type(OnnxTypeOf(type));
    AppendValue(type, MadeValue(ValuesOf(weight), weight.shape.rank() < 2 ? 0 : made_++),
                *value.mutable_t()->mutable_raw_data());
    if (!is_converted) return;
    onnx::NodeProto& cast = *model_.mutable_graph()->add_node();
    cast.set_op_type("Cast");
    cast.set_name(name + "_converted");
    cast.add_input(name + "_bytes");
    cast.add_output(name);
    SetAttribute({"to", weight.type}, *cast.add_attribute());
  }

  // By its place among the weights alone: a decoding step and a prefill of one seed are the same model.
  void AddStored(std::size_t tensor, std::size_t number, std::ostream& data, const std::string& data_name) {
    const NetTensor& weight = net_.tensors()[tensor];
    onnx::TensorProto& to = *model_.mutable_graph()->add_initializer();
    to.set_name(NameOf(tensor));
    to.set_data_type(OnnxTypeOf(weight.type));
    for (const std::int64_t extent : weight.shape.dims) to.add_dims(extent);
    const WeightValues values = ValuesOf(weight);
    const std::uint64_t state = RandomState(*options_.seed, number);
    const std::int64_t count = ElementCount(weight.shape), bytes = SizeOf(weight.type, count).value;
    if (data_name.empty() || bytes < kSmallest) {
      AppendRandom(values, state, 0, count, *to.mutable_raw_data());
      return;
    }
    const std::int64_t offset = (written_ + kAlignment - 1) / kAlignment * kAlignment;
    data << std::string(static_cast<std::size_t>(offset - written_), '\0');
    constexpr std::int64_t kPiece = 1 << 18;
    std::string piece;
    for (std::int64_t first = 0; first < count && data; first += kPiece) {
      piece.clear();
      AppendRandom(values, state, first, std::min(kPiece, count - first), piece);
      data << piece;
    }
    written_ = offset + bytes;
    to.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<const char*, std::string>{"location", data_name},
                                     {"offset", std::to_string(offset)},
                                     {"length", std::to_string(bytes)}}) {
      onnx::StringStringEntryProto& entry = *to.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
  }

  const Net& net_;
  WeightOptions options_;
  onnx::ModelProto model_;
  std::size_t made_ = 0;  // weights so far
  std::int64_t written_ = 0;
};

std::int64_t StoredBytes(const Net& net, const WeightOptions& options) {
  if (!options.seed) return 0;
  std::int64_t bytes = 0;
  for (const NetTensor& tensor : net.tensors())
    if (IsWeight(tensor)) bytes += SizeOf(tensor.type, ElementCount(tensor.shape)).value * tensor.copies;
  return bytes;
}

Error CannotWrite(const std::filesystem::path& path) {
  return Error{path.string() + ": cannot be written: " + std::strerror(errno)};
}

// Written beside it first.
std::filesystem::path Unfinished(std::filesystem::path path) { return path += ".part"; }

}  // namespace

Status WriteOnnx(const Net& net, const WeightOptions& options, const std::filesystem::path& path) {
  const bool is_large = StoredBytes(net, options) > options.most_inside;
  std::filesystem::path data_path = path;
  data_path += ".data";
  const auto write = [&]() -> Status {
    std::ofstream data;
    if (is_large) {
      data.open(Unfinished(data_path), std::ios::binary | std::ios::trunc);
      if (!data) return CannotWrite(data_path);
    }
    Writer writer(net, options);
    INFIMUM_RETURN_IF_ERROR(writer.Write(data, is_large ? data_path.filename().string() : ""));
    if (is_large && !data.flush()) return CannotWrite(data_path);
    std::ofstream file(Unfinished(path), std::ios::binary | std::ios::trunc);
    file << writer.Text() << std::flush;
    return file ? Status() : Status(CannotWrite(path));
  };
  Status written = write();
  std::error_code failed;
  if (written.ok() && is_large) std::filesystem::rename(Unfinished(data_path), data_path, failed);
  if (written.ok() && !failed) std::filesystem::rename(Unfinished(path), path, failed);
  if (failed) written = Error{path.string() + ": cannot be written: " + failed.message()};
  if (written.ok()) return {};
  std::filesystem::remove(Unfinished(path), failed);
  if (is_large) std::filesystem::remove(Unfinished(data_path), failed);
  return written;
}

std::int64_t BytesOnDisk(const Net& net, const WeightOptions& options) {
  constexpr std::int64_t kOfNode = 512, kOfConstant = 10;
  std::int64_t entries = 0;
  for (const NetNode& node : net.nodes()) entries += node.copies;
  std::int64_t constants = 0;
  for (const NetTensor& tensor : net.tensors()) {
    entries += tensor.copies;
    constants += tensor.copies * static_cast<std::int64_t>(tensor.indices.size() + tensor.numbers.size());
  }
  return StoredBytes(net, options) + entries * kOfNode + constants * kOfConstant;
}

}  // namespace infimum::synth
