// Scaled dot-product attention: softmax(q k^T / sqrt(head) + mask) v for each head.
//
//   attention dtype=f16:-:f16 n=1 heads=12 kv_heads=12 q=128 kv=128 head=64 mask=causal
//   attention dtype=f16:-:f16 n=1 heads=32 kv_heads=8 q=8192 kv=8192 head=128 mask=causal window=4096
//   attention dtype=f32:f32:f32 n=64 heads=3 kv_heads=3 q=64 kv=64 head=32 mask=full masks=1x3x64x64,16x1x64x64
//
// Operands: q, k, v, masks (when `mask=full`).
#pragma once

#include <cstdint>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/work.h"

namespace infimum {

enum class AttentionMask {
  kNone,    // "no"
  kCausal,  // "causal": position i sees kv - q + i and before
  kFull,    // "full": operands that are added, one of q x kv unless `masks` says otherwise
};
std::span<const NamedValue<AttentionMask>> NamesOf(AttentionMask);

struct AttentionConfig {
  OperandTypes types;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t q = 1;
  std::int64_t kv = 1;
  std::int64_t head = 64;       // head size of q and k
  std::int64_t value_head = 0;  // of v where it differs; written only when not 0
  AttentionMask mask = AttentionMask::kNone;
  // Of `mask=causal`, how many positions a query sees at most, its own included; 0: all. Written only when not 0.
  std::int64_t window = 0;
  // Of `mask=full`, batch x heads x q x kv each, where it is not one of 1x1xqxkv: heads and q may be 1, and a batch
  // that divides n is repeated. Written only when not empty.
  std::vector<Shape> masks;

  static constexpr std::string_view kName = "attention";
  static void VisitFields(auto& self, auto& visit) {
    visit("dtype", self.types);
    visit("n", self.batch);
    visit("heads", self.heads);
    visit("kv_heads", self.kv_heads);
    visit("q", self.q);
    visit("kv", self.kv);
    visit("head", self.head);
    visit.Optional("value_head", self.value_head);
    visit("mask", self.mask);
    visit.Optional("window", self.window);
    visit.Optional("masks", self.masks);
  }
  friend bool operator==(const AttentionConfig&, const AttentionConfig&) = default;
};

// The masks that are operands, batch x heads x q x kv; and the row of one, counted through all its dimensions, that a
// query adds.
std::vector<Shape> MaskShapes(const AttentionConfig& config);
std::int64_t MaskRow(const Shape& mask, std::int64_t batch, std::int64_t head, std::int64_t query);
// The positions from the first one that a query sees to behind the last; equal where it sees none.
struct Positions {
  std::int64_t begin = 0, end = 0;
};
Positions SeenBy(const AttentionConfig& config, std::int64_t query);
// One mask of q x kv is not written out, nor a window that hides nothing.
AttentionConfig Canonicalize(AttentionConfig config);

// direct = n * heads * q * kv * (2 head + 2 value_head + 5); conventional counts the positions that a
// causal mask and a window leave.
Work WorkOf(const AttentionConfig& config);
Status Validate(const AttentionConfig& config);
std::vector<Operand> OperandsOfFamily(const AttentionConfig& config);
std::vector<Operand> OutputsOfFamily(const AttentionConfig& config);

}  // namespace infimum
