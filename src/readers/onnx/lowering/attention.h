// Attention and rotary embedding as parts of a region, shared by ONNX's operators and com.microsoft's.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
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
  std::int64_t window = 0;                     // of a causal one: positions that a query sees at most; 0: all
  std::optional<std::size_t> mask;             // an input that broadcasts to batch x heads x q x kv and is added
  std::vector<RegionBuilder::Source> leaving;  // caches that the node returns
  std::vector<InPlaceResult> in_place;
  std::vector<RunTimeQuantity> quantities;  // open ones: what is lowered is the least that a run does
  std::string inexpressible;                // why no workload is the node: what is lowered is the least that it does
  bool windowed = false;                    // keys and values are those in the window alone

  bool is_least() const {
    return std::ranges::any_of(quantities, [](const RunTimeQuantity& quantity) { return !quantity.stated; });
  }
};

// A cache of batch x heads x positions x size that is updated in place.
struct HeadCache {
  std::size_t input;
  std::size_t output;     // where it is returned
  DataType type;          // as it is stored: 8 or 4 bits where it is quantized
  std::int64_t valid;     // positions of it that came before the new ones
  std::int64_t seen;      // of these and the new ones, what the queries see; the others are not read
  std::int64_t kept;      // of the new ones, what is written
  bool is_buffer = true;  // of the longest length; else the new positions make it longer
};

// Its new positions are written into it, and the attention reads what is seen of it: no copy of the cache is made.
Result<HeadTensor> TakeFromCache(RegionBuilder& region, const NodeView& node, DataType type, const HeadCache& cache,
                                 const HeadTensor& added, AttentionParts& parts);

// How many positions of a cache of `capacity` are valid before `added` come, as stated; of what is not stated none, and
// `parts` remember that.
std::int64_t ValidPositions(const NodeView& node, std::int64_t capacity, std::int64_t added, AttentionParts& parts);

// Ends the region. A mask of queries and keys is the attention's own operand. One without the q dimension (padding) is
// a value: a few elements that do not change the cost.
Result<Lowering> FinishAttention(RegionBuilder& region, const NodeView& node, const AttentionParts& parts);

// Which positions queries see: `left` before their own and `right` behind it, -1 for all. The first query is at
// position `first`.
struct AttentionWindow {
  std::int64_t first = 0;
  std::int64_t left = -1;
  std::int64_t right = -1;

  // How many of `length` positions some query sees or may see later: all but those before the first one's window.
  std::int64_t Seen(std::int64_t length) const {
    return left < 0 ? length : length - std::clamp<std::int64_t>(first - left, 0, length);
  }
};

// Keys and values are cut to what the window shows. One query sees all of that; several see what the window of a causal
// attention shows. Of other windows, and beside a mask, the least remains: all keys and values are read, and each query
// sees as many as they do on average.
Status ApplyWindow(const AttentionWindow& window, AttentionParts& parts, RegionBuilder& region, DataType type);

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
