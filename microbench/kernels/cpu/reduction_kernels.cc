#include <array>
#include <cmath>

#include "infimum/layer/layer_config.h"
#include "infimum/layer/number_types.h"
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/float_rows.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/reference/index_map.h"
#include "src/core/layer/family.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kLeastReductionWork = 16384;
constexpr std::int64_t kReducedColumns = 512;

// A reduction's geometry: outputs are `outer` positions times `columns` neighbouring elements; each sums
// over `reduced` positions times a run of `run` neighbouring elements. Either columns or run is one.
struct Geometry {
  std::vector<std::int64_t> outer_offsets;    // of the input, for each outer position
  std::vector<std::int64_t> reduced_offsets;  // relative to it
  std::int64_t columns = 1;
  std::int64_t run = 1;
};

// Offsets of all positions of some dimensions, in row-major order.
std::vector<std::int64_t> OffsetsOf(const std::vector<std::pair<std::int64_t, std::int64_t>>& dimensions) {
  std::vector<std::int64_t> offsets{0};
  for (const auto& [extent, stride] : dimensions) {
    std::vector<std::int64_t> next;
    next.reserve(offsets.size() * static_cast<std::size_t>(extent));
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < extent; ++i) next.push_back(offset + i * stride);
    }
    offsets = std::move(next);
  }
  return offsets;
}

Geometry GeometryOf(const ReductionConfig& config) {
  struct Dimension {
    std::int64_t extent;
    bool reduced;
  };
  std::vector<Dimension> merged;
  for (std::size_t i = 0; i < config.input.rank(); ++i) {
    const bool reduced = std::ranges::find(config.axes, static_cast<std::int64_t>(i)) != config.axes.end();
    if (config.input.dims[i] == 1) continue;
    if (!merged.empty() && merged.back().reduced == reduced) {
      merged.back().extent *= config.input.dims[i];
    } else {
      merged.push_back({config.input.dims[i], reduced});
    }
  }
  Geometry geometry;
  std::int64_t stride = 1;
  if (!merged.empty()) {
    (merged.back().reduced ? geometry.run : geometry.columns) = merged.back().extent;
    stride = merged.back().extent;
    merged.pop_back();
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> outer, reduced;
  for (auto at = merged.rbegin(); at != merged.rend(); ++at) {
    auto& side = at->reduced ? reduced : outer;
    side.insert(side.begin(), {at->extent, stride});
    stride *= at->extent;
  }
  geometry.outer_offsets = OffsetsOf(outer);
  geometry.reduced_offsets = OffsetsOf(reduced);
  return geometry;
}

float Sqrt(float x) { return std::sqrt(x); }
float Log(float x) { return std::log(x); }

float Finish(ReductionKind kind, float total, float count) {
  switch (kind) {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) \
  case ReductionKind::kind:                                             \
    return static_cast<float>(result);
#include "src/core/layer/reduction_kinds.def"
    default:
      return total;
  }
}

MadeProgram MakeFloatReduction(ReductionKind kind, const Geometry& geometry, const ReductionRows& steps,
                               const Problem& problem) {
  // Elements that are converted at a time.
  constexpr std::int64_t kRun = 4096;
  const std::int64_t blocks = (geometry.columns + kReducedColumns - 1) / kReducedColumns;
  const FloatRows whole_input(*problem.operands[0]), whole_output(*problem.outputs[0]);
  // Rows one behind the other, which may be as short as a 7 x 7 image: as many at a time as are converted at once.
  if (geometry.columns == 1 && geometry.reduced_offsets.size() == 1 && geometry.run <= kRun) {
    const std::int64_t rows = std::ssize(geometry.outer_offsets), pieces = 4 * omp_get_max_threads();
    const std::int64_t together = std::clamp<std::int64_t>(rows / pieces, 1, kRun / geometry.run);
    return MakeProgram(problem, [=, run = geometry.run, input = whole_input, output = whole_output] {
      const auto length = static_cast<float>(run);
      ParallelEach(CeilDivide(rows, together), kLeastReductionWork, together * run, [&](std::int64_t i) {
        std::array<float, kRun> elements, results;
        const std::int64_t first = i * together, n = std::min(together, rows - first);
        const float* x = input.Read(first * run, n * run, elements.data());
        float* y = output.Target(first, results.data());
        for (std::int64_t row = 0; row < n; ++row) y[row] = Finish(kind, steps.row(x + row * run, run), length);
        output.Store(y, first, n);
      });
    });
  }
  const auto count = static_cast<float>(geometry.run * static_cast<std::int64_t>(geometry.reduced_offsets.size()));
  const auto combined = FormulaOf<float>(kind).combined;
  return MakeProgram(problem, [=, input = whole_input, output = whole_output] {
    const auto outputs = static_cast<std::int64_t>(geometry.outer_offsets.size()) * blocks;
    const auto work = static_cast<std::int64_t>(count) * std::min(kReducedColumns, geometry.columns);
    ParallelEach(outputs, kLeastReductionWork, work, [&](std::int64_t i) {
      std::array<float, kRun> buffer;
      std::array<float, kReducedColumns> totals;
      const std::int64_t outer = i / blocks, begin = i % blocks * kReducedColumns;
      const std::int64_t base = geometry.outer_offsets[static_cast<std::size_t>(outer)] + begin;
      const std::int64_t n = std::min(kReducedColumns, geometry.columns - begin);
      std::fill_n(totals.begin(), n, steps.start);
      for (const std::int64_t offset : geometry.reduced_offsets) {
        if (geometry.columns > 1) {
          steps.accumulate(totals.data(), input.Read(base + offset, n, buffer.data()), n);
          continue;
        }
        for (std::int64_t at = 0; at < geometry.run;) {
          const std::int64_t piece = input.direct() ? geometry.run : std::min(kRun, geometry.run - at);
          const float part = steps.row(input.Read(base + offset + at, piece, buffer.data()), piece);
          totals[0] = combined(totals[0], part);
          at += piece;
        }
      }
      float* y = output.Target(outer * geometry.columns + begin, buffer.data());
      for (std::int64_t j = 0; j < n; ++j) y[j] = Finish(kind, totals[static_cast<std::size_t>(j)], count);
      output.Store(y, outer * geometry.columns + begin, n);
    });
  });
}

// Calls function.operator()<Fold>(): the way of a kind's reduction as a constant, for loops over single elements.
template <class Function>
auto WithFold(ReductionKind kind, const Function& function) {
  switch (kind) {
#define INFIMUM_REDUCTION(kind, name, flops, cudnn, fold, term, result) \
  case ReductionKind::kind:                                             \
    return function.template operator()<formulas::Fold::fold>();
#include "src/core/layer/reduction_kinds.def"
    default:
      return function.template operator()<formulas::Fold::kSum>();
  }
}

// Every other kind and type: one element after the other.
template <class T, class Function>
void ForReduced(const Geometry& geometry, const HostTensor& input, Function function) {
  const auto outputs = static_cast<std::int64_t>(geometry.outer_offsets.size()) * geometry.columns;
  const auto count = geometry.run * static_cast<std::int64_t>(geometry.reduced_offsets.size());
  ParallelEach(outputs, kLeastReductionWork, count, [&](std::int64_t i) {
    const std::int64_t outer = geometry.outer_offsets[static_cast<std::size_t>(i / geometry.columns)];
    function(i, input.As<T>() + outer + i % geometry.columns, count);
  });
}

template <class T>
MadeProgram MakeArgument(bool largest, const Geometry& geometry, const Problem& problem) {
  if (problem.outputs[0]->type() != DataType::kS64) return Error{"unsupported: places are s64"};
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    ForReduced<T>(geometry, *input, [&](std::int64_t i, const T* base, std::int64_t) {
      std::int64_t best_at = 0, place = 0;
      if (std::is_same_v<T, float> && geometry.columns == 1 && geometry.reduced_offsets.size() == 1) {
        const float* row = reinterpret_cast<const float*>(base);
        best_at = largest ? Kernels().arg_maximum_row(row, geometry.run) : Kernels().arg_minimum_row(row, geometry.run);
      } else {
        T best = base[geometry.reduced_offsets[0]];
        for (const std::int64_t offset : geometry.reduced_offsets) {
          for (std::int64_t r = 0; r < geometry.run; ++r, ++place) {
            const T value = base[offset + r];
            if (largest ? value > best : value < best) {
              best = value;
              best_at = place;
            }
          }
        }
      }
      output->As<std::int64_t>()[i] = best_at;
    });
  });
}

// `columns` neighbouring lines at once where the reduced dimension is not innermost.
MadeProgram MakeArgumentColumns(bool largest, const Geometry& geometry, const Problem& problem) {
  if (problem.outputs[0]->type() != DataType::kS64) return Error{"unsupported: places are s64"};
  constexpr std::int64_t kWide = 128;
  const std::int64_t blocks = (geometry.columns + kWide - 1) / kWide;
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    const auto parts = static_cast<std::int64_t>(geometry.outer_offsets.size()) * blocks;
    ParallelEach(parts, 1, 1, [&](std::int64_t i) {
      std::array<float, kWide> best;
      std::array<std::int32_t, kWide> place;
      const std::int64_t outer = i / blocks, begin = i % blocks * kWide;
      const std::int64_t n = std::min(kWide, geometry.columns - begin);
      const float* base = input->As<float>() + geometry.outer_offsets[static_cast<std::size_t>(outer)] + begin;
      std::copy_n(base + geometry.reduced_offsets[0], n, best.begin());
      place.fill(0);
      std::int32_t at = 0;
      for (const std::int64_t offset : geometry.reduced_offsets) {
        const float* x = base + offset;
        for (std::int64_t j = 0; j < n; ++j) {
          const auto column = static_cast<std::size_t>(j);
          const bool better = largest ? x[j] > best[column] : x[j] < best[column];
          best[column] = better ? x[j] : best[column];
          place[column] = better ? at : place[column];
        }
        ++at;
      }
      std::int64_t* y = output->As<std::int64_t>() + outer * geometry.columns + begin;
      for (std::int64_t j = 0; j < n; ++j) y[j] = place[static_cast<std::size_t>(j)];
    });
  });
}

template <class T>
MadeProgram MakeExact(ReductionKind kind, const Geometry& geometry, const Problem& problem) {
  // Integers wrap at 64 bits.
  using Integer = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>;
  using Wide = std::conditional_t<std::is_integral_v<T>, Integer, double>;
  const auto formula = FormulaOf<Wide>(kind);
  return WithFold(kind, [&]<formulas::Fold kFold>() -> MadeProgram {
    return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
      ForReduced<T>(geometry, *input, [&](std::int64_t i, const T* base, std::int64_t count) {
        Wide total = formulas::StartOf<Wide>(kFold);
        for (const std::int64_t offset : geometry.reduced_offsets) {
          for (std::int64_t r = 0; r < geometry.run; ++r) {
            total = formulas::Combined<kFold>(total, formula.term(static_cast<Wide>(base[offset + r])));
          }
        }
        // Sums of bytes fit; those of wider integers wrap in their own type.
        const double sum = sizeof(T) < 4 ? static_cast<double>(total) : static_cast<double>(static_cast<T>(total));
        const double value = formula.result(sum, static_cast<double>(count));
        output->Set(i, kind == ReductionKind::kMean && std::is_integral_v<T> ? std::trunc(value) : value);
      });
    });
  });
}

// Scaled by the largest element, so that nothing overflows.
template <class T>
MadeProgram MakeExactLogSumExp(const Geometry& geometry, const Problem& problem) {
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    ForReduced<T>(geometry, *input, [&](std::int64_t i, const T* base, std::int64_t) {
      const auto fold = [&](double total, auto step) {
        for (const std::int64_t offset : geometry.reduced_offsets) {
          for (std::int64_t r = 0; r < geometry.run; ++r) total = step(total, static_cast<double>(base[offset + r]));
        }
        return total;
      };
      const double largest = fold(-HUGE_VAL, [](double most, double x) { return std::max(most, x); });
      output->Set(i, largest + std::log(fold(0, [=](double sum, double x) { return sum + std::exp(x - largest); })));
    });
  });
}

// f32 sums of exponentials over one run.
MadeProgram MakeLogSumExp(const Geometry& geometry, const Problem& problem) {
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    ForReduced<float>(geometry, *input, [&](std::int64_t i, const float* base, std::int64_t) {
      float largest = -INFINITY, sum = 0;
      for (const std::int64_t offset : geometry.reduced_offsets) {
        largest = std::max(largest, Kernels().maximum_row(base + offset, geometry.run));
      }
      for (const std::int64_t offset : geometry.reduced_offsets) {
        sum += Kernels().exponentials_row(base + offset, largest, nullptr, geometry.run);
      }
      output->As<float>()[i] = largest + std::log(sum);
    });
  });
}

template <class Make>
MadeProgram WithType(DataType type, Make make) {
  return WithNumber(type, make, [&]() -> MadeProgram {
    return Error{"unsupported: no reduction of type '" + std::string(Name(type)) + "'"};
  });
}

}  // namespace

std::vector<Offer> ReductionKernelOffers(const ReductionConfig& config) {
  if (ElementCount(config.input) > (std::int64_t{1} << 31)) return {};
  const bool floating = config.types.input == DataType::kF32 || config.types.input == DataType::kF16 ||
                        config.types.input == DataType::kBF16;
  const bool argument = IsArgument(config.kind);
  // Sums of so many bytes are exact in f32, and no quotient is rounded up to the next integer.
  constexpr std::int64_t kMostBytes = 32768;
  const bool are_bytes =
      (config.types.input == DataType::kS8 || config.types.input == DataType::kU8) &&
      config.types.output == config.types.input &&
      ElementCount(config.input) <= kMostBytes * ElementCount(OutputShape(config)) &&
      (config.kind == ReductionKind::kMean || config.kind == ReductionKind::kMax || config.kind == ReductionKind::kMin);
  return {KernelOffer("reduction", [=](const Problem& problem) -> MadeProgram {
    const Geometry geometry = GeometryOf(config);
    const DataType type = problem.operands[0]->type();
    if (argument) {
      const bool largest = config.kind == ReductionKind::kArgMax;
      if (type == DataType::kF32 && geometry.columns > 1 && geometry.run == 1) {
        return MakeArgumentColumns(largest, geometry, problem);
      }
      return WithType(type, [&]<class T>(T) { return MakeArgument<T>(largest, geometry, problem); });
    }
    if ((floating || are_bytes) && FitsFloat(config.types.output)) {
      const ReductionRows rows = Kernels().find_reduction(config.kind);
      if (rows.row != nullptr) return MakeFloatReduction(config.kind, geometry, rows, problem);
    }
    if (type == DataType::kF32 && geometry.columns == 1 && config.types.output == DataType::kF32) {
      return MakeLogSumExp(geometry, problem);
    }
    return WithType(type, [&]<class T>(T) {
      return config.kind == ReductionKind::kLogSumExp ? MakeExactLogSumExp<T>(geometry, problem)
                                                      : MakeExact<T>(config.kind, geometry, problem);
    });
  })};
}

std::vector<Offer> ScanKernelOffers(const ScanConfig& config) {
  const AxisLines lines = LinesOf(config.input, config.axis);
  if (config.types.input != config.types.output) return {};
  return {KernelOffer("scan", [=](const Problem& problem) {
    return WithType(problem.operands[0]->type(), [&]<class T>(T) -> MadeProgram {
      return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
        // A line's state is a row of `inner` elements: the row above in the output.
        ParallelEach(lines.outer, 1, 1, [&](std::int64_t outer) {
          const T* x = input->As<T>() + outer * lines.length * lines.inner;
          T* y = output->As<T>() + outer * lines.length * lines.inner;
          std::copy_n(x, lines.inner, y);
          for (std::int64_t i = lines.inner; i < lines.length * lines.inner; ++i) {
            const T before = y[i - lines.inner];
            if constexpr (std::is_integral_v<T>) {
              const auto a = static_cast<std::uint64_t>(before), b = static_cast<std::uint64_t>(x[i]);
              y[i] = static_cast<T>(config.kind == ScanKind::kSum ? a + b : a * b);
            } else {
              y[i] = config.kind == ScanKind::kSum ? before + x[i] : before * x[i];
            }
          }
        });
      });
    });
  })};
}

std::vector<Offer> SortKernelOffers(const SortConfig& config) {
  const AxisLines lines = LinesOf(config.input, config.axis);
  if (lines.length > (std::int64_t{1} << 30)) return {};
  return {KernelOffer("sort", [=](const Problem& problem) {
    return WithType(problem.operands[0]->type(), [&]<class T>(T) -> MadeProgram {
      struct Item {
        T value;
        std::int32_t place;
      };
      auto scratch = std::make_shared<std::vector<std::vector<Item>>>(static_cast<std::size_t>(omp_get_max_threads()));
      for (auto& row : *scratch) row.resize(static_cast<std::size_t>(lines.length));
      const bool top = config.kind == SortKind::kTopK;
      return MakeProgram(
          problem, [=, input = problem.operands[0], values = problem.outputs[0], places = problem.outputs[1]] {
            ParallelRanges(lines.outer * lines.inner, 1, [&](std::int64_t first, std::int64_t last) {
              std::vector<Item>& items = (*scratch)[static_cast<std::size_t>(omp_get_thread_num())];
              const auto better = [top](const Item& a, const Item& b) {
                if (a.value != b.value) return top ? a.value > b.value : a.value < b.value;
                return a.place < b.place;
              };
              const auto kept = static_cast<std::ptrdiff_t>(config.k);
              for (std::int64_t line = first; line < last; ++line) {
                const std::int64_t outer = line / lines.inner, column = line % lines.inner;
                const T* x = input->As<T>() + outer * lines.length * lines.inner + column;
                std::ptrdiff_t held = 0;
                if (config.k * 16 < lines.length) {
                  // Few of many: a heap with the worst of the best on top, which most elements do not reach.
                  for (std::int64_t i = 0; i < lines.length; ++i) {
                    const Item item{x[i * lines.inner], static_cast<std::int32_t>(i)};
                    if (held < kept) {
                      items[static_cast<std::size_t>(held++)] = item;
                      std::push_heap(items.begin(), items.begin() + held, better);
                    } else if (better(item, items[0])) {
                      std::pop_heap(items.begin(), items.begin() + held, better);
                      items[static_cast<std::size_t>(held - 1)] = item;
                      std::push_heap(items.begin(), items.begin() + held, better);
                    }
                  }
                } else {
                  for (std::int64_t i = 0; i < lines.length; ++i) {
                    items[static_cast<std::size_t>(i)] = {x[i * lines.inner], static_cast<std::int32_t>(i)};
                  }
                  held = static_cast<std::ptrdiff_t>(lines.length);
                  if (kept < held)
                    std::nth_element(items.begin(), items.begin() + (kept - 1), items.begin() + held, better);
                }
                std::sort(items.begin(), items.begin() + kept, better);
                for (std::ptrdiff_t i = 0; i < kept; ++i) {
                  const std::int64_t at = (outer * config.k + i) * lines.inner + column;
                  values->template As<T>()[at] = items[static_cast<std::size_t>(i)].value;
                  places->template As<std::int64_t>()[at] = items[static_cast<std::size_t>(i)].place;
                }
              }
            });
          });
    });
  })};
}

}  // namespace infimum::cpu
