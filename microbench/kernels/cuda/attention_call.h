// Scaled dot-product attention in one pass over keys and values: softmax(scale q k^T + masks) v.
#pragma once

#include "microbench/kernels/cuda/element.h"
#include "microbench/kernels/cuda/index_math.h"

namespace infimum::cuda {

inline constexpr int kAttentionThreads = 128;

// q [batch][heads][q][head], k [batch][kv_heads][kv][head] or, transposed, [batch][kv_heads][head][kv],
// v [batch][kv_heads][kv][value_head], to [batch][heads][q][value_head]. A row is a query of one of the `group` heads
// that share keys and values: row r is head r / q of the group, query r % q.
struct AttentionCall {
  static constexpr int kMostMasks = 4;
  // Row (batch % batches) * batch_step + head * head_step + query * query_step of kv elements, as stored.
  struct Mask {
    const void* from = nullptr;
    FastDivisor batches;
    std::uint32_t batch_step = 0, head_step = 0, query_step = 0;
  };

  // How threads share a block's work: each has `each` rows, which `lanes` threads share; keys come in tiles of `keys`.
  int each = 1, lanes = 32, keys = 32;
  int columns = 4;  // of the result that a thread has in each row; a multiple of 4
  int width = 1;    // elements that a load takes: 1, or 4 where heads and addresses allow it
  bool causal = false;
  std::uint32_t window = 0;  // positions that a query of a causal one sees at most; 0: all
  bool keys_transposed = false;
  int masks = 0;
  Element element = Element::kF32;
  Element output_element = Element::kF32;
  Element mask_element = Element::kF32;
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* to = nullptr;
  Mask mask[kMostMasks];
  float scale = 1, mask_scale = 1;
  std::uint32_t batch = 0, group = 0, kv = 0, head = 0, value_head = 0;
  FastDivisor kv_heads;
  FastDivisor queries;      // q
  FastDivisor tiles;        // blocks for one head of keys
  FastDivisor head_units;   // loads of a row of q or k, of `width`; filled up with zeros to a multiple of 4 elements
  FastDivisor value_units;  // the same of v
  // Keys are cut into `parts` of `part_keys`. Where there are several each leaves, for each row, the largest score, the
  // sum of weights and value_head sums in `states` [rows][parts][2 + value_head]; AttentionCombineCall joins them.
  std::uint32_t parts = 1, part_keys = 0;
  float* states = nullptr;
};

struct AttentionCombineCall {
  Element output_element = Element::kF32;
  void* to = nullptr;
  const float* states = nullptr;
  std::uint32_t count = 0;  // outputs: rows * value_head
  FastDivisor value_head;
  std::uint32_t parts = 1;
};

}  // namespace infimum::cuda
