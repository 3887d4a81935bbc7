#include <algorithm>
#include <cmath>
#include <cstring>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/float_rows.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/thread_scratch.h"
#include "microbench/reference/index_map.h"
#include "src/core/base/prepared.h"
#include "src/core/layer/family.h"
#include "src/core/layer/formulas.h"

namespace infimum::cpu {
namespace {

// The taps of all outputs of a resized dimension.
struct Taps {
  std::int64_t in = 1, out = 1;
  std::int64_t inner = 1;            // elements below the dimension in the output
  std::size_t count = 1;             // taps an output
  std::vector<std::int32_t> places;  // tap by tap, each for all outputs
  std::vector<float> weights;
};

Taps AllTapsOf(ResampleKind kind, std::int64_t in, std::int64_t out, const ScalarValues& values) {
  Taps taps{in, out, 1, static_cast<std::size_t>(TapsPerDimension(kind)), {}, {}};
  taps.places.resize(taps.count * static_cast<std::size_t>(out));
  taps.weights.resize(taps.places.size());
  for (std::int64_t i = 0; i < out; ++i) {
    const ResampleTaps read = TapsOf(kind, in, out, i, values);
    for (std::size_t tap = 0; tap < taps.count; ++tap) {
      const std::size_t at = tap * static_cast<std::size_t>(out) + static_cast<std::size_t>(i);
      taps.places[at] = static_cast<std::int32_t>(read.position[tap]);
      taps.weights[at] = static_cast<float>(read.weight[tap]);
    }
  }
  return taps;
}

template <class T>
void PickRow(const char* from, char* to, const std::int32_t* places, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[places[i]];
  }
}

// Nearest: rows that repeat are copied, others are picked element by element.
MadeProgram MakeNearest(const ResampleConfig& config, const ScalarValues& values, const Problem& problem) {
  const Shape in = config.input, out = config.output;
  const std::size_t rank = out.rank();
  const int bytes = BytesPerElement(problem.outputs[0]->type());
  std::vector<Taps> taps;
  for (std::size_t i = 0; i < rank; ++i)
    taps.push_back(AllTapsOf(ResampleKind::kNearest, in.dims[i], out.dims[i], values));
  const std::int64_t width = out.dims[rank - 1];
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    ParallelRanges(output->count() / width, std::max<std::int64_t>(1, 16384 / width),
                   [&](std::int64_t first, std::int64_t last) {
                     std::int64_t before = -1;
                     for (std::int64_t row = first; row < last; ++row) {
                       std::int64_t from = 0, stride = 1, rest = row;
                       for (std::size_t i = rank - 1; i-- > 0;) {
                         from += taps[i].places[static_cast<std::size_t>(rest % out.dims[i])] * stride;
                         stride *= in.dims[i];
                         rest /= out.dims[i];
                       }
                       char* const to = output->As<char>() + row * width * bytes;
                       const char* const source = input->As<char>() + from * in.dims[rank - 1] * bytes;
                       const std::int32_t* places = taps[rank - 1].places.data();
                       if (from == before && row > first) {
                         std::memcpy(to, to - width * bytes, static_cast<std::size_t>(width * bytes));
                       } else if (in.dims[rank - 1] == width) {
                         std::memcpy(to, source, static_cast<std::size_t>(width * bytes));
                       } else {
                         WithWord(bytes, [&]<class Word>(Word) { PickRow<Word>(source, to, places, width); });
                       }
                       before = from;
                     }
                   });
  });
}

// One dimension of a plane: `outer` x in x inner becomes outer x out x inner.
void Resize(const Taps& taps, std::int64_t outer, std::int64_t inner, const float* from, float* to) {
  const VectorKernels& kernels = Kernels();
  const auto out = static_cast<std::size_t>(taps.out);
  for (std::int64_t block = 0; block < outer; ++block) {
    const float* x = from + block * taps.in * inner;
    float* y = to + block * taps.out * inner;
    if (inner == 1 && taps.count == 2) {
      kernels.pick_two_row(x, taps.places.data(), taps.places.data() + out, taps.weights.data() + out, y, taps.out);
      continue;
    }
    if (inner == 1) {
      for (std::size_t i = 0; i < out; ++i) {
        float sum = 0;
        for (std::size_t tap = 0; tap < taps.count; ++tap) {
          sum += taps.weights[tap * out + i] * x[taps.places[tap * out + i]];
        }
        y[i] = sum;
      }
      continue;
    }
    for (std::size_t i = 0; i < out; ++i) {
      float* row = y + static_cast<std::int64_t>(i) * inner;
      const auto source = [&](std::size_t tap) { return x + taps.places[tap * out + i] * inner; };
      const auto weight = [&](std::size_t tap) { return taps.weights[tap * out + i]; };
      kernels.blend_two(source(0), source(1), weight(0), weight(1), row, inner);
      if (taps.count == 4) {
        for (std::size_t tap = 2; tap < 4; ++tap) {
          for (std::int64_t j = 0; j < inner; ++j) row[j] += weight(tap) * source(tap)[j];
        }
      }
    }
  }
}

// Linear and cubic: the resized dimensions one after the other, the outermost first, plane by plane.
MadeProgram MakeSeparable(const ResampleConfig& config, const ScalarValues& values, const Problem& problem) {
  const std::size_t rank = config.input.rank();
  std::size_t first = 0;
  while (first < rank && config.input.dims[first] == config.output.dims[first]) ++first;
  const std::int64_t planes = ElementsBetween(config.input, 0, first);
  struct Pass {
    Taps taps;
    std::int64_t outer, inner;
  };
  std::vector<Pass> passes;
  Shape resized = config.input;
  const std::int64_t in_size = ElementsBetween(resized, first, rank);
  std::int64_t largest = 1;
  for (std::size_t i = first; i < rank; ++i) {
    const std::int64_t out = config.output.dims[i];
    if (out == resized.dims[i]) continue;
    Pass pass{AllTapsOf(config.kind, resized.dims[i], out, values), ElementsBetween(resized, first, i),
              ElementsBetween(resized, i + 1, rank)};
    resized.dims[i] = out;
    largest = std::max(largest, pass.outer * out * pass.inner);
    passes.push_back(std::move(pass));
  }
  const std::int64_t out_size = ElementsBetween(resized, first, rank);
  const std::int64_t stride = (std::max({largest, in_size, out_size}) + 31) / 16 * 16;
  INFIMUM_ASSIGN_OR_RETURN(AlignedBuffer made,
                           AlignedBuffer::Make(static_cast<std::size_t>(omp_get_max_threads() * 3 * stride) * 4));
  const auto scratch = std::make_shared<AlignedBuffer>(std::move(made));
  return MakeProgram(problem, [=, input = FloatRows(*problem.operands[0]), output = FloatRows(*problem.outputs[0])] {
    ParallelEach(planes, 1, 1, [&](std::int64_t plane) {
      float* const own = static_cast<float*>(scratch->data()) + omp_get_thread_num() * 3 * stride;
      const float* from = input.Read(plane * in_size, in_size, own);
      float* const result = output.Target(plane * out_size, own + 2 * stride);
      if (passes.empty()) std::copy_n(from, out_size, result);
      for (std::size_t i = 0; i < passes.size(); ++i) {
        // Between the two spare buffers; the last pass writes the result.
        float* to = i + 1 == passes.size() ? result : own + (i % 2 == 0 ? 1 : 0) * stride;
        Resize(passes[i].taps, passes[i].outer, passes[i].inner, from, to);
        from = to;
      }
      output.Store(result, plane * out_size, out_size);
    });
  });
}

// First places and weights of all points, then plane by plane: the channels of a point share them. By point, four taps
// go through several planes at once; else each tap gathers for many points of one plane.
class GridProgram : public Program {
 public:
  GridProgram(const ResampleConfig& config, const ScalarValues& values, bool by_point)
      : config_(config),
        values_(values),
        by_point_(by_point),
        spatial_(static_cast<std::int64_t>(config.input.rank()) - 2) {}

  Status Prepare(const Problem& problem) {
    problem_ = problem;
    input_.emplace(*problem.operands[0]);
    grid_.emplace(*problem.operands[1]);
    output_.emplace(*problem.outputs[0]);
    taps_ = std::size_t{1} << spatial_;
    plane_ = ElementsBetween(config_.input, 2, config_.input.rank());
    points_ = ElementsBetween(config_.output, 2, config_.output.rank());
    const std::size_t bytes = 4 * taps_ * static_cast<std::size_t>(points_ * config_.input.dims[0]);
    INFIMUM_ASSIGN_OR_RETURN(place_buffer_, AlignedBuffer::Make(bytes));
    INFIMUM_ASSIGN_OR_RETURN(weight_buffer_, AlignedBuffer::Make(bytes));
    places_ = static_cast<std::int32_t*>(place_buffer_.data());
    weights_ = static_cast<float*>(weight_buffer_.data());
    const std::int64_t floats = (input_->direct() ? 0 : plane_) + points_ + kPoints * spatial_;
    INFIMUM_ASSIGN_OR_RETURN(scratch_, ThreadScratch::Make(floats, 1));
    return {};
  }

  Status Run() override {
    const std::int64_t images = config_.input.dims[0], channels = config_.input.dims[1];
    const std::int64_t blocks = (points_ + kPoints - 1) / kPoints;
    ParallelEach(images * blocks, 1, 1, [&](std::int64_t i) { FindTaps(i / blocks, i % blocks * kPoints); });
    if (by_point_) {
      const std::int64_t groups = (channels + kPlanes - 1) / kPlanes;
      ParallelEach(images * groups, 1, 1, [&](std::int64_t i) {
        const std::int64_t image = i / groups, first = i % groups * kPlanes, plane = image * channels + first;
        Kernels().sample_planes(input_->Read(plane * plane_, plane_, nullptr), plane_, places_ + 4 * image * points_,
                                weights_ + 4 * image * points_, output_->Target(plane * points_, nullptr), points_,
                                std::min(kPlanes, channels - first), points_);
      });
      return {};
    }
    ParallelEach(images * channels, 1, 1, [&](std::int64_t plane) { Sample(plane, plane / channels); });
    return {};
  }

  Bytes footprint() const override { return FootprintOf(problem_); }

 private:
  static constexpr std::int64_t kPoints = 256, kPlanes = 4;

  // Of an image's points from `first` on: point by point, or tap by tap, each for all points of the image.
  void FindTaps(std::int64_t image, std::int64_t first) {
    const std::int64_t count = std::min(kPoints, points_ - first);
    float* const buffer = scratch_->Row(0);
    const float* const numbers = grid_->Read((image * points_ + first) * spatial_, count * spatial_, buffer);
    const auto tap_step = static_cast<std::size_t>(by_point_ ? 1 : points_);
    for (std::int64_t i = 0; i < count; ++i) {
      Neighbours of[3];
      std::int64_t step = 1;
      // The numbers of a point are of the innermost dimension first.
      for (std::int64_t n = 0; n < spatial_; ++n) {
        const std::int64_t in = config_.input.dims[static_cast<std::size_t>(1 + spatial_ - n)];
        of[n] = NeighboursOf(numbers[i * spatial_ + n], in, step);
        step *= in;
      }
      const std::int64_t point = image * points_ + first + i;
      const auto at = static_cast<std::size_t>(
          by_point_ ? 4 * point : point + image * points_ * (static_cast<std::int64_t>(taps_) - 1));
      for (std::size_t tap = 0; tap < taps_; ++tap) {
        std::int32_t place = 0;
        float weight = 1;
        for (std::int64_t n = 0; n < spatial_; ++n) {
          place += of[n].place[tap >> n & 1];
          weight *= of[n].weight[tap >> n & 1];
        }
        places_[at + tap * tap_step] = place;
        weights_[at + tap * tap_step] = weight;
      }
    }
  }

  // As GridTapsOf, in f32 and with positions in elements of the plane.
  struct Neighbours {
    std::int32_t place[2];
    float weight[2];
  };
  Neighbours NeighboursOf(float number, std::int64_t in, std::int64_t step) const {
    const auto last = static_cast<float>(in - 1);
    float x = formulas::GridPosition(number, last + 1, values_.aligned_corners != 0);
    if (values_.border != 0) x = std::clamp(x, 0.0F, last);
    const float base = std::floor(x), beyond = x - base;
    Neighbours found{};
    for (int side = 0; side < 2; ++side) {
      const float place = base + static_cast<float>(side);
      if (!(place >= 0 && place <= last)) continue;  // also where it is no number
      found.place[side] = static_cast<std::int32_t>(static_cast<std::int64_t>(place) * step);
      found.weight[side] = side == 0 ? 1 - beyond : beyond;
    }
    return found;
  }

  void Sample(std::int64_t plane, std::int64_t image) {
    float* const buffer = scratch_->Row(0);
    const float* const x = input_->Read(plane * plane_, plane_, buffer + points_);
    float* const y = output_->Target(plane * points_, buffer);
    const std::size_t first = static_cast<std::size_t>(image * points_) * taps_;
    // Results stay in the first cache from tap to tap.
    for (std::int64_t begin = 0; begin < points_; begin += kTogether) {
      const std::int64_t count = std::min(kTogether, points_ - begin);
      std::fill_n(y + begin, count, 0.0F);
      for (std::size_t tap = 0; tap < taps_; ++tap) {
        const std::size_t at = first + tap * static_cast<std::size_t>(points_) + static_cast<std::size_t>(begin);
        Kernels().add_picked(x, places_ + at, weights_ + at, y + begin, count);
      }
    }
    output_->Store(y, plane * points_, points_);
  }

  static constexpr std::int64_t kTogether = 2048;

  ResampleConfig config_;
  ScalarValues values_;
  bool by_point_;  // four taps of f32; the other way their rows would lie in the same few sets of a cache
  std::int64_t spatial_, plane_ = 0, points_ = 0;
  std::size_t taps_ = 4;
  Problem problem_;
  AlignedBuffer place_buffer_, weight_buffer_;
  std::int32_t* places_ = nullptr;
  float* weights_ = nullptr;
  std::optional<FloatRows> input_, grid_, output_;
  std::shared_ptr<ThreadScratch> scratch_;
};

}  // namespace

std::vector<Offer> ResampleKernelOffers(const ResampleConfig& config, const LayerValues& values) {
  if (config.input.rank() == 0 || config.input.rank() != config.output.rank()) return {};
  for (const std::int64_t extent : config.input.dims) {
    if (extent > (std::int64_t{1} << 30)) return {};
  }
  if (config.kind == ResampleKind::kNearest) {
    if (config.types.input != config.types.output) return {};
    return {KernelOffer("resample-nearest", [config, own = ScalarValues(values)](const Problem& problem) {
      return MakeNearest(config, own, problem);
    })};
  }
  if (!FitsFloat(config.types.input) || !FitsFloat(config.types.output)) return {};
  if (config.kind == ResampleKind::kGridSample && config.types.weights != DataType::kNone) {
    // Places are int32, and f32 tells elements apart up to 2^23.
    const bool is_long = std::any_of(config.input.dims.begin() + 2, config.input.dims.end(),
                                     [](std::int64_t extent) { return extent > std::int64_t{1} << 23; });
    if (!FitsFloat(config.types.weights) || is_long || config.input.rank() > 5 ||
        ElementsBetween(config.input, 2, config.input.rank()) > INT32_MAX)
      return {};
    const auto offer = [&](const char* name, bool by_point) {
      return KernelOffer(name, [config, by_point, own = ScalarValues(values)](const Problem& problem) -> MadeProgram {
        return Prepared<Program>(std::make_unique<GridProgram>(config, own, by_point), problem);
      });
    };
    std::vector<Offer> offers{offer("resample-grid", false)};
    if (config.input.rank() == 4 && config.types.input == DataType::kF32 && config.types.output == DataType::kF32)
      offers.push_back(offer("resample-grid-points", true));
    return offers;
  }
  if (config.kind != ResampleKind::kLinear && config.kind != ResampleKind::kCubic) return {};
  return {KernelOffer(
      config.kind == ResampleKind::kLinear ? "resample-linear" : "resample-cubic",
      [config, own = ScalarValues(values)](const Problem& problem) { return MakeSeparable(config, own, problem); })};
}

}  // namespace infimum::cpu
