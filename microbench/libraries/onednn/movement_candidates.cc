#include "microbench/libraries/onednn/movement_candidates.h"

#include <algorithm>
#include <optional>

#include "microbench/libraries/onednn/program/implementations.h"

namespace infimum::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using tag = memory::format_tag;

// Elements are moved, not computed with: any type of their size will do, so that 64-bit integers and
// bool are moved too. undef where there is none.
DataType CarrierOf(DataType type) {
  switch (BytesPerElement(type)) {
    case 1:
      return DataType::kU8;
    case 2:
      return DataType::kBF16;
    case 4:
      return DataType::kF32;
    default:
      return DataType::kNone;
  }
}

std::vector<Offer> ConcatOffers(const MovementConfig& config) {
  const DataType type = CarrierOf(config.types.input);
  const std::size_t rank = config.outputs[0].rank();
  if (type == DataType::kNone || rank == 0 || rank > 6 || config.inputs.size() > 64) return {};
  const auto described = [type](const Shape& shape, std::optional<tag> layout) {
    return layout ? memory::desc(shape.dims, LibraryType(type), *layout) : PlainDesc(shape, type);
  };
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        for (std::size_t i = 0; i < config.inputs.size(); ++i) {
          call.inputs.push_back(
              {DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), problem.operands[i], PlainDesc(config.inputs[i], type)});
        }
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(config.outputs[0], type)});
        call.moves_bits = true;
        return call;
      });
  const auto add = [&](const std::string& policy, std::optional<tag> layout) {
    walk.AddOnly(
        policy,
        [&]() -> dnnl::primitive_desc_base {
          std::vector<memory::desc> sources;
          for (const Shape& shape : config.inputs) sources.push_back(described(shape, layout));
          return dnnl::concat::primitive_desc(CpuEngine(), described(config.outputs[0], layout),
                                              static_cast<int>(config.axis), sources, DefaultAttributes());
        },
        DNNL_ARG_MULTIPLE_SRC);
  };
  add("", std::nullopt);
  // Batch, channels, image: what convolutions on both sides leave and want.
  if (rank == 3 && config.axis == 1) {
    add("channels-last", tag::acb);
    const auto fills = [&](std::int64_t block) {
      return std::ranges::all_of(config.inputs, [&](const Shape& shape) { return shape.dims[1] % block == 0; });
    };
    if (fills(16)) add("blocked16", tag::aBc16b);
    if (fills(8)) add("blocked8", tag::aBc8b);
  }
  std::vector<Offer> offers = walk.Take();
  // What oneDNN calls simple copies whole pieces here; nothing better can be asked of it.
  for (Offer& offer : offers) offer.reference = offer.reference && !offer.candidate.algorithm.starts_with("simple");
  return offers;
}

std::vector<Offer> TransposeOffers(const MovementConfig& config) {
  const DataType type = CarrierOf(config.types.input);
  const Shape& shape = config.inputs[0];
  if (type == DataType::kNone || shape.rank() == 0 || shape.rank() > 6) return {};
  // The input seen with its dimensions in the output's order: the same memory, other strides.
  memory::dims strides(shape.rank(), 1), seen;
  for (std::size_t i = shape.rank(); i-- > 1;) strides[i - 1] = strides[i] * shape.dims[i];
  for (const std::int64_t source : config.permutation) seen.push_back(strides[static_cast<std::size_t>(source)]);
  const memory::desc from(config.outputs[0].dims, LibraryType(type), seen);
  const memory::desc to = PlainDesc(config.outputs[0], type);
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_FROM, problem.operands[0], from});
        call.outputs.push_back({DNNL_ARG_TO, problem.outputs[0], to});
        call.moves_bits = true;
        return call;
      },
      "reorder/");
  walk.Sees(DNNL_ARG_FROM, from);
  walk.AddOnly("", [&]() -> dnnl::primitive_desc_base {
    return dnnl::reorder::primitive_desc(CpuEngine(), from, CpuEngine(), to, DefaultAttributes());
  });
  return walk.Take();
}

struct NamedTag {
  const char* name;
  tag value;
  std::size_t rank;
};

constexpr NamedTag kTags[] = {
    {"nchw", tag::nchw, 4},
    {"nhwc", tag::nhwc, 4},
    {"chwn", tag::chwn, 4},
    {"nChw4c", tag::nChw4c, 4},
    {"nChw8c", tag::nChw8c, 4},
    {"nChw16c", tag::nChw16c, 4},
    {"ncw", tag::ncw, 3},
    {"nwc", tag::nwc, 3},
    {"nCw8c", tag::nCw8c, 3},
    {"nCw16c", tag::nCw16c, 3},
    {"ncdhw", tag::ncdhw, 5},
    {"ndhwc", tag::ndhwc, 5},
    {"nCdhw8c", tag::nCdhw8c, 5},
    {"nCdhw16c", tag::nCdhw16c, 5},
    {"nc", tag::nc, 2},
    {"cn", tag::cn, 2},
    {"a", tag::a, 1},
    {"ab", tag::ab, 2},
    {"ba", tag::ba, 2},
    {"abc", tag::abc, 3},
    {"acb", tag::acb, 3},
    {"bac", tag::bac, 3},
    {"bca", tag::bca, 3},
    {"cab", tag::cab, 3},
    {"cba", tag::cba, 3},
    {"abcd", tag::abcd, 4},
    {"acdb", tag::acdb, 4},
    {"abdc", tag::abdc, 4},
    {"acbd", tag::acbd, 4},
    {"bacd", tag::bacd, 4},
    {"bcda", tag::bcda, 4},
    {"cdba", tag::cdba, 4},
    {"dcab", tag::dcab, 4},
    {"abcde", tag::abcde, 5},
    {"acdeb", tag::acdeb, 5},
    {"aBc8b", tag::aBc8b, 3},
    {"aBc16b", tag::aBc16b, 3},
    {"aBcd4b", tag::aBcd4b, 4},
    {"aBcd8b", tag::aBcd8b, 4},
    {"aBcd16b", tag::aBcd16b, 4},
    {"aBcde8b", tag::aBcde8b, 5},
    {"aBcde16b", tag::aBcde16b, 5},
    {"oihw", tag::oihw, 4},
    {"hwio", tag::hwio, 4},
    {"OIhw8i8o", tag::OIhw8i8o, 4},
    {"OIhw16i16o", tag::OIhw16i16o, 4},
    {"Ohwi8o", tag::Ohwi8o, 4},
    {"Ohwi16o", tag::Ohwi16o, 4},
};

std::optional<memory::desc> NamedLayout(const std::string& name, const Shape& shape, DataType type) {
  for (const NamedTag& known : kTags) {
    if (name == known.name && known.rank == shape.rank())
      return memory::desc(shape.dims, LibraryType(type), known.value);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Offer> MovementLibraryOffers(const MovementConfig& config) {
  if (config.kind == MovementKind::kConcat) return ConcatOffers(config);
  if (config.kind == MovementKind::kTranspose) return TransposeOffers(config);
  return {};
}

std::vector<Offer> ResampleLibraryOffers(const ResampleConfig& config) {
  const std::size_t rank = config.input.rank();
  if (config.kind != ResampleKind::kNearest && config.kind != ResampleKind::kLinear) return {};
  if (rank < 3 || rank > 5 || config.output.rank() != rank) return {};
  if (config.input.dims[0] != config.output.dims[0] || config.input.dims[1] != config.output.dims[1]) return {};
  if (LibraryType(config.types.input) == memory::data_type::undef ||
      LibraryType(config.types.output) == memory::data_type::undef) {
    return {};
  }
  ImplementationWalk walk(
      [config](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(config.input, config.types.input)});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(config.output, config.types.output)});
        return call;
      });
  const auto add = [&](const std::string& policy, const memory::desc& input, const memory::desc& output) {
    walk.Add(policy, [&]() -> dnnl::primitive_desc {
      const algorithm kind =
          config.kind == ResampleKind::kNearest ? algorithm::resampling_nearest : algorithm::resampling_linear;
      return dnnl::resampling_forward::primitive_desc(CpuEngine(), dnnl::prop_kind::forward_inference, kind, input,
                                                      output, DefaultAttributes(), true);
    });
  };
  if (rank == 4) {
    add("", memory::desc(config.input.dims, LibraryType(config.types.input), tag::nChw8c),
        AnyDesc(config.output, config.types.output));
  }
  add("nhwc", ChannelsLastDesc(config.input, config.types.input), ChannelsLastDesc(config.output, config.types.output));
  add("nchw", PlainDesc(config.input, config.types.input), PlainDesc(config.output, config.types.output));
  return walk.Take();
}

std::vector<Offer> ReorderLibraryOffers(const ReorderConfig& config) {
  if (LibraryType(config.types.input) == memory::data_type::undef ||
      LibraryType(config.types.output) == memory::data_type::undef) {
    return {};
  }
  const auto from = NamedLayout(config.from, config.input, config.types.input);
  const auto to = NamedLayout(config.to, config.input, config.types.output);
  if (!from || !to) return {};
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_FROM, problem.operands[0], PlainDesc(config.input, config.types.input)});
        call.outputs.push_back({DNNL_ARG_TO, problem.outputs[0], PlainDesc(config.input, config.types.output)});
        return call;
      });
  walk.AddOnly("", [&]() -> dnnl::primitive_desc_base {
    return dnnl::reorder::primitive_desc(CpuEngine(), *from, CpuEngine(), *to, DefaultAttributes());
  });
  return walk.Take();
}

std::vector<Offer> ReductionLibraryOffers(const ReductionConfig& config) {
  algorithm kind;
  switch (config.kind) {
    case ReductionKind::kSum:
      kind = algorithm::reduction_sum;
      break;
    case ReductionKind::kMean:
      kind = algorithm::reduction_mean;
      break;
    case ReductionKind::kMax:
      kind = algorithm::reduction_max;
      break;
    case ReductionKind::kMin:
      kind = algorithm::reduction_min;
      break;
    case ReductionKind::kProduct:
      kind = algorithm::reduction_mul;
      break;
    default:
      return {};
  }
  const std::size_t rank = config.input.rank();
  if (rank == 0 || rank > 6 || !IsFloatingPoint(config.types.input) || !IsFloatingPoint(config.types.output)) return {};
  if (LibraryType(config.types.input) == memory::data_type::undef) return {};
  Shape output = config.input;
  for (const std::int64_t axis : config.axes) output.dims[static_cast<std::size_t>(axis)] = 1;
  if (output == config.input) return {};
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], PlainDesc(config.input, config.types.input)});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], PlainDesc(output, config.types.output)});
        return call;
      });
  walk.Add("", [&]() -> dnnl::primitive_desc {
    return dnnl::reduction::primitive_desc(CpuEngine(), kind, PlainDesc(config.input, config.types.input),
                                           PlainDesc(output, config.types.output), 0.0F, 0.0F, DefaultAttributes(),
                                           true);
  });
  return walk.Take();
}

}  // namespace infimum::cpu
