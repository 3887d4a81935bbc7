// Poolings and resampling.
#include <algorithm>

#include "microbench/kernels/cuda/call_building.h"

namespace infimum::cuda {
namespace {

// f32 where it holds every element exactly.
std::optional<Arithmetic> WindowArithmetic(DataType type) {
  if (const std::optional<Arithmetic> real = RealArithmetic(type)) return real;
  if (!IsInteger(type) || ElementOf(type) == Element::kNone || BitsPerElement(type) > 32) return std::nullopt;
  return BitsPerElement(type) <= 16 ? Arithmetic::kF32 : Arithmetic::kF64;
}

bool CoversAll(const PoolingConfig& config) {
  for (std::size_t d = 0; d < config.kernel.rank(); ++d) {
    if (config.kernel.dims[d] != config.input.dims[2 + d] || config.output.dims[2 + d] != 1) return false;
  }
  return std::ranges::all_of(config.padding, [](std::int64_t pad) { return pad == 0; });
}

}  // namespace

std::vector<KernelOffer> OffersFor(const PoolingConfig& config, const cpu::LayerValues& values) {
  const std::size_t rank = config.kernel.rank();
  const std::optional<Arithmetic> arithmetic = WindowArithmetic(config.types.input);
  const std::int64_t count = ElementCount(config.output);
  if (!arithmetic || values.quantized() || rank > 3 || config.output.rank() != rank + 2) return {};
  if (ElementOf(config.types.output) == Element::kNone || count == 0 || !FitsCount(count)) return {};
  auto call = CallOf<PoolCall>(*arithmetic, config.types);
  call.kind = static_cast<ReduceKind>(ReductionOf(config.kind));
  call.counts_padding = CountsPadding(config.kind);
  call.count = static_cast<std::uint32_t>(count);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t at = 3 - rank + d;
    for (const std::int64_t number : {config.input.dims[2 + d], config.kernel.dims[d] * config.dilation.dims[d],
                                      config.output.dims[2 + d] * config.stride.dims[d]}) {
      if (!FitsCount(number + config.padding[d] + config.padding[rank + d])) return {};
    }
    call.output[at] = FastDivisor(config.output.dims[2 + d]);
    call.input[at] = static_cast<std::int32_t>(config.input.dims[2 + d]);
    call.kernel[at] = static_cast<std::int32_t>(config.kernel.dims[d]);
    call.stride[at] = static_cast<std::int32_t>(config.stride.dims[d]);
    call.dilation[at] = static_cast<std::int32_t>(config.dilation.dims[d]);
    call.pad[at] = static_cast<std::int32_t>(config.padding[d]);
    call.end_pad[at] = static_cast<std::int32_t>(config.padding[rank + d]);
  }
  const bool has_indices = config.kind == PoolingKind::kMaxWithIndices;
  const auto make = [call, has_indices](const KernelBuffers& buffers) {
    PoolCall own = call;
    own.from = buffers.operands[0];
    own.to = buffers.outputs[0];
    if (has_indices) own.indices = buffers.outputs[1];
    return std::vector<KernelCall>{own};
  };
  std::vector<KernelOffer> offers{{"pool:simple", 0, make}};
  if (!has_indices) {
    call.channels = FastDivisor(config.input.dims[1]);
    offers.push_back(OneCall("pool:pixels", call));
    offers.back().channels_last = true;
  }
  // A window that is the whole plane is a reduction of rows. Means of integers are rounded here and cut off there.
  const bool is_mean = ReductionOf(config.kind) == ReductionKind::kMean;
  if (CoversAll(config) && (config.kind == PoolingKind::kMax || (is_mean && RealArithmetic(config.types.input)))) {
    const ReductionConfig reduction{
        ReductionOf(config.kind), config.types, Shape{{count, ElementCount(config.input) / count}}, {1}};
    for (KernelOffer& other : OffersFor(reduction)) {
      other.algorithm = "pool:" + other.algorithm.substr(other.algorithm.find(':') + 1);
      offers.push_back(std::move(other));
    }
  }
  return offers;
}

namespace {

// Of dimensions in the order in which they lie; nullopt where there is no kernel.
std::optional<ResampleCall> ResampleCallOf(const ResampleConfig& config, const cpu::LayerValues& values) {
  if (values.nearest_shift != cpu::kUsualValues.nearest_shift) return std::nullopt;  // half pixels are in the kernel
  const std::optional<Arithmetic> arithmetic = WindowArithmetic(config.types.input);
  const std::int64_t count = ElementCount(config.output);
  if (config.kind == ResampleKind::kGridSample || config.kind == ResampleKind::kRoiAlign) return std::nullopt;
  if (!arithmetic || ElementOf(config.types.output) == Element::kNone || count == 0 || !FitsCount(count))
    return std::nullopt;
  if (config.input.rank() != config.output.rank()) return std::nullopt;
  // What lies between two integers is rounded, by f32 now and then to the other one.
  const DataType output = config.types.output;
  if (config.kind != ResampleKind::kNearest && IsInteger(output) && BitsPerElement(output) > 8) return std::nullopt;
  const bool aligned = values.aligned_corners != 0;
  auto call = CallOf<ResampleCall>(*arithmetic, config.types);
  if (aligned) call.shift = 0;
  call.taps = TapsPerDimension(config.kind);
  call.count = static_cast<std::uint32_t>(count);
  call.cubic = cpu::kUsualValues.cubic_coefficient;
  std::int64_t step = 1;
  bool previous_stays = false;
  for (std::size_t d = config.input.rank(); d-- > 0;) {
    const std::int64_t in = config.input.dims[d], out = config.output.dims[d];
    if (!FitsCount(in) || !FitsCount(2 * out)) return std::nullopt;
    const bool stays = in == out;
    if (stays && previous_stays) {
      const int last = call.rank - 1;
      call.output[last] = FastDivisor(call.output[last].divisor * out);
      call.input[last] = static_cast<std::int32_t>(call.input[last] * in);
    } else {
      if (call.rank == 5) return std::nullopt;
      call.output[call.rank] = FastDivisor(out);
      call.twice_output[call.rank] = FastDivisor(2 * out);
      call.input[call.rank] = static_cast<std::int32_t>(in);
      call.input_step[call.rank] = step;
      call.ratio[call.rank++] =
          aligned ? static_cast<double>(in - 1) / static_cast<double>(std::max<std::int64_t>(out - 1, 1))
                  : static_cast<double>(in) / static_cast<double>(out);
    }
    previous_stays = stays;
    step *= in;
  }
  return call;
}

std::vector<KernelOffer> GridOffers(const ResampleConfig& config, const cpu::LayerValues& values) {
  const std::optional<Arithmetic> arithmetic = RealArithmetic(config.types.input);
  const std::size_t rank = config.input.rank() - 2;
  const std::int64_t points = ElementCount(config.output) / (config.output.dims[0] * config.output.dims[1]);
  if (!arithmetic || !RealArithmetic(config.types.output) || rank > 3 || !FitsCount(ElementCount(config.output)))
    return {};
  if (RealArithmetic(config.types.weights) != arithmetic) return {};
  auto call = CallOf<GridCall>(*arithmetic, config.types);
  call.grid_element = ElementOf(config.types.weights);
  call.rank = static_cast<int>(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t in = config.input.dims[config.input.rank() - 1 - d];
    // f32 tells elements apart up to here.
    if (in > std::int64_t{1} << 23) return {};
    call.input[d] = static_cast<std::int32_t>(in);
  }
  call.channels = static_cast<std::uint32_t>(config.input.dims[1]);
  call.aligned_corners = values.aligned_corners != 0;
  call.border = values.border != 0;
  call.points = FastDivisor(points);
  std::vector<KernelOffer> offers;
  const auto add = [&](std::uint32_t each) {
    GridCall own = call;
    own.each = each;
    own.groups = FastDivisor(Divided(config.input.dims[1], std::int64_t{each}));
    own.count = static_cast<std::uint32_t>(config.output.dims[0] * own.groups.divisor * points);
    const auto make = [own](const KernelBuffers& buffers) {
      GridCall made = own;
      made.from = buffers.operands[0];
      made.grid = buffers.operands[1];
      made.to = buffers.outputs[0];
      return std::vector<KernelCall>{made};
    };
    offers.push_back({"grid:channels" + std::to_string(each), 0, make});
  };
  for (const std::uint32_t each : {1U, 4U, 16U})
    if (each <= call.channels) add(each);
  return offers;
}

Shape ChannelsLast(Shape shape) {
  std::rotate(shape.dims.begin() + 1, shape.dims.begin() + 2, shape.dims.end());
  return shape;
}

}  // namespace

std::vector<KernelOffer> OffersFor(const ResampleConfig& config, const cpu::LayerValues& values) {
  if (config.kind == ResampleKind::kGridSample && config.types.weights != DataType::kNone)
    return GridOffers(config, values);
  const std::optional<ResampleCall> call = ResampleCallOf(config, values);
  if (!call) return {};
  std::vector<KernelOffer> offers{OneCall("resample:simple", *call)};
  if (config.input.rank() <= 2) return offers;
  ResampleConfig pixels = config;
  pixels.input = ChannelsLast(config.input);
  pixels.output = ChannelsLast(config.output);
  if (const std::optional<ResampleCall> of_pixels = ResampleCallOf(pixels, values)) {
    offers.push_back(OneCall("resample:pixels", *of_pixels));
    offers.back().channels_last = true;
  }
  return offers;
}

}  // namespace infimum::cuda
