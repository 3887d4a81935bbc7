// ONNX's Attention and RotaryEmbedding, and what com.microsoft's forms of them share.
#include "src/readers/onnx/lowering/attention.h"

#include "src/core/layer/matmul.h"
#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/movement.h"
#include "src/readers/onnx/lowering/operands.h"

namespace infimum::lowering {
namespace {

using Source = RegionBuilder::Source;

// A lowering with what is known of its caches.
Lowering WithCaches(Lowering lowering, const AttentionParts& parts) {
  if (parts.is_least() || !parts.inexpressible.empty()) {
    lowering.status = LayerStatus::kUnknown;
    lowering.least = std::move(lowering.workload);
    lowering.workload.reset();
    lowering.reason = parts.inexpressible;
  }
  if (parts.is_least())
    lowering.reason = "how many positions of its cache are valid is known only at run time; --assume " +
                      std::string(kCachePositions) + "=N states it" + (lowering.reason.empty() ? "" : "; and ") +
                      lowering.reason;
  lowering.in_place = parts.in_place;
  lowering.quantities = parts.quantities;
  return lowering;
}

// A cache that the node returns without having had one: a copy, transposed where the input is 3-D.
Source CopyOut(RegionBuilder& region, DataType type, const HeadTensor& x) {
  if (x.heads_first || x.heads == 1 || x.length == 1) {
    const Shape flat{{x.elements()}};
    return region.Add(Move(MovementKind::kCopy, type, flat, flat), {x.source});
  }
  return region.Add(Transpose(type, Shape{{x.batch, x.length, x.heads, x.size}}, {0, 2, 1, 3}), {x.source});
}

// inputs: Q, K, V, mask, past key, past value, number of valid positions; outputs: Y, present key and
// value, the scores.
Result<Lowering> LowerAttention(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t q_heads, IntegerIn(node, "q_num_heads", 0, {0, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t kv_heads, IntegerIn(node, "kv_num_heads", 0, {0, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t left, IntegerIn(node, "left_window_size", -1));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t right, IntegerIn(node, "right_window_size", -1));
  AttentionParts parts;
  INFIMUM_ASSIGN_OR_RETURN(parts.causal, Flag(node, "is_causal", false));
  if (HasOutput(node, 3)) parts.inexpressible = "it also returns the scores, which no attention workload does";
  if (right == 0) parts.causal = true;
  RegionBuilder region(node);
  INFIMUM_ASSIGN_OR_RETURN(parts.q, ReadHeads(node, 0, q_heads));
  INFIMUM_ASSIGN_OR_RETURN(parts.k, ReadHeads(node, 1, kv_heads));
  INFIMUM_ASSIGN_OR_RETURN(parts.v, ReadHeads(node, 2, kv_heads));
  const std::int64_t added = parts.k.length;
  std::int64_t past_length = 0;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    HeadTensor& tensor = i == 0 ? parts.k : parts.v;
    if (HasInput(node, 4 + i)) {
      INFIMUM_ASSIGN_OR_RETURN(const Shape past, InputShape(node, 4 + i));
      if (past.rank() != 4) return Error{"a cache of " + Format(past) + " is not batch x heads x length x size"};
      past_length = past.dims[2];
      const AttentionWindow window{past_length, left, right};
      const HeadCache cache{4 + i, 1 + i, type, past_length, window.Seen(past_length + added), added, false};
      if (cache.seen < past_length + added && !HasInput(node, 6)) {
        INFIMUM_ASSIGN_OR_RETURN(tensor, TakeFromCache(region, node, type, cache, tensor, parts));
        continue;
      }
      const Bytes added_bytes = SizeOf(type, tensor.elements());
      INFIMUM_ASSIGN_OR_RETURN(tensor, AppendToCache(region, type, region.Input(4 + i), past.dims[2], tensor));
      if (HasOutput(node, 1 + i)) parts.in_place.push_back({1 + i, 4 + i, added_bytes});
    }
    if (!HasOutput(node, 1 + i)) continue;
    parts.leaving.push_back(tensor.source.is_member ? tensor.source : CopyOut(region, type, tensor));
  }
  const std::int64_t offset = parts.k.length - added;
  if (HasInput(node, 6)) {
    // Keys and values are buffers into which the new positions were written already; the rest of them is not read.
    // Where nothing is stated one position may be all: they need be no cache, but another sequence with padding.
    const std::int64_t valid = ValidPositions(node, parts.k.length, 0, parts);
    parts.causal = parts.causal && !parts.is_least();
    const std::int64_t seen = parts.is_least() ? 1 : valid + parts.q.length;
    for (HeadTensor* tensor : {&parts.k, &parts.v}) tensor->length = std::min(tensor->length, seen);
  }
  // Without a cache ONNX aligns the causal mask at the first position: later keys are never used.
  if (parts.causal && !HasInput(node, 6) && !HasInput(node, 3) && parts.q.length + offset != parts.k.length) {
    if (parts.q.length + offset > parts.k.length)
      return Unknown("a causal mask aligned at the first key, over fewer keys than queries, has no workload");
    for (HeadTensor* tensor : {&parts.k, &parts.v}) {
      HeadTensor seen = *tensor;
      seen.length = parts.q.length + offset;
      const Shape whole{{tensor->batch * tensor->heads, tensor->length, tensor->size}};
      const Shape part{{tensor->batch * tensor->heads, seen.length, tensor->size}};
      seen.source = region.Add(Move(MovementKind::kSlice, type, whole, part), {tensor->source});
      *tensor = seen;
    }
  }
  if (HasInput(node, 3) && !HasInput(node, 6)) parts.mask = 3;
  // Where the queries stand among the keys that are left.
  const std::int64_t first = parts.causal || HasInput(node, 6) ? parts.k.length - parts.q.length : offset;
  if (!HasInput(node, 6) || !parts.is_least())
    INFIMUM_RETURN_IF_ERROR(ApplyWindow({std::max<std::int64_t>(first, 0), left, right}, parts, region, type));
  return FinishAttention(region, node, parts);
}

// Heads of an embedding's input: 4-D, or 3-D with the number of heads (or their size, by the tables).
Result<Lowering> Rotary(const NodeView& node, std::size_t cosine, std::size_t sine,
                        std::optional<std::size_t> positions) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape table, InputShape(node, cosine));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(std::int64_t heads, IntegerIn(node, "num_heads", 0, {0, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(const bool interleaved, Flag(node, "interleaved", false));
  if (table.rank() == 0 || table.dims.back() < 1) return Error{"its table of cosines is empty"};
  if (heads == 0 && input.rank() == 3) heads = std::max<std::int64_t>(1, input.dims[2] / (2 * table.dims.back()));
  INFIMUM_ASSIGN_OR_RETURN(HeadTensor x, ReadHeads(node, 0, heads));
  RegionBuilder region(node);
  RotaryTables tables;
  if (table.rank() == 3) {  // already one row for each position
    tables = {region.Input(cosine), region.Input(sine), table.dims[0], table.dims[2]};
    if (table.dims[1] != x.length) return Error{"a table of " + Format(table) + " does not fit " + Format(input)};
  } else {
    INFIMUM_ASSIGN_OR_RETURN(tables, PickRotaryRows(region, node, cosine, sine, positions, x.batch, x.length));
  }
  INFIMUM_RETURN_IF_ERROR(AddRotary(region, type, x, tables, interleaved));
  return region.Finish();
}

Result<Lowering> LowerRotary(const NodeView& node) {
  return Rotary(node, 1, 2, HasInput(node, 3) ? std::optional<std::size_t>(3) : std::nullopt);
}

// inputs: x, positions, cosines, sines.
Result<Lowering> LowerMicrosoftRotary(const NodeView& node) { return Rotary(node, 2, 3, 1); }

}  // namespace

Result<HeadTensor> ReadHeads(const NodeView& node, std::size_t position, std::int64_t heads) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape shape, InputShape(node, position));
  const Source source = RegionBuilder::Input(position);
  if (shape.rank() == 4) return HeadTensor{source, shape.dims[0], shape.dims[1], shape.dims[2], shape.dims[3], true};
  if (shape.rank() != 3) return Error{"an input of " + Format(shape) + " is neither 3-D nor 4-D"};
  if (heads < 1) return Error{"the number of heads of an input of " + Format(shape) + " is missing"};
  if (shape.dims[2] % heads != 0)
    return Error{std::to_string(heads) + " heads do not divide an input of " + Format(shape)};
  return HeadTensor{source, shape.dims[0], heads, shape.dims[1], shape.dims[2] / heads, false};
}

HeadTensor TakeHeads(RegionBuilder& region, DataType type, Source packed, std::int64_t width, HeadTensor part) {
  const std::int64_t rows = part.batch * part.length;
  const Shape whole{{rows, width}};
  const Shape taken{{rows, part.heads * part.size}};
  part.source = region.Add(Move(MovementKind::kSlice, type, whole, taken), {packed});
  part.heads_first = false;
  return part;
}

Result<HeadTensor> AppendToCache(RegionBuilder& region, DataType type, Source cache, std::int64_t past,
                                 const HeadTensor& added) {
  if (past == 0) return added;
  const std::int64_t lines = added.batch * added.heads;
  HeadTensor result = added;
  result.length += past;
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(Shape{{lines, result.length, added.size}}));
  result.heads_first = true;
  result.source =
      region.Add(Concat(type, {Shape{{lines, past, added.size}}, Shape{{lines, added.length, added.size}}}, 1),
                 {cache, added.source});
  return result;
}

std::int64_t ValidPositions(const NodeView& node, std::int64_t capacity, std::int64_t added, AttentionParts& parts) {
  const RunTimeQuantity quantity = QuantityOf(node, kCachePositions, 0, std::max<std::int64_t>(capacity - added, 0));
  if (quantity.most == 0 && !quantity.stated) return 0;  // there is no choice
  parts.quantities.push_back(quantity);
  // What cannot be the reader refuses.
  return quantity.stated && *quantity.stated <= quantity.most ? std::max<std::int64_t>(*quantity.stated, 0) : 0;
}

Result<HeadTensor> TakeFromCache(RegionBuilder& region, const NodeView& node, DataType type, const HeadCache& cache,
                                 const HeadTensor& added, AttentionParts& parts) {
  const auto converted = [&](Source source, DataType from, DataType to, std::int64_t elements) {
    return region.AddPointwise(PointwiseKind::kCast, {from, DataType::kNone, to}, {Shape{{elements}}}, {source});
  };
  const bool is_quantized = cache.type != type;
  const std::int64_t lines = added.batch * added.heads;
  if (HasOutput(node, cache.output)) {
    HeadTensor kept = added;
    kept.length = cache.kept;
    if (kept.length < added.length)
      kept.source = region.Add(Move(MovementKind::kSlice, type, Shape{{lines, added.length, added.size}},
                                    Shape{{lines, kept.length, kept.size}}),
                               {added.source});
    parts.in_place.push_back({cache.output, cache.input, SizeOf(cache.type, kept.elements())});
    if (is_quantized) {
      INFIMUM_ASSIGN_OR_RETURN(kept.source, converted(kept.source, type, cache.type, kept.elements()));
      parts.leaving.push_back(kept.source);
    } else {
      parts.leaving.push_back(kept.length < added.length ? kept.source : CopyOut(region, type, kept));
    }
  }
  const std::int64_t old = std::max<std::int64_t>(cache.seen - added.length, 0);
  if (cache.valid == 0 || old == 0) return added;
  HeadTensor result = added;
  result.source = region.Input(cache.input);
  result.length = cache.is_buffer ? old + added.length : old;
  result.heads_first = true;
  const Shape read{{lines, result.length, added.size}};
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(read));
  if (!cache.is_buffer && old < cache.valid) {
    const Shape whole{{lines, cache.valid, added.size}};
    INFIMUM_RETURN_IF_ERROR(CheckedElementCount(whole));
    result.source = region.Add(Move(MovementKind::kSlice, cache.type, whole, read), {result.source});
  }
  if (is_quantized) {
    INFIMUM_ASSIGN_OR_RETURN(result.source, converted(result.source, cache.type, type, ElementCount(read)));
  }
  return cache.is_buffer ? result : AppendToCache(region, type, result.source, old, added);
}

Status ApplyWindow(const AttentionWindow& window, AttentionParts& parts, RegionBuilder& region, DataType type) {
  const std::int64_t length = parts.k.length, queries = parts.q.length;
  const std::int64_t right = parts.causal ? 0 : window.right;
  const std::int64_t last = window.first + queries - 1;
  if (!(window.left >= 0 && window.left < last) && !(right >= 0 && !parts.causal && window.first + right < length - 1))
    return Status();
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(Shape{{queries, length}}));
  // Of queries at `position` and behind, the sum of their numbers from 0 up to `most`.
  const auto sum = [&](std::int64_t position, std::int64_t most) {
    const std::int64_t below = std::clamp<std::int64_t>(-position, 0, queries);
    const std::int64_t rising =
        std::clamp<std::int64_t>(most - std::max<std::int64_t>(position, 0), 0, queries - below);
    const std::int64_t from = position + below;
    return rising * from + rising * (rising - 1) / 2 + (queries - below - rising) * most;
  };
  const std::int64_t begin = window.left < 0 ? 0 : std::max<std::int64_t>(window.first - window.left, 0);
  const std::int64_t end = right < 0 ? length : std::min(length, last + right + 1);
  if (window.left >= 0 && last - window.left >= end) return Error{"a window in which queries see nothing"};
  std::int64_t pairs = right < 0 ? queries * length : sum(window.first + right + 1, length);
  if (window.left >= 0) pairs -= sum(window.first - window.left, length);
  const std::int64_t seen = end - begin;
  // Where each query sees what is before it, the last one up to the end, and nothing is added to the scores.
  const bool is_exact = queries > 1 && window.left >= 0 && right == 0 && end == last + 1 && !parts.mask;
  const std::int64_t visible = is_exact ? seen : pairs / queries;
  if (queries > 1 && !is_exact)
    parts.inexpressible = "a window that is not of the positions before each query, or has a mask, has no workload";
  for (HeadTensor* tensor : {&parts.k, &parts.v}) {
    const std::int64_t lines = tensor->batch * tensor->heads;
    // First what some query sees, then what all see.
    for (const std::int64_t left : {seen, visible}) {
      if (left == tensor->length && (tensor->source.is_member || left == visible)) continue;
      const Shape whole{{lines, tensor->length, tensor->size}};
      const Shape part{{lines, left, tensor->size}};
      const MovementKind kind = left == tensor->length ? MovementKind::kCopy : MovementKind::kSlice;
      tensor->source = region.Add(Move(kind, type, whole, part), {tensor->source});
      tensor->length = left;
    }
  }
  parts.causal = is_exact;  // else the window ends at the query
  parts.window = is_exact ? window.left + 1 : 0;
  parts.windowed = true;
  return Status();
}

Result<Lowering> FinishAttention(RegionBuilder& region, const NodeView& node, const AttentionParts& parts) {
  const HeadTensor &q = parts.q, &k = parts.k, &v = parts.v;
  if (k.batch != q.batch || v.batch != q.batch || v.heads != k.heads || k.length != v.length || k.size != q.size)
    return Error{"its queries, keys and values do not fit each other"};
  if (k.heads < 1 || q.heads % k.heads != 0)
    return Error{std::to_string(k.heads) + " heads of keys do not divide " + std::to_string(q.heads) +
                 " heads of queries"};
  AttentionConfig config;
  INFIMUM_ASSIGN_OR_RETURN(config.types.input, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(config.types.output, OutputType(node, 0));
  config.batch = q.batch;
  config.heads = q.heads;
  config.kv_heads = k.heads;
  config.q = q.length;
  config.kv = k.length;
  config.head = q.size;
  config.value_head = v.size == q.size ? 0 : v.size;
  // One query is the last position and sees everything.
  config.mask = parts.causal && q.length > 1 ? AttentionMask::kCausal : AttentionMask::kNone;
  if (config.mask == AttentionMask::kCausal) config.window = parts.window;
  std::vector<Source> operands{q.source, k.source, v.source};
  if (parts.mask && !parts.is_least() && !parts.windowed) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape mask, InputShape(node, *parts.mask));
    INFIMUM_ASSIGN_OR_RETURN(const DataType mask_type, InputType(node, *parts.mask));
    const Shape scores{{q.batch, q.heads, q.length, k.length}};
    INFIMUM_RETURN_IF_ERROR(CheckedElementCount(scores));
    INFIMUM_ASSIGN_OR_RETURN(const Shape joined, Broadcast(mask, scores));
    if (joined != scores) return Error{"a mask of " + Format(mask) + " does not fit scores of " + Format(scores)};
    const bool over_queries = mask.rank() >= 2 && mask.dims[mask.rank() - 2] == q.length;
    const bool over_keys = mask.rank() >= 1 && mask.dims.back() == k.length;
    if (over_queries && over_keys) {
      Shape whole = mask;
      whole.dims.insert(whole.dims.begin(), 4 - mask.rank(), 1);
      config.types.weights = mask_type;
      config.mask = AttentionMask::kFull;
      config.masks = {whole};
      operands.push_back(region.Input(*parts.mask));
    }
  }
  region.Add(Canonicalize(config), operands);
  INFIMUM_ASSIGN_OR_RETURN(Lowering lowering, region.Finish(parts.leaving));
  return WithCaches(std::move(lowering), parts);
}

Result<RotaryTables> PickRotaryRows(RegionBuilder& region, const NodeView& node, std::size_t cosine, std::size_t sine,
                                    std::optional<std::size_t> positions, std::int64_t batch, std::int64_t length) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape table, InputShape(node, cosine));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, cosine));
  if (table.rank() != 2) return Error{"a table of " + Format(table) + " is not positions x half a head"};
  INFIMUM_RETURN_IF_ERROR(InputShape(node, sine));
  RotaryTables tables;
  tables.half = table.dims[1];
  std::int64_t picked = 0;
  DataType index_type = DataType::kS64;
  if (positions && HasInput(node, *positions)) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape indices, InputShape(node, *positions));
    INFIMUM_ASSIGN_OR_RETURN(index_type, InputType(node, *positions));
    const std::int64_t count = ElementCount(indices);
    if (count == batch * length)
      picked = count;
    else if (count != 1)  // one number is where the rows start
      return Error{"positions of " + Format(indices) + " do not fit " + std::to_string(batch) + " x " +
                   std::to_string(length)};
  }
  tables.batch = picked > 0 ? batch : 1;
  for (const std::size_t position : {cosine, sine}) {
    Source rows = region.Input(position);
    if (picked > 0) {
      INFIMUM_RETURN_IF_ERROR(CheckedElementCount(Shape{{picked, tables.half}}));
      rows = region.Add(GatherRows(type, index_type, table.dims[0], tables.half, picked),
                        {rows, region.Input(*positions)});
    } else if (table.dims[0] > length) {
      rows = region.Add(Move(MovementKind::kSlice, type, table, Shape{{length, tables.half}}), {rows});
    } else if (table.dims[0] < length) {
      return Error{"a table of " + Format(table) + " has fewer rows than there are positions"};
    }
    (position == cosine ? tables.cosine : tables.sine) = rows;
  }
  return tables;
}

Result<Source> AddRotary(RegionBuilder& region, DataType type, const HeadTensor& x, const RotaryTables& tables,
                         bool interleaved) {
  const std::int64_t rotary = 2 * tables.half;
  if (rotary > x.size)
    return Error{"a table for " + std::to_string(rotary) + " elements does not fit heads of " + std::to_string(x.size)};
  const std::int64_t rows = x.batch * x.heads * x.length;
  Source whole = x.source;
  Source rest;
  if (rotary < x.size) {
    const Shape shape{{rows, x.size}};
    whole = region.Add(Move(MovementKind::kSlice, type, shape, Shape{{rows, rotary}}), {x.source});
    rest = region.Add(Move(MovementKind::kSlice, type, shape, Shape{{rows, x.size - rotary}}), {x.source});
  }
  Shape elements{{x.batch, x.heads, x.length}};
  Shape angles{{tables.batch, 1, x.length}};
  if (!x.heads_first) {
    std::swap(elements.dims[1], elements.dims[2]);
    std::swap(angles.dims[1], angles.dims[2]);
  }
  const std::int64_t pair[] = {interleaved ? tables.half : 2, interleaved ? 2 : tables.half};
  const std::int64_t angle[] = {interleaved ? tables.half : 1, interleaved ? 1 : tables.half};
  elements.dims.insert(elements.dims.end(), std::begin(pair), std::end(pair));
  angles.dims.insert(angles.dims.end(), std::begin(angle), std::end(angle));
  const OperandTypes types{type, type, type};
  INFIMUM_ASSIGN_OR_RETURN(const Source along, region.AddPointwise(PointwiseKind::kMultiply, types, {elements, angles},
                                                                   {whole, tables.cosine}));
  INFIMUM_ASSIGN_OR_RETURN(const Source across, region.AddPointwise(PointwiseKind::kMultiply, types, {elements, angles},
                                                                    {whole, tables.sine}));
  INFIMUM_ASSIGN_OR_RETURN(const Source rotated,
                           region.AddPointwise(PointwiseKind::kAdd, types, {elements, elements}, {along, across}));
  if (rotary == x.size) return rotated;
  return region.Add(Concat(type, {Shape{{rows, rotary}}, Shape{{rows, x.size - rotary}}}, 1), {rotated, rest});
}

std::span<const OperatorEntry> AttentionOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Attention", LowerAttention},
      {kOnnx, "RotaryEmbedding", LowerRotary},
      {kMicrosoft, "RotaryEmbedding", LowerMicrosoftRotary},
  };
  return kEntries;
}

}  // namespace infimum::lowering
