// The closed forms of WorkOf against loops over every element, as the definition of each operator has them.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "infimum/layer/layer_config.h"
#include "tests/support/random_layer.h"

namespace infimum {
namespace {

using Index = std::vector<std::int64_t>;

// Calls `visit` with every index into `extents`.
void ForEachIndex(const Index& extents, const std::function<void(const Index&)>& visit) {
  Index index(extents.size(), 0);
  for (;;) {
    visit(index);
    std::size_t d = extents.size();
    while (d > 0 && ++index[d - 1] == extents[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

Index Spatial(const Shape& shape) { return Index(shape.dims.begin() + 2, shape.dims.end()); }

struct WindowCounts {
  std::int64_t all = 0;
  std::int64_t valid = 0;
  std::set<Index> positions, taps, steps;
};

WindowCounts CountWindows(const Index& steps, const Index& kernel, const Index& extents, const Shape& stride,
                          const Shape& dilation, const std::vector<std::int64_t>& padding) {
  WindowCounts counts;
  ForEachIndex(steps, [&](const Index& step) {
    ForEachIndex(kernel, [&](const Index& tap) {
      ++counts.all;
      Index position(step.size());
      for (std::size_t d = 0; d < step.size(); ++d) {
        position[d] = step[d] * stride.dims[d] + tap[d] * dilation.dims[d] - padding[d];
        if (position[d] < 0 || position[d] >= extents[d]) return;
      }
      ++counts.valid;
      counts.positions.insert(position);
      counts.taps.insert(tap);
      counts.steps.insert(step);
    });
  });
  return counts;
}

std::int64_t Size(const std::set<Index>& set) { return static_cast<std::int64_t>(set.size()); }

TEST(WorkByCounting, ConvolutionsCountEveryTapOfEveryOutput) {
  testing::RandomLayers random(21, 9);
  for (int i = 0; i < 400; ++i) {
    const ConvolutionConfig config = random.Convolution();
    SCOPED_TRACE(Format(LayerConfig(config)));
    const Shape output = OutputShape(config);
    const WindowCounts counts = config.transposed
                                    ? CountWindows(Spatial(config.input), config.kernel.dims, Spatial(output),
                                                   config.stride, config.dilation, config.padding)
                                    : CountWindows(Spatial(output), config.kernel.dims, Spatial(config.input),
                                                   config.stride, config.dilation, config.padding);
    const std::int64_t batch = config.input.dims[0];
    const std::int64_t channels = config.input.dims[1];
    const std::int64_t products = batch * config.output_channels * (channels / config.groups);
    const std::int64_t bias = config.bias ? ElementCount(output) : 0;
    const Work work = WorkOf(config);
    ASSERT_EQ(work.direct.value, 2 * products * counts.all + bias);
    ASSERT_EQ(work.conventional.value, 2 * products * counts.valid + bias);
    const std::int64_t read = Size(config.transposed ? counts.steps : counts.positions);
    ASSERT_EQ(work.operand_reads[0], SizeOf(config.types.input, batch * channels * read));
    ASSERT_EQ(work.operand_reads[1],
              SizeOf(config.types.weights, config.output_channels * (channels / config.groups) * Size(counts.taps)));
    ASSERT_EQ(work.written, SizeOf(config.types.output, ElementCount(output)));
  }
}

// The extent of a convolution's output is that of the positions where the whole kernel fits.
TEST(WorkByCounting, AConvolutionsOutputIsWhereTheKernelFits) {
  testing::RandomLayers random(22, 20);
  for (int i = 0; i < 2000; ++i) {
    const ConvolutionConfig config = random.Convolution();
    SCOPED_TRACE(Format(LayerConfig(config)));
    const Shape output = OutputShape(config);
    const std::size_t rank = config.kernel.rank();
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t begin = config.padding[d], end = config.padding[d + rank];
      const std::int64_t extent = config.input.dims[d + 2];
      const std::int64_t last_tap = config.dilation.dims[d] * (config.kernel.dims[d] - 1);
      std::int64_t expected = 0;
      if (config.transposed) {  // from the first position that is written, to the last, cropped and extended
        expected = config.stride.dims[d] * (extent - 1) + last_tap + 1 - begin - end;
        if (!config.output_padding.empty()) expected += config.output_padding[d];
      } else {
        for (std::int64_t start = -begin; start + last_tap < extent + end; start += config.stride.dims[d]) ++expected;
      }
      ASSERT_EQ(output.dims[d + 2], expected);
    }
  }
}

TEST(WorkByCounting, PoolingsCountEveryTapOfEveryOutput) {
  testing::RandomLayers random(23, 10);
  for (int i = 0; i < 400; ++i) {
    const PoolingConfig config = random.Pooling();
    SCOPED_TRACE(Format(LayerConfig(config)));
    const WindowCounts counts = CountWindows(Spatial(config.output), config.kernel.dims, Spatial(config.input),
                                             config.stride, config.dilation, config.padding);
    const std::int64_t planes = config.input.dims[0] * config.input.dims[1];
    const std::int64_t outputs = ElementCount(config.output);
    const Work work = WorkOf(config);
    ASSERT_EQ(work.direct.value, planes * counts.all);
    ASSERT_EQ(work.conventional.value, planes * counts.valid);
    ASSERT_EQ(work.operand_reads, std::vector<Bytes>{SizeOf(config.types.input, planes * Size(counts.positions))});
    const Bytes indices = config.kind == PoolingKind::kMaxWithIndices ? Bytes{8 * outputs} : Bytes{};
    ASSERT_EQ(work.written, SizeOf(config.types.output, outputs) + indices);
  }
}

TEST(WorkByCounting, ACausalMaskLeavesThePositionsUpToTheOwnThatAWindowShows) {
  testing::RandomLayers random(24, 12);
  for (int i = 0; i < 2000; ++i) {
    AttentionConfig config = random.Attention();
    config.types.weights = DataType::kNone;
    config.mask = AttentionMask::kCausal;
    config.window = random.Below(2) == 0 ? 0 : random.Between(1, config.kv);
    SCOPED_TRACE(Format(LayerConfig(config)));
    std::int64_t pairs = 0, rows = 0;
    std::set<std::int64_t> seen;
    for (std::int64_t q = 0; q < config.q; ++q) {
      const std::int64_t before = pairs;
      for (std::int64_t kv = 0; kv < config.kv; ++kv) {
        const std::int64_t behind = config.kv - config.q + q - kv;  // how far the query is behind the position
        if (behind < 0 || (config.window > 0 && behind >= config.window)) continue;
        ++pairs;
        seen.insert(kv);
      }
      rows += pairs > before ? 1 : 0;
    }
    const auto positions = config.batch * config.kv_heads * static_cast<std::int64_t>(seen.size());
    const std::int64_t value_head = config.value_head == 0 ? config.head : config.value_head;
    const std::int64_t flops = 2 * config.head + 2 * value_head + 5;
    const Work work = WorkOf(config);
    ASSERT_EQ(work.direct.value, config.batch * config.heads * config.q * config.kv * flops);
    ASSERT_EQ(work.conventional.value, config.batch * config.heads * pairs * flops);
    ASSERT_EQ(work.operand_reads[0], SizeOf(config.types.input, config.batch * config.heads * rows * config.head));
    ASSERT_EQ(work.operand_reads[1], SizeOf(config.types.input, positions * config.head));
    ASSERT_EQ(work.operand_reads[2], SizeOf(config.types.input, positions * value_head));
  }
}

}  // namespace
}  // namespace infimum
