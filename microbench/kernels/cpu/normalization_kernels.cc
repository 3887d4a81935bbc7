#include <array>
#include <cmath>

#include "infimum/layer/layer_config.h"
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/float_rows.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/thread_scratch.h"
#include "microbench/reference/index_map.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kLeastNormalizationWork = 16384;
// Columns that are normalised side by side where the axis is not innermost: a few lines of each row.
constexpr std::int64_t kColumns = 256;
using Columns = std::array<float, kColumns>;
using Tensors = std::vector<const HostTensor*>;

// Parameters as f32: constants may be converted before anything is timed.
struct Parameters {
  std::shared_ptr<std::vector<float>> scale, bias, mean, variance;

  float Scale(std::size_t channel) const { return scale ? (*scale)[channel] : 1.0F; }
  float Bias(std::size_t channel) const { return bias ? (*bias)[channel] : 0.0F; }
};

const float* DataOf(const std::shared_ptr<std::vector<float>>& values) {
  return values == nullptr ? nullptr : values->data();
}

Parameters ParametersOf(const NormalizationConfig& config, const Tensors& operands) {
  std::size_t next = 1;
  const auto take = [&](bool present) -> std::shared_ptr<std::vector<float>> {
    if (!present) return nullptr;
    const HostTensor& operand = *operands[next++];
    auto values = std::make_shared<std::vector<float>>();
    for (std::int64_t i = 0; i < operand.count(); ++i) values->push_back(static_cast<float>(operand.Get(i)));
    return values;
  };
  const bool statistics = config.kind == NormalizationKind::kBatch;
  return {take(config.scale), take(config.bias), take(statistics), take(statistics)};
}

struct Extents {
  std::int64_t outer = 1, inner = 1;  // before `axis`, from `axis` on
  std::int64_t images = 1, channels = 1, pixels = 1;
};

Extents ExtentsOf(const NormalizationConfig& config) {
  Extents extents;
  const Shape& shape = config.input;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    (static_cast<std::int64_t>(i) < config.axis ? extents.outer : extents.inner) *= shape.dims[i];
    if (i == 0 && shape.rank() > 1) extents.images = shape.dims[0];
    if (i == 1) extents.channels = shape.dims[1];
    if (i > 1) extents.pixels *= shape.dims[i];
  }
  return extents;
}

// Layer and RMS: one row after the other, which stays in the cache between its passes.
MadeProgram MakeNormalizationRows(const NormalizationConfig& config, const LayerValues& values,
                                  const Problem& problem) {
  const Extents extents = ExtentsOf(config);
  INFIMUM_ASSIGN_OR_RETURN(const std::shared_ptr<ThreadScratch> scratch, ThreadScratch::Make(extents.inner));
  return MakeProgram(
      problem, [normalize = NormalizationRow(config, values, problem.operands), n = extents.inner, rows = extents.outer,
                scratch, input = FloatRows(*problem.operands[0]), output = FloatRows(*problem.outputs[0])] {
        ParallelEach(rows, kLeastNormalizationWork, n, [&](std::int64_t row) {
          float* y = output.Target(row * n, scratch->Row(1));
          normalize(input.Read(row * n, n, scratch->Row(0)), y);
          output.Store(y, row * n, n);
        });
      });
}

// Instance, group and mean-variance: statistics over some channels of an image, or over one channel of all images, then
// one factor for each channel.
MadeProgram MakeGroups(const NormalizationConfig& config, const LayerValues& values, const Problem& problem) {
  const Extents extents = ExtentsOf(config);
  const Parameters parameters = ParametersOf(config, problem.operands);
  const bool across = config.kind == NormalizationKind::kMeanVariance;
  const std::int64_t groups =
      config.kind == NormalizationKind::kGroup ? std::max<std::int64_t>(1, config.groups) : extents.channels;
  const std::int64_t members = across ? extents.images : extents.channels / groups;
  const std::int64_t step = across ? extents.channels : 1;
  INFIMUM_ASSIGN_OR_RETURN(const std::shared_ptr<ThreadScratch> scratch, ThreadScratch::Make(extents.pixels));
  return MakeProgram(problem, [=, input = FloatRows(*problem.operands[0]), output = FloatRows(*problem.outputs[0])] {
    const VectorKernels& kernels = Kernels();
    const std::int64_t n = extents.pixels;
    const auto count = static_cast<float>(n * members);
    ParallelEach(across ? extents.channels : extents.images * groups, 1, 1, [&](std::int64_t group) {
      const auto row = [&](std::int64_t member) { return (across ? group : group * members) + member * step; };
      const auto read = [&](std::int64_t member) { return input.Read(row(member) * n, n, scratch->Row(0)); };
      float sum = 0, deviation = 0;
      for (std::int64_t m = 0; m < members; ++m) sum += kernels.sum_row(read(m), n);
      const float mean = sum / count;
      for (std::int64_t m = 0; m < members; ++m) deviation += kernels.sum_deviation_row(read(m), mean, n);
      const float divisor = across ? std::sqrt(deviation / count) + 1e-9F
                                   : std::sqrt(deviation / count + static_cast<float>(values.epsilon));
      for (std::int64_t m = 0; m < members; ++m) {
        const auto channel = static_cast<std::size_t>(row(m) % extents.channels);
        const float scale = parameters.Scale(channel) * (1 / divisor);
        const float shift = parameters.Bias(channel) - mean * scale;
        float* y = output.Target(row(m) * n, scratch->Row(1));
        kernels.affine_row(read(m), scale, shift, y, n);
        output.Store(y, row(m) * n, n);
      }
    });
  });
}

// Batch: scale and shift are known beforehand.
MadeProgram MakeChannels(const NormalizationConfig& config, const LayerValues& values, const Problem& problem) {
  const Extents extents = ExtentsOf(config);
  INFIMUM_ASSIGN_OR_RETURN(const std::shared_ptr<ThreadScratch> scratch, ThreadScratch::Make(extents.pixels));
  return MakeProgram(problem, [=, factors = FactorsOf(config, values, problem.operands),
                               input = FloatRows(*problem.operands[0]), output = FloatRows(*problem.outputs[0])] {
    const VectorKernels& kernels = Kernels();
    const std::int64_t n = extents.pixels;
    ParallelEach(extents.images * extents.channels, kLeastNormalizationWork, n, [&](std::int64_t row) {
      const auto channel = static_cast<std::size_t>(row % extents.channels);
      float* y = output.Target(row * n, scratch->Row(1));
      kernels.affine_row(input.Read(row * n, n, scratch->Row(0)), factors.scale[channel], factors.shift[channel], y, n);
      output.Store(y, row * n, n);
    });
  });
}

// Response over neighbouring channels, a block of pixels at a time.
MadeProgram MakeResponse(const NormalizationConfig& config, const LayerValues& values, const Problem& problem) {
  const Extents extents = ExtentsOf(config);
  const std::int64_t before = (config.size - 1) / 2, after = config.size - 1 - before;
  const auto factor = static_cast<float>(values.response_alpha / static_cast<double>(config.size));
  const std::int64_t blocks = (extents.pixels + kColumns - 1) / kColumns;
  return MakeProgram(problem, [=, input = FloatRows(*problem.operands[0]), output = FloatRows(*problem.outputs[0])] {
    const VectorKernels& kernels = Kernels();
    ParallelEach(extents.images * blocks, 1, 1, [&](std::int64_t i) {
      const std::int64_t image = i / blocks, begin = i % blocks * kColumns;
      const std::int64_t n = std::min(kColumns, extents.pixels - begin);
      const auto at = [&](std::int64_t channel) {
        return (image * extents.channels + channel) * extents.pixels + begin;
      };
      Columns squares, from, to;
      for (std::int64_t c = 0; c < extents.channels; ++c) {
        // Summed anew for each channel: a running sum would carry its rounding along.
        squares.fill(0);
        const std::int64_t low = std::max<std::int64_t>(0, c - before);
        const std::int64_t high = std::min(extents.channels - 1, c + after);
        for (std::int64_t other = low; other <= high; ++other) {
          kernels.accumulate_sum_square(squares.data(), input.Read(at(other), n, from.data()), n);
        }
        float* y = output.Target(at(c), to.data());
        kernels.response_row(input.Read(at(c), n, from.data()), squares.data(), factor,
                             static_cast<float>(values.response_k), y, n);
        output.Store(y, at(c), n);
      }
    });
  });
}

// Unit length along one axis.
MadeProgram MakeUnitLength(const NormalizationConfig& config, const LayerValues&, const Problem& problem) {
  const auto axis = static_cast<std::size_t>(config.axis);
  const Extents extents = ExtentsOf(config);
  const std::int64_t length = config.input.dims[axis], stride = extents.inner / length;
  const std::int64_t blocks = (stride + kColumns - 1) / kColumns;
  INFIMUM_ASSIGN_OR_RETURN(const std::shared_ptr<ThreadScratch> scratch,
                           ThreadScratch::Make(std::max(length, kColumns)));
  return MakeProgram(problem, [=, input = FloatRows(*problem.operands[0]), output = FloatRows(*problem.outputs[0])] {
    const VectorKernels& kernels = Kernels();
    ParallelEach(extents.outer * blocks, 1, 1, [&](std::int64_t i) {
      const std::int64_t base = i / blocks * extents.inner + i % blocks * kColumns;
      if (stride == 1) {
        const float* x = input.Read(base, length, scratch->Row(0));
        float* y = output.Target(base, scratch->Row(1));
        kernels.affine_row(x, 1 / std::sqrt(kernels.sum_square_row(x, length)), 0, y, length);
        output.Store(y, base, length);
        return;
      }
      const std::int64_t n = std::min(kColumns, stride - i % blocks * kColumns);
      Columns squares{};
      for (std::int64_t k = 0; k < length; ++k) {
        kernels.accumulate_sum_square(squares.data(), input.Read(base + k * stride, n, scratch->Row(0)), n);
      }
      for (std::int64_t j = 0; j < n; ++j) {
        squares[static_cast<std::size_t>(j)] = 1 / std::sqrt(squares[static_cast<std::size_t>(j)]);
      }
      for (std::int64_t k = 0; k < length; ++k) {
        float* y = output.Target(base + k * stride, scratch->Row(1));
        kernels.multiply_row(input.Read(base + k * stride, n, scratch->Row(0)), squares.data(), y, n);
        output.Store(y, base + k * stride, n);
      }
    });
  });
}

MadeProgram MakeSoftmax(SoftmaxKind kind, const AxisLines& lines, const Problem& problem) {
  INFIMUM_ASSIGN_OR_RETURN(const std::shared_ptr<ThreadScratch> scratch,
                           ThreadScratch::Make(std::max(lines.length, kColumns)));
  const std::int64_t blocks = (lines.inner + kColumns - 1) / kColumns;
  const auto row = [=, softmax = SoftmaxRow(kind, lines.length)](const FloatRows& input, const FloatRows& output,
                                                                 std::int64_t base) {
    float* y = output.Target(base, scratch->Row(1));
    softmax(input.Read(base, lines.length, scratch->Row(0)), y);
    output.Store(y, base, lines.length);
  };
  const auto columns = [=](const FloatRows& input, const FloatRows& output, std::int64_t base, std::int64_t n) {
    const VectorKernels& kernels = Kernels();
    Columns largest, total{};
    largest.fill(-INFINITY);
    const auto at = [&](std::int64_t k) { return base + k * lines.inner; };
    for (std::int64_t k = 0; k < lines.length; ++k) {
      kernels.accumulate_maximum(largest.data(), input.Read(at(k), n, scratch->Row(0)), n);
    }
    if (kind == SoftmaxKind::kHardmax) {
      for (std::int64_t k = 0; k < lines.length; ++k) {
        const float* x = input.Read(at(k), n, scratch->Row(0));
        float* y = output.Target(at(k), scratch->Row(1));
        for (std::int64_t j = 0; j < n; ++j) {
          const auto column = static_cast<std::size_t>(j);
          y[j] = x[j] == largest[column] && total[column] == 0 ? 1.0F : 0.0F;
          total[column] += y[j];
        }
        output.Store(y, at(k), n);
      }
      return;
    }
    const bool logarithm = kind == SoftmaxKind::kLogSoftmax;
    for (std::int64_t k = 0; k < lines.length; ++k) {
      float* y = logarithm ? scratch->Row(1) : output.Target(at(k), scratch->Row(1));
      kernels.accumulate_exponentials(total.data(), input.Read(at(k), n, scratch->Row(0)), largest.data(), y, n);
      if (!logarithm) output.Store(y, at(k), n);
    }
    for (std::int64_t j = 0; j < n; ++j) {
      const auto column = static_cast<std::size_t>(j);
      total[column] = logarithm ? largest[column] + std::log(total[column]) : 1 / total[column];
    }
    for (std::int64_t k = 0; k < lines.length; ++k) {
      float* y = output.Target(at(k), scratch->Row(1));
      if (logarithm) {
        kernels.subtract_row(input.Read(at(k), n, scratch->Row(0)), total.data(), y, n);
      } else {
        kernels.multiply_row(output.Read(at(k), n, scratch->Row(1)), total.data(), y, n);
      }
      output.Store(y, at(k), n);
    }
  };
  return MakeProgram(problem, [=, input = FloatRows(*problem.operands[0]), output = FloatRows(*problem.outputs[0])] {
    const std::int64_t parts = lines.outer * (lines.inner == 1 ? 1 : blocks);
    const std::int64_t work = lines.length * std::min(kColumns, lines.inner);
    ParallelEach(parts, kLeastNormalizationWork / 4, work, [&](std::int64_t i) {
      if (lines.inner == 1) return row(input, output, i * lines.length);
      const std::int64_t begin = i % blocks * kColumns;
      columns(input, output, i / blocks * lines.length * lines.inner + begin, std::min(kColumns, lines.inner - begin));
    });
  });
}

}  // namespace

ChannelFactors FactorsOf(const NormalizationConfig& config, const LayerValues& values, const Tensors& operands) {
  const Parameters parameters = ParametersOf(config, operands);
  ChannelFactors factors;
  for (std::size_t channel = 0; channel < parameters.variance->size(); ++channel) {
    const float scale =
        parameters.Scale(channel) / std::sqrt((*parameters.variance)[channel] + static_cast<float>(values.epsilon));
    factors.scale.push_back(scale);
    factors.shift.push_back(parameters.Bias(channel) - (*parameters.mean)[channel] * scale);
  }
  return factors;
}

bool IsRowwise(const NormalizationConfig& config) {
  return config.kind == NormalizationKind::kLayer || config.kind == NormalizationKind::kRms;
}

RowFunction NormalizationRow(const NormalizationConfig& config, const LayerValues& values, const Tensors& operands) {
  return [parameters = ParametersOf(config, operands), n = ExtentsOf(config).inner,
          root_mean_square = config.kind == NormalizationKind::kRms,
          epsilon = static_cast<float>(values.epsilon)](const float* x, float* y) {
    const VectorKernels& kernels = Kernels();
    const auto count = static_cast<float>(n);
    const float mean = root_mean_square ? 0 : kernels.sum_row(x, n) / count;
    const float variance =
        (root_mean_square ? kernels.sum_square_row(x, n) : kernels.sum_deviation_row(x, mean, n)) / count;
    kernels.normalize_row(x, mean, 1 / std::sqrt(variance + epsilon), DataOf(parameters.scale), DataOf(parameters.bias),
                          y, n);
  };
}

RowFunction SoftmaxRow(SoftmaxKind kind, std::int64_t n) {
  return [kind, n](const float* x, float* y) {
    const VectorKernels& kernels = Kernels();
    if (kind == SoftmaxKind::kHardmax) {
      std::fill_n(y, n, 0.0F);
      y[kernels.arg_maximum_row(x, n)] = 1;
      return;
    }
    const float largest = kernels.maximum_row(x, n);
    if (kind == SoftmaxKind::kSoftmax) {
      const float sum = kernels.exponentials_row(x, largest, y, n);
      kernels.affine_row(y, 1 / sum, 0, y, n);
    } else {
      kernels.affine_row(x, 1, -largest - std::log(kernels.exponentials_row(x, largest, nullptr, n)), y, n);
    }
  };
}

std::vector<Offer> NormalizationKernelOffers(const NormalizationConfig& config, const LayerValues& values) {
  if (!FitsFloat(config.types.input) || !FitsFloat(config.types.output)) return {};
  const auto offer = [&](const char* name, auto make) {
    return std::vector<Offer>{
        KernelOffer(name, [config, values, make](const Problem& problem) { return make(config, values, problem); })};
  };
  switch (config.kind) {
    case NormalizationKind::kLayer:
    case NormalizationKind::kRms:
      return offer("normalize-rows", MakeNormalizationRows);
    case NormalizationKind::kInstance:
    case NormalizationKind::kGroup:
      return offer("normalize-groups", MakeGroups);
    case NormalizationKind::kMeanVariance:
      return offer("normalize-channels", MakeGroups);
    case NormalizationKind::kBatch:
      return offer("normalize-channels", MakeChannels);
    case NormalizationKind::kLocalResponse:
      // Its exponent is compiled in.
      if (values.response_beta != kUsualValues.response_beta) return {};
      return offer("normalize-response", MakeResponse);
    case NormalizationKind::kLp:
      return offer("normalize-length", MakeUnitLength);
  }
  return {};
}

std::vector<Offer> SoftmaxKernelOffers(const SoftmaxConfig& config) {
  if (!FitsFloat(config.types.input) || !FitsFloat(config.types.output)) return {};
  return {KernelOffer("softmax", [kind = config.kind, lines = LinesOf(config.input, config.axis)](
                                     const Problem& problem) { return MakeSoftmax(kind, lines, problem); })};
}

}  // namespace infimum::cpu
