// Where threads wait for each other, all go through what is before the barrier, then all through what follows.
#include "tests/microbench/gpu/run_on_host.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "microbench/kernels/cuda/attention_body.h"
#include "microbench/kernels/cuda/copy_body.h"
#include "microbench/kernels/cuda/mma_body.h"
#include "microbench/kernels/cuda/pointwise_body.h"
#include "microbench/kernels/cuda/reduce_body.h"
#include "microbench/kernels/cuda/row_body.h"
#include "microbench/kernels/cuda/scan_body.h"
#include "microbench/kernels/cuda/sort_body.h"
#include "microbench/kernels/cuda/stored_body.h"
#include "microbench/kernels/cuda/timing_body.h"
#include "microbench/kernels/cuda/window_body.h"

namespace infimum::cuda {
namespace {

template <int kNumber>
using Constant = std::integral_constant<int, kNumber>;

// Calls function(block, thread) for all threads of `blocks` blocks.
template <class Function>
void ForThreads(std::int64_t blocks, int threads, const Function& function) {
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (int thread = 0; thread < threads; ++thread) function(block, thread);
  }
}

void Run(const FlatCopyCall& call) {
  const auto run = [&](auto unit, auto units) {
    using Unit = decltype(unit);
    const std::int64_t blocks =
        CopyBlocks(call.bytes / static_cast<std::int64_t>(sizeof(Unit)), decltype(units)::value);
    ForThreads(blocks, kCopyThreads, [&](std::int64_t block, int thread) {
      FlatCopyThread<Unit, decltype(units)::value, false>(call, block, thread);
    });
  };
  WithUnit(call.unit_bytes, [&](auto unit) {
    if (UnitsPerThread(call) == 1) return run(unit, Constant<1>());
    if (UnitsPerThread(call) == 8) return run(unit, Constant<8>());
    return run(unit, Constant<4>());
  });
}

void Run(const FillCall& call) {
  WithUnit(call.unit_bytes, [&](auto unit) {
    ForThreads(CopyBlocks(call.bytes / call.unit_bytes, kFillUnits), kCopyThreads,
               [&](std::int64_t block, int thread) { FillThread<decltype(unit)>(call, block, thread); });
  });
}

template <class Unit, int kUnits>
void RunCopy(const CopyCall& call) {
  ForThreads(CopyBlocks(call.count, kUnits), kCopyThreads, [&](std::int64_t block, int thread) {
    switch (call.limit) {
      case CopyCall::Limit::kNone:
        return CopyThread<Unit, kUnits, CopyCall::Limit::kNone>(call, block, thread);
      case CopyCall::Limit::kBox:
        return CopyThread<Unit, kUnits, CopyCall::Limit::kBox>(call, block, thread);
      case CopyCall::Limit::kLowerTriangle:
        return CopyThread<Unit, kUnits, CopyCall::Limit::kLowerTriangle>(call, block, thread);
    }
  });
}

void Run(const CopyCall& call) {
  WithUnit(call.unit_bytes, [&](auto unit) {
    if (UnitsPerThread(call) == 1) return RunCopy<decltype(unit), 1>(call);
    return RunCopy<decltype(unit), 4>(call);
  });
}

template <class Unit, int kUnits>
void RunGather(const GatherCall& call) {
  ForThreads(CopyBlocks(call.count, kUnits), kCopyThreads, [&](std::int64_t block, int thread) {
    if (call.scatters) return GatherThread<Unit, kUnits, true>(call, block, thread);
    return GatherThread<Unit, kUnits, false>(call, block, thread);
  });
}

void Run(const GatherCall& call) {
  WithUnit(call.unit_bytes, [&](auto unit) {
    if (UnitsPerThread(call) == 1) return RunGather<decltype(unit), 1>(call);
    return RunGather<decltype(unit), 4>(call);
  });
}

void Run(const JoinCall& call) {
  WithUnit(call.unit_bytes, [&](auto unit) {
    using Unit = decltype(unit);
    ForThreads(CopyBlocks(call.count, kJoinUnits), kCopyThreads, [&](std::int64_t block, int thread) {
      if (call.splits) return JoinThread<Unit, true>(call, block, thread);
      return JoinThread<Unit, false>(call, block, thread);
    });
  });
}

void Run(const OneHotCall& call) {
  ForThreads(CopyBlocks(call.count, 1), kCopyThreads,
             [&](std::int64_t block, int thread) { OneHotThread(call, block, thread); });
}

void Run(const TransposeCall& call) {
  WithTile(call.element_bytes, call.merged, [&](auto tile) {
    using Tile = decltype(tile);
    std::vector<typename Tile::Word> shared(Tile::kWords);
    for (std::int64_t block = 0; block < call.tiles(); ++block) {
      ForThreads(Tile::kRows, Tile::kLanes, [&](std::int64_t row, int lane) {
        Tile::Load(call, block, lane, static_cast<int>(row), shared.data());
      });
      ForThreads(Tile::kRows, Tile::kLanes, [&](std::int64_t row, int lane) {
        Tile::Store(call, block, lane, static_cast<int>(row), shared.data());
      });
    }
  });
}

void Run(const PointwiseCall& call) {
  const PointwiseData data = DataOf(call);
  WithPointwiseThread(call, [&](auto thread) {
    const std::int64_t threads = (call.count + call.width - 1) / call.width;
    for (std::int64_t i = 0; i < threads; ++i) decltype(thread)::Run(call, data, i);
  });
}

template <class T, int kWidth, class Source>
void RunRows(const RowCall& call, const Source& source) {
  using Thread = RowThread<T, kWidth, Source>;
  std::vector<Bytes16> cache(static_cast<std::size_t>(RowCacheBytes(call) / 16));
  void* const memory = call.caches ? cache.data() : nullptr;
  for (std::uint32_t row = 0; row < call.space.rows; ++row) {
    RowTotals<T> totals;
    for (int pass = 0; pass < RowPasses(call.kind); ++pass) {
      RowState<T> state = EmptyRowState<T>();
      for (int thread = 0; thread < call.threads; ++thread) {
        state = Combine(call.kind, state, Thread{call, row, thread, memory, source}.Pass(pass, totals));
      }
      Thread{call, row, 0, memory, source}.Conclude(pass, state, totals);
    }
    for (int thread = 0; thread < call.threads; ++thread) Thread{call, row, thread, memory, source}.Write(totals);
  }
}

void Run(const RowCall& call) {
  WithRowThread(
      call, [&](auto number, auto width) { RunRows<decltype(number), decltype(width)::value>(call, RowInMemory()); });
}

void Run(const ChainedRowCall& call) {
  const PointwiseData data = DataOf(call.chain);
  WithRowThread(call.row, [&](auto number, auto width) {
    using Thread = PointwiseThread<decltype(number), decltype(width)::value, PointwiseCall::kMostOperands>;
    RunRows<decltype(number), decltype(width)::value>(call.row, RowOfProgram<Thread>{call.chain, data});
  });
}

template <class T, int kWidth>
void RunReduceRows(const ReduceCall& call, std::uint32_t part) {
  for (std::uint32_t output = 0; output < call.kept_count; ++output) {
    ReduceState<T> state = EmptyState<T>(call.kind);
    for (int thread = 0; thread < call.threads; ++thread) {
      state = Combine(call.kind, state, ReduceRow<T, kWidth>(call, output, part, thread));
    }
    Leave(call, output, part, state);
  }
}

template <class T, int kWidth>
void RunReduceColumns(const ReduceCall& call, std::uint32_t part) {
  for (std::uint32_t output = 0; output < call.kept_count; output += kWidth) {
    ReduceState<T> state[kWidth], other[kWidth];
    ReduceColumn<T, kWidth>(call, output, part, 0, state);
    for (int thread = 1; thread < call.threads; ++thread) {
      ReduceColumn<T, kWidth>(call, output, part, thread, other);
      for (int e = 0; e < kWidth; ++e) state[e] = Combine(call.kind, state[e], other[e]);
    }
    for (std::uint32_t e = 0; e < kWidth; ++e) {
      if (output + e < call.kept_count) Leave(call, output + e, part, state[e]);
    }
  }
}

void Run(const ReduceCall& call) {
  WithReduceThread(call, [&](auto number, auto width) {
    using T = decltype(number);
    for (std::uint32_t part = 0; part < (call.combines ? 1 : call.parts); ++part) {
      if (call.form == ReduceCall::Form::kColumns) {
        RunReduceColumns<T, decltype(width)::value>(call, part);
      } else {
        RunReduceRows<T, decltype(width)::value>(call, part);
      }
    }
  });
}

template <class T>
void RunScanPieces(const ScanCall& call, std::uint32_t line) {
  T before = ScanEmpty<T>(call);
  std::vector<ScanPiece<T>> own(kScanThreads);
  std::vector<T> sums(kScanThreads);
  for (std::uint32_t piece = 0; piece * std::uint64_t{kScanPiece} < call.length; ++piece) {
    for (int thread = 0; thread < kScanThreads; ++thread) {
      const auto at = static_cast<std::size_t>(thread);
      sums[at] = own[at].Load(call, line, piece, thread);
    }
    for (int thread = 0; thread < kScanThreads; ++thread) {
      const auto at = static_cast<std::size_t>(thread);
      own[at].Store(call, line, piece, thread, before);
      before = ScanCombine(call, before, sums[at]);
    }
  }
}

void Run(const ScanCall& call) {
  WithArithmetic(call.arithmetic, [&](auto number) {
    using T = decltype(number);
    for (std::uint32_t line = 0; line < call.lines; ++line) {
      if (call.threads == 1) {
        ScanLine<T>(call, line);
      } else {
        RunScanPieces<T>(call, line);
      }
    }
  });
}

// A warp's product, each thread with what the others hold.
template <Element kElement>
void MultiplyAdd(const std::vector<MmaA>& a, const std::vector<MmaB>& b, std::vector<MmaSums>& sums) {
  for (int lane = 0; lane < 32; ++lane) {
    MultiplyAddAsWritten<kElement>(
        lane, [&](int other, int word) { return a[static_cast<std::size_t>(other)].word[word]; },
        [&](int other, int word) { return b[static_cast<std::size_t>(other)].word[word]; },
        sums[static_cast<std::size_t>(lane)]);
  }
}

template <Element kElement>
void RunMmaWarp(const MmaRowCall& call, std::uint32_t warp) {
  std::vector<MmaRowThread<kElement>> threads;
  for (int lane = 0; lane < 32; ++lane) threads.push_back({call, warp, lane});
  std::vector<MmaSums> sums(32, MmaSums{});
  for (std::uint32_t chunk = 0; chunk < MmaChunks(call); ++chunk) {
    const std::vector<MmaSums> before = sums;
    for (int pair = 0; pair < (call.scans ? 4 : 1); ++pair) {
      if (call.scans) sums = before;
      for (int product = 0; product < 2; ++product) {
        std::vector<MmaA> a;
        std::vector<MmaB> b;
        for (const auto& thread : threads) {
          a.push_back(thread.PartOf(thread.Load(0, chunk), thread.Load(1, chunk), product));
          b.push_back(call.scans ? thread.Triangle(product, pair) : thread.Ones());
        }
        MultiplyAdd<kElement>(a, b, sums);
      }
      for (std::size_t i = 0; call.scans && i < 32; ++i) threads[i].StoreScan(chunk, pair, sums[i]);
    }
    for (std::size_t i = 0; call.scans && i < 32; ++i) {
      sums[i].at[0] = sums[i].at[1] = sums[i | 3].at[1];
      sums[i].at[2] = sums[i].at[3] = sums[i | 3].at[3];
    }
  }
  for (std::size_t i = 0; !call.scans && i < 32; ++i) threads[i].StoreSum(sums[i]);
}

void Run(const MmaRowCall& call) {
  for (std::uint32_t warp = 0; warp * kMmaRows < call.rows; ++warp) {
    if (call.element == Element::kF16) {
      RunMmaWarp<Element::kF16>(call, warp);
    } else {
      RunMmaWarp<Element::kBF16>(call, warp);
    }
  }
}

template <class T>
void RunSort(const SortCall& call) {
  const std::int64_t pieces = std::int64_t{call.lines} * call.pieces.divisor;
  for (std::int64_t i = 0; call.merges && i < pieces * call.run; ++i) MergeThread<T>(call, i);
  if (call.merges) return;
  std::vector<SortEntry<SortKey<T>>> shared(call.entries);
  for (std::int64_t block = 0; block < Divided(pieces * call.piece, std::int64_t{call.entries}); ++block) {
    const auto all = [&](const auto& function) {
      for (std::uint32_t i = 0; i < kSortThreads; ++i) function(SortThread<T>{call, block, i, shared.data()});
    };
    all([](const SortThread<T>& thread) { thread.Load(); });
    for (std::uint32_t size = 2; size <= call.piece; size *= 2) {
      for (std::uint32_t distance = size / 2; distance > 0; distance /= 2)
        all([&](const SortThread<T>& thread) { thread.Step(size, distance); });
    }
    all([](const SortThread<T>& thread) { thread.Store(); });
  }
}

void Run(const SortCall& call) {
  WithArithmetic(call.arithmetic, [&](auto number) { RunSort<decltype(number)>(call); });
}

// One thread for each of `count` elements.
template <class Call, class OfFloat, class OfDouble>
void RunWindows(const Call& call, const OfFloat& of_float, const OfDouble& of_double) {
  for (std::int64_t i = 0; i < call.count; ++i) {
    if (call.arithmetic == Arithmetic::kF32) {
      of_float(i);
    } else {
      of_double(i);
    }
  }
}

void Run(const PoolCall& call) {
  RunWindows(
      call, [&](std::int64_t i) { PoolThread<float>(call, i); }, [&](std::int64_t i) { PoolThread<double>(call, i); });
}

template <int kTaps>
void RunResample(const ResampleCall& call) {
  RunWindows(
      call, [&](std::int64_t i) { ResampleThread<float, kTaps>(call, i); },
      [&](std::int64_t i) { ResampleThread<double, kTaps>(call, i); });
}

void Run(const ResampleCall& call) {
  if (call.taps == 1) return RunResample<1>(call);
  if (call.taps == 2) return RunResample<2>(call);
  RunResample<4>(call);
}

void Run(const GridCall& call) {
  RunWindows(
      call, [&](std::int64_t i) { GridThread<float>(call, i); }, [&](std::int64_t i) { GridThread<double>(call, i); });
}

void Run(const ResponseCall& call) {
  RunWindows(
      call, [&](std::int64_t i) { ResponseThread<float>(call, i); },
      [&](std::int64_t i) { ResponseThread<double>(call, i); });
}

template <class Thread>
void RunAttentionBlock(const AttentionCall& call, std::uint32_t block, std::uint32_t part) {
  // Nonsense where nothing is loaded.
  const std::int64_t bytes = AttentionSharedBytes(Thread::kRows, call.keys, Thread::kValuePitch, call.head);
  std::vector<Bytes16> shared(static_cast<std::size_t>(bytes / 16 + 1),
                              Bytes16{{0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000}});
  std::vector<Thread> threads;
  for (int i = 0; i < kAttentionThreads; ++i)
    threads.push_back(Thread{call, block, part, i, reinterpret_cast<float*>(shared.data())});
  const auto all = [&](const auto& function) { std::ranges::for_each(threads, function); };
  all([](Thread& thread) { thread.LoadQueries(); });
  const std::uint32_t end = threads[0].end_key();
  for (std::uint32_t key = threads[0].first_key(); key < end; key += static_cast<std::uint32_t>(call.keys)) {
    all([&](Thread& thread) { thread.LoadKeys(key); });
    all([&](Thread& thread) { thread.Score(key); });
    all([&](Thread& thread) { thread.LoadValues(key); });
    all([](Thread& thread) { thread.FindLargest(); });
    all([](Thread& thread) { thread.Weigh(); });
    all([](Thread& thread) { thread.Accumulate(); });
  }
  all([](Thread& thread) { thread.Finish(); });
}

void Run(const AttentionCall& call) {
  WithAttentionThread(call, [&](auto* of_form) {
    const std::uint32_t blocks = call.batch * call.kv_heads.divisor * call.tiles.divisor;
    for (std::uint32_t part = 0; part < call.parts; ++part)
      for (std::uint32_t block = 0; block < blocks; ++block)
        RunAttentionBlock<std::remove_pointer_t<decltype(of_form)>>(call, block, part);
  });
}

void Run(const AttentionCombineCall& call) {
  for (std::int64_t i = 0; i < call.count; ++i) AttentionCombineThread(call, i);
}

template <class Thread>
void RunStoredBlock(const StoredProductCall& call, std::uint32_t block, std::uint32_t part) {
  std::vector<Bytes16> shared(static_cast<std::size_t>(Thread::kSharedBytes / 16));
  const auto all = [&](const auto& function) {
    for (int i = 0; i < kStoredThreads; ++i)
      function(Thread{call, block, part, i, reinterpret_cast<float*>(shared.data())});
  };
  all([](const Thread& thread) { thread.Sum(); });
  all([](const Thread& thread) { thread.Leave(); });
}

void Run(const StoredProductCall& call) {
  const std::int64_t outputs = std::int64_t{call.rows} * call.columns;
  for (std::int64_t i = 0; call.combines && i < outputs; ++i) StoredCombineThread(call, i);
  if (call.combines) return;
  if (call.expands) {
    for (std::int64_t i = 0; i < std::int64_t{call.depth} * call.columns / kStoredColumns; ++i) {
      if (call.bits == 4) StoredThread<4, 1>{call, 0, 0, 0, nullptr}.Expand(i);
      if (call.bits == 8) StoredThread<8, 1>{call, 0, 0, 0, nullptr}.Expand(i);
    }
    return;
  }
  const auto each = static_cast<std::uint32_t>(call.rows_each);
  const std::uint32_t blocks = (call.rows + each - 1) / each * call.tiles.divisor;
  WithStoredThread(call, [&](auto* of_form) {
    for (std::uint32_t part = 0; part < call.parts; ++part)
      for (std::uint32_t block = 0; block < blocks; ++block)
        RunStoredBlock<std::remove_pointer_t<decltype(of_form)>>(call, block, part);
  });
}

void Run(const BlockQuantizeCall& call) {
  for (std::int64_t i = 0; i < call.blocks; ++i) BlockQuantizeThread(call, i);
}

}  // namespace

void RunOnHost(const KernelCall& call) {
  std::visit([](const auto& own) { Run(own); }, call);
}

void RunOnHost(const BandwidthCall& call) {
  // Threads enough for several turns of the loop, and for a last one that is not full.
  constexpr std::int64_t kThreads = 96;
  for (int pass = 0; pass < call.passes; ++pass) {
    for (std::int64_t thread = 0; thread < kThreads; ++thread) {
      switch (call.units_in_flight) {
        case 1:
          BandwidthPass<1>(call, thread, kThreads, static_cast<std::uint32_t>(pass));
          break;
        case 2:
          BandwidthPass<2>(call, thread, kThreads, static_cast<std::uint32_t>(pass));
          break;
        case 8:
          BandwidthPass<8>(call, thread, kThreads, static_cast<std::uint32_t>(pass));
          break;
        default:
          BandwidthPass<4>(call, thread, kThreads, static_cast<std::uint32_t>(pass));
          break;
      }
    }
  }
}

}  // namespace infimum::cuda
