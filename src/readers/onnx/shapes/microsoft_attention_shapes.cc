// Shapes of com.microsoft's attention operators. B batch, S query length, T length of keys and values
// with what is past, N heads, H a head's size.
#include <onnx/defs/tensor_proto_util.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "src/readers/onnx/shapes/delegated_inference.h"
#include "src/readers/onnx/shapes/microsoft_shapes.h"

namespace infimum {
namespace {

using onnx::InferenceContext;
using Extent = std::optional<std::int64_t>;

Extent DimOf(const InferenceContext& context, std::size_t input, int axis) {
  const onnx::TensorShapeProto* shape = InputShape(context, input);
  if (shape == nullptr || axis >= shape->dim_size() || !shape->dim(axis).has_dim_value()) return std::nullopt;
  return shape->dim(axis).dim_value();
}

int RankOf(const InferenceContext& context, std::size_t input) {
  const onnx::TensorShapeProto* shape = InputShape(context, input);
  return shape == nullptr ? -1 : shape->dim_size();
}

void SetOutput(InferenceContext& context, std::size_t output, std::size_t type_from, const std::vector<Extent>& dims) {
  if (output >= context.getNumOutputs()) return;
  SetElementTypeFrom(context, type_from, output);
  onnx::TensorShapeProto& shape = *OutputShapeOf(context, output);
  shape.clear_dim();
  for (const Extent& dim : dims) {
    onnx::TensorShapeProto::Dimension& added = *shape.add_dim();
    if (dim) added.set_dim_value(*dim);
  }
}

Extent Sum(Extent a, Extent b) { return a && b ? Extent(onnx::checkedAdd(*a, *b)) : std::nullopt; }
Extent Product(Extent a, Extent b) { return a && b ? Extent(onnx::checkedMultiply(*a, *b)) : std::nullopt; }
Extent Quotient(Extent a, Extent b) { return a && b && *b > 0 ? Extent(*a / *b) : std::nullopt; }

std::int64_t Attribute(const InferenceContext& context, const char* name) {
  return onnx::getAttribute(context, name, std::int64_t{0});
}

// Of a cache of `past` positions that is returned with `added` ones: a buffer stays as long as it is. The operators
// with an input for the number of valid positions have it at `length`.
Extent PresentLength(const InferenceContext& context, Extent past, Extent added, std::size_t length) {
  const bool is_buffer = Attribute(context, "past_present_share_buffer") != 0 ||
                         (length < context.getNumInputs() && context.getInputType(length) != nullptr);
  return is_buffer && past != Extent(0) ? past : Sum(past, added);
}

// input BxSxD, weights D x 3NH, past 2xBxNxPxH; output BxSxNH, present 2xBxNx(P+S)xH.
void InferPackedAttention(InferenceContext& context, std::size_t past, std::size_t type_from) {
  const Extent batch = DimOf(context, 0, 0);
  const Extent sequence = DimOf(context, 0, 1);
  Extent hidden = Quotient(DimOf(context, 1, 1), 3);
  Extent key_hidden = hidden;
  if (const onnx::AttributeProto* sizes = context.getAttribute("qkv_hidden_sizes");
      sizes != nullptr && sizes->ints_size() == 3) {
    key_hidden = sizes->ints(1);
    hidden = sizes->ints(2);
  }
  SetOutput(context, 0, type_from, {batch, sequence, hidden});
  const Extent heads = Attribute(context, "num_heads");
  const Extent before =
      past < context.getNumInputs() && RankOf(context, past) == 5 ? DimOf(context, past, 3) : Extent(0);
  SetOutput(
      context, 1, type_from,
      {2, batch, heads, PresentLength(context, before, sequence, context.getNumInputs()), Quotient(key_hidden, heads)});
}

void InferAttention(InferenceContext& context) { InferPackedAttention(context, 4, 0); }
// Quantized inputs; the output has the type of the input's scale.
void InferQAttention(InferenceContext& context) { InferPackedAttention(context, 8, 3); }

// query BxSxNH with key and value BxTxNH or BxNxTxH, or packed: BxSxNx3xH, or kv in key: BxTxNx2xH.
void InferMultiHeadAttention(InferenceContext& context) {
  const Extent batch = DimOf(context, 0, 0);
  const Extent sequence = DimOf(context, 0, 1);
  const Extent heads = Attribute(context, "num_heads");
  Extent hidden;
  Extent keys = DimOf(context, 1, 1);
  Extent head;
  if (RankOf(context, 0) == 5) {
    head = DimOf(context, 0, 4);
    hidden = Product(DimOf(context, 0, 2), head);
    keys = sequence;
  } else if (RankOf(context, 1) == 5) {
    head = DimOf(context, 1, 4);
    hidden = Product(DimOf(context, 1, 2), head);
  } else if (RankOf(context, 2) == 4) {
    hidden = Product(DimOf(context, 2, 1), DimOf(context, 2, 3));
    keys = DimOf(context, 1, 2);
    head = DimOf(context, 1, 3);
  } else {
    hidden = DimOf(context, 2, 2);
    head = Quotient(DimOf(context, 1, 2), heads);
  }
  SetOutput(context, 0, 0, {batch, sequence, hidden});
  const Extent past = RankOf(context, 6) == 4 ? DimOf(context, 6, 2) : Extent(0);
  const Extent total = PresentLength(context, past, keys, 8);
  SetOutput(context, 1, 0, {batch, heads, total, head});
  SetOutput(context, 2, 0, {batch, heads, total, Quotient(hidden, heads)});
  SetOutput(context, 3, 0, {batch, heads, sequence, total});
}

// query BxSxNH, or with keys and values in it BxSx(N+2K)H; past and present BxKxTxH.
void InferGroupQueryAttention(InferenceContext& context) {
  const Extent batch = DimOf(context, 0, 0);
  const Extent sequence = DimOf(context, 0, 1);
  const std::int64_t heads = Attribute(context, "num_heads");
  const std::int64_t kv_heads = Attribute(context, "kv_num_heads");
  const bool packed = RankOf(context, 1) != 3;
  const Extent width = DimOf(context, 0, 2);
  const Extent head =
      packed ? Quotient(width, onnx::checkedAdd(heads, onnx::checkedMultiply(2, kv_heads))) : Quotient(width, heads);
  SetOutput(context, 0, 0, {batch, sequence, Product(head, heads)});
  const Extent past = RankOf(context, 3) == 4 ? DimOf(context, 3, 2) : Extent(0);
  const bool slides = Attribute(context, "sliding_window_cache") != 0;
  Extent total = slides ? past : Sum(past, sequence);
  const onnx::TensorProto* length = context.getNumInputs() > 6 ? context.getInputData(6) : nullptr;
  if (length != nullptr && length->data_type() == onnx::TensorProto::INT32) {
    const std::vector<std::int32_t> values = onnx::ParseData<std::int32_t>(length);
    if (values.size() == 1 && !slides) total = std::max<std::int64_t>(past.value_or(0), values.front());
  }
  // The cache is an output in its own type where it is quantized, two elements of 4 bits in a byte.
  const std::size_t cache_type = RankOf(context, 3) == 4 ? 3 : 0;
  const bool is_packed = cache_type == 3 && Attribute(context, "kv_cache_bit_width") == 4 &&
                         context.getInputType(3)->tensor_type().elem_type() == onnx::TensorProto::UINT8;
  const Extent stored = is_packed ? Quotient(head, 2) : head;
  SetOutput(context, 1, cache_type, {batch, kv_heads, total, stored});
  SetOutput(context, 2, cache_type, {batch, kv_heads, total, stored});
}

// One step of a decoder: like MultiHeadAttention with S = 1 and a cache.
void InferDecoderMaskedMultiHeadAttention(InferenceContext& context) {
  const Extent batch = DimOf(context, 0, 0);
  const Extent heads = Attribute(context, "num_heads");
  const Extent hidden = RankOf(context, 2) == 3   ? DimOf(context, 2, 2)
                        : RankOf(context, 2) == 4 ? Product(DimOf(context, 2, 1), DimOf(context, 2, 3))
                                                  : Quotient(DimOf(context, 0, 2), 3);
  SetOutput(context, 0, 0, {batch, DimOf(context, 0, 1), hidden});
  const Extent past = RankOf(context, 5) == 4 ? DimOf(context, 5, 2) : Extent(0);
  const Extent total = PresentLength(context, past, 1, 7);
  SetOutput(context, 1, 0, {batch, heads, total, Quotient(hidden, heads)});
  SetOutput(context, 2, 0, {batch, heads, total, Quotient(hidden, heads)});
}

void InferSparseAttention(InferenceContext& context) { InferGroupQueryAttention(context); }

void InferGatedRelativePositionBias(InferenceContext& context) {
  const Extent sequence = DimOf(context, 0, 1);
  SetOutput(context, 0, 0, {DimOf(context, 0, 0), Attribute(context, "num_heads"), sequence, sequence});
}

void InferLongformerAttention(InferenceContext& context) {
  SetElementTypeFrom(context, 0, 0);
  SetShapeFrom(context, 0, 0);
}

}  // namespace

InferOperator FindMicrosoftAttentionInference(std::string_view op) {
  static const std::unordered_map<std::string_view, InferOperator> table = {
      {"Attention", InferAttention},
      {"QAttention", InferQAttention},
      {"DecoderMaskedSelfAttention", InferAttention},
      {"MultiHeadAttention", InferMultiHeadAttention},
      {"GroupQueryAttention", InferGroupQueryAttention},
      {"SparseAttention", InferSparseAttention},
      {"DecoderMaskedMultiHeadAttention", InferDecoderMaskedMultiHeadAttention},
      {"GatedRelativePositionBias", InferGatedRelativePositionBias},
      {"LongformerAttention", InferLongformerAttention},
  };
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace infimum
