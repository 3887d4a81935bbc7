#include "microbench/kernels/cuda/kernel_launch.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "microbench/kernels/cuda/attention_body.h"
#include "microbench/kernels/cuda/copy_body.h"
#include "microbench/kernels/cuda/mma_body.h"
#include "microbench/kernels/cuda/pointwise_body.h"
#include "microbench/kernels/cuda/pointwise_constants.h"
#include "microbench/kernels/cuda/reduce_body.h"
#include "microbench/kernels/cuda/row_body.h"
#include "microbench/kernels/cuda/scan_body.h"
#include "microbench/kernels/cuda/sort_body.h"
#include "microbench/kernels/cuda/stored_body.h"
#include "microbench/kernels/cuda/timing_body.h"
#include "microbench/kernels/cuda/window_body.h"

namespace infimum::cuda {
namespace {

std::string Named(std::string_view name) { return "infimum::cuda::" + std::string(name); }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int value) { return std::to_string(value); }

template <class T>
std::string NameOf() {
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, std::int64_t>) return "std::int64_t";
  if constexpr (std::is_same_v<T, Bytes16>) return Named("Bytes16");
  if constexpr (std::is_unsigned_v<T>) return "std::uint" + std::to_string(8 * sizeof(T)) + "_t";
}
std::string ArithmeticName(Arithmetic arithmetic) {
  std::string name;
  WithArithmetic(arithmetic, [&](auto number) { name = NameOf<decltype(number)>(); });
  return name;
}

// Template<a, b, c>
template <class... Arguments>
std::string Instance(std::string_view kernel, const Arguments&... arguments) {
  std::string list;
  ((list += (list.empty() ? "" : ", ") + arguments), ...);
  return Named(kernel) + "<" + list + ">";
}

template <class Argument>
std::vector<std::byte> BytesOfArgument(const Argument& argument) {
  static_assert(std::is_trivially_copyable_v<Argument>);
  std::vector<std::byte> bytes(sizeof argument);
  std::memcpy(bytes.data(), &argument, sizeof argument);
  return bytes;
}

template <class Argument>
KernelLaunch Launch(std::string_view header, std::string name, std::int64_t blocks, int threads,
                    const Argument& argument) {
  KernelLaunch launch{"microbench/kernels/cuda/" + std::string(header), std::move(name)};
  launch.blocks[0] = blocks;
  launch.threads[0] = threads;
  launch.argument = BytesOfArgument(argument);
  return launch;
}

// "call.kind = RowKind(3); "
template <class Value>
std::string Known(std::string_view field, std::string_view type, Value value) {
  return "call." + std::string(field) + " = " + std::string(type) + "(" + std::to_string(static_cast<int>(value)) +
         "); ";
}
// Of a call with an element that it reads and one that it writes.
template <class Call>
std::string KnownElements(const Call& call) {
  return Known("element", "Element", call.element) + Known("output_element", "Element", call.output_element);
}
KernelLaunch Knowing(std::string known, KernelLaunch launch) {
  launch.known = std::move(known);
  return launch;
}

constexpr std::string_view kAttention = "attention_kernels.cuh", kCopies = "copy_kernels.cuh",
                           kRows = "row_kernels.cuh", kTiming = "timing_kernels.cuh";

std::string UnitName(int bytes) {
  std::string name;
  WithUnit(bytes, [&](auto unit) { name = NameOf<decltype(unit)>(); });
  return name;
}

using Maybe = std::optional<KernelLaunch>;

Maybe Of(const FlatCopyCall& call) {
  if (call.bytes == 0) return std::nullopt;
  const int units = UnitsPerThread(call);
  const bool streams = call.streams && call.unit_bytes == 16;
  return Launch(kCopies, Instance("FlatCopyKernel", UnitName(call.unit_bytes), Text(units), Text(streams)),
                CopyBlocks(call.bytes / call.unit_bytes, units), kCopyThreads, call);
}

Maybe Of(const FillCall& call) {
  if (call.bytes == 0) return std::nullopt;
  return Launch(kCopies, Instance("FillKernel", UnitName(call.unit_bytes)),
                CopyBlocks(call.bytes / call.unit_bytes, kFillUnits), kCopyThreads, call);
}

Maybe Of(const CopyCall& call) {
  if (call.count == 0) return std::nullopt;
  const int units = UnitsPerThread(call);
  constexpr std::string_view kLimits[] = {"kNone", "kBox", "kLowerTriangle"};
  const std::string limit = Named("CopyCall::Limit::") + std::string(kLimits[static_cast<std::size_t>(call.limit)]);
  return Launch(kCopies, Instance("CopyKernel", UnitName(call.unit_bytes), Text(units), limit),
                CopyBlocks(call.count, units), kCopyThreads, call);
}

Maybe Of(const TransposeCall& call) {
  if (call.tiles() == 0 || call.rows == 0 || call.columns == 0) return std::nullopt;
  Maybe launch;
  WithTile(call.element_bytes, call.merged, [&](auto tile) {
    using Tile = decltype(tile);
    const std::string name =
        Named("TransposeTile<") + NameOf<typename Tile::Stored>() + ", " + Text(Tile::kWordElements) + ">";
    launch = Launch(kCopies, Instance("TransposeKernel", name), call.tiles(), Tile::kLanes, call);
    launch->threads[1] = Tile::kRows;
  });
  return launch;
}

Maybe Of(const GatherCall& call) {
  if (call.count == 0) return std::nullopt;
  const int units = UnitsPerThread(call);
  return Knowing(Known("index_element", "Element", call.index_element),
                 Launch(kCopies, Instance("GatherKernel", UnitName(call.unit_bytes), Text(units), Text(call.scatters)),
                        CopyBlocks(call.count, units), kCopyThreads, call));
}

Maybe Of(const JoinCall& call) {
  if (call.count == 0) return std::nullopt;
  return Launch(kCopies, Instance("JoinKernel", UnitName(call.unit_bytes), Text(call.splits)),
                CopyBlocks(call.count, kJoinUnits), kCopyThreads, call);
}

Maybe Of(const OneHotCall& call) {
  if (call.count == 0) return std::nullopt;
  return Knowing(Known("index_element", "Element", call.index_element) + Known("element", "Element", call.element),
                 Launch(kCopies, Named("OneHotKernel"), CopyBlocks(call.count, 1), kCopyThreads, call));
}

// As many operands as it has: no register is kept for others.
std::string ThreadOf(const PointwiseCall& call) {
  return Instance("PointwiseThread", ArithmeticName(call.arithmetic), Text(call.width),
                  Text(std::max(call.operands, 1)));
}
std::string ProgramText(const PointwiseCall& call) {
  return "namespace infimum::cuda {\nstruct Program {\n  static constexpr PointwiseCall kCall = " + ConstantText(call) +
         ";\n};\n}\n";
}

Maybe Of(const PointwiseCall& call) {
  if (call.count == 0) return std::nullopt;
  const bool is_known = WithPointwiseThread(call, [](auto) {});
  const std::string thread = ThreadOf(call);
  KernelLaunch launch =
      Launch("pointwise_kernels.cuh", is_known ? Instance("PointwiseKernel", thread, Named("Program")) : "",
             Divided(call.count, std::int64_t{kPointwiseThreads} * call.width), kPointwiseThreads, DataOf(call));
  launch.constants = ProgramText(call);
  return launch;
}

KernelLaunch RowLaunch(const RowCall& call) {
  const std::int64_t rows = call.space.rows, cache = RowCacheBytes(call);
  const std::string number = ArithmeticName(call.arithmetic), width = Text(call.width);
  if (call.threads == 1)
    return Launch(kRows, Instance("RowKernelByThread", number), Divided(rows, kRowThreads), kRowThreads, call);
  const bool is_known = WithRowThread(call, [](auto, auto) {});
  const bool by_warp = call.threads == 32;
  constexpr int kWarps = kRowThreads / 32;
  const std::string_view kernel = by_warp ? "RowKernelByWarp" : "RowKernelByBlock";
  KernelLaunch launch = Launch(kRows, is_known ? Instance(kernel, number, width) : "",
                               by_warp ? Divided(rows, kWarps) : rows, by_warp ? kRowThreads : call.threads, call);
  launch.shared = by_warp ? cache * kWarps : cache;
  return launch;
}

std::string KnownOf(const RowCall& call) {
  return Known("kind", "RowKind", call.kind) + KnownElements(call) +
         Known("parameter_element", "Element", call.parameter_element) +
         Known("quantized_element", "Element", call.quantized_element) + Known("caches", "bool", call.caches);
}

Maybe Of(const RowCall& call) {
  if (call.space.rows == 0 || call.space.length == 0) return std::nullopt;
  return Knowing(KnownOf(call), RowLaunch(call));
}

Maybe Of(const ChainedRowCall& call) {
  if (call.row.space.rows == 0 || call.row.space.length == 0) return std::nullopt;
  KernelLaunch launch = Knowing(KnownOf(call.row), RowLaunch(call.row));
  const std::string_view by = call.row.threads == 1    ? "ChainedRowKernelByThread"
                              : call.row.threads == 32 ? "ChainedRowKernelByWarp"
                                                       : "ChainedRowKernelByBlock";
  launch.header = "microbench/kernels/cuda/chained_row_kernels.cuh";
  if (!launch.name.empty())
    launch.name =
        Instance(by, ArithmeticName(call.row.arithmetic), Text(call.row.width), ThreadOf(call.chain), Named("Program"));
  launch.constants = ProgramText(call.chain);
  launch.argument = BytesOfArgument(ChainedRowData{call.row, DataOf(call.chain)});
  return launch;
}

Maybe Of(const ScanCall& call) {
  if (call.lines == 0 || call.length == 0) return std::nullopt;
  const std::string number = ArithmeticName(call.arithmetic);
  const std::string known = Known("multiplies", "bool", call.multiplies) + KnownElements(call);
  if (call.threads == 1)
    return Knowing(known, Launch(kRows, Instance("ScanKernelByThread", number), Divided(call.lines, kScanThreads),
                                 kScanThreads, call));
  return Knowing(known, Launch(kRows, Instance("ScanKernelByBlock", number), call.lines, kScanThreads, call));
}

Maybe Of(const MmaRowCall& call) {
  if (call.rows == 0 || call.length == 0) return std::nullopt;
  const std::string element = Named(call.element == Element::kF16    ? "Element::kF16"
                                    : call.element == Element::kBF16 ? "Element::kBF16"
                                                                     : "");
  return Knowing(Known("output_element", "Element", call.output_element) + Known("is_aligned", "bool", call.is_aligned),
                 Launch("mma_kernels.cuh", Instance("MmaRowKernel", element, Text(call.scans)),
                        Divided(call.rows, kMmaRows * kMmaThreads / 32), kMmaThreads, call));
}

Maybe Of(const SortCall& call) {
  if (call.lines == 0 || call.length == 0) return std::nullopt;
  constexpr std::string_view kHeader = "sort_kernels.cuh";
  const std::string number = ArithmeticName(call.arithmetic);
  const std::string known = KnownElements(call) + Known("descends", "bool", call.descends);
  const std::int64_t pieces = std::int64_t{call.lines} * call.pieces.divisor;
  if (call.merges)
    return Knowing(known, Launch(kHeader, Instance("MergeKernel", number), Divided(pieces * call.run, kSortThreads),
                                 kSortThreads, call));
  KernelLaunch launch = Launch(kHeader, Instance("SortKernel", number),
                               Divided(pieces * call.piece, std::int64_t{call.entries}), kSortThreads, call);
  launch.shared = call.entries * SortEntryBytes(call.arithmetic);
  return Knowing(known + Known("piece", "std::uint32_t", call.piece) + Known("entries", "std::uint32_t", call.entries),
                 std::move(launch));
}

Maybe Of(const ReduceCall& call) {
  if (call.kept_count == 0) return std::nullopt;
  constexpr std::string_view kHeader = "reduce_kernels.cuh";
  KernelLaunch launch;
  WithReduceThread(call, [&](auto number, auto width) {
    using T = decltype(number);
    constexpr int kWidth = decltype(width)::value;
    const auto instance = [&](std::string_view kernel) { return Instance(kernel, NameOf<T>(), Text(kWidth)); };
    if (call.form == ReduceCall::Form::kColumns) {
      launch = Launch(kHeader, instance("ReduceKernelByColumn"), Divided(call.kept_count, 32 * kWidth), 32, call);
      launch.threads[1] = call.threads;
      launch.shared = call.threads > 1 ? static_cast<std::int64_t>(sizeof(ReduceState<T>)) * 32 * call.threads : 0;
    } else if (call.threads <= 32) {
      launch = Launch(kHeader, instance("ReduceKernelByWarp"),
                      Divided(std::int64_t{call.kept_count} * call.threads, kReduceThreads), kReduceThreads, call);
    } else {
      launch = Launch(kHeader, instance("ReduceKernelByBlock"), call.kept_count, call.threads, call);
    }
    launch.blocks[1] = call.combines ? 1 : call.parts;
  });
  return Knowing(Known("kind", "ReduceKind", call.kind) + KnownElements(call) +
                     Known("combines", "bool", call.combines) + Known("threads", "int", call.threads),
                 std::move(launch));
}

template <class Call>
KernelLaunch WindowLaunch(const Call& call, std::string name) {
  return Launch("window_kernels.cuh", std::move(name), Divided(call.count, kWindowThreads), kWindowThreads, call);
}
Maybe Of(const PoolCall& call) {
  if (call.count == 0) return std::nullopt;
  return Knowing(Known("kind", "ReduceKind", call.kind) + KnownElements(call) +
                     Known("counts_padding", "bool", call.counts_padding),
                 WindowLaunch(call, Instance("PoolKernel", ArithmeticName(call.arithmetic))));
}
Maybe Of(const ResampleCall& call) {
  if (call.count == 0) return std::nullopt;
  return Knowing(KnownElements(call) + Known("rank", "int", call.rank),
                 WindowLaunch(call, Instance("ResampleKernel", ArithmeticName(call.arithmetic), Text(call.taps))));
}
Maybe Of(const GridCall& call) {
  if (call.count == 0) return std::nullopt;
  return Knowing(KnownElements(call) + Known("grid_element", "Element", call.grid_element) +
                     Known("rank", "int", call.rank) + Known("aligned_corners", "bool", call.aligned_corners) +
                     Known("border", "bool", call.border),
                 WindowLaunch(call, Instance("GridKernel", ArithmeticName(call.arithmetic))));
}
Maybe Of(const ResponseCall& call) {
  if (call.count == 0) return std::nullopt;
  return Knowing(Known("element", "Element", call.element),
                 WindowLaunch(call, Instance("ResponseKernel", ArithmeticName(call.arithmetic))));
}

Maybe Of(const AttentionCall& call) {
  const std::int64_t blocks = std::int64_t{call.batch} * call.kv_heads.divisor * call.tiles.divisor;
  if (blocks == 0 || call.kv == 0) return std::nullopt;
  const bool is_known = WithAttentionThread(call, [](auto*) {});
  const std::string name =
      Instance("AttentionKernel", Text(call.each), Text(call.lanes), Text(call.keys), Text(call.columns));
  KernelLaunch launch = Launch(kAttention, is_known ? name : "", blocks, kAttentionThreads, call);
  launch.blocks[1] = call.parts;
  const int rows = kAttentionThreads / call.lanes * call.each;
  launch.shared = AttentionSharedBytes(rows, call.keys, call.columns * call.lanes, call.head);
  return Knowing(KnownElements(call) + Known("mask_element", "Element", call.mask_element) +
                     Known("causal", "bool", call.causal) + (call.window == 0 ? "call.window = 0; " : "") +
                     Known("keys_transposed", "bool", call.keys_transposed) + Known("masks", "int", call.masks) +
                     Known("width", "int", call.width),
                 std::move(launch));
}
Maybe Of(const AttentionCombineCall& call) {
  if (call.count == 0) return std::nullopt;
  return Launch(kAttention, Named("AttentionCombineKernel"), Divided(call.count, kAttentionThreads), kAttentionThreads,
                call);
}

Maybe Of(const StoredProductCall& call) {
  if (call.rows == 0 || call.columns == 0) return std::nullopt;
  constexpr std::string_view kHeader = "stored_kernels.cuh";
  const std::string known =
      KnownElements(call) + Known("number", "StoredNumber", call.number) +
      Known("scale_number", "StoredNumber", call.scale_number) + Known("scale_element", "Element", call.scale_element) +
      Known("bias_element", "Element", call.bias_element) + Known("is_signed", "bool", call.is_signed) +
      Known("has_zeros", "bool", call.has_zeros) + Known("is_aligned", "bool", call.is_aligned);
  if (call.combines)
    return Knowing(known,
                   Launch(kHeader, Named("StoredCombineKernel"),
                          Divided(std::int64_t{call.rows} * call.columns, kStoredThreads), kStoredThreads, call));
  if (call.expands)
    return Knowing(known, Launch(kHeader, Instance("StoredExpandKernel", Text(call.bits)),
                                 Divided(std::int64_t{call.depth} * (call.columns / kStoredColumns), kStoredThreads),
                                 kStoredThreads, call));
  const bool is_known = WithStoredThread(call, [](auto*) {});
  const std::string name = Instance("StoredProductKernel", Text(call.bits), Text(call.rows_each));
  KernelLaunch launch = Launch(kHeader, is_known ? name : "", Divided(call.rows, call.rows_each) * call.tiles.divisor,
                               kStoredThreads, call);
  launch.blocks[1] = call.parts;
  return Knowing(known, std::move(launch));
}

Maybe Of(const BlockQuantizeCall& call) {
  if (call.blocks == 0) return std::nullopt;
  return Knowing(Known("element", "Element", call.element) + Known("number", "StoredNumber", call.number) +
                     Known("scale_number", "StoredNumber", call.scale_number) +
                     Known("is_aligned", "bool", call.is_aligned) + Known("block", "std::uint32_t", call.block),
                 Launch("block_quantize_kernels.cuh", Named("BlockQuantizeKernel"),
                        Divided(call.blocks, kStoredThreads), kStoredThreads, call));
}

}  // namespace

std::optional<KernelLaunch> LaunchOf(const KernelCall& call) {
  return std::visit([](const auto& own) { return Of(own); }, call);
}

KernelLaunch LaunchOf(const EmptyCall& call) { return Launch(kTiming, Named("EmptyKernel"), 1, 32, call); }
KernelLaunch LaunchOf(const HoldCall& call) { return Launch(kTiming, Named("HoldKernel"), 1, 1, call); }
KernelLaunch LaunchOf(const BandwidthCall& call) {
  return Launch(kTiming, Instance("BandwidthKernel", Text(call.units_in_flight)), call.blocks, kBandwidthThreads, call);
}
KernelLaunch LaunchOf(const ArithmeticCall& call) {
  const std::string kind = Named(call.kind == ArithmeticPeak::kF64 ? "ArithmeticPeak::kF64" : "ArithmeticPeak::kF32");
  return Launch(kTiming, Instance("ArithmeticKernel", kind), call.blocks, kArithmeticThreads, call);
}

std::string SourceOf(const KernelLaunch& launch) {
  const std::string known = launch.known.empty() ? "" : "#define INFIMUM_KNOWN(call) " + launch.known + "\n";
  return known + "#include \"" + launch.header + "\"\n" + launch.constants;
}

}  // namespace infimum::cuda
