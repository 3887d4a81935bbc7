// Softmax, normalizations and running sums: rows with one thread, a warp or a block each.
#include "microbench/kernels/cuda/row_offers.h"

#include "microbench/kernels/cuda/pointwise_steps.h"
#include "microbench/reference/index_map.h"
#include "src/core/layer/family.h"

namespace infimum::cuda {
namespace {

using cpu::AxisLines;
using cpu::LinesOf;

std::int64_t CacheBytes(const RowCall& call) { return std::int64_t{call.space.length} * BytesOf(call.element); }

// Whether threads may take `width` neighbours at a time.
bool CanTake(const RowCall& call, int width) {
  const auto divides = [width](std::int64_t number) { return number % width == 0; };
  const RowSpace& space = call.space;
  if (space.step != 1 || !divides(space.length) || !divides(space.row_step) || !divides(space.row_run_step))
    return false;
  if (space.run.divisor < space.length && (!divides(space.run.divisor) || !divides(space.segment_step))) return false;
  if (!IsAligned(call.from, PackAlignment(call.element, width))) return false;
  if (!IsAligned(call.to, PackAlignment(call.output_element, width))) return false;
  if (call.quantized != nullptr && !IsAligned(call.quantized, PackAlignment(call.quantized_element, width)))
    return false;
  const std::int64_t parameters = PackAlignment(call.parameter_element, width);
  return (call.scale == nullptr || IsAligned(call.scale, parameters)) &&
         (call.bias == nullptr || IsAligned(call.bias, parameters));
}

RowSpace SpaceOf(const AxisLines& lines) {
  RowSpace space;
  space.rows = static_cast<std::uint32_t>(lines.outer * lines.inner);
  space.length = static_cast<std::uint32_t>(lines.length);
  space.row_run = FastDivisor(lines.inner);
  space.row_step = lines.length * lines.inner;
  space.row_run_step = 1;
  space.run = FastDivisor(lines.length);
  space.step = lines.inner;
  if (lines.inner == 1) space.row_run_step = lines.length;  // unused, but a multiple of every width that rows have
  return space;
}

bool Fits(const AxisLines& lines) {
  const std::int64_t rows = lines.outer * lines.inner;
  return lines.length > 0 && rows > 0 && FitsCount(lines.length) && FitsCount(rows);
}

std::optional<RowLayer> RowLayerOf(const SoftmaxConfig& config) {
  const std::optional<Arithmetic> arithmetic = RealArithmetic(config.types.input);
  const AxisLines lines = LinesOf(config.input, config.axis);
  if (!arithmetic || !RealArithmetic(config.types.output) || !Fits(lines)) return std::nullopt;
  auto call = CallOf<RowCall>(*arithmetic, config.types);
  call.kind = config.kind == SoftmaxKind::kSoftmax      ? RowKind::kSoftmax
              : config.kind == SoftmaxKind::kLogSoftmax ? RowKind::kLogSoftmax
                                                        : RowKind::kHardmax;
  call.space = SpaceOf(lines);
  return RowLayer{"softmax", call};
}

std::vector<KernelOffer> LocalResponseOffers(const NormalizationConfig& config, const cpu::LayerValues& values) {
  const std::optional<Arithmetic> arithmetic = RealArithmetic(config.types.input);
  const std::int64_t count = ElementCount(config.input);
  if (!arithmetic || count == 0 || !FitsCount(count) || config.types.input != config.types.output) return {};
  ResponseCall call;
  call.arithmetic = *arithmetic;
  call.element = ElementOf(config.types.input);
  call.count = static_cast<std::uint32_t>(count);
  call.pixels = FastDivisor(ElementsBetween(config.input, 2, config.input.rank()));
  call.channels = FastDivisor(config.input.rank() > 1 ? config.input.dims[1] : 1);
  call.size = static_cast<std::int32_t>(config.size);
  call.alpha = values.response_alpha;
  call.beta = values.response_beta;
  call.k = values.response_k;
  return {OneCall("lrn:simple", call)};
}

std::optional<RowLayer> RowLayerOf(const NormalizationConfig& config, const cpu::LayerValues& values) {
  const std::optional<Arithmetic> arithmetic = RealArithmetic(config.types.input);
  if (values.quantized() || !arithmetic || !RealArithmetic(config.types.output)) return std::nullopt;
  const std::int64_t count = ElementCount(config.input);
  const std::size_t rank = config.input.rank();
  if (count == 0) return {};
  std::int64_t images = rank > 0 ? config.input.dims[0] : 1, channels = rank > 1 ? config.input.dims[1] : 1;
  const std::int64_t pixels = count / images / channels;

  auto call = CallOf<RowCall>(*arithmetic, config.types);
  call.kind = RowKind::kNormalize;
  call.epsilon = values.epsilon;
  RowLayer layer{"normalization"};
  std::size_t next = 1;
  if (config.scale) layer.scale = next++;
  if (config.bias) layer.bias = next++;
  if (next > 1) call.parameter_element = ElementOf(config.types.weights);
  if (next > 1 && !RealArithmetic(config.types.weights)) return std::nullopt;
  AxisLines lines = LinesOf(config.input, std::max<std::int64_t>(0, config.axis));
  switch (config.kind) {
    case NormalizationKind::kRms:
      call.kind = RowKind::kRms;
      [[fallthrough]];
    case NormalizationKind::kLayer:
      lines = {lines.outer, lines.length * lines.inner, 1};
      break;
    case NormalizationKind::kInstance:
      lines = {images * channels, pixels, 1};
      call.parameter_rows = FastDivisor(channels);
      call.parameter_row_step = 1;
      call.parameter_run = FastDivisor(pixels);
      break;
    case NormalizationKind::kGroup: {
      const std::int64_t groups = std::max<std::int64_t>(1, config.groups), members = channels / groups;
      if (channels % groups != 0) return std::nullopt;
      lines = {images * groups, members * pixels, 1};
      call.parameter_rows = FastDivisor(groups);
      call.parameter_row_step = static_cast<std::uint32_t>(members);
      call.parameter_run = FastDivisor(pixels);
      break;
    }
    case NormalizationKind::kLp:
      call.kind = RowKind::kLp;
      break;
    case NormalizationKind::kMeanVariance:
      call.kind = RowKind::kMeanVariance;
      call.epsilon = 1e-9;
      lines = {channels, images * pixels, 1};
      call.parameter_rows = FastDivisor(channels);
      call.parameter_row_step = 1;
      call.parameter_run = FastDivisor(images * pixels);
      break;
    default:
      return std::nullopt;
  }
  if (!Fits(lines)) return std::nullopt;
  call.space = SpaceOf(lines);
  if (config.kind == NormalizationKind::kMeanVariance && images > 1) {
    // A channel's row is in as many pieces as there are images.
    call.space.row_run = FastDivisor(channels);
    call.space.row_step = 0;
    call.space.row_run_step = pixels;
    call.space.run = FastDivisor(pixels);
    call.space.segment_step = channels * pixels;
  }
  layer.call = call;
  return layer;
}

// A layer alone: its rows are in memory.
std::vector<KernelOffer> OffersOf(const std::optional<RowLayer>& layer) {
  if (!layer) return {};
  const auto make = [scale = layer->scale, bias = layer->bias](const RowCall& variant, const KernelBuffers& buffers) {
    RowCall own = variant;
    own.from = buffers.operands[0];
    own.to = buffers.outputs[0];
    if (scale > 0) own.scale = buffers.operands[scale];
    if (bias > 0) own.bias = buffers.operands[bias];
    if (own.threads > 1) own.width = WidthOf(own);
    return std::vector<KernelCall>{own};
  };
  return RowOffers(*layer, make);
}

}  // namespace

int WidthOf(const RowCall& call) {
  const int whole = call.element == Element::kF16 || call.element == Element::kBF16 ? 8 : 4;
  for (int width = whole; width >= 4; width /= 2) {
    if (CanTake(call, width)) return width;
  }
  return 1;
}

std::vector<KernelOffer> RowOffers(
    const RowLayer& layer, const std::function<std::vector<KernelCall>(const RowCall&, const KernelBuffers&)>& make) {
  const std::int64_t length = layer.call.space.length;
  if (length == 0 || layer.call.space.rows == 0) return {};
  std::vector<KernelOffer> offers;
  const auto add = [&](std::string variant, int threads, bool caches) {
    RowCall call = layer.call;
    call.threads = threads;
    call.caches = caches;
    offers.push_back(
        {layer.name + ":" + variant, 0, [call, make](const KernelBuffers& buffers) { return make(call, buffers); }});
  };
  const bool lies_together = layer.call.space.step == 1;
  // A warp whose lanes are rows reads neighbours where rows are neighbours.
  if (!lies_together || length <= 64) add("thread", 1, false);
  if (lies_together || length >= 32) {
    const bool fits = CacheBytes(layer.call) <= kSharedBytes / 8 - 16;
    if (length <= 8192) add("warp", 32, false);
    if (fits && length > 128) add("warp-cached", 32, true);
  }
  for (int threads : {128, 256, 512, 1024}) {
    if (length < threads || (threads < 1024 && length > std::int64_t{threads} * 128)) continue;
    if (CacheBytes(layer.call) <= kSharedBytes - 1024)
      add("block" + std::to_string(threads) + "-cached", threads, true);
    if (threads >= 256) add("block" + std::to_string(threads), threads, false);
  }
  return offers;
}

std::optional<RowLayer> RowLayerOf(const LayerConfig& config, const cpu::LayerValues& values) {
  if (const auto* softmax = std::get_if<SoftmaxConfig>(&config)) return RowLayerOf(*softmax);
  const auto* normalization = std::get_if<NormalizationConfig>(&config);
  return normalization != nullptr ? RowLayerOf(*normalization, values) : std::nullopt;
}

std::vector<KernelOffer> OffersFor(const SoftmaxConfig& config) { return OffersOf(RowLayerOf(config)); }

std::vector<KernelOffer> OffersFor(const NormalizationConfig& config, const cpu::LayerValues& values) {
  if (values.quantized()) return {};
  if (config.kind == NormalizationKind::kBatch) return BatchNormalizationOffers(config, values);
  if (config.kind == NormalizationKind::kLocalResponse) return LocalResponseOffers(config, values);
  return OffersOf(RowLayerOf(config, values));
}

std::vector<KernelOffer> OffersFor(const ScanConfig& config) {
  const std::optional<Arithmetic> real = RealArithmetic(config.types.input);
  if (!real && !IsInteger(config.types.input)) return {};
  // u64 is stored as its bits, which a negative sum has too.
  if (config.types.output == DataType::kU64 && config.types.input != DataType::kU64) return {};
  auto call = CallOf<ScanCall>(real.value_or(Arithmetic::kS64), config.types);
  call.multiplies = config.kind == ScanKind::kProduct;
  const AxisLines lines = LinesOf(config.input, config.axis);
  if (!Fits(lines) || call.element == Element::kNone || call.output_element == Element::kNone) return {};
  call.lines = static_cast<std::uint32_t>(lines.outer * lines.inner);
  call.length = static_cast<std::uint32_t>(lines.length);
  call.inner = FastDivisor(lines.inner);
  std::vector<KernelOffer> offers;
  const auto add = [&](const char* name, int threads) {
    call.threads = threads;
    offers.push_back(OneCall(name, call));
  };
  if (lines.inner == 1) add("scan:block", 256);
  add("scan:thread", 1);
  if (lines.inner == 1 && config.kind == ScanKind::kSum) {
    if (auto offer = MmaRowOffer("scan:mma", config.types, lines.outer, lines.length, true, false))
      offers.push_back(std::move(*offer));
  }
  return offers;
}

}  // namespace infimum::cuda
