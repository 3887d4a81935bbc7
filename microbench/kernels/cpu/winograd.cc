// 3x3 convolutions by minimal filtering F(4x4, 3x3) (Winograd 1980; Lavin and Gray, arXiv 1509.09308): tiles of
// 6x6 pixels become 36 matrices, each is multiplied by the taps' own transform, and the products become tiles of 4x4:
// 36 multiplications in place of 144. F(2x2, 3x3) has 16 in place of 36, and taps of less than half the size. Images
// have the channels last, as matrix products read them, or lie in blocks of channels, as the library's convolutions do.
// All is computed in f32; images of f16, bf16 and bytes are converted before and behind it, the scales of bytes are in
// the taps.
//
//   in=1x64x56x56, 64 channels out:  196 tiles; 36 products of [196 x 64] by [64 x 64]
//
// A block of tiles at a time and of it a product after the other, so that taps are read from end to end once a block:
// panels of 64 channels out, each with a few rows at a time.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/libraries/onednn/layer_offers.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/libraries/onednn/program/onednn_types.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/placed_tensor.h"
#include "microbench/libraries/onednn/program/primitive_program.h"
#include "microbench/libraries/onednn/program/thread_scratch.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kVector = 16;
// A row begins in another set of the caches than the one before it.
constexpr std::int64_t kSkew = 16;
constexpr std::int64_t kMostTiles = 96;

bool CanBeFiltered(const ConvolutionConfig& config) {
  const auto is_all = [](const Shape& shape, std::int64_t value) {
    return shape.rank() == 2 && shape.dims[0] == value && shape.dims[1] == value;
  };
  const OperandTypes& types = config.types;
  const auto is_byte = [](DataType type) { return type == DataType::kS8 || type == DataType::kU8; };
  const bool are_bytes = is_byte(types.input) && is_byte(types.weights) && is_byte(types.output);
  const bool are_floats =
      types.input == DataType::kF32 || types.input == DataType::kF16 || types.input == DataType::kBF16;
  if (!are_bytes && !(are_floats && types == OperandTypes{types.input, types.input, types.input})) return false;
  if (config.transposed || config.groups != 1 || config.weights != Constness::kConstant) return false;
  if (!is_all(config.kernel, 3) || !is_all(config.stride, 1) || !is_all(config.dilation, 1)) return false;
  const Shape output = OutputShape(config);
  return config.input.dims[1] % kVector == 0 && config.output_channels % kVector == 0 &&
         std::min(output.dims[2], output.dims[3]) >= 4;
}

// A sum with an image, then limits; or limits or a function, then a sum. Nothing where the steps are others.
struct End {
  std::optional<std::size_t> added;  // operand of the problem
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  UnaryRow function = nullptr;  // of tiles by themselves, before the sum
};

UnaryRow FunctionOf(const Epilogue::Step& step) {
  for (const auto& [kind, name] : NamesOf(PointwiseKind())) {
    const std::optional<Epilogue::Step> same = EltwiseStep(kind, {});
    if (same && same->algorithm == step.algorithm && same->alpha == step.alpha && same->beta == step.beta)
      return Kernels().find_unary(kind, ComputeType::kF32);
  }
  return nullptr;
}

std::optional<End> EndOf(const Epilogue& epilogue, const Shape& output, DataType type) {
  End end;
  std::size_t at = 0;
  const auto& steps = epilogue.steps;
  const auto takes_sum = [&]() {
    if (at == steps.size() || !steps[at].binary) return false;
    const Epilogue::Step& step = steps[at];
    if (end.added || step.algorithm != dnnl::algorithm::binary_add || step.shape != output || step.type != type ||
        step.constant)
      return false;
    end.added = steps[at++].operand;
    return true;
  };
  takes_sum();
  if (at < steps.size() && !steps[at].binary) {
    const Epilogue::Step& step = steps[at++];
    if (step.algorithm == dnnl::algorithm::eltwise_relu && step.alpha == 0) {
      end.low = 0;
    } else if (step.algorithm == dnnl::algorithm::eltwise_clip || step.algorithm == dnnl::algorithm::eltwise_clip_v2) {
      end.low = step.alpha;
      end.high = step.beta;
    } else {
      end.function = end.added ? nullptr : FunctionOf(step);
      if (end.function == nullptr) return std::nullopt;
    }
    if (takes_sum() && end.function == nullptr)
      end.function = Kernels().find_unary(PointwiseKind::kIdentity, ComputeType::kF32);
  }
  return at == steps.size() ? std::optional(end) : std::nullopt;
}

// How all images of a program lie.
enum class ImageLayout { kChannelsLast, kBlocked };

// As the library's own convolutions have them on this processor.
std::int64_t BlockedChannels() { return Features().avx512 ? 16 : 8; }

OrderOf OrderIn(ImageLayout layout, const Shape& shape) {
  const onednn::Layout blocked = BlockedChannels() == 16 ? onednn::Blocked16 : onednn::Blocked8;
  const auto& wanted = layout == ImageLayout::kBlocked ? blocked : onednn::ChannelsLast;
  return std::make_shared<MemoryOrder>(PlainDesc(shape, DataType::kF32),
                                       wanted(shape.dims, LibraryType(DataType::kF32)));
}

// An image in a program's layout, as f32; of bytes less their zero point, in steps of their scale.
class FloatImage {
 public:
  Status Prepare(const HostTensor& tensor, const OrderOf& order, std::int64_t zero = 0) {
    INFIMUM_RETURN_IF_ERROR(placed_.Prepare(tensor, order));
    data_ = placed_.As<float>();
    if (tensor.type() == DataType::kF32) return {};
    count_ = tensor.count();
    bytes_ = BytesPerElement(tensor.type());
    const bool is_unsigned = tensor.type() == DataType::kU8;
    values_ = {1, static_cast<float>(zero), is_unsigned ? 0.0F : -128.0F, is_unsigned ? 255.0F : 127.0F};
    if (IsInteger(tensor.type())) {
      dequantize_ = Kernels().find_dequantize(tensor.type());
      quantize_ = Kernels().find_quantize(tensor.type());
    } else {
      load_ = Kernels().find_convert(tensor.type(), DataType::kF32);
      store_ = Kernels().find_convert(DataType::kF32, tensor.type());
    }
    INFIMUM_ASSIGN_OR_RETURN(floats_, AlignedBuffer::Make(static_cast<std::size_t>(count_) * sizeof(float)));
    data_ = static_cast<float*>(floats_.data());
    return {};
  }
  Status Pack() { return placed_.Pack(); }
  Status Unpack() { return placed_.Unpack(); }
  // Before and behind a run.
  void Load() const {
    ForElements([&](char* own, float* value, std::int64_t count) {
      load_ != nullptr ? load_(own, value, count) : dequantize_(own, value, count, values_);
    });
  }
  void Store() const {
    ForElements([&](char* own, float* value, std::int64_t count) {
      store_ != nullptr ? store_(value, own, count) : quantize_(value, own, count, values_);
    });
  }
  bool is_copy() const { return placed_.is_copy(); }
  float* data() const { return data_; }

 private:
  template <class Function>
  void ForElements(const Function& function) const {
    constexpr std::int64_t kLeast = 16384;
    if (count_ == 0) return;
    ParallelRanges(count_, kLeast, [&](std::int64_t begin, std::int64_t end) {
      function(placed_.As<char>() + begin * bytes_, data_ + begin, end - begin);
    });
  }

  PlacedTensor placed_;
  AlignedBuffer floats_;
  float* data_ = nullptr;
  std::int64_t count_ = 0, bytes_ = 0;  // of elements to convert
  ConvertRow load_ = nullptr, store_ = nullptr;
  DequantizeRow dequantize_ = nullptr;  // of bytes, in their place
  QuantizeRow quantize_ = nullptr;
  QuantizeValues values_ = {};
};

// For all programs at once, of which one runs at a time: in a whole model the next layer finds it in the caches.
Result<std::shared_ptr<ThreadScratch>> SharedScratch(std::int64_t floats) {
  static std::weak_ptr<ThreadScratch> shared;
  static std::int64_t size = 0;
  std::shared_ptr<ThreadScratch> scratch = shared.lock();
  if (scratch != nullptr && size >= floats) return scratch;
  INFIMUM_ASSIGN_OR_RETURN(scratch, ThreadScratch::Make(floats, 1));
  shared = scratch;
  size = floats;
  return scratch;
}

class WinogradProgram : public Program {
 public:
  // F(tile x tile, 3x3)
  WinogradProgram(std::int64_t tile, ImageLayout layout, const ConvolutionConfig& config, const ProductValues& values,
                  const End& end)
      : tile_(tile),
        layout_(layout),
        config_(config),
        values_(values),
        output_shape_(OutputShape(config)),
        end_(end),
        kernels_(Kernels()) {}

  Status Prepare(const Problem& problem) {
    return Guarded([&]() -> Status { return Bind(problem); });
  }

  Status Run() override {
    const std::int64_t across = CeilDivide(width(), tile_), down = CeilDivide(height(), tile_);
    const std::int64_t tiles = config_.input.dims[0] * across * down;
    input_.Load();
    if (added_) added_->Load();
    ParallelEach(CeilDivide(tiles, together_), 1, 1, [&](std::int64_t block) {
      const std::int64_t begin = block * together_, end = std::min(begin + together_, tiles);
      RunBlock(begin, end, across, down);
    });
    output_.Store();
    return {};
  }

  Status Pack() override {
    INFIMUM_RETURN_IF_ERROR(input_.Pack());
    return added_ ? added_->Pack() : Status();
  }
  Status Unpack() override { return output_.Unpack(); }
  bool in_place() const override { return !input_.is_copy() && !output_.is_copy() && !(added_ && added_->is_copy()); }
  Bytes footprint() const override { return footprint_; }
  std::vector<ConstantBlock> Constants() override {
    std::vector<ConstantBlock> blocks = {
        {taps_buffer_.data(), taps_buffer_.size(), [this](void* there) { taps_ = static_cast<const float*>(there); }}};
    if (bias_ != nullptr)
      blocks.push_back({bias_buffer_.data(), bias_buffer_.size(),
                        [this](void* there) { bias_ = static_cast<const float*>(there); }});
    return blocks;
  }

 private:
  std::int64_t products() const { return (tile_ + 2) * (tile_ + 2); }
  std::int64_t inputs() const { return config_.input.dims[1]; }
  std::int64_t outputs() const { return config_.output_channels; }
  std::int64_t height() const { return output_shape_.dims[2]; }
  std::int64_t width() const { return output_shape_.dims[3]; }
  std::int64_t BlockOf(std::int64_t channels) const {
    return layout_ == ImageLayout::kBlocked ? BlockedChannels() : channels;
  }
  // Channels that all tiles of a block of tiles go through in turn: pixels side by side are read and written, a cache
  // line of the transforms at a time.
  std::int64_t PartOf(std::int64_t channels) const { return layout_ == ImageLayout::kBlocked ? kVector : channels; }

  Status Bind(const Problem& problem) {
    INFIMUM_RETURN_IF_ERROR(input_.Prepare(*problem.operands[0], OrderIn(layout_, config_.input), values_.input_zero));
    INFIMUM_RETURN_IF_ERROR(output_.Prepare(*problem.outputs[0], OrderIn(layout_, output_shape_), values_.output_zero));
    if (end_.added)
      INFIMUM_RETURN_IF_ERROR(
          added_.emplace().Prepare(*problem.operands[*end_.added], OrderIn(layout_, output_shape_)));
    const auto bytes = static_cast<std::size_t>(products() * inputs() * outputs()) * sizeof(float);
    INFIMUM_ASSIGN_OR_RETURN(taps_buffer_, AlignedBuffer::Make(bytes));
    PackTaps(*problem.operands[1], static_cast<float*>(taps_buffer_.data()));
    taps_ = static_cast<const float*>(taps_buffer_.data());
    if (config_.bias) {
      INFIMUM_ASSIGN_OR_RETURN(bias_buffer_, AlignedBuffer::Make(static_cast<std::size_t>(outputs()) * sizeof(float)));
      auto* const bias = static_cast<float*>(bias_buffer_.data());
      for (std::int64_t c = 0; c < outputs(); ++c)
        bias[c] = static_cast<float>(problem.operands[2]->Get(c) * ScaleOf(c));
      bias_ = bias;
    }
    const CpuFeatures& features = Features();
    const std::int64_t second = features.l2 > 0 ? features.l2 : 1 << 19,
                       first = features.l1 > 0 ? features.l1 : 1 << 15;
    const std::int64_t tiles = config_.input.dims[0] * CeilDivide(height(), tile_) * CeilDivide(width(), tile_);
    const std::int64_t threads = std::min<std::int64_t>(omp_get_max_threads(), tiles);
    together_ = CeilDivide(tiles, CeilDivide(BlocksOf(tiles, second), threads) * threads);
    // Of a panel's rows as many as half of the first cache holds.
    depth_ = std::max<std::int64_t>(kVector, first / 2 / (kPackedColumns * 4) / kVector * kVector);
    const std::int64_t needed = together_ * products() * (input_step() + sum_step()) + 2 * tile_ * tile_ * outputs();
    INFIMUM_ASSIGN_OR_RETURN(scratch_, SharedScratch(std::max(needed, second / 4)));
    footprint_ = FootprintOf(problem) + Bytes{static_cast<std::int64_t>(bytes)};
    return Pack();
  }

  // Either a block's transforms and products are no more than the second cache, and the taps are read once for each of
  // many blocks; or blocks are few, and what is written there comes back from further away: whichever moves less.
  // Written and read counts twice as much as taps, which are fetched ahead.
  std::int64_t BlocksOf(std::int64_t tiles, std::int64_t second) const {
    const std::int64_t of_tile = products() * (inputs() + outputs()), taps = products() * inputs() * outputs();
    const std::int64_t near = CeilDivide(tiles, std::clamp<std::int64_t>(second / (of_tile * 4), 6, kMostTiles));
    const std::int64_t far = CeilDivide(tiles, kMostTiles);
    return near * taps <= far * taps + 4 * tiles * of_tile ? near : far;
  }

  // From sums of bytes, of a channel, to steps of the result.
  double ScaleOf(std::int64_t channel) const {
    return values_.scaled ? values_.input_scale * values_.WeightScale(channel) / values_.output_scale : 1;
  }

  // Between two of a tile's rows; all of a tile are side by side, since writing to 36 pages in turn is slow.
  std::int64_t input_step() const { return inputs() + kSkew; }
  std::int64_t sum_step() const { return outputs() + kSkew; }

  // Product after product, panel after panel of columns: G g G^T, one row of columns for each channel in.
  void PackTaps(const HostTensor& weights, float* to) const {
    using Rows = std::array<double, 3>;
    constexpr std::array<Rows, 4> kSmall = {Rows{1, 0, 0}, Rows{0.5, 0.5, 0.5}, Rows{0.5, -0.5, 0.5}, Rows{0, 0, 1}};
    constexpr std::array<Rows, 6> kLarge = {Rows{1.0 / 4, 0, 0},
                                            Rows{-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                            Rows{-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                            Rows{1.0 / 24, 1.0 / 12, 1.0 / 6},
                                            Rows{1.0 / 24, -1.0 / 12, 1.0 / 6},
                                            Rows{0, 0, 1}};
    const std::span<const Rows> g_rows = tile_ == 2 ? std::span<const Rows>(kSmall) : std::span<const Rows>(kLarge);
    const std::int64_t size = tile_ + 2;
    for (std::int64_t panel = 0; panel < outputs(); panel += kPackedColumns) {
      const std::int64_t columns = std::min(kPackedColumns, outputs() - panel);
      float* const base = to + panel * inputs();
      for (std::int64_t column = 0; column < columns; ++column) {
        const double scale = ScaleOf(panel + column), zero = values_.scaled ? values_.WeightZero(panel + column) : 0;
        for (std::int64_t c = 0; c < inputs(); ++c) {
          std::array<double, 9> g;
          for (std::size_t k = 0; k < 9; ++k)
            g[k] = scale * (weights.Get(((panel + column) * inputs() + c) * 9 + static_cast<std::int64_t>(k)) - zero);
          for (std::int64_t product = 0; product < products(); ++product) {
            const Rows &down = g_rows[product / size], &across = g_rows[product % size];
            double sum = 0;
            for (std::size_t k = 0; k < 9; ++k) sum += down[k / 3] * g[k] * across[k % 3];
            base[product * inputs() * outputs() + c * columns + column] = static_cast<float>(sum);
          }
        }
      }
    }
  }

  void RunBlock(std::int64_t begin, std::int64_t end, std::int64_t across, std::int64_t down) {
    float* const transformed = scratch_->Row(0);
    const std::int64_t tile_step = products() * input_step();
    float* const sums = transformed + together_ * tile_step;
    const std::int64_t count = end - begin;
    const auto place = [&](std::int64_t tile) {
      return std::array{tile / (across * down), tile / across % down * tile_, tile % across * tile_};
    };
    const std::int64_t pixels = config_.input.dims[2] * config_.input.dims[3];
    const std::int64_t part = PartOf(inputs());
    for (std::int64_t c = 0; c < inputs(); c += part) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto [n, y, x] = place(begin + i);
        const ImageTile tile{
            y - config_.padding[0], x - config_.padding[1], config_.input.dims[2], config_.input.dims[3], part,
            BlockOf(inputs())};
        kernels_.filter_input(tile_, input_.data() + (n * inputs() + c) * pixels, tile, transformed + i * tile_step + c,
                              input_step());
      }
    }
    const float *taps = taps_, *const taps_end = taps_ + products() * inputs() * outputs();
    for (std::int64_t product = 0; product < products(); ++product) {
      for (std::int64_t panel = 0; panel < outputs(); panel += kPackedColumns) {
        const std::int64_t columns = std::min(kPackedColumns, outputs() - panel);
        for (std::int64_t k = 0; k < inputs(); k += depth_) {
          const std::int64_t depth = std::min(depth_, inputs() - k);
          // All taps lie in the order in which they are read.
          const float *const own = taps, *const next = own + depth * columns;
          kernels_.panel_tile(own, columns, depth, transformed + product * input_step() + k, tile_step, count,
                              sums + product * sum_step() + panel, products() * sum_step(), k == 0,
                              taps_end - next >= depth * columns ? next : own);
          taps = next;
        }
      }
    }
    for (std::int64_t c = 0; c < outputs(); c += PartOf(outputs())) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto [n, y, x] = place(begin + i);
        FinishTile(sums + i * products() * sum_step(), {n, c, y, x}, sums + together_ * products() * sum_step());
      }
    }
  }

  struct Place {
    std::int64_t image, channel, y, x;
  };

  // The part of a tile that begins with this channel. `room`: for two tiles.
  void FinishTile(const float* sums, const Place& place, float* room) const {
    const auto [n, first, y, x] = place;
    const std::int64_t offset = (n * outputs() + first) * height() * width();
    const float* const added = added_ ? added_->data() + offset : nullptr;
    const float* const bias = bias_ != nullptr ? bias_ + first : nullptr;
    float* const result = output_.data() + offset;
    const std::int64_t block = BlockOf(outputs()), part = PartOf(outputs());
    if (end_.function == nullptr) {
      kernels_.filter_output(tile_, sums + first, sum_step(), {y, x, height(), width(), part, block},
                             {bias, added, end_.low, end_.high}, result);
      return;
    }
    const ImageTile alone{0, 0, std::min(tile_, height() - y), std::min(tile_, width() - x), part, block};
    kernels_.filter_output(tile_, sums + first, sum_step(), alone, {bias, nullptr, end_.low, end_.high}, room);
    const std::int64_t length = alone.width * block;
    for (std::int64_t c = 0; c < part; c += block) {
      for (std::int64_t row = 0; row < alone.height; ++row, room += length) {
        const std::int64_t at = (c * height() + (y + row) * block) * width() + x * block;
        float* const values = added == nullptr ? result + at : room + tile_ * tile_ * outputs();
        end_.function(room, values, length);
        if (added != nullptr) add_(values, 1, added + at, 1, result + at, length);
      }
    }
  }

  std::int64_t tile_;
  ImageLayout layout_;
  ConvolutionConfig config_;
  ProductValues values_;
  Shape output_shape_;
  End end_;
  const VectorKernels& kernels_;
  BinaryRow add_ = kernels_.find_binary(PointwiseKind::kAdd, ComputeType::kF32);
  FloatImage input_, output_;
  std::optional<FloatImage> added_;
  AlignedBuffer taps_buffer_, bias_buffer_;
  const float* taps_ = nullptr;
  const float* bias_ = nullptr;
  std::int64_t together_ = 1, depth_ = kVector;  // tiles of a block; rows of a panel at a time
  std::shared_ptr<ThreadScratch> scratch_;
  Bytes footprint_;
};

}  // namespace

std::vector<Offer> WinogradOffers(const ConvolutionConfig& config, const LayerValues& own, const Epilogue& epilogue) {
  if (!CanBeFiltered(config) || (IsInteger(config.types.input) && !epilogue.empty())) return {};
  const Shape output = OutputShape(config);
  const std::optional<End> end = EndOf(epilogue, output, config.types.output);
  if (!end) return {};
  const ProductValues values = ProductValuesOf(config.types, config.input.dims[1] * 9, own);
  std::vector<Offer> offers;
  const auto add = [&](const std::string& name, std::int64_t tile, ImageLayout layout) {
    Offer& offer = offers.emplace_back(
        KernelOffer(name, [tile, layout, config, values, end = *end](const Problem& problem) -> MadeProgram {
          return Prepared<Program>(std::make_unique<WinogradProgram>(tile, layout, config, values, end), problem);
        }));
    offer.input_orders = {OrderIn(layout, config.input)};
    if (end->added) offer.input_orders.push_back(OrderIn(layout, output));
    offer.output_order = OrderIn(layout, output);
    offer.place = [layout, config, output, end = *end](const Problem& problem) -> Result<std::vector<Placement>> {
      std::vector<Placement> placements = {{problem.operands[0], OrderIn(layout, config.input)},
                                           {problem.outputs[0], OrderIn(layout, output)}};
      if (end.added) placements.push_back({problem.operands[*end.added], OrderIn(layout, output)});
      return placements;
    };
  };
  const std::string type = config.types.input == DataType::kF32 ? "" : "as-f32/";
  add(type + "winograd-4x4", 4, ImageLayout::kChannelsLast);
  add(type + "winograd-4x4-blocked", 4, ImageLayout::kBlocked);
  add(type + "winograd-2x2", 2, ImageLayout::kChannelsLast);
  add(type + "winograd-2x2-blocked", 2, ImageLayout::kBlocked);
  return offers;
}

}  // namespace infimum::cpu
