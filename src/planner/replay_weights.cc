#include "src/planner/replay_weights.h"

#include <algorithm>

#include "src/core/layer/family.h"

namespace infimum {
namespace {

bool HasFlag(const Layer& layer, const char* name) {
  const auto found = layer.attributes.find(name);
  const auto* flag = found == layer.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return flag != nullptr && *flag != 0;
}

// The position of a GEMM's second matrix among its inputs.
std::size_t MatrixPosition(const Layer& layer) { return layer.op == "com.microsoft.QGemm" ? 3 : 1; }

// The weights with the output channels second, in their order of memory.
Result<Shape> ByChannel(const Layer& layer, const Shape& weights) {
  const std::size_t rank = weights.rank();
  if (layer.op == "BatchNormalization") return Shape{{1, ElementCount(weights)}};
  if (rank < 2) return Error{"its weights have fewer than two dimensions"};
  const bool channels_first = layer.op == "Conv" || (layer.op == "Gemm" && HasFlag(layer, "transB"));
  if (channels_first) return Shape{{1, weights.dims[0], ElementsBetween(weights, 1, rank)}};
  const auto group = layer.attributes.find("group");
  const auto* groups = group == layer.attributes.end() ? nullptr : std::get_if<std::int64_t>(&group->second);
  // Their channels are apart, one after the other within each group.
  if (groups != nullptr && *groups != 1)
    return Error{"a normalization is folded into a grouped transposed convolution"};
  return Shape{{weights.dims[0], weights.dims[1], ElementsBetween(weights, 2, rank)}};
}

}  // namespace

Result<std::map<ValueId, std::size_t>> WeightChanger::Change(const Layer& layer) {
  Changed changed;
  if (layer.op == "Gemm") {
    INFIMUM_RETURN_IF_ERROR(Multiply(layer, "alpha", 1, changed));
    INFIMUM_RETURN_IF_ERROR(Multiply(layer, "beta", 2, changed));
  }
  if (!layer.folded.empty()) INFIMUM_RETURN_IF_ERROR(FoldConstants(layer, changed));
  if ((layer.op == "Gemm" || layer.op == "com.microsoft.QGemm") && HasFlag(layer, "transB"))
    INFIMUM_RETURN_IF_ERROR(Transpose(layer, changed));
  if (layer.op == "GatherND" || layer.op == "ScatterND") INFIMUM_RETURN_IF_ERROR(JoinPlaces(layer, changed));
  return changed;
}

Result<std::size_t> WeightChanger::Current(ValueId value, const Changed& changed) {
  const auto found = changed.find(value);
  return found != changed.end() ? Result<std::size_t>(found->second) : tensor_of_(value);
}

// A factor of a product goes into a constant that it multiplies.
Status WeightChanger::Multiply(const Layer& layer, const char* attribute, std::size_t input, Changed& changed) {
  const auto found = layer.attributes.find(attribute);
  const auto* factor = found == layer.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  const bool is_given = input < layer.inputs.size() && layer.inputs[input];
  if (factor == nullptr || *factor == 1 || !is_given || (input == 2 && layer.bias_is_folded)) return {};
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t tensor, tensor_of_(*layer.inputs[input]));
  const ReplayTensor described = schedule_.tensors[tensor];
  if (described.kind != ReplayTensorKind::kWeight) return Error{"its '" + std::string(attribute) + "' is not 1"};
  const std::string name = layer.name + ": " + described.name + " times " + attribute;
  const Shape all{{ElementCount(described.shape)}};
  changed[*layer.inputs[input]] =
      Combine(PointwiseKind::kMultiply, tensor, all, Filled(described.type, 1, *factor), name);
  return {};
}

std::size_t WeightChanger::Combine(PointwiseKind kind, std::size_t tensor, const Shape& seen_as, std::size_t by,
                                   const std::string& name) {
  const DataType type = schedule_.tensors[tensor].type;
  const std::size_t made = Add({name, ReplayTensorKind::kWeight, type, schedule_.tensors[tensor].shape, false});
  // One for each channel: broadcast over the dimensions behind it.
  Shape other{{ElementCount(schedule_.tensors[by].shape)}};
  if (other.dims[0] != 1) other.dims.resize(seen_as.rank() - 1, 1);
  const PointwiseConfig config{kind, {type, schedule_.tensors[by].type, type}, {seen_as, other}};
  schedule_.steps.push_back({name, {}, LayerConfig(Canonicalize(config)), "", {tensor, by}, {made}, {ReplayValues()}});
  return made;
}

Status WeightChanger::FoldConstants(const Layer& layer, Changed& changed) {
  const bool has_bias = layer.inputs.size() > 2 && layer.inputs[2];
  const auto is_scale = [](const FoldedConstants& folded) { return !folded.bias; };
  if (layer.inputs.size() < 2 || !layer.inputs[1] || (!has_bias && !std::ranges::all_of(layer.folded, is_scale)))
    return Error{"it has folded constants, but no weights or no bias"};
  INFIMUM_ASSIGN_OR_RETURN(std::size_t weights, Current(*layer.inputs[1], changed));
  const DataType type = schedule_.tensors[weights].type;
  if (!IsFloatingPoint(type)) return Error{"constants are folded into integer weights"};
  INFIMUM_ASSIGN_OR_RETURN(const Shape seen_as, ByChannel(layer, schedule_.tensors[weights].shape));
  const std::int64_t channels = seen_as.dims[1];
  std::optional<std::size_t> bias;
  if (layer.bias_is_folded) bias = Filled(type, channels, 0);
  if (has_bias && !bias) {
    INFIMUM_ASSIGN_OR_RETURN(bias, Current(*layer.inputs[2], changed));
  }
  if (bias && ElementCount(schedule_.tensors[*bias].shape) != channels)
    return Error{"its bias does not have one value for each channel"};
  for (std::size_t i = 0; i < layer.folded.size(); ++i) {
    const FoldedConstants& folded = layer.folded[i];
    const std::string name = layer.name + (folded.variance ? ": normalization " : ": constants ") + std::to_string(i);
    INFIMUM_ASSIGN_OR_RETURN(weights, Fold(weights, seen_as, folded, false, name + " in its weights"));
    if (!bias) continue;
    INFIMUM_ASSIGN_OR_RETURN(bias, Fold(*bias, Shape{{1, channels}}, folded, true, name + " in its bias"));
  }
  changed[*layer.inputs[1]] = weights;
  if (bias) changed[*layer.inputs[2]] = *bias;
  return {};
}

Result<std::size_t> WeightChanger::Fold(std::size_t tensor, const Shape& seen_as, const FoldedConstants& folded,
                                        bool is_bias, const std::string& name) {
  if (folded.variance) return Normalize(tensor, seen_as, folded, is_bias, name);
  if (folded.scale) {
    INFIMUM_ASSIGN_OR_RETURN(const std::size_t scale, tensor_of_(*folded.scale));
    tensor = Combine(PointwiseKind::kMultiply, tensor, seen_as, scale, name);
  }
  if (folded.bias && is_bias) {
    INFIMUM_ASSIGN_OR_RETURN(const std::size_t bias, tensor_of_(*folded.bias));
    tensor = Combine(PointwiseKind::kAdd, tensor, seen_as, bias, name);
  }
  return tensor;
}

Result<std::size_t> WeightChanger::Normalize(std::size_t tensor, const Shape& seen_as, const FoldedConstants& folded,
                                             bool is_bias, const std::string& name) {
  const DataType type = schedule_.tensors[tensor].type;
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t scale, tensor_of_(*folded.scale));
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t variance, tensor_of_(*folded.variance));
  const DataType parameters = schedule_.tensors[scale].type;
  NormalizationConfig config;
  config.kind = NormalizationKind::kBatch;
  config.types = {type, parameters, type};
  config.input = seen_as;
  config.scale = true;
  config.bias = is_bias;
  std::vector<std::size_t> operands{tensor, scale};
  if (is_bias) {
    INFIMUM_ASSIGN_OR_RETURN(const std::size_t bias, tensor_of_(*folded.bias));
    INFIMUM_ASSIGN_OR_RETURN(const std::size_t mean, tensor_of_(*folded.mean));
    operands.insert(operands.end(), {bias, mean, variance});
  } else {
    operands.insert(operands.end(), {Filled(parameters, seen_as.dims[1], 0), variance});
  }
  const std::size_t made = Add({name, ReplayTensorKind::kWeight, type, schedule_.tensors[tensor].shape, false});
  schedule_.steps.push_back(
      {name, {}, LayerConfig(config), "", std::move(operands), {made}, {ReplayValues{{"epsilon", {folded.epsilon}}}}});
  return made;
}

// A product here takes its second matrix as it multiplies.
Status WeightChanger::Transpose(const Layer& layer, Changed& changed) {
  const std::size_t position = MatrixPosition(layer);
  if (layer.inputs.size() <= position || !layer.inputs[position]) return Error{"its second matrix is missing"};
  const ValueId matrix = *layer.inputs[position];
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t stored, Current(matrix, changed));
  const ReplayTensor tensor = schedule_.tensors[stored];
  if (tensor.kind != ReplayTensorKind::kWeight)
    return Error{"its second matrix is computed at run time and transposed"};
  if (tensor.shape.rank() != 2) return Error{"its second matrix does not have two dimensions"};
  if (tensor.shape.dims[0] == 1 || tensor.shape.dims[1] == 1) return {};
  const auto [made, is_new] = transposed_.emplace(stored, schedule_.tensors.size());
  if (is_new) {
    const Shape turned{{tensor.shape.dims[1], tensor.shape.dims[0]}};
    const MovementConfig config{
        MovementKind::kTranspose, {tensor.type, DataType::kNone, tensor.type}, {tensor.shape}, {turned}, -1, {1, 0}, 0};
    Add({tensor.name + " transposed", ReplayTensorKind::kWeight, tensor.type, turned, false});
    schedule_.steps.push_back(
        {"transpose of " + tensor.name, {}, LayerConfig(config), "", {stored}, {made->second}, {ReplayValues()}});
  }
  changed[matrix] = made->second;
  return {};
}

// Horner's rule over the numbers of a place, by the extents of the data's dimensions. As many numbers as before stay,
// since the workload counts them; candidates read the first of them.
Status WeightChanger::JoinPlaces(const Layer& layer, Changed& changed) {
  const std::optional<Shape>& data = graph_.value(*layer.inputs[0]).shape;
  INFIMUM_ASSIGN_OR_RETURN(const std::size_t stored, tensor_of_(*layer.inputs[1]));
  const ReplayTensor places = schedule_.tensors[stored];
  const std::int64_t numbers = places.shape.rank() == 0 ? 1 : places.shape.dims.back();
  if (numbers == 1) return {};
  if (places.kind != ReplayTensorKind::kWeight || !data)
    return Error{"its places have several numbers each, which are known only at run time"};
  const std::int64_t count = ElementCount(places.shape) / numbers;
  const ValueId moved = layer.op == "GatherND" ? *layer.outputs[0] : *layer.inputs[2];
  if (const std::optional<Shape>& shape = graph_.value(moved).shape; !shape || ElementCount(*shape) != count)
    return Error{"its places have several numbers each, and are of more than one element"};
  const Shape rows{{count, numbers}}, column{{count, 1}}, all{{1, count}};
  std::size_t joined = 0;
  for (std::int64_t i = 0; i < numbers; ++i) {
    const std::string name = layer.name + ": number " + std::to_string(i) + " of " + places.name;
    const std::size_t own = Move(MovementKind::kSlice, stored, rows, column, {0, static_cast<double>(i)}, name);
    if (i == 0) {
      joined = own;
      continue;
    }
    const auto extent = static_cast<double>(data->dims[static_cast<std::size_t>(i)]);
    joined =
        Combine(PointwiseKind::kMultiply, joined, all, Filled(places.type, 1, extent), name + ", times its extent");
    joined = Combine(PointwiseKind::kAdd, joined, all, own, name + ", joined");
  }
  changed[*layer.inputs[1]] = Move(MovementKind::kPad, joined, Shape{{count}}, Shape{{count * numbers}}, {0},
                                   layer.name + ": " + places.name + " joined");
  return {};
}

std::size_t WeightChanger::Move(MovementKind kind, std::size_t tensor, const Shape& seen_as, const Shape& shape,
                                std::vector<double> starts, const std::string& name) {
  const DataType type = schedule_.tensors[tensor].type;
  const std::size_t made = Add({name, ReplayTensorKind::kWeight, type, shape, false});
  const MovementConfig config{kind, {type, DataType::kNone, type}, {seen_as}, {shape}, -1, {}, 0};
  schedule_.steps.push_back(
      {name, {}, LayerConfig(config), "", {tensor}, {made}, {ReplayValues{{"starts", std::move(starts)}}}});
  return made;
}

std::size_t WeightChanger::Filled(DataType type, std::int64_t count, double element) {
  const auto [made, is_new] = filled_.emplace(std::tuple(type, count, element), schedule_.tensors.size());
  if (is_new) {
    std::string name = "constant " + std::to_string(filled_.size()) + ": " + std::to_string(element) + " (" +
                       std::to_string(count) + " of " + std::string(Name(type)) + ")";
    ReplayTensor tensor{std::move(name), ReplayTensorKind::kWeight, type, Shape{{count}}, false};
    tensor.fill = element;
    Add(std::move(tensor));
  }
  return made->second;
}

std::size_t WeightChanger::Add(ReplayTensor tensor) {
  schedule_.tensors.push_back(std::move(tensor));
  return schedule_.tensors.size() - 1;
}

}  // namespace infimum
