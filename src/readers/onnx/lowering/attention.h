// Attention and rotary embedding as parts of a region, shared by ONNX's operators and com.microsoft's.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "src/core/layer/attention.h"
#include "src/readers/onnx/lowering/operator_table.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {

// batch x heads x length x size elements, in any layout.
struct HeadTensor {
  RegionBuilder::Source source;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t length = 1;
  std::int64_t size = 1;
  bool heads_first = true;  // else batch x length x heads x size

  std::int64_t elements() const { return batch * heads * length * size; }
};

// Input `position` as heads: batch x heads x length x size, or batch x length x (heads size).
Result<HeadTensor> ReadHeads(const NodeView& node, std::size_t position, std::int64_t heads);

// The part of packed projections that starts anywhere: `packed` rows of `width`, of which `size` are taken.
HeadTensor TakeHeads(RegionBuilder& region, DataType type, RegionBuilder::Source packed, std::int64_t width,
                     HeadTensor part);

// The cache's positions, then the new ones. A cache of no positions changes nothing; an error where both
// together are more elements than a tensor may have.
Result<HeadTensor> AppendToCache(RegionBuilder& region, DataType type, RegionBuilder::Source cache, std::int64_t past,
                                 const HeadTensor& added);

struct AttentionParts {
  HeadTensor q;
  HeadTensor k;
  HeadTensor v;
  bool causal = false;                         // position i sees kv - q + i and before
  std::optional<std::size_t> mask;             // an input that broadcasts to batch x heads x q x kv and is added
  std::vector<RegionBuilder::Source> leaving;  // caches that the node returns
  std::vector<InPlaceResult> in_place;
  std::vector<RunTimeQuantity> quantities;  // open ones: what is lowered is the least that a run does

  bool is_least() const {
    return std::ranges::any_of(quantities, [](const RunTimeQuantity& quantity) { return !quantity.stated; });
  }
};

// Keys or values from a buffer of the longest length at input `position`, `capacity` positions for each of `lines`, of
// which `valid` came before `added`, and which the node returns as output `output`. New positions are written into it,
// and the attention reads what is valid of it then: no copy of the cache is made.
HeadTensor TakeFromBuffer(RegionBuilder& region, const NodeView& node, DataType type, std::size_t position,
                          std::size_t output, std::int64_t valid, const HeadTensor& added, AttentionParts& parts);

// How many positions of a cache of `capacity` are valid before `added` come, as stated; of what is not stated none, and
// `parts` remember that.
std::int64_t ValidPositions(const NodeView& node, std::int64_t capacity, std::int64_t added, AttentionParts& parts);

// Ends the region. A mask of queries and keys is the attention's own operand. One without the q dimension (padding) is
// a value: a few elements that do not change the cost.
Result<Lowering> FinishAttention(RegionBuilder& region, const NodeView& node, const AttentionParts& parts);

// A window of `left` positions before each query, or -1. A configuration can express it only over one query.
Status ApplyWindow(std::int64_t left, AttentionParts& parts, RegionBuilder& region, DataType type);

// Rotates the first `rotary` (or all) elements of each head by the angle of its position.
struct RotaryTables {
  RegionBuilder::Source cosine;  // batch x length x half, or length x half for all batches
  RegionBuilder::Source sine;
  std::int64_t batch = 1;
  std::int64_t half = 1;
};
Result<RegionBuilder::Source> AddRotary(RegionBuilder& region, DataType type, const HeadTensor& x,
                                        const RotaryTables& tables, bool interleaved);

// The rows of the caches at inputs `cosine` and `sine` (positions x half) for these positions: by the
// indices at input `positions` (batch x length), or `length` rows in order.
Result<RotaryTables> PickRotaryRows(RegionBuilder& region, const NodeView& node, std::size_t cosine, std::size_t sine,
                                    std::optional<std::size_t> positions, std::int64_t batch, std::int64_t length);

}  // namespace infimum::lowering
