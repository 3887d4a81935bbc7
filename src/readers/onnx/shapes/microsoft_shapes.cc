#include "src/readers/onnx/shapes/microsoft_shapes.h"

#include <onnx/defs/tensor_proto_util.h>

#include <algorithm>
#include <unordered_map>

#include "src/readers/onnx/shapes/delegated_inference.h"

namespace infimum {
namespace {

using onnx::InferenceContext;
using onnx::TensorProto;
using onnx::TensorShapeProto;

bool ChannelsLast(const InferenceContext& context) {
  return onnx::getAttribute(context, "channels_last", std::int64_t{0}) != 0;
}

// One output like one input, in type and shape.
template <std::size_t kInput>
void SameAs(InferenceContext& context) {
  SetElementTypeFrom(context, kInput, 0);
  SetShapeFrom(context, kInput, 0);
}

// Runs `op` on inputs at other positions, then sets the element type from an input (if it is there).
void Delegate(InferenceContext& context, std::vector<std::size_t> inputs, const char* op, int opset) {
  DelegatedInference(context, std::move(inputs)).Infer(op, opset);
}

// The same for operators over images, in either layout.
void DelegateImage(InferenceContext& context, std::vector<std::size_t> inputs, const char* op, int opset, bool last) {
  DelegatedInference inference(context, std::move(inputs));
  const onnx::TypeProto* image = inference.getInputType(0);
  if (last && image != nullptr) inference.ReplaceInput(0, ToChannelsSecond(*image));
  inference.Infer(op, opset);
  if (last && context.getNumOutputs() > 0) *context.getOutputType(0) = ToChannelsLast(*context.getOutputType(0));
}

void InferFusedConv(InferenceContext& context) { Delegate(context, {0, 1}, "Conv", 11); }
void InferFusedGemm(InferenceContext& context) { Delegate(context, {0, 1}, "Gemm", 13); }
void InferNhwcConv(InferenceContext& context) { DelegateImage(context, {0, 1}, "Conv", 11, true); }
void InferNhwcMaxPool(InferenceContext& context) {
  DelegateImage(context, {0}, "MaxPool", 12, true);
  SetElementTypeFrom(context, 0, 0);
}
void InferMaxpoolWithMask(InferenceContext& context) { Delegate(context, {0}, "MaxPool", 8); }

void InferQLinearConv(InferenceContext& context) {
  DelegateImage(context, {0, 3}, "Conv", 11, ChannelsLast(context));
  SetElementTypeFrom(context, 7, 0);
}

void InferQLinearAveragePool(InferenceContext& context) {
  DelegateImage(context, {0}, "AveragePool", 11, ChannelsLast(context));
  SetElementTypeFrom(context, 0, 0);
}

void InferQLinearGlobalAveragePool(InferenceContext& context) {
  DelegateImage(context, {0}, "GlobalAveragePool", 1, ChannelsLast(context));
  SetElementTypeFrom(context, 0, 0);
}

void InferQLinearReduceMean(InferenceContext& context) {
  Delegate(context, {0}, "ReduceMean", 13);
  SetElementTypeFrom(context, 0, 0);
}

void InferQLinearBinary(InferenceContext& context) {
  Delegate(context, {0, 3}, "Add", 14);
  SetElementTypeFrom(context, 0, 0);
}

void InferQLinearWhere(InferenceContext& context) { Delegate(context, {0, 1, 4}, "Where", 16); }

void InferMulInteger(InferenceContext& context) {
  Delegate(context, {0, 2}, "Mul", 14);
  SetElementType(context, TensorProto::INT32, 0);
}

void InferQLinearConcat(InferenceContext& context) {
  std::vector<std::size_t> inputs;
  for (std::size_t i = 2; i < context.getNumInputs(); i += 3) inputs.push_back(i);
  Delegate(context, std::move(inputs), "Concat", 13);
  SetElementTypeFrom(context, 1, 0);
}

void InferQGemm(InferenceContext& context) {
  Delegate(context, {0, 3}, "Gemm", 13);
  SetElementType(context, TensorProto::FLOAT, 0);
  SetElementTypeFrom(context, 8, 0);
}

void InferQuantizeLinear(InferenceContext& context) {
  SetElementType(context, TensorProto::UINT8, 0);
  SetElementTypeFrom(context, 2, 0);
  SetShapeFrom(context, 0, 0);
}

void InferDequantizeLinear(InferenceContext& context) {
  SetElementTypeFrom(context, 1, 0);
  SetShapeFrom(context, 0, 0);
}

// The last two dimensions swapped (trans), or the batch moved between them (transBatch): [B.., M, K] as
// stored [M, B.., K].
onnx::TypeProto Untransposed(const onnx::TypeProto& type, bool trans, bool trans_batch) {
  const int rank = type.tensor_type().shape().dim_size();
  if (!type.has_tensor_type() || rank < 2) return type;
  std::vector<int> order;
  if (trans_batch) {
    for (int i = 1; i < rank - 1; ++i) order.push_back(i);
    order.insert(order.end(), {0, rank - 1});
  } else {
    for (int i = 0; i < rank; ++i) order.push_back(i);
  }
  if (trans) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return Permuted(type, order);
}

void InferFusedMatMul(InferenceContext& context) {
  const auto flag = [&](const char* name) { return onnx::getAttribute(context, name, std::int64_t{0}) != 0; };
  DelegatedInference inference(context, {0, 1});
  const onnx::TypeProto* a = inference.getInputType(0);
  const onnx::TypeProto* b = inference.getInputType(1);
  if (a == nullptr || b == nullptr) return;
  inference.ReplaceInput(0, Untransposed(*a, flag("transA"), flag("transBatchA")));
  inference.ReplaceInput(1, Untransposed(*b, flag("transB"), flag("transBatchB")));
  inference.Infer("MatMul", 13);
}

void InferMatMul(InferenceContext& context, int element_type) {
  Delegate(context, {0, 1}, "MatMul", 13);
  SetElementType(context, element_type, 0);
}
void InferDynamicQuantizeMatMul(InferenceContext& context) { InferMatMul(context, TensorProto::FLOAT); }
void InferMatMulInteger16(InferenceContext& context) { InferMatMul(context, TensorProto::INT32); }
void InferMatMulIntegerToFloat(InferenceContext& context) {
  InferMatMul(context, TensorProto::FLOAT);
  SetElementTypeFrom(context, 2, 0);
}

// Weights packed in blocks: attributes give their shape.
void InferMatMulNBits(InferenceContext& context) {
  SameAs<0>(context);
  const TensorShapeProto* input = InputShape(context, 0);
  if (input == nullptr || input->dim_size() == 0) return;
  const std::int64_t columns = onnx::getAttribute(context, "N", std::int64_t{-1});
  if (columns < 0) fail_shape_inference("N is missing or negative");
  OutputShapeOf(context, 0)->mutable_dim(input->dim_size() - 1)->set_dim_value(columns);
}

// Rows of a table in blocks, as numbers of the type of the scales; bytes hold several elements of the last dimension.
void InferGatherBlockQuantized(InferenceContext& context) {
  DelegatedInference inference(context, {0, 1});
  const TensorShapeProto* data = InputShape(context, 0);
  const std::int64_t bits = onnx::getAttribute(context, "bits", std::int64_t{4});
  if (data != nullptr && data->dim_size() > 0 && bits > 0 && bits < 8 &&
      context.getInputType(0)->tensor_type().elem_type() == TensorProto::UINT8) {
    onnx::TypeProto unpacked = *context.getInputType(0);
    auto* last = unpacked.mutable_tensor_type()->mutable_shape()->mutable_dim(data->dim_size() - 1);
    if (last->has_dim_value()) {
      last->set_dim_value(onnx::checkedMultiply(last->dim_value(), 8 / bits));
    } else {
      last->clear_value();
    }
    inference.ReplaceInput(0, std::move(unpacked));
  }
  inference.SetAttribute("axis", onnx::getAttribute(context, "gather_axis", std::int64_t{0}));
  inference.Infer("Gather", 13);
  SetElementTypeFrom(context, 2, 0);
}

void InferBiasSplitGelu(InferenceContext& context) {
  SameAs<0>(context);
  const TensorShapeProto* input = InputShape(context, 0);
  if (input == nullptr || input->dim_size() == 0) return;
  auto* last = OutputShapeOf(context, 0)->mutable_dim(input->dim_size() - 1);
  if (last->has_dim_value()) last->set_dim_value(last->dim_value() / 2);
}

// output, mean, inv_std_var, input_skip_bias_sum
void InferSkipNormalization(InferenceContext& context) {
  SameAs<0>(context);
  for (const std::size_t output : {1, 2}) {
    if (output >= context.getNumOutputs() || InputShape(context, 0) == nullptr) continue;
    SetElementType(context, TensorProto::FLOAT, output);
    SetShapeFrom(context, 0, output);
    TensorShapeProto& shape = *OutputShapeOf(context, output);
    if (shape.dim_size() > 0) shape.mutable_dim(shape.dim_size() - 1)->set_dim_value(1);
  }
  if (context.getNumOutputs() > 3) {
    SetElementTypeFrom(context, 0, 3);
    SetShapeFrom(context, 0, 3);
  }
}

void InferSkipGroupNorm(InferenceContext& context) {
  for (std::size_t output = 0; output < context.getNumOutputs(); ++output) {
    SetElementTypeFrom(context, 0, output);
    SetShapeFrom(context, 0, output);
  }
}

// Also of SimplifiedLayerNormalization: Y and the inverse deviation, over the axes from `axis` on.
void InferSimplifiedLayerNormalization(InferenceContext& context) {
  SameAs<0>(context);
  const TensorShapeProto* input = InputShape(context, 0);
  if (context.getNumOutputs() < 2 || input == nullptr) return;
  SetElementType(context, TensorProto::FLOAT, 1);
  SetShapeFrom(context, 0, 1);
  std::int64_t axis = onnx::getAttribute(context, "axis", std::int64_t{-1});
  if (axis < 0) axis += input->dim_size();
  for (std::int64_t i = std::max<std::int64_t>(axis, 0); i < input->dim_size(); ++i)
    OutputShapeOf(context, 1)->mutable_dim(static_cast<int>(i))->set_dim_value(1);
}

// output [batch, sequence, hidden], mask_index [batch], embedding_sum like output.
void InferEmbedLayerNormalization(InferenceContext& context) {
  const TensorShapeProto* ids = InputShape(context, 0);
  const TensorShapeProto* words = InputShape(context, 2);
  for (const std::size_t output : {0, 2}) {
    if (output >= context.getNumOutputs()) continue;
    SetElementTypeFrom(context, 5, output);
    if (ids == nullptr || words == nullptr || ids->dim_size() != 2 || words->dim_size() != 2) continue;
    TensorShapeProto& shape = *OutputShapeOf(context, output);
    shape = *ids;
    *shape.add_dim() = words->dim(1);
  }
  if (context.getNumOutputs() > 1) {
    SetElementType(context, TensorProto::INT32, 1);
    if (ids != nullptr && ids->dim_size() == 2) {
      OutputShapeOf(context, 1)->clear_dim();
      *OutputShapeOf(context, 1)->add_dim() = ids->dim(0);
    }
  }
}

void InferQEmbedLayerNormalization(InferenceContext& context) {
  InferEmbedLayerNormalization(context);
  SetElementType(context, TensorProto::FLOAT, 0);
}

void InferConvTransposeWithDynamicPads(InferenceContext& context) {
  DelegatedInference inference(context, {0, 1});
  const TensorProto* pads = context.getNumInputs() > 2 ? context.getInputData(2) : nullptr;
  if (pads == nullptr || pads->data_type() != TensorProto::INT64) return SetElementTypeFrom(context, 0, 0);
  inference.SetAttribute("pads", onnx::ParseData<std::int64_t>(pads));
  inference.Infer("ConvTranspose", 11);
}

void InferGatherND(InferenceContext& context) { Delegate(context, {0, 1}, "GatherND", 13); }
void InferPad(InferenceContext& context) { Delegate(context, {0, 1, 2}, "Pad", 13); }
void InferRange(InferenceContext& context) { Delegate(context, {0, 1, 2}, "Range", 11); }
void InferComplexMul(InferenceContext& context) { Delegate(context, {0, 1}, "Mul", 14); }

void InferDistances(InferenceContext& context) {
  SetElementTypeFrom(context, 0, 0);
  const TensorShapeProto* a = InputShape(context, 0);
  const TensorShapeProto* b = InputShape(context, 1);
  if (a == nullptr || b == nullptr || a->dim_size() != 2 || b->dim_size() != 2) return;
  TensorShapeProto& shape = *OutputShapeOf(context, 0);
  *shape.add_dim() = a->dim(0);
  *shape.add_dim() = b->dim(0);
}

using Table = std::unordered_map<std::string_view, InferOperator>;

const Table& Microsoft() {
  static const Table table = {
      {"FusedConv", InferFusedConv},
      {"FusedGemm", InferFusedGemm},
      {"GemmFastGelu", InferFusedGemm},
      {"FusedMatMul", InferFusedMatMul},
      {"FusedMatMulActivation", InferFusedMatMul},
      {"TransposeMatMul", InferFusedMatMul},
      {"NhwcConv", InferNhwcConv},
      {"NhwcFusedConv", InferNhwcConv},
      {"NhwcMaxPool", InferNhwcMaxPool},
      {"MaxpoolWithMask", InferMaxpoolWithMask},
      {"ConvTransposeWithDynamicPads", InferConvTransposeWithDynamicPads},
      {"Gelu", SameAs<0>},
      {"FastGelu", SameAs<0>},
      {"QuickGelu", SameAs<0>},
      {"BiasGelu", SameAs<0>},
      {"BiasAdd", SameAs<0>},
      {"BiasSoftmax", SameAs<0>},
      {"BiasDropout", SameAs<0>},
      {"ScaledSiLU", SameAs<0>},
      {"GatedAdd", SameAs<0>},
      {"GroupNorm", SameAs<0>},
      {"GatedRMSNorm", SameAs<0>},
      {"BranchwiseRMSNorm", SameAs<0>},
      {"Inverse", SameAs<0>},
      {"Trilu", SameAs<0>},
      {"MoE", SameAs<0>},
      {"QMoE", SameAs<0>},
      {"NGramRepeatBlock", SameAs<1>},
      {"RotaryEmbedding", SameAs<0>},
      {"MRotaryEmbedding", SameAs<0>},
      {"QLinearLeakyRelu", SameAs<0>},
      {"QLinearSigmoid", SameAs<0>},
      {"QLinearSoftmax", SameAs<0>},
      {"BiasSplitGelu", InferBiasSplitGelu},
      {"GatherBlockQuantized", InferGatherBlockQuantized},
      {"SkipGroupNorm", InferSkipGroupNorm},
      {"SkipLayerNormalization", InferSkipNormalization},
      {"SkipSimplifiedLayerNormalization", InferSkipNormalization},
      {"SimplifiedLayerNormalization", InferSimplifiedLayerNormalization},
      {"EmbedLayerNormalization", InferEmbedLayerNormalization},
      {"QEmbedLayerNormalization", InferQEmbedLayerNormalization},
      {"QLinearConv", InferQLinearConv},
      {"QLinearAveragePool", InferQLinearAveragePool},
      {"QLinearGlobalAveragePool", InferQLinearGlobalAveragePool},
      {"QLinearReduceMean", InferQLinearReduceMean},
      {"QLinearAdd", InferQLinearBinary},
      {"QLinearMul", InferQLinearBinary},
      {"QLinearWhere", InferQLinearWhere},
      {"QLinearConcat", InferQLinearConcat},
      {"QGemm", InferQGemm},
      {"MulInteger", InferMulInteger},
      {"QuantizeLinear", InferQuantizeLinear},
      {"DequantizeLinear", InferDequantizeLinear},
      {"DynamicQuantizeMatMul", InferDynamicQuantizeMatMul},
      {"MatMulIntegerToFloat", InferMatMulIntegerToFloat},
      {"MatMulInteger16", InferMatMulInteger16},
      {"MatMulNBits", InferMatMulNBits},
      {"MatMulBnb4", InferMatMulNBits},
      {"GatherND", InferGatherND},
      {"Pad", InferPad},
      {"Range", InferRange},
      {"CDist", InferDistances},
      {"ComplexMul", InferComplexMul},
      {"ComplexMulConj", InferComplexMul},
  };
  return table;
}

// ONNX Runtime puts a few of its own operators into ONNX's domain.
const Table& InOnnxDomain() {
  static const Table table = {{"SimplifiedLayerNormalization", InferSimplifiedLayerNormalization}};
  return table;
}

InferOperator Find(const Table& table, std::string_view op) {
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

// ---- trt: what NVIDIA's Model Optimizer writes for TensorRT.

void InferToFloat8(InferenceContext& context) {
  SetElementType(context, TensorProto::FLOAT8E4M3FN, 0);
  SetShapeFrom(context, 0, 0);
}

void InferFromMxFloat8(InferenceContext& context) {
  const std::int64_t type = onnx::getAttribute(context, "output_dtype", std::int64_t{TensorProto::FLOAT});
  SetElementType(context, static_cast<int>(type), 0);
  SetShapeFrom(context, 0, 0);
}

// Numbers, and a scale for each block of the axis.
void InferInBlocks(InferenceContext& context, int type, int scale_type, std::int64_t usual_block) {
  SetElementType(context, type, 0);
  SetElementType(context, scale_type, 1);
  SetShapeFrom(context, 0, 0);
  const TensorShapeProto* input = InputShape(context, 0);
  const std::int64_t block = onnx::getAttribute(context, "block_size", usual_block);
  if (input == nullptr || context.getNumOutputs() < 2 || block < 1) return;
  std::int64_t axis = onnx::getAttribute(context, "axis", std::int64_t{-1});
  if (axis < 0) axis += input->dim_size();
  if (axis < 0 || axis >= input->dim_size()) fail_shape_inference("axis is none of the input's");
  TensorShapeProto& shape = *OutputShapeOf(context, 1);
  shape = *input;
  auto& dim = *shape.mutable_dim(static_cast<int>(axis));
  if (dim.has_dim_value()) {
    const std::int64_t extent = dim.dim_value();
    dim.set_dim_value(extent / block + (extent % block > 0 ? 1 : 0));
  } else {
    dim.Clear();
  }
}
void InferDynamicFloat4(InferenceContext& context) {
  InferInBlocks(context, TensorProto::FLOAT4E2M1, TensorProto::FLOAT8E4M3FN, 16);
}
void InferDynamicMxFloat8(InferenceContext& context) {
  InferInBlocks(context, TensorProto::FLOAT8E4M3FN, TensorProto::FLOAT8E8M0, 32);
}

const Table& TensorRt() {
  static const Table table = {
      {"DequantizeLinear", InferDequantizeLinear},        {"TRT_FP8QuantizeLinear", InferToFloat8},
      {"TRT_FP8DequantizeLinear", InferDequantizeLinear}, {"TRT_MXFP8DequantizeLinear", InferFromMxFloat8},
      {"TRT_FP4DynamicQuantize", InferDynamicFloat4},     {"TRT_MXFP8DynamicQuantize", InferDynamicMxFloat8}};
  return table;
}

// ---- com.ms.internal.nhwc: ONNX's operators, channels last, weights as ONNX has them.

void InferNhwcConvTranspose(InferenceContext& context) { DelegateImage(context, {0, 1}, "ConvTranspose", 11, true); }
void InferNhwcAveragePool(InferenceContext& context) { DelegateImage(context, {0}, "AveragePool", 11, true); }
void InferNhwcLpPool(InferenceContext& context) { DelegateImage(context, {0}, "LpPool", 11, true); }
void InferNhwcGlobalPool(InferenceContext& context) { DelegateImage(context, {0}, "GlobalAveragePool", 1, true); }
void InferNhwcDepthToSpace(InferenceContext& context) { DelegateImage(context, {0}, "DepthToSpace", 13, true); }
void InferNhwcSpaceToDepth(InferenceContext& context) { DelegateImage(context, {0}, "SpaceToDepth", 13, true); }
void InferNhwcGridSample(InferenceContext& context) { DelegateImage(context, {0, 1}, "GridSample", 16, true); }
void InferNhwcResize(InferenceContext& context) { Delegate(context, {0, 1, 2, 3}, "Resize", 19); }
void InferNhwcQLinearConv(InferenceContext& context) {
  DelegateImage(context, {0, 3}, "Conv", 11, true);
  SetElementTypeFrom(context, 7, 0);
}
void InferNhwcQLinearAveragePool(InferenceContext& context) {
  DelegateImage(context, {0}, "AveragePool", 11, true);
  SetElementTypeFrom(context, 0, 0);
}

// ---- com.microsoft.nchwc: channels in blocks; the shapes are those of NCHW with channels rounded up.

void InferReorderInput(InferenceContext& context) {
  SameAs<0>(context);
  const onnx::TypeProto* input = context.getInputType(0);
  if (input != nullptr && ChannelsLast(context)) *context.getOutputType(0) = ToChannelsSecond(*input);
}

void InferReorderOutput(InferenceContext& context) {
  SameAs<0>(context);
  const TensorShapeProto* input = InputShape(context, 0);
  if (input == nullptr || input->dim_size() < 2) return;
  const std::int64_t channels = onnx::getAttribute(context, "channels", std::int64_t{0});
  if (channels > 0) OutputShapeOf(context, 0)->mutable_dim(1)->set_dim_value(channels);
  if (ChannelsLast(context)) *context.getOutputType(0) = ToChannelsLast(*context.getOutputType(0));
}

void InferBlockedMaxPool(InferenceContext& context) { Delegate(context, {0}, "MaxPool", 12); }
void InferBlockedAveragePool(InferenceContext& context) { Delegate(context, {0}, "AveragePool", 11); }
void InferBlockedGlobalPool(InferenceContext& context) { Delegate(context, {0}, "GlobalAveragePool", 1); }

void InferBlockedUpsample(InferenceContext& context) {
  SameAs<0>(context);
  const TensorShapeProto* input = InputShape(context, 0);
  const onnx::AttributeProto* scales = context.getAttribute("scales");
  if (input == nullptr || scales == nullptr || scales->ints_size() != input->dim_size()) return;
  *OutputShapeOf(context, 0) = *input;
  for (int i = 0; i < input->dim_size(); ++i)
    if (input->dim(i).has_dim_value())
      OutputShapeOf(context, 0)
          ->mutable_dim(i)
          ->set_dim_value(onnx::checkedMultiply(input->dim(i).dim_value(), scales->ints(i)));
}

}  // namespace

InferOperator FindNhwcInference(std::string_view op) {
  static const Table table = {
      {"Conv", InferNhwcConv},
      {"ConvTranspose", InferNhwcConvTranspose},
      {"MaxPool", InferNhwcMaxPool},
      {"AveragePool", InferNhwcAveragePool},
      {"LpPool", InferNhwcLpPool},
      {"GlobalAveragePool", InferNhwcGlobalPool},
      {"GlobalMaxPool", InferNhwcGlobalPool},
      {"GlobalLpPool", InferNhwcGlobalPool},
      {"BatchNormalization", SameAs<0>},
      {"InstanceNormalization", SameAs<0>},
      {"LRN", SameAs<0>},
      {"DepthToSpace", InferNhwcDepthToSpace},
      {"SpaceToDepth", InferNhwcSpaceToDepth},
      {"GridSample", InferNhwcGridSample},
      {"Resize", InferNhwcResize},
      {"QLinearConv", InferNhwcQLinearConv},
      {"QLinearAveragePool", InferNhwcQLinearAveragePool},
  };
  return Find(table, op);
}

InferOperator FindNchwcInference(std::string_view op) {
  static const Table table = {
      {"Conv", InferFusedConv},
      {"MaxPool", InferBlockedMaxPool},
      {"AveragePool", InferBlockedAveragePool},
      {"GlobalAveragePool", InferBlockedGlobalPool},
      {"GlobalMaxPool", InferBlockedGlobalPool},
      {"ReorderInput", InferReorderInput},
      {"ReorderOutput", InferReorderOutput},
      {"Upsample", InferBlockedUpsample},
  };
  return Find(table, op);
}

InferOperator FindMicrosoftInference(std::string_view domain, std::string_view op) {
  if (domain.empty()) return Find(InOnnxDomain(), op);
  if (domain == "com.microsoft") {
    const InferOperator found = Find(Microsoft(), op);
    return found != nullptr ? found : FindMicrosoftAttentionInference(op);
  }
  if (domain == "trt") return Find(TensorRt(), op);
  if (domain == "com.ms.internal.nhwc") return FindNhwcInference(op);
  if (domain == "com.microsoft.nchwc") return FindNchwcInference(op);
  return nullptr;
}

}  // namespace infimum
