// What one thread of an attention's block does between two barriers. Scores of a tile of keys lie in shared memory and
// nowhere else; sums are rescaled where a larger score comes (Milakov and Gimelshein, arXiv 1805.02867; Dao et al.,
// arXiv 2205.14135). Threads that share rows lie in one warp.
//
//   LoadQueries; for each tile: [all] LoadKeys [all] Score [all] LoadValues [all] FindLargest [warp] Weigh [warp]
//   Accumulate; Finish
#pragma once

#include "microbench/kernels/cuda/attention_call.h"
#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/real_math.h"

namespace infimum::cuda {

inline constexpr float kMaskedOut = -static_cast<float>(HUGE_VAL);

// Floats from one row of queries or keys to the next: an odd multiple of four, so that loads of four floats of eight
// rows lie in all banks.
INFIMUM_HOST_DEVICE constexpr int AttentionPitch(std::uint32_t head) {
  return static_cast<int>(((head + 3) / 4 * 4) | 4);
}

// Queries; keys, then values, of a tile; its scores, then weights.
INFIMUM_HOST_DEVICE constexpr std::int64_t AttentionSharedBytes(int rows, int keys, int value_pitch,
                                                                std::uint32_t head) {
  const int pitch = AttentionPitch(head);
  return std::int64_t{4} * (rows * pitch + keys * (value_pitch > pitch ? value_pitch : pitch) + rows * (keys + 1));
}

template <int kEach, int kLanes, int kKeys, int kColumns>
struct AttentionThread {
  static constexpr int kGroups = kAttentionThreads / kLanes;
  static constexpr int kRows = kGroups * kEach;
  static constexpr int kOwnKeys = kKeys / kLanes;
  static constexpr int kValuePitch = kColumns * kLanes;

  const AttentionCall& call;
  std::uint32_t block, part;
  int thread;
  float* shared;
  float largest[kEach] = {}, sum[kEach] = {}, next[kEach] = {};
  float score[kEach][kOwnKeys] = {}, out[kEach][kColumns] = {};

  INFIMUM_HOST_DEVICE int lane() const { return thread % kLanes; }
  INFIMUM_HOST_DEVICE int RowOfBlock(int j) const { return thread / kLanes + j * kGroups; }
  INFIMUM_HOST_DEVICE std::uint32_t head_of_keys() const {
    return call.tiles.Divide(block);
  }  // batch * kv_heads + head
  INFIMUM_HOST_DEVICE std::uint32_t first_row() const {
    return (block - head_of_keys() * call.tiles.divisor) * static_cast<std::uint32_t>(kRows);
  }
  INFIMUM_HOST_DEVICE std::uint32_t rows() const { return call.group * call.queries.divisor; }
  // Among all rows of q; those of one head of keys are neighbours.
  INFIMUM_HOST_DEVICE std::int64_t Row(int j) const {
    return static_cast<std::int64_t>(head_of_keys()) * rows() + first_row() + static_cast<std::uint32_t>(RowOfBlock(j));
  }
  INFIMUM_HOST_DEVICE bool IsRow(int j) const {
    return first_row() + static_cast<std::uint32_t>(RowOfBlock(j)) < rows();
  }

  INFIMUM_HOST_DEVICE float* queries() const { return shared; }
  INFIMUM_HOST_DEVICE float* keys() const { return queries() + kRows * AttentionPitch(call.head); }
  INFIMUM_HOST_DEVICE float* values() const { return keys(); }
  INFIMUM_HOST_DEVICE float* weights(int j) const {
    const int pitch = AttentionPitch(call.head);
    return keys() + kKeys * (kValuePitch > pitch ? kValuePitch : pitch) + RowOfBlock(j) * (kKeys + 1);
  }

  // The first and the last query of the block's rows; of rows of several heads any.
  INFIMUM_HOST_DEVICE std::uint32_t FirstQuery() const {
    std::uint32_t first = first_row(), last = LastRow();
    const bool is_one_head = call.queries.DivideInto(first) == call.queries.Divide(last);
    return is_one_head ? first : 0;
  }
  INFIMUM_HOST_DEVICE std::uint32_t LastQuery() const {
    std::uint32_t first = first_row(), last = LastRow();
    const bool is_one_head = call.queries.Divide(first) == call.queries.DivideInto(last);
    return is_one_head ? last : call.queries.divisor - 1;
  }
  INFIMUM_HOST_DEVICE std::uint32_t LastRow() const {
    const std::uint32_t beyond = first_row() + static_cast<std::uint32_t>(kRows);
    return (beyond < rows() ? beyond : rows()) - 1;
  }
  // Where the tile begins that has the first key that a row of the block sees, in this part.
  INFIMUM_HOST_DEVICE std::uint32_t first_key() const {
    const std::uint32_t first = part * call.part_keys;
    if (call.window == 0) return first;
    const std::int64_t hidden = SeenBy(FirstQuery()) - call.window - first;
    return hidden > 0 ? first + static_cast<std::uint32_t>(hidden / kKeys * kKeys) : first;
  }
  // Behind the last key that a row of the block sees, in this part.
  INFIMUM_HOST_DEVICE std::uint32_t end_key() const {
    const std::uint32_t beyond = (part + 1) * call.part_keys;
    std::uint32_t end = beyond < call.kv ? beyond : call.kv;
    if (!call.causal) return end;
    const std::int64_t seen = SeenBy(LastQuery());
    if (seen < end) end = seen > 0 ? static_cast<std::uint32_t>(seen) : 0;
    return end;
  }
  INFIMUM_HOST_DEVICE std::int64_t SeenBy(std::uint32_t query) const {
    return static_cast<std::int64_t>(call.kv) - call.queries.divisor + query + 1;
  }

  INFIMUM_HOST_DEVICE void LoadQueries() {
    INFIMUM_UNROLL
    for (int j = 0; j < kEach; ++j) {
      largest[j] = kMaskedOut;
      sum[j] = 0;
      INFIMUM_UNROLL
      for (int c = 0; c < kColumns; ++c) out[j][c] = 0;
    }
    const std::uint32_t count = rows() - first_row();
    Load(call.q, Row(0) - RowOfBlock(0), count, kRows, call.head, call.head_units, queries(),
         AttentionPitch(call.head));
  }

  INFIMUM_HOST_DEVICE void LoadValues(std::uint32_t key) {
    const std::int64_t row = static_cast<std::int64_t>(head_of_keys()) * call.kv + key;
    Load(call.v, row, call.kv - key, kKeys, call.value_head, call.value_units, values(), kValuePitch);
  }

  INFIMUM_HOST_DEVICE void LoadKeys(std::uint32_t key) {
    const std::uint32_t count = call.kv - key;
    const std::int64_t row = static_cast<std::int64_t>(head_of_keys()) * call.kv + key;
    if (!call.keys_transposed)
      return Load(call.k, row, count, kKeys, call.head, call.head_units, keys(), AttentionPitch(call.head));
    const std::int64_t plane = static_cast<std::int64_t>(head_of_keys()) * call.kv * call.head + key;
    for (int i = thread; i < AttentionPitch(call.head) * kKeys; i += kAttentionThreads) {
      const auto d = static_cast<std::uint32_t>(i / kKeys), at = static_cast<std::uint32_t>(i % kKeys);
      float x = 0;
      if (d < call.head && at < count)
        x = LoadOne<float>(call.k, call.element, plane + static_cast<std::int64_t>(d) * call.kv + at);
      keys()[static_cast<int>(at) * AttentionPitch(call.head) + static_cast<int>(d)] = x;
    }
  }

  // Scores of the thread's keys with each of its rows, masks included.
  INFIMUM_HOST_DEVICE void Score(std::uint32_t key) {
    INFIMUM_UNROLL
    for (int j = 0; j < kEach; ++j) {
      INFIMUM_UNROLL
      for (int i = 0; i < kOwnKeys; ++i) score[j][i] = 0;
    }
    const int pitch = AttentionPitch(call.head);
    for (int d = 0; d < static_cast<int>(call.head); d += 4) {
      Four q[kEach], k[kOwnKeys];
      INFIMUM_UNROLL
      for (int j = 0; j < kEach; ++j) q[j] = Four::Load(queries() + RowOfBlock(j) * pitch + d);
      INFIMUM_UNROLL
      for (int i = 0; i < kOwnKeys; ++i) k[i] = Four::Load(keys() + (lane() + i * kLanes) * pitch + d);
      INFIMUM_UNROLL
      for (int j = 0; j < kEach; ++j) {
        INFIMUM_UNROLL
        for (int i = 0; i < kOwnKeys; ++i) {
          INFIMUM_UNROLL
          for (int e = 0; e < 4; ++e) score[j][i] += q[j][e] * k[i][e];
        }
      }
    }
    const std::uint32_t end = end_key();
    INFIMUM_UNROLL
    for (int j = 0; j < kEach; ++j) {
      std::uint32_t query = first_row() + static_cast<std::uint32_t>(RowOfBlock(j));
      const std::uint32_t head = call.queries.DivideInto(query);
      INFIMUM_UNROLL
      for (int i = 0; i < kOwnKeys; ++i) {
        const std::uint32_t at = key + static_cast<std::uint32_t>(lane() + i * kLanes);
        const bool is_seen = IsRow(j) && at < end && (!call.causal || at < SeenBy(query)) &&
                             (call.window == 0 || at + std::int64_t{call.window} >= SeenBy(query));
        score[j][i] = is_seen ? score[j][i] * call.scale + Masks(head, query, at) : kMaskedOut;
        weights(j)[lane() + i * kLanes] = score[j][i];
      }
    }
  }

  INFIMUM_HOST_DEVICE void FindLargest() {
    INFIMUM_UNROLL
    for (int j = 0; j < kEach; ++j) {
      next[j] = largest[j];
      for (int i = 0; i < kKeys; ++i) next[j] = Max(next[j], weights(j)[i]);
    }
  }

  INFIMUM_HOST_DEVICE void Weigh() {
    INFIMUM_UNROLL
    for (int j = 0; j < kEach; ++j) {
      const bool sees_none = next[j] == kMaskedOut;
      const float factor = sees_none ? 1.0F : Exp(largest[j] - next[j]);
      largest[j] = next[j];
      sum[j] *= factor;
      INFIMUM_UNROLL
      for (int c = 0; c < kColumns; ++c) out[j][c] *= factor;
      INFIMUM_UNROLL
      for (int i = 0; i < kOwnKeys; ++i)
        weights(j)[lane() + i * kLanes] = sees_none ? 0.0F : Exp(score[j][i] - next[j]);
    }
  }

  INFIMUM_HOST_DEVICE void Accumulate() {
    for (int i = 0; i < kKeys; ++i) {
      float weight[kEach];
      INFIMUM_UNROLL
      for (int j = 0; j < kEach; ++j) {
        weight[j] = weights(j)[i];
        sum[j] += weight[j];
      }
      INFIMUM_UNROLL
      for (int c = 0; c < kColumns; c += 4) {
        const Four v = Four::Load(values() + i * kValuePitch + Column(c));
        INFIMUM_UNROLL
        for (int j = 0; j < kEach; ++j) {
          INFIMUM_UNROLL
          for (int e = 0; e < 4; ++e) out[j][c + e] += weight[j] * v[e];
        }
      }
    }
  }

  INFIMUM_HOST_DEVICE void Finish() {
    INFIMUM_UNROLL
    for (int j = 0; j < kEach; ++j) {
      if (!IsRow(j)) continue;
      float* state = call.states;
      if (state != nullptr) {
        state += (Row(j) * call.parts + part) * (std::int64_t{2} + call.value_head);
        if (lane() == 0) state[0] = largest[j];
        if (lane() == 0) state[1] = sum[j];
      }
      INFIMUM_UNROLL
      for (int c = 0; c < kColumns; ++c) {
        const auto column = static_cast<std::uint32_t>(Column(c / 4 * 4) + c % 4);
        if (column >= call.value_head) continue;
        if (state != nullptr) {
          state[2 + column] = out[j][c];
        } else {
          StoreOne<float>(call.to, call.output_element, Row(j) * call.value_head + column, out[j][c] / sum[j]);
        }
      }
    }
  }

 private:
  struct alignas(16) Four {
    float x[4];
    INFIMUM_HOST_DEVICE static Four Load(const float* from) { return LoadWhole<Four>(from); }
    INFIMUM_HOST_DEVICE float operator[](int i) const { return x[i]; }
  };

  // Of the first of four columns of the thread.
  INFIMUM_HOST_DEVICE int Column(int c) const { return c * kLanes + lane() * 4; }

  INFIMUM_HOST_DEVICE float Masks(std::uint32_t head_of_group, std::uint32_t query, std::uint32_t key) const {
    std::uint32_t head = head_of_keys();
    const std::uint32_t batch = call.kv_heads.DivideInto(head);
    head = head * call.group + head_of_group;
    float total = 0;
    INFIMUM_UNROLL
    for (int i = 0; i < AttentionCall::kMostMasks; ++i) {
      if (i >= call.masks) break;
      const AttentionCall::Mask& mask = call.mask[i];
      std::uint32_t repeated = batch;
      mask.batches.DivideInto(repeated);
      const std::int64_t row = static_cast<std::int64_t>(repeated) * mask.batch_step +
                               static_cast<std::int64_t>(head) * mask.head_step +
                               static_cast<std::int64_t>(query) * mask.query_step;
      total += call.mask_scale * LoadOne<float>(mask.from, call.mask_element, row * call.kv + key);
    }
    return total;
  }

  // The block's rows of `length` elements from row `row` on into shared memory, and zeros behind `count` rows and
  // behind each row's end.
  INFIMUM_HOST_DEVICE void Load(const void* from, std::int64_t row, std::uint32_t count, int rows, std::uint32_t length,
                                const FastDivisor& units, float* to, int pitch) const {
    const auto total = static_cast<std::uint32_t>(rows) * units.divisor;
    for (auto i = static_cast<std::uint32_t>(thread); i < total; i += kAttentionThreads) {
      std::uint32_t unit = i;
      const std::uint32_t r = units.DivideInto(unit);
      float* place = to + static_cast<int>(r) * pitch;
      if (call.width == 1) {
        const bool is_inside = r < count && unit < length;
        place[unit] = is_inside ? LoadOne<float>(from, call.element, (row + r) * length + unit) : 0.0F;
        continue;
      }
      float x[4] = {};
      if (r < count && 4 * unit < length) {
        WithFloat(call.element, [&](auto traits) {
          LoadPack<decltype(traits)>(from, (row + r) * length + std::int64_t{4} * unit, x);
        });
      }
      StorePack<ElementTraits<Element::kF32>>(place, std::int64_t{4} * unit, x);
    }
  }
};

// One element of the result from all parts' states.
INFIMUM_HOST_DEVICE inline void AttentionCombineThread(const AttentionCombineCall& call, std::int64_t number) {
  if (number >= call.count) return;
  auto column = static_cast<std::uint32_t>(number);
  const std::uint32_t row = call.value_head.DivideInto(column);
  const std::int64_t step = std::int64_t{2} + call.value_head.divisor;
  const float* states = call.states + static_cast<std::int64_t>(row) * call.parts * step;
  float largest = kMaskedOut, sum = 0, out = 0;
  for (std::uint32_t part = 0; part < call.parts; ++part) largest = Max(largest, states[part * step]);
  for (std::uint32_t part = 0; part < call.parts; ++part) {
    const float* state = states + part * step;
    const float factor = state[0] == kMaskedOut ? 0.0F : Exp(state[0] - largest);
    sum += state[1] * factor;
    out += state[2 + column] * factor;
  }
  StoreOne<float>(call.to, call.output_element, number, out / sum);
}

// Calls function(AttentionThread<...>*) for a form that there is a kernel of.
template <class Function>
inline bool WithAttentionThread(const AttentionCall& call, const Function& function) {
  const auto with_columns = [&]<int kEach, int kLanes, int kKeys>() {
    if (call.each != kEach || call.lanes != kLanes || call.keys != kKeys) return false;
    if (call.columns == 4) return function(static_cast<AttentionThread<kEach, kLanes, kKeys, 4>*>(nullptr)), true;
    if (call.columns == 8) return function(static_cast<AttentionThread<kEach, kLanes, kKeys, 8>*>(nullptr)), true;
    if (call.columns == 16) return function(static_cast<AttentionThread<kEach, kLanes, kKeys, 16>*>(nullptr)), true;
    if (call.columns == 32) return function(static_cast<AttentionThread<kEach, kLanes, kKeys, 32>*>(nullptr)), true;
    return false;
  };
  return with_columns.template operator()<4, 8, 32>() || with_columns.template operator()<4, 8, 16>() ||
         with_columns.template operator()<2, 8, 32>() || with_columns.template operator()<2, 8, 16>() ||
         with_columns.template operator()<1, 8, 32>() || with_columns.template operator()<1, 32, 32>();
}

}  // namespace infimum::cuda
