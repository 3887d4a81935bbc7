#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/float_rows.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/placed_tensor.h"
#include "microbench/reference/index_map.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

// Depth, height and width; absent ones are of extent one.
std::vector<WindowAxis> ThreeAxesOf(const PoolingConfig& config) {
  std::vector<WindowAxis> axes = AxesOf(config);
  axes.insert(axes.begin(), 3 - axes.size(), WindowAxis());
  return axes;
}

// Calls function(row) for each row of the input, of all planes, under the windows of row (z, y) of a plane's output.
template <class Function>
void ForWindowRows(const WindowAxis& depth, const WindowAxis& height, std::int64_t plane, std::int64_t z,
                   std::int64_t y, const Function& function) {
  for (std::int64_t kz = 0; kz < depth.kernel; ++kz) {
    const std::int64_t from_z = depth.Position(z, kz);
    if (from_z < 0 || from_z >= depth.in) continue;
    for (std::int64_t ky = 0; ky < height.kernel; ++ky) {
      const std::int64_t from_y = height.Position(y, ky);
      if (from_y < 0 || from_y >= height.in) continue;
      function((plane * depth.in + from_z) * height.in + from_y);
    }
  }
}

// Rows of the window are combined first, in vectors over the whole width; then the columns of the result.
MadeProgram MakeSeparable(const PoolingConfig& config, const Problem& problem) {
  const std::vector<WindowAxis> axes = ThreeAxesOf(config);
  const WindowAxis depth = axes[0], height = axes[1], width = axes[2];
  const ReductionKind reduction = ReductionOf(config.kind);
  const bool maximum = reduction == ReductionKind::kMax, with_padding = CountsPadding(config.kind);
  const ReductionRows combine = Kernels().find_reduction(reduction);
  // The combined row has room for padding on both sides.
  const std::int64_t left = std::max<std::int64_t>(0, width.begin);
  const std::int64_t last = width.Position(width.out - 1, width.kernel - 1);
  const std::int64_t padded = left + std::max(width.in, last + 1);
  const std::int64_t stride = (padded + width.in + 2 * width.out + 63) / 16 * 16;
  INFIMUM_ASSIGN_OR_RETURN(AlignedBuffer made,
                           AlignedBuffer::Make(static_cast<std::size_t>(omp_get_max_threads() * stride) * 4));
  const auto scratch = std::make_shared<AlignedBuffer>(std::move(made));
  std::vector<float> inverse;
  for (std::int64_t x = 0; x < width.out; ++x) {
    inverse.push_back(1.0F / static_cast<float>(std::max<std::int64_t>(1, width.Taps(x, with_padding))));
  }
  const std::int64_t planes = config.input.dims[0] * config.input.dims[1];
  return MakeProgram(problem, [=, input = FloatRows(*problem.operands[0]), output = FloatRows(*problem.outputs[0])] {
    const VectorKernels& kernels = Kernels();
    const std::int64_t rows = planes * depth.out * height.out;
    const std::int64_t grain = std::max<std::int64_t>(1, 16384 / (width.in * height.kernel));
    ParallelRanges(rows, grain, [&](std::int64_t first, std::int64_t end) {
      float* const combined = static_cast<float*>(scratch->data()) + omp_get_thread_num() * stride;
      float* const loaded = combined + padded;
      float* const computed = loaded + width.in;
      for (std::int64_t i = first; i < end; ++i) {
        const std::int64_t plane = i / height.out / depth.out, z = i / height.out % depth.out, y = i % height.out;
        std::fill_n(combined, padded, combine.start);
        ForWindowRows(depth, height, plane, z, y, [&](std::int64_t row) {
          combine.accumulate(combined + left, input.Read(row * width.in, width.in, loaded), width.in);
        });
        float* to = output.Target(i * width.out, computed);
        (maximum ? kernels.window_maximum_row : kernels.window_sum_row)(
            combined + left + width.Position(0, 0), width.stride, width.dilation, width.kernel, to, width.out);
        if (reduction == ReductionKind::kMean) {
          const auto counted =
              static_cast<float>(std::max<std::int64_t>(1, depth.Taps(z, with_padding) * height.Taps(y, with_padding)));
          for (std::int64_t x = 0; x < width.out; ++x) to[x] *= inverse[static_cast<std::size_t>(x)] / counted;
        }
        if (reduction == ReductionKind::kL2) {
          for (std::int64_t x = 0; x < width.out; ++x) to[x] = std::sqrt(to[x]);
        }
        output.Store(to, i * width.out, width.out);
      }
    });
  });
}

// Over the whole plane, which is one row of memory.
MadeProgram MakeGlobal(const PoolingConfig& config, const Problem& problem) {
  const std::int64_t planes = config.input.dims[0] * config.input.dims[1];
  const std::int64_t n = ElementCount(config.input) / planes;
  const bool maximum = ReductionOf(config.kind) == ReductionKind::kMax;
  return MakeProgram(problem, [=, input = problem.operands[0], output = problem.outputs[0]] {
    const VectorKernels& kernels = Kernels();
    ParallelEach(planes, 16384, n, [&](std::int64_t i) {
      const float* x = input->As<float>() + i * n;
      output->As<float>()[i] = maximum ? kernels.maximum_row(x, n) : kernels.sum_row(x, n) / static_cast<float>(n);
    });
  });
}

// Indices are flat in the whole input; the first of equal elements is chosen.
MadeProgram MakeWithIndices(const PoolingConfig& config, const Problem& problem) {
  const std::vector<WindowAxis> axes = ThreeAxesOf(config);
  const WindowAxis depth = axes[0], height = axes[1], width = axes[2];
  const std::int64_t planes = config.input.dims[0] * config.input.dims[1];
  const FloatRows input(*problem.operands[0]), output(*problem.outputs[0]);
  if (!input.direct() || !output.direct() || problem.outputs.size() < 2 ||
      problem.outputs[1]->type() != DataType::kS64) {
    return Error{"unsupported: pooling with indices is f32 with s64 indices"};
  }
  return MakeProgram(problem, [=, indices = problem.outputs[1]] {
    ParallelEach(planes * depth.out * height.out, 1, 1, [&](std::int64_t i) {
      const std::int64_t plane = i / height.out / depth.out, z = i / height.out % depth.out, y = i % height.out;
      float* to = output.Target(i * width.out, nullptr);
      std::int64_t* places = indices->As<std::int64_t>() + i * width.out;
      const float* base = input.Read(0, 0, nullptr);
      for (std::int64_t x = 0; x < width.out; ++x) {
        float best = -INFINITY;
        std::int64_t place = 0;
        ForWindowRows(depth, height, plane, z, y, [&](std::int64_t row) {
          for (std::int64_t kx = 0; kx < width.kernel; ++kx) {
            const std::int64_t from_x = width.Position(x, kx), at = row * width.in + from_x;
            if (from_x < 0 || from_x >= width.in || !(base[at] > best)) continue;
            best = base[at];
            place = at;
          }
        });
        to[x] = best;
        places[x] = place;
      }
    });
  });
}

// The largest bytes of windows of images with the channels last. As above rows come first: whole rows of pixels, then
// of the result the windows' pixels.
class ByteMaximumProgram : public Program {
 public:
  Status Prepare(const PoolingConfig& config, const Problem& problem) {
    axes_ = ThreeAxesOf(config);
    channels_ = config.input.dims[1];
    planes_ = config.input.dims[0];
    is_signed_ = config.types.input == DataType::kS8;
    footprint_ = FootprintOf(problem);
    row_ = (axes_[2].in * channels_ + 63) / 64 * 64;
    INFIMUM_ASSIGN_OR_RETURN(scratch_, AlignedBuffer::Make(static_cast<std::size_t>(omp_get_max_threads() * row_)));
    INFIMUM_RETURN_IF_ERROR(input_.Prepare(*problem.operands[0], ChannelsLastOrder(config.input)));
    INFIMUM_RETURN_IF_ERROR(output_.Prepare(*problem.outputs[0], ChannelsLastOrder(config.output)));
    return Pack();
  }
  Status Run() override {
    const WindowAxis &depth = axes_[0], &height = axes_[1], &width = axes_[2];
    const std::int64_t bytes = width.in * channels_;
    ParallelEach(planes_ * depth.out * height.out, 65536, bytes * height.kernel, [&](std::int64_t i) {
      const std::int64_t plane = i / height.out / depth.out, z = i / height.out % depth.out, y = i % height.out;
      char* const combined = static_cast<char*>(scratch_.data()) + omp_get_thread_num() * row_;
      std::memset(combined, is_signed_ ? -128 : 0, static_cast<std::size_t>(bytes));
      ForWindowRows(depth, height, plane, z, y, [&](std::int64_t row) {
        Kernels().accumulate_byte_maximum(input_.As<char>() + row * bytes, combined, bytes, is_signed_);
      });
      WindowsOf(combined, output_.As<char>() + i * width.out * channels_);
    });
    return {};
  }
  Status Pack() override { return input_.Pack(); }
  Status Unpack() override { return output_.Unpack(); }
  bool in_place() const override { return !input_.is_copy() && !output_.is_copy(); }
  Bytes footprint() const override { return footprint_; }

 private:
  // Windows that reach over an edge have fewer taps and come one by one.
  void WindowsOf(const char* row, char* to) const {
    const WindowAxis& width = axes_[2];
    const auto taps_at = [&](std::int64_t x) {
      std::int64_t first = 0, last = width.kernel;
      while (first < last && width.Position(x, first) < 0) ++first;
      while (first < last && width.Position(x, last - 1) >= width.in) --last;
      return std::pair(first, last);
    };
    for (std::int64_t x = 0; x < width.out;) {
      const auto [first, last] = taps_at(x);
      std::int64_t end = x + 1;
      while (end < width.out && taps_at(end) == std::pair(first, last)) ++end;
      if (first == last) {
        std::memset(to + x * channels_, is_signed_ ? -128 : 0, static_cast<std::size_t>((end - x) * channels_));
      } else {
        Kernels().window_byte_maximum(row + width.Position(x, first) * channels_, width.stride * channels_,
                                      width.dilation * channels_, last - first, to + x * channels_, end - x, channels_,
                                      is_signed_);
      }
      x = end;
    }
  }

  std::vector<WindowAxis> axes_;
  std::int64_t planes_ = 1, channels_ = 1, row_ = 0;
  bool is_signed_ = false;
  AlignedBuffer scratch_;
  PlacedTensor input_, output_;
  Bytes footprint_;
};

std::vector<Offer> ByteMaximumOffers(const PoolingConfig& config) {
  const bool is_byte = config.types.input == DataType::kS8 || config.types.input == DataType::kU8;
  if (config.kind != PoolingKind::kMax || !is_byte || config.types.output != config.types.input) return {};
  Offer offer = KernelOffer("pooling-channels-last", [config](const Problem& problem) -> MadeProgram {
    return Prepared<Program>(std::make_unique<ByteMaximumProgram>(), config, problem);
  });
  offer.place = [config](const Problem& problem) -> Result<std::vector<Placement>> {
    return std::vector<Placement>{{problem.operands[0], ChannelsLastOrder(config.input)},
                                  {problem.outputs[0], ChannelsLastOrder(config.output)}};
  };
  offer.input_orders = {ChannelsLastOrder(config.input)};
  offer.output_order = ChannelsLastOrder(config.output);
  return {offer};
}

}  // namespace

std::vector<Offer> PoolingKernelOffers(const PoolingConfig& config) {
  if (!FitsFloat(config.types.input) || !FitsFloat(config.types.output)) return {};
  const std::size_t rank = config.kernel.rank();
  if (rank == 0 || rank > 3 || config.input.rank() != rank + 2) return {};
  for (const std::int64_t pad : config.padding) {
    if (pad < 0) return {};
  }
  const auto offer = [&](const char* name, auto make) {
    return KernelOffer(name, [config, make](const Problem& problem) { return make(config, problem); });
  };
  if (config.kind == PoolingKind::kMaxWithIndices) return {offer("pooling-indices", MakeWithIndices)};
  std::vector<Offer> offers = ByteMaximumOffers(config);
  bool global =
      config.types.input == DataType::kF32 && config.types.output == DataType::kF32 && config.kind != PoolingKind::kLp;
  for (std::size_t i = 0; i < rank; ++i) {
    global = global && config.kernel.dims[i] == config.input.dims[2 + i] && config.output.dims[2 + i] == 1 &&
             config.dilation.dims[i] == 1 && config.padding[i] == 0 && config.padding[rank + i] == 0;
  }
  if (global) offers.push_back(offer("pooling-global", MakeGlobal));
  offers.push_back(offer("pooling", MakeSeparable));
  return offers;
}

}  // namespace infimum::cpu
