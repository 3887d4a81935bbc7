// Products and convolutions of 8-bit integers on processors without VNNI, whose products of bytes are added in pairs of
// 16 bits, which overflow: elements are widened to 16 bits, and two products at a time are added in 32 (pmaddwd). That
// is exact whatever the weights, and takes no more multiplications than bytes do there. With VNNI four products of an
// unsigned and a signed byte are added in 32 bits: signed elements are moved by 128, and what that and the zero point
// add to a sum is taken off before it begins.
//
//   in=1x64x56x56, 256 channels out, 1x1 taps:  [3136 x 64] by [64 x 256], 32 pairs or 16 fours deep
//
// A block of pixels at a time: what each of them reads becomes a row, of 16 bits less the zero point, so that what lies
// outside of the image is zero; panels of 64 columns go over the rows, and the sums are scaled and rounded at the end.
// Of large windows a row has one tap after the other, so that a block has many pixels and weights are read once for all
// of them. Images have the channels last.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/libraries/onednn/program/onednn_types.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/placed_tensor.h"
#include "microbench/libraries/onednn/program/primitive_program.h"
#include "microbench/libraries/onednn/program/thread_scratch.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kColumnStep = 16;
constexpr std::int64_t kRowSkew = 16;        // a row begins in another set of the caches than the one before it
constexpr std::int64_t kMostRows = 96;       // pixels of a block, where the caches hold them
constexpr std::int64_t kWholeWindow = 1024;  // elements of a window that is a row as a whole
constexpr std::int64_t kDeepest = 1 << 14;   // products of 9 by 9 bits whose sum fits 32

bool IsByte(DataType type) { return type == DataType::kS8 || type == DataType::kU8; }

// A convolution of one or two dimensions, or a product of matrices as one with taps of 1x1 on an image of one column.
struct Windows {
  OperandTypes types;
  std::int64_t images = 1, channels = 0, height = 0, width = 1, outputs = 0;
  std::int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, padding[2] = {0, 0};
  std::int64_t out_height = 0, out_width = 1;
  bool bias = false, columns_first = false;  // of the weights: each column's elements, or each row's, side by side
  Shape input_shape = {}, output_shape = {};

  std::int64_t taps() const { return kernel[0] * kernel[1]; }
  std::int64_t depth() const { return channels * taps(); }
  std::int64_t pixels() const { return images * out_height * out_width; }
};

std::optional<Windows> WindowsOf(const ConvolutionConfig& config) {
  const std::size_t rank = config.kernel.rank();
  if (config.transposed || config.groups != 1 || config.weights != Constness::kConstant || rank < 1 || rank > 2)
    return std::nullopt;
  Windows windows{
      .types = config.types, .columns_first = true, .input_shape = config.input, .output_shape = OutputShape(config)};
  windows.images = config.input.dims[0];
  windows.channels = config.input.dims[1];
  windows.outputs = config.output_channels;
  // Of one dimension the image is a row.
  windows.height = rank == 2 ? config.input.dims[2] : 1;
  windows.width = config.input.dims.back();
  windows.out_height = rank == 2 ? windows.output_shape.dims[2] : 1;
  windows.out_width = windows.output_shape.dims.back();
  for (std::size_t from = 0, to = 2 - rank; from < rank; ++from, ++to) {
    windows.kernel[to] = config.kernel.dims[from];
    windows.stride[to] = config.stride.dims[from];
    windows.dilation[to] = config.dilation.dims[from];
    windows.padding[to] = config.padding[from];
  }
  windows.bias = config.bias;
  return windows;
}

std::optional<Windows> WindowsOf(const MatMulConfig& config) {
  const std::size_t rank = config.a.rank();
  if (config.weights != Constness::kConstant || config.bias == MatMulBias::kFull || rank < 2) return std::nullopt;
  for (std::size_t i = 0; i + 2 < config.b.rank(); ++i)
    if (config.b.dims[i] != 1) return std::nullopt;
  Windows windows{.types = config.types};
  windows.channels = config.a.dims.back();
  windows.height = windows.out_height = ElementCount(config.a) / std::max<std::int64_t>(windows.channels, 1);
  windows.outputs = config.b.dims.back();
  windows.bias = config.bias == MatMulBias::kColumn;
  return windows;
}

// Null of a matrix, which is row-major.
OrderOf OrderIn(const Shape& shape) { return shape.rank() == 0 ? nullptr : ChannelsLastOrder(shape); }

class WordProgram : public Program {
 public:
  // `fours`: of 8 bits; null: pairs of 16.
  WordProgram(const Windows& windows, const ProductValues& values, IntegerTile fours)
      : windows_(windows), values_(values), fours_(fours) {}

  Status Prepare(const Problem& problem) {
    return Guarded([&]() -> Status { return Bind(problem); });
  }

  Status Run() override {
    const std::int64_t pixels = windows_.pixels();
    ParallelEach(CeilDivide(pixels, together_), 1, 1,
                 [&](std::int64_t block) { RunBlock(block * together_, std::min((block + 1) * together_, pixels)); });
    return {};
  }

  Status Pack() override { return input_.Pack(); }
  Status Unpack() override { return output_.Unpack(); }
  bool in_place() const override { return !input_.is_copy() && !output_.is_copy(); }
  Bytes footprint() const override { return footprint_; }
  std::vector<ConstantBlock> Constants() override {
    return {{weights_buffer_.data(), weights_buffer_.size(),
             [this](void* there) { weights_ = static_cast<const std::int32_t*>(there); }},
            {scales_buffer_.data(), scales_buffer_.size(),
             [this](void* there) { scales_ = static_cast<const float*>(there); }}};
  }

 private:
  // How many are in an element of 32 bits, and the bytes of each.
  std::int64_t in_element() const { return fours_ != nullptr ? 4 : 2; }
  std::int64_t element_bytes() const { return 4 / in_element(); }
  // What an element of 8 bits is moved by, and what a row has of one that is outside of the image.
  std::int64_t moved() const { return fours_ != nullptr && windows_.types.input == DataType::kS8 ? 128 : 0; }
  std::int64_t outside() const {
    return fours_ != nullptr ? static_cast<std::int64_t>(values_.input_zero) + moved() : 0;
  }
  // A row's, in pairs or fours; a window has as many parts as it has taps, or one.
  bool is_whole() const { return windows_.depth() <= kWholeWindow || windows_.channels % in_element() != 0; }
  std::int64_t parts() const { return is_whole() ? 1 : windows_.taps(); }
  std::int64_t pairs() const { return CeilDivide(windows_.depth() / parts(), in_element()); }
  std::int64_t columns() const { return CeilDivide(windows_.outputs, kColumnStep) * kColumnStep; }
  std::int64_t row_step() const { return pairs() + kRowSkew; }
  std::int64_t sum_step() const { return columns() + kRowSkew; }

  Status Bind(const Problem& problem) {
    INFIMUM_RETURN_IF_ERROR(input_.Prepare(*problem.operands[0], OrderIn(windows_.input_shape)));
    INFIMUM_RETURN_IF_ERROR(output_.Prepare(*problem.outputs[0], OrderIn(windows_.output_shape)));
    const auto bytes = static_cast<std::size_t>(parts() * pairs() * columns()) * sizeof(std::int32_t);
    INFIMUM_ASSIGN_OR_RETURN(weights_buffer_, AlignedBuffer::Make(bytes));
    PackWeights(*problem.operands[1], static_cast<std::int32_t*>(weights_buffer_.data()));
    weights_ = static_cast<const std::int32_t*>(weights_buffer_.data());
    INFIMUM_ASSIGN_OR_RETURN(scales_buffer_,
                             AlignedBuffer::Make(static_cast<std::size_t>(3 * columns()) * sizeof(float)));
    PackScales(windows_.bias ? problem.operands[2] : nullptr, static_cast<float*>(scales_buffer_.data()));
    scales_ = static_cast<const float*>(scales_buffer_.data());
    const CpuFeatures& features = Features();
    const std::int64_t second = features.l2 > 0 ? features.l2 : 1 << 19,
                       first = features.l1 > 0 ? features.l1 : 1 << 15;
    // Rows and sums of a block fill half of the second cache at most; of a panel's rows the first one holds half.
    const std::int64_t threads = std::min<std::int64_t>(omp_get_max_threads(), windows_.pixels());
    const std::int64_t most = std::clamp<std::int64_t>(second / 2 / ((row_step() + sum_step()) * 4), 6, kMostRows);
    together_ = CeilDivide(windows_.pixels(), CeilDivide(CeilDivide(windows_.pixels(), most), threads) * threads);
    depth_ = std::max<std::int64_t>(kColumnStep, first / 2 / (kPackedColumns * 4) / kColumnStep * kColumnStep);
    INFIMUM_ASSIGN_OR_RETURN(scratch_, ThreadScratch::Make(together_ * (row_step() + sum_step()), 1));
    footprint_ = FootprintOf(problem) + Bytes{static_cast<std::int64_t>(bytes)};
    return Pack();
  }

  // Part after part of the window, of each panel after panel of columns, of each the pairs in their order, the columns
  // of a pair side by side.
  void PackWeights(const HostTensor& weights, std::int32_t* to) {
    const std::int64_t depth = windows_.depth(), taps = windows_.taps();
    starts_.assign(static_cast<std::size_t>(columns()), 0);
    const auto element = [&](std::int64_t k, std::int64_t column) -> std::int32_t {
      if (k >= depth || column >= windows_.outputs) return 0;
      // A pixel's row has the taps from left to right and of each all channels; a model has the taps of each channel.
      const std::int64_t at = windows_.columns_first
                                  ? (column * windows_.channels + k % windows_.channels) * taps + k / windows_.channels
                                  : k * windows_.outputs + column;
      return static_cast<std::int32_t>(weights.Get(at) - values_.WeightZero(column));
    };
    for (std::int64_t part = 0; part < parts(); ++part) {
      for (std::int64_t panel = 0; panel < columns(); panel += kPackedColumns) {
        const std::int64_t width = std::min(kPackedColumns, columns() - panel);
        for (std::int64_t pair = part * pairs(); pair < (part + 1) * pairs(); ++pair) {
          for (std::int64_t column = panel; column < panel + width; ++column) {
            const std::int64_t bits = 8 * element_bytes();
            std::uint32_t packed = 0;
            for (std::int64_t e = 0; e < in_element(); ++e) {
              const std::int32_t weight = element(in_element() * pair + e, column);
              packed |= (static_cast<std::uint32_t>(weight) & ((1U << bits) - 1)) << (bits * e);
              starts_[static_cast<std::size_t>(column)] -= static_cast<std::int32_t>(outside()) * weight;
            }
            *to++ = static_cast<std::int32_t>(packed);
          }
        }
      }
    }
  }

  // Of each column what a sum is multiplied by; behind them what is added to it, an integer where sums stay so; behind
  // these what a sum begins with.
  void PackScales(const HostTensor* bias, float* to) const {
    for (std::int64_t column = 0; column < columns(); ++column) {
      const bool is_there = column < windows_.outputs;
      const double scale = is_there ? values_.input_scale * values_.WeightScale(column) / values_.output_scale : 0;
      const double added = bias != nullptr && is_there ? bias->Get(column) : 0;
      to[column] = static_cast<float>(scale);
      // Of results in 8 bits it is in the scale of the sums.
      to[columns() + column] = values_.scaled
                                   ? static_cast<float>(IsInteger(windows_.types.output) ? added * scale : added)
                                   : std::bit_cast<float>(static_cast<std::int32_t>(added));
      to[2 * columns() + column] = std::bit_cast<float>(starts_[static_cast<std::size_t>(column)]);
    }
  }

  // What a pixel's window, or one tap of it, covers.
  void GatherRow(std::int64_t pixel, std::int64_t part, char* to) const {
    const std::int64_t image = pixel / (windows_.out_height * windows_.out_width),
                       row = pixel / windows_.out_width % windows_.out_height, column = pixel % windows_.out_width;
    const std::int64_t across = windows_.kernel[1];
    // Taps side by side are one run of the image.
    const std::int64_t run = is_whole() && windows_.dilation[1] == 1 ? across : 1;
    const std::int64_t first = is_whole() ? 0 : part, last = is_whole() ? windows_.taps() : part + 1;
    for (std::int64_t tap = first; tap < last; tap += run, to += run * windows_.channels * element_bytes())
      GatherRun(image, row * windows_.stride[0] - windows_.padding[0] + tap / across * windows_.dilation[0],
                column * windows_.stride[1] - windows_.padding[1] + tap % across * windows_.dilation[1], run, to);
    if (is_whole())
      std::fill(to, to + (in_element() - windows_.depth() % in_element()) % in_element() * element_bytes(), char{0});
  }

  // Pixels side by side.
  void GatherRun(std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t count, char* to) const {
    const std::int64_t channels = windows_.channels, pixel = channels * element_bytes();
    const bool is_row = y >= 0 && y < windows_.height;
    const std::int64_t begin = is_row ? std::clamp<std::int64_t>(-x, 0, count) : count;
    const std::int64_t end = is_row ? std::clamp<std::int64_t>(windows_.width - x, begin, count) : count;
    // Words are less the zero point.
    const char nothing = static_cast<char>(outside());
    std::fill(to, to + begin * pixel, nothing);
    if (begin < end)
      Copy(input_.As<char>() + ((image * windows_.height + y) * windows_.width + x + begin) * channels,
           to + begin * pixel, (end - begin) * channels);
    std::fill(to + end * pixel, to + count * pixel, nothing);
  }

  void Copy(const char* from, char* to, std::int64_t count) const {
    if (fours_ == nullptr) {
      widen_(from, reinterpret_cast<std::int16_t*>(to), count, static_cast<std::int32_t>(values_.input_zero));
      return;
    }
    const auto flipped = static_cast<char>(moved());  // the sign's bit: x + 128
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<char>(from[i] ^ flipped);
  }

  void RunBlock(std::int64_t begin, std::int64_t end) {
    auto* const rows = reinterpret_cast<std::int32_t*>(scratch_->Row(0));
    std::int32_t* const sums = rows + together_ * row_step();
    const std::int64_t count = end - begin;
    const std::int32_t *weights = weights_, *const weights_end = weights_ + parts() * pairs() * columns();
    if (fours_ != nullptr)
      for (std::int64_t i = 0; i < count; ++i)
        std::copy_n(reinterpret_cast<const std::int32_t*>(scales_ + 2 * columns()), columns(), sums + i * sum_step());
    const IntegerTile add = fours_ != nullptr ? fours_ : kernels_.pair_tile;
    for (std::int64_t part = 0; part < parts(); ++part) {
      for (std::int64_t i = 0; i < count; ++i)
        GatherRow(begin + i, part, reinterpret_cast<char*>(rows + i * row_step()));
      for (std::int64_t panel = 0; panel < columns(); panel += kPackedColumns) {
        const std::int64_t width = std::min(kPackedColumns, columns() - panel);
        for (std::int64_t k = 0; k < pairs(); k += depth_) {
          const std::int64_t depth = std::min(depth_, pairs() - k);
          const std::int32_t *const own = weights, *const next = own + depth * width;
          add(own, width, depth, rows + k, row_step(), count, sums + panel, sum_step(),
              fours_ == nullptr && part == 0 && k == 0, weights_end - next >= depth * width ? next : own);
          weights = next;
        }
      }
    }
    const std::int64_t bytes = BytesPerElement(windows_.types.output) * windows_.outputs;
    for (std::int64_t i = 0; i < count; ++i) {
      char* const to = output_.As<char>() + (begin + i) * bytes;
      if (values_.scaled) {
        store_(sums + i * sum_step(), scales_, scales_ + columns(), to, windows_.outputs, limits_);
      } else {
        for (std::int64_t column = 0; column < windows_.outputs; ++column)
          reinterpret_cast<std::int32_t*>(to)[column] =
              sums[i * sum_step() + column] + std::bit_cast<std::int32_t>(scales_[columns() + column]);
      }
    }
  }

  static QuantizeValues LimitsOf(const Windows& windows, const ProductValues& values) {
    const bool is_unsigned = windows.types.output == DataType::kU8;
    return {1, static_cast<float>(values.output_zero), is_unsigned ? 0.0F : -128.0F, is_unsigned ? 255.0F : 127.0F};
  }

  Windows windows_;
  ProductValues values_;
  IntegerTile fours_;
  const VectorKernels& kernels_ = Kernels();
  WidenRow widen_ = kernels_.find_widen(windows_.types.input);
  RequantizeRow store_ = kernels_.find_requantize(windows_.types.output);
  QuantizeValues limits_ = LimitsOf(windows_, values_);
  PlacedTensor input_, output_;
  AlignedBuffer weights_buffer_, scales_buffer_;
  std::vector<std::int32_t> starts_;  // of each column's sums
  const std::int32_t* weights_ = nullptr;
  const float* scales_ = nullptr;
  std::int64_t together_ = 1, depth_ = kColumnStep;  // pixels of a block; pairs of a panel at a time
  std::shared_ptr<ThreadScratch> scratch_;
  Bytes footprint_;
};

// Whether weights are signed bytes without zero points, as VNNI has them.
bool AreSigned(const Windows& windows, const ProductValues& values) {
  bool are_plain = windows.types.weights == DataType::kS8;
  for (std::int64_t column = 0; are_plain && column < windows.outputs; ++column)
    are_plain = values.WeightZero(column) == 0;
  return are_plain;
}

template <class Config>
std::vector<Offer> Offers(const Config& config, const LayerValues& own) {
  if (!IsByte(config.types.input) || !IsByte(config.types.weights) ||
      !(IsByte(config.types.output) || config.types.output == DataType::kF32 || config.types.output == DataType::kS32))
    return {};
  const std::optional<Windows> windows = WindowsOf(config);
  if (!windows || windows->depth() > kDeepest || windows->pixels() == 0) return {};
  const ProductValues values = ProductValuesOf(config.types, windows->depth(), own);
  const IntegerTile fours =
      AreSigned(*windows, values) ? Kernels().find_four_tile(Features().avx512_vnni, Features().avx_vnni) : nullptr;
  // Where the library's own products of bytes are exact, pairs are no faster than these.
  const bool has_vnni = Features().avx512_vnni || Features().avx_vnni;
  if (fours == nullptr && has_vnni && config.types.weights == DataType::kS8) return {};
  std::vector<Offer> offers{KernelOffer(fours != nullptr ? "byte-panels" : "as-s16/panels",
                                        [windows = *windows, values, fours](const Problem& problem) -> MadeProgram {
                                          return Prepared<Program>(
                                              std::make_unique<WordProgram>(windows, values, fours), problem);
                                        })};
  if (windows->input_shape.rank() == 0) return offers;
  const OrderOf input = OrderIn(windows->input_shape), output = OrderIn(windows->output_shape);
  offers[0].input_orders = {input};
  offers[0].output_order = output;
  offers[0].place = [input, output](const Problem& problem) -> Result<std::vector<Placement>> {
    return std::vector<Placement>{{problem.operands[0], input}, {problem.outputs[0], output}};
  };
  return offers;
}

}  // namespace

std::vector<Offer> WordProductOffers(const ConvolutionConfig& config, const LayerValues& values) {
  return Offers(config, values);
}
std::vector<Offer> WordProductOffers(const MatMulConfig& config, const LayerValues& values) {
  return Offers(config, values);
}

}  // namespace infimum::cpu
