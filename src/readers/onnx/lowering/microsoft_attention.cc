// com.microsoft's attention operators: they take packed projections, add biases, rotate, and keep
// their own caches, all of which become members of a region around the attention itself.
#include <algorithm>
#include <vector>

#include "src/readers/onnx/lowering/attention.h"
#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/matmul.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/normalization.h"
#include "src/readers/onnx/lowering/operands.h"

namespace infimum::lowering {
namespace {

using Source = RegionBuilder::Source;

constexpr IntegerRange kHeads{1, kMaxAttribute};
constexpr const char* kReturnsScores = "it also returns the scores, which no attention workload does";

// A mask that differs from query to query; lengths and padding are values.
std::optional<std::size_t> MaskOver(const NodeView& node, std::size_t position, std::int64_t queries) {
  const OperandView* mask = node.input(position);
  if (mask == nullptr || mask->shape == nullptr || mask->shape->rank() < 3) return std::nullopt;
  return mask->shape->dims[mask->shape->rank() - 2] == queries ? std::optional(position) : std::nullopt;
}

// A batch x q x kv mask lacks the dimension of heads: the node as if it had one.
class MaskView {
 public:
  MaskView(const NodeView& node, std::optional<std::size_t> mask)
      : view_{node.op, node.domain, node.opset, node.inputs, node.outputs, node.attributes} {
    if (!mask || !HasInput(node, *mask) || node.input(*mask)->shape == nullptr) return;
    shape_ = *node.input(*mask)->shape;
    if (shape_.rank() != 3) return;
    shape_.dims.insert(shape_.dims.begin() + 1, 1);
    view_.inputs[*mask]->shape = &shape_;
  }
  MaskView(const MaskView&) = delete;
  MaskView& operator=(const MaskView&) = delete;

  NodeView& node() { return view_; }

 private:
  Shape shape_;
  NodeView view_;
};

// Attention over one projection of all of q, k and v. inputs: x, weights, bias; `mask` and `past` where given.
struct Projected {
  std::size_t bias = 2;
  std::size_t mask = 3;
  std::size_t past = 4;
  std::optional<std::size_t> score_bias;
};

Result<Lowering> LowerProjected(const NodeView& node, const Projected& at) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape x, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape weights, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, OutputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t heads, RequiredInteger(node, "num_heads", kHeads));
  INFIMUM_ASSIGN_OR_RETURN(const auto sizes, IntegersIn(node, "qkv_hidden_sizes", kHeads));
  INFIMUM_ASSIGN_OR_RETURN(const bool rotates, Flag(node, "do_rotary", false));
  INFIMUM_ASSIGN_OR_RETURN(const bool shared, Flag(node, "past_present_share_buffer", false));
  if (x.rank() != 3 || weights.rank() != 2)
    return Error{"an input of " + Format(x) + " does not fit weights of " + Format(weights)};
  const std::int64_t width = weights.dims[1];
  std::vector<std::int64_t> parts = sizes.value_or(std::vector<std::int64_t>{});
  if (parts.empty()) parts.assign(3, width / 3);
  if (parts.size() != 3 || parts[0] + parts[1] + parts[2] != width || parts[0] != parts[1] || parts[0] % heads != 0 ||
      parts[2] % heads != 0)
    return Error{"weights of " + Format(weights) + " are not projections to " + std::to_string(heads) + " heads"};

  RegionBuilder region(node);
  Product product;
  if (HasInput(node, at.bias)) product.bias = at.bias;
  INFIMUM_ASSIGN_OR_RETURN(const Source packed, AddProduct(region, node, product, x, weights));
  AttentionParts attention;
  if (rotates) attention.inexpressible = "it turns queries and keys by angles of its own, which no workload does";
  INFIMUM_ASSIGN_OR_RETURN(attention.causal, Flag(node, "unidirectional", false));
  const HeadTensor part{packed, x.dims[0], heads, x.dims[1], parts[0] / heads, false};
  HeadTensor value_part = part;
  value_part.size = parts[2] / heads;
  attention.q = TakeHeads(region, type, packed, width, part);
  attention.k = TakeHeads(region, type, packed, width, part);
  attention.v = TakeHeads(region, type, packed, width, value_part);
  const auto leave_both = [&] {  // keys, then values
    const Shape flat{{1, attention.k.elements()}};
    attention.leaving.push_back(region.Add(Concat(type, {flat, Shape{{1, attention.v.elements()}}}, 1),
                                           {attention.k.source, attention.v.source}));
  };
  if (HasInput(node, at.past)) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape past, InputShape(node, at.past));
    if (past.rank() != 5 || past.dims[0] != 2 || part.size != value_part.size)
      return Error{"a cache of " + Format(past) + " is not 2 x batch x heads x length x size"};
    const std::int64_t added = attention.k.length;
    const std::int64_t valid = shared ? ValidPositions(node, past.dims[3], added, attention) : past.dims[3];
    const Bytes written = SizeOf(type, 2 * attention.k.elements());
    if (shared && HasOutput(node, 1)) leave_both();
    if (HasOutput(node, 1)) attention.in_place.push_back({1, at.past, written});
    if (ElementCount(past) > 0 && valid > 0) {
      // Both halves are read as one; of a buffer what is valid after the new positions were written.
      const std::int64_t length = shared ? valid + added : valid;
      const Shape read{{2, attention.k.batch * heads * length * part.size}};
      const Shape half{{1, read.dims[1]}};
      INFIMUM_RETURN_IF_ERROR(CheckedElementCount(read));
      const Source both =
          region.Add(shared ? Move(MovementKind::kSlice, type, Shape{{2, ProductOf(past, 1, 5)}}, read)
                            : Move(MovementKind::kCopy, type, Shape{{ElementCount(read)}}, Shape{{ElementCount(read)}}),
                     {region.Input(at.past)});
      for (HeadTensor* tensor : {&attention.k, &attention.v}) {
        const Source cache = region.Add(Move(MovementKind::kSlice, type, read, half), {both});
        if (shared) {
          tensor->source = cache;
          tensor->length = length;
          tensor->heads_first = true;
        } else {
          INFIMUM_ASSIGN_OR_RETURN(*tensor, AppendToCache(region, type, cache, valid, *tensor));
        }
      }
    }
  }
  if (HasOutput(node, 1) && !shared) leave_both();
  if (at.score_bias && HasInput(node, *at.score_bias))
    attention.mask = at.score_bias;
  else
    attention.mask = MaskOver(node, at.mask, x.dims[1]);
  // FinishAttention takes the element type from input 0, which a quantised projection changes.
  MaskView view(node, attention.mask);
  view.node().inputs[0]->type = type;
  return FinishAttention(region, view.node(), attention);
}

Result<Lowering> LowerMicrosoftAttention(const NodeView& node) { return LowerProjected(node, {.score_bias = 5}); }

// inputs: x, weights, bias, two scales, mask, two zero points, past.
Result<Lowering> LowerQAttention(const NodeView& node) {
  return LowerProjected(node, {.bias = 2, .mask = 5, .past = 8, .score_bias = std::nullopt});
}

// Positions of the inputs of attention over given projections.
struct Given {
  std::size_t mask;
  std::size_t score_bias;
  std::size_t past_key;
  std::size_t past_length;
  std::size_t bias;
};

// q, k and v from separate inputs, or packed in the first, or k and v packed in the second.
Result<Lowering> LowerGiven(const NodeView& node, const Given& at) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape query, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t heads, RequiredInteger(node, "num_heads", kHeads));
  INFIMUM_ASSIGN_OR_RETURN(const bool shared, Flag(node, "past_present_share_buffer", false));
  RegionBuilder region(node);
  AttentionParts parts;
  if (HasOutput(node, 3)) parts.inexpressible = kReturnsScores;
  INFIMUM_ASSIGN_OR_RETURN(parts.causal, Flag(node, "unidirectional", false));
  if (query.rank() == 5) {  // batch x length x heads x 3 x size
    if (query.dims[2] != heads || query.dims[3] != 3)
      return Error{"an input of " + Format(query) + " does not pack q, k and v"};
    const HeadTensor part{region.Input(0), query.dims[0], heads, query.dims[1], query.dims[4], false};
    const std::int64_t width = 3 * heads * query.dims[4];
    for (HeadTensor* tensor : {&parts.q, &parts.k, &parts.v})
      *tensor = TakeHeads(region, type, region.Input(0), width, part);
  } else if (!HasInput(node, 1)) {
    if (query.rank() != 3 || query.dims[2] % (3 * heads) != 0)
      return Error{"an input of " + Format(query) + " does not pack q, k and v"};
    const HeadTensor part{region.Input(0), query.dims[0], heads, query.dims[1], query.dims[2] / (3 * heads), false};
    for (HeadTensor* tensor : {&parts.q, &parts.k, &parts.v})
      *tensor = TakeHeads(region, type, region.Input(0), query.dims[2], part);
  } else {
    INFIMUM_ASSIGN_OR_RETURN(parts.q, ReadHeads(node, 0, heads));
    INFIMUM_ASSIGN_OR_RETURN(const Shape key, InputShape(node, 1));
    if (key.rank() == 5) {  // batch x length x heads x 2 x size
      if (key.dims[2] != heads || key.dims[3] != 2)
        return Error{"an input of " + Format(key) + " does not pack k and v"};
      const HeadTensor part{region.Input(1), key.dims[0], heads, key.dims[1], key.dims[4], false};
      for (HeadTensor* tensor : {&parts.k, &parts.v})
        *tensor = TakeHeads(region, type, region.Input(1), 2 * heads * key.dims[4], part);
    } else {
      INFIMUM_ASSIGN_OR_RETURN(parts.k, ReadHeads(node, 1, heads));
      INFIMUM_ASSIGN_OR_RETURN(parts.v, ReadHeads(node, 2, heads));
    }
  }
  if (HasInput(node, at.bias)) {  // of q, then k, then v
    INFIMUM_ASSIGN_OR_RETURN(const Shape bias, InputShape(node, at.bias));
    INFIMUM_ASSIGN_OR_RETURN(const DataType bias_type, InputType(node, at.bias));
    if (parts.q.heads != heads || parts.k.heads != heads || parts.v.heads != heads)
      return Error{"its inputs do not have " + std::to_string(heads) + " heads each"};
    const std::int64_t total = heads * (parts.q.size + parts.k.size + parts.v.size);
    if (ElementCount(bias) != total) return Error{"a bias of " + Format(bias) + " does not fit its projections"};
    for (HeadTensor* tensor : {&parts.q, &parts.k, &parts.v}) {
      const std::int64_t size = heads * tensor->size;
      const Source piece =
          region.Add(Move(MovementKind::kSlice, bias_type, Shape{{total}}, Shape{{size}}), {region.Input(at.bias)});
      Shape whole{{tensor->batch, tensor->length, heads, tensor->size}};
      Shape added{{heads, tensor->size}};
      if (tensor->heads_first) {
        std::swap(whole.dims[1], whole.dims[2]);
        added = Shape{{heads, 1, tensor->size}};
      }
      INFIMUM_ASSIGN_OR_RETURN(tensor->source, region.AddPointwise(PointwiseKind::kAdd, {type, bias_type, type},
                                                                   {whole, added}, {tensor->source, piece}));
    }
  }
  if (HasInput(node, at.past_key)) {
    const bool in_buffer = shared || HasInput(node, at.past_length);
    std::optional<std::int64_t> valid;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      HeadTensor& tensor = i == 0 ? parts.k : parts.v;
      INFIMUM_ASSIGN_OR_RETURN(const Shape past, InputShape(node, at.past_key + i));
      if (past.rank() != 4) return Error{"a cache of " + Format(past) + " is not batch x heads x length x size"};
      if (in_buffer) {
        if (!valid) valid = ValidPositions(node, past.dims[2], tensor.length, parts);
        const HeadCache cache{at.past_key + i, 1 + i, type, *valid, *valid + tensor.length, tensor.length};
        INFIMUM_ASSIGN_OR_RETURN(tensor, TakeFromCache(region, node, type, cache, tensor, parts));
        continue;
      }
      if (HasOutput(node, 1 + i)) parts.in_place.push_back({1 + i, at.past_key + i, SizeOf(type, tensor.elements())});
      INFIMUM_ASSIGN_OR_RETURN(tensor,
                               AppendToCache(region, type, region.Input(at.past_key + i), past.dims[2], tensor));
    }
  }
  const bool returns_buffer = HasInput(node, at.past_key) && (shared || HasInput(node, at.past_length));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (!HasOutput(node, 1 + i) || returns_buffer) continue;
    const HeadTensor& tensor = i == 0 ? parts.k : parts.v;
    if (!tensor.heads_first && tensor.heads > 1 && tensor.length > 1) {
      const Shape shape{{tensor.batch, tensor.length, tensor.heads, tensor.size}};
      parts.leaving.push_back(region.Add(Transpose(type, shape, {0, 2, 1, 3}), {tensor.source}));
    } else if (tensor.source.is_member) {
      parts.leaving.push_back(tensor.source);
    } else {
      const Shape flat{{tensor.elements()}};
      parts.leaving.push_back(region.Add(Move(MovementKind::kCopy, type, flat, flat), {tensor.source}));
    }
  }
  parts.mask = HasInput(node, at.score_bias) ? std::optional(at.score_bias) : MaskOver(node, at.mask, parts.q.length);
  return FinishAttention(region, MaskView(node, parts.mask).node(), parts);
}

// inputs: q, k, v, bias, padding, score bias, past key, past value, past length, ...
Result<Lowering> LowerMultiHead(const NodeView& node) { return LowerGiven(node, {4, 5, 6, 8, 3}); }
// inputs: q, k, v, mask, score bias, past key, past value, past length, ..., bias (10)
Result<Lowering> LowerDecoderMasked(const NodeView& node) { return LowerGiven(node, {3, 4, 5, 7, 10}); }

// In what type a cache at input `position` is stored: of 4 bits two are in a byte.
Result<DataType> StoredType(const NodeView& node, std::size_t position) {
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, position));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t bits, IntegerIn(node, "kv_cache_bit_width", 8, {0, 16}));
  return bits == 4 && type == DataType::kU8 ? DataType::kU4 : type;
}

// Of a cache of `capacity` positions that holds the last ones of `total` from its first row on: how many. What goes
// beyond the capacity makes room for the window at once (the schema's "Windowed KV Cache").
std::int64_t ResidentPositions(std::int64_t total, std::int64_t capacity, std::int64_t window) {
  if (total <= capacity) return total;
  const std::int64_t freed = capacity - window + 1;
  return total - freed * ((total - capacity + freed - 1) / freed);
}

// inputs: q, k, v, past key, past value, lengths, total length, cosines, sines, positions, score bias, sink, scales of
// keys and values, weights of the norms of q and k. A sink and a cap of the scores are values.
Result<Lowering> LowerGroupQuery(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape query, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t heads, RequiredInteger(node, "num_heads", kHeads));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t kv_heads, RequiredInteger(node, "kv_num_heads", kHeads));
  INFIMUM_ASSIGN_OR_RETURN(const bool rotates, Flag(node, "do_rotary", false));
  INFIMUM_ASSIGN_OR_RETURN(const bool interleaved, Flag(node, "rotary_interleaved", false));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t local, IntegerIn(node, "local_window_size", -1));
  INFIMUM_ASSIGN_OR_RETURN(const bool sliding, Flag(node, "sliding_window_cache", false));
  if (query.rank() != 3) return Error{"an input of " + Format(query) + " is not batch x length x hidden"};
  RegionBuilder region(node);
  AttentionParts parts;
  INFIMUM_ASSIGN_OR_RETURN(parts.causal, Flag(node, "causal", true));
  if (HasOutput(node, 3)) parts.inexpressible = kReturnsScores;
  if (HasInput(node, 1)) {
    INFIMUM_ASSIGN_OR_RETURN(parts.q, ReadHeads(node, 0, heads));
    INFIMUM_ASSIGN_OR_RETURN(parts.k, ReadHeads(node, 1, kv_heads));
    INFIMUM_ASSIGN_OR_RETURN(parts.v, ReadHeads(node, 2, kv_heads));
  } else {
    const std::int64_t all = heads + 2 * kv_heads;
    if (query.dims[2] % all != 0) return Error{"an input of " + Format(query) + " does not pack q, k and v"};
    HeadTensor part{region.Input(0), query.dims[0], heads, query.dims[1], query.dims[2] / all, false};
    parts.q = TakeHeads(region, type, region.Input(0), query.dims[2], part);
    part.heads = kv_heads;
    parts.k = TakeHeads(region, type, region.Input(0), query.dims[2], part);
    parts.v = TakeHeads(region, type, region.Input(0), query.dims[2], part);
  }
  for (const std::size_t i : {std::size_t{14}, std::size_t{15}}) {
    if (!HasInput(node, i)) continue;
    HeadTensor& tensor = i == 14 ? parts.q : parts.k;
    INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, BinaryTypes(node, 0, i));
    const Shape rows{{tensor.elements() / tensor.size, tensor.size}};
    tensor.source = region.Add(TrailingNormalization(NormalizationKind::kRms, types, rows, 1, true, false),
                               {tensor.source, region.Input(i)});
  }
  if (rotates) {
    const std::optional<std::size_t> positions = HasInput(node, 9) ? std::optional<std::size_t>(9) : std::nullopt;
    INFIMUM_ASSIGN_OR_RETURN(const RotaryTables tables,
                             PickRotaryRows(region, node, 7, 8, positions, parts.q.batch, parts.q.length));
    for (HeadTensor* tensor : {&parts.q, &parts.k}) {
      if (tensor->length != parts.q.length) return Error{"its queries and keys differ in length"};
      INFIMUM_ASSIGN_OR_RETURN(tensor->source, AddRotary(region, type, *tensor, tables, interleaved));
    }
  }
  AttentionWindow window;
  if (local > 0) window.left = local - 1;
  const std::int64_t added = parts.k.length;
  if (HasInput(node, 3)) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape past, InputShape(node, 3));
    INFIMUM_ASSIGN_OR_RETURN(const DataType stored, StoredType(node, 3));
    const std::int64_t packed = stored == DataType::kU4 ? 2 : 1;
    if (past.rank() != 4 || past.dims[1] != kv_heads || past.dims[3] * packed != parts.k.size)
      return Error{"a cache of " + Format(past) + " is not batch x heads x length x size"};
    const std::int64_t capacity = past.dims[2];
    const OperandView* present = node.output(1);
    const bool is_buffer =
        capacity > 0 && (sliding || (present != nullptr && present->shape != nullptr && *present->shape == past));
    // A buffer of the longest length holds past and new positions; the total length is their number.
    const auto total = InputValue(node, 6);
    std::int64_t valid = capacity;
    if (is_buffer) {
      const std::int64_t most = sliding ? kMaxAttribute : capacity;
      // All positions of the total are taken to be valid, as where a mask has no zeros, unless less is stated.
      const bool is_stated = QuantityOf(node, kCachePositions, 0, most).stated.has_value();
      valid = total && !is_stated ? *total - added : ValidPositions(node, total.value_or(most), added, parts);
      if (valid < 0 || (total && *total > most))
        return Error{"a total length of " + std::to_string(*total) + " does not fit a cache of " + Format(past)};
    }
    // Without positions of its own the new ones follow those that are valid.
    if (rotates && !HasInput(node, 9)) {
      INFIMUM_ASSIGN_OR_RETURN(const Shape table, InputShape(node, 7));
      if (table.dims[0] < valid + parts.q.length)
        return Error{"a table of " + Format(table) + " has fewer rows than there are positions"};
    }
    if (sliding && (local < 1 || capacity < local))
      return Error{"a cache of " + Format(past) + " is shorter than its window"};
    window.first = valid + added - parts.q.length;
    // What earlier positions left in it, of which some may have had to move.
    const std::int64_t held = sliding && valid > 0 ? ResidentPositions(valid, capacity, local) : valid;
    const std::int64_t resident = sliding ? ResidentPositions(valid + added, capacity, local) : valid + added;
    if (held > 0 && resident < held + added)
      parts.inexpressible = "rows of its cached window move to make room for new ones, which no workload does";
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      HeadTensor& tensor = i == 0 ? parts.k : parts.v;
      INFIMUM_RETURN_IF_ERROR(InputShape(node, 3 + i));
      INFIMUM_ASSIGN_OR_RETURN(const DataType type_here, StoredType(node, 3 + i));
      const HeadCache cache{
          3 + i, 1 + i, type_here, held, window.Seen(valid + added), std::min(added, resident), is_buffer && !sliding};
      if (is_buffer || cache.seen < valid + added || type_here != type) {
        INFIMUM_ASSIGN_OR_RETURN(tensor, TakeFromCache(region, node, type, cache, tensor, parts));
      } else if (valid > 0) {
        if (HasOutput(node, 1 + i)) parts.in_place.push_back({1 + i, 3 + i, SizeOf(type, tensor.elements())});
        INFIMUM_ASSIGN_OR_RETURN(tensor, AppendToCache(region, type, region.Input(3 + i), valid, tensor));
        if (HasOutput(node, 1 + i)) parts.leaving.push_back(tensor.source);
      }
    }
  }
  window.first = std::max<std::int64_t>(parts.k.length - parts.q.length, 0);
  if (HasInput(node, 10)) parts.mask = 10;
  INFIMUM_RETURN_IF_ERROR(ApplyWindow(window, parts, region, type));
  return FinishAttention(region, node, parts);
}

// Queries, keys and values of tokens in a row; what lies in the pages before may be nothing. New keys and values are
// written into the pages.
Result<Lowering> LowerPagedAttention(const NodeView& node) {
  // ONNX Runtime has no shapes for it; queries have the result's, unless keys and values are packed with them.
  INFIMUM_ASSIGN_OR_RETURN(const Shape y, HasInput(node, 1) ? InputShape(node, 0) : OutputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  std::vector<Written> writes{{type, y}};
  std::vector<InPlaceResult> in_place;
  for (std::size_t cache = 1; HasInput(node, 1) && HasInput(node, 2) && cache <= 2; ++cache) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape added, InputShape(node, cache));
    INFIMUM_ASSIGN_OR_RETURN(const DataType stored, InputType(node, cache + 2));
    writes.push_back({stored, added});
    if (HasOutput(node, cache)) in_place.push_back({cache, cache + 2, SizeOf(stored, ElementCount(added))});
  }
  INFIMUM_ASSIGN_OR_RETURN(
      Lowering lowering,
      UnknownThatMoves(
          node, {0, 1, 2}, writes,
          "the lengths of its sequences are known only at run time; what any run reads and writes counts"));
  lowering.in_place = std::move(in_place);
  return lowering;
}

}  // namespace

std::span<const OperatorEntry> MicrosoftAttentionOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kMicrosoft, "Attention", LowerMicrosoftAttention},
      {kMicrosoft, "DecoderMaskedMultiHeadAttention", LowerDecoderMasked},
      {kMicrosoft, "DecoderMaskedSelfAttention", LowerMicrosoftAttention},
      {kMicrosoft, "GroupQueryAttention", LowerGroupQuery},
      {kMicrosoft, "MultiHeadAttention", LowerMultiHead},
      {kMicrosoft, "PagedAttention", LowerPagedAttention},
      {kMicrosoft, "QAttention", LowerQAttention},
  };
  return kEntries;
}

}  // namespace infimum::lowering
