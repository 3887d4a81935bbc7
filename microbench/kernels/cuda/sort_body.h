// What one thread of a sort or of a merge does: a bitonic network (Batcher, 1968) in shared memory, and ranks by binary
// search.
#pragma once

#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/sort_call.h"

namespace infimum::cuda {

template <class T>
using SortKey = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;

// A number as one that is ordered as unsigned integers are; both zeros are one.
template <class T>
INFIMUM_HOST_DEVICE inline SortKey<T> KeyOf(T value, bool descends) {
  using Key = SortKey<T>;
  constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  Key key;
  if constexpr (std::is_same_v<T, std::int64_t>) {
    key = static_cast<Key>(value) ^ kSign;
  } else {
    key = BitsAs<Key>(value == T{0} ? T{0} : value);
    key = (key & kSign) != 0 ? ~key : key | kSign;
  }
  return descends ? ~key : key;
}

template <class Key>
INFIMUM_HOST_DEVICE inline bool IsBefore(const SortEntry<Key>& a, const SortEntry<Key>& b) {
  return a.key < b.key || (a.key == b.key && a.place < b.place);
}
template <class Key>
INFIMUM_HOST_DEVICE inline SortEntry<Key> LastEntry() {
  return {static_cast<Key>(~Key{0}), ~std::uint32_t{0}};
}

INFIMUM_HOST_DEVICE inline std::int64_t LineBegin(const SortCall& call, std::uint32_t line, std::uint32_t length) {
  std::uint32_t within = line;
  const std::int64_t outer = call.inner.DivideInto(within);
  return outer * length * call.inner.divisor + within;
}

// Entry `at` of line `line`'s sorted run `run`: to scratch memory, or to the results.
template <class T>
INFIMUM_HOST_DEVICE inline void LeaveEntry(const SortCall& call, std::uint32_t line, std::int64_t run, std::uint32_t at,
                                           const SortEntry<SortKey<T>>& entry) {
  if (at >= call.merged) return;
  if (call.left != nullptr) {
    static_cast<SortEntry<SortKey<T>>*>(call.left)[run * call.merged + at] = entry;
    return;
  }
  const std::int64_t step = call.inner.divisor, to = LineBegin(call, line, call.kept) + at * step,
                     from = LineBegin(call, line, call.length) + entry.place * step;
  StoreOne<T>(call.to, call.output_element, to, LoadOne<T>(call.from, call.element, from));
  call.places[to] = entry.place;
}

template <class T>
struct SortThread {
  using Entry = SortEntry<SortKey<T>>;
  const SortCall& call;
  std::int64_t block;
  std::uint32_t thread;
  Entry* shared;  // [entries]

  INFIMUM_HOST_DEVICE void Load() const {
    for (std::uint32_t i = thread; i < call.entries; i += kSortThreads) {
      const std::int64_t piece = (block * call.entries + i) / call.piece;
      Entry entry = LastEntry<SortKey<T>>();
      if (piece < std::int64_t{call.lines} * call.pieces.divisor) {
        auto number = static_cast<std::uint32_t>(piece);
        const std::uint32_t line = call.pieces.DivideInto(number);
        const std::uint32_t place = number * call.piece + i % call.piece;
        if (place < call.length) {
          const std::int64_t at = LineBegin(call, line, call.length) + std::int64_t{place} * call.inner.divisor;
          entry = {KeyOf(LoadOne<T>(call.from, call.element, at), call.descends), place};
        }
      }
      shared[i] = entry;
    }
  }
  // One step of the network: pairs `distance` apart, in sequences of `size`, which go up and down in turn.
  INFIMUM_HOST_DEVICE void Step(std::uint32_t size, std::uint32_t distance) const {
    for (std::uint32_t i = thread; i < call.entries / 2; i += kSortThreads) {
      const std::uint32_t low = 2 * i - (i & (distance - 1)), high = low + distance;
      const Entry a = shared[low], b = shared[high];
      const bool rises = (low & size & (call.piece - 1)) == 0;
      if (IsBefore(b, a) == rises) {
        shared[low] = b;
        shared[high] = a;
      }
    }
  }
  INFIMUM_HOST_DEVICE void Store() const {
    for (std::uint32_t i = thread; i < call.entries; i += kSortThreads) {
      const std::int64_t piece = (block * call.entries + i) / call.piece;
      if (piece < std::int64_t{call.lines} * call.pieces.divisor)
        LeaveEntry<T>(call, call.pieces.Divide(static_cast<std::uint32_t>(piece)), piece, i % call.piece, shared[i]);
    }
  }
};

// One entry of a run: how many of its own run and of its neighbour's are before it. Runs without a neighbour stay as
// they are, filled up with last entries.
template <class T>
INFIMUM_HOST_DEVICE inline void MergeThread(const SortCall& call, std::int64_t thread) {
  using Entry = SortEntry<SortKey<T>>;
  const std::int64_t all = std::int64_t{call.lines} * call.pieces.divisor;
  const std::int64_t number = thread / call.run;
  if (number >= all) return;
  const auto at = static_cast<std::uint32_t>(thread % call.run);
  auto own = static_cast<std::uint32_t>(number);
  const std::uint32_t line = call.pieces.DivideInto(own), other = own ^ 1U;
  const auto* runs = static_cast<const Entry*>(call.runs);
  const Entry entry = runs[thread];
  const std::int64_t run = std::int64_t{line} * ((call.pieces.divisor + 1) / 2) + own / 2;
  if (other >= call.pieces.divisor) {
    LeaveEntry<T>(call, line, run, at, entry);
    if (call.left != nullptr) LeaveEntry<T>(call, line, run, at + call.run, LastEntry<SortKey<T>>());
    return;
  }
  const Entry* neighbour = runs + (number - own + other) * call.run;
  std::uint32_t begin = 0, end = call.run;
  while (begin < end) {
    const std::uint32_t middle = (begin + end) / 2;
    const bool is_before = own < other ? IsBefore(neighbour[middle], entry) : !IsBefore(entry, neighbour[middle]);
    if (is_before) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  LeaveEntry<T>(call, line, run, at + begin, entry);
}

}  // namespace infimum::cuda
