// Layers that move elements, in terms of copies between boxes with steps, gathers and fills.
#include <algorithm>
#include <numeric>

#include "microbench/kernels/cuda/strided_copy.h"
#include "microbench/reference/index_map.h"
#include "src/core/layer/field_text.h"

namespace infimum::cuda {
namespace {

using Copies = std::vector<StridedCopy>;

// Copies of a layer, each from one operand to one output.
struct Movement {
  struct Part {
    StridedCopy copy;
    std::size_t operand = 0;
    std::size_t output = 0;
  };
  std::vector<Part> parts;
};

StridedCopy CopyOf(const MovementConfig& config, const std::vector<std::int64_t>& dims) {
  StridedCopy copy;
  copy.element_bytes = ElementBytes(config.types.output);
  copy.dims = dims;
  copy.from_steps = copy.to_steps = PackedSteps(dims);
  return copy;
}

StridedCopy TransposeOf(const MovementConfig& config) {
  StridedCopy copy = CopyOf(config, config.outputs[0].dims);
  const std::vector<std::int64_t> steps = PackedSteps(config.inputs[0].dims);
  for (std::size_t d = 0; d < copy.dims.size(); ++d) {
    copy.from_steps[d] = steps[static_cast<std::size_t>(config.permutation[d])];
  }
  return copy;
}

// Concat and split: each piece to or from its place in the whole.
Movement PiecesOf(const MovementConfig& config) {
  Movement movement;
  const bool concats = config.kind == MovementKind::kConcat;
  const std::vector<Shape>& pieces = concats ? config.inputs : config.outputs;
  const std::vector<std::int64_t> steps = PackedSteps((concats ? config.outputs : config.inputs)[0].dims);
  const auto axis = static_cast<std::size_t>(config.axis);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    StridedCopy copy = CopyOf(config, pieces[i].dims);
    (concats ? copy.to_steps : copy.from_steps) = steps;
    (concats ? copy.to_at : copy.from_at) = at * steps[axis];
    at += pieces[i].dims[axis];
    movement.parts.push_back({copy, concats ? i : 0, concats ? 0 : i});
  }
  return movement;
}

// The same in one launch, however many pieces there are; nullopt where positions do not fit into 32 bits.
std::optional<KernelOffer> JoinOffer(const MovementConfig& config) {
  const bool splits = config.kind == MovementKind::kSplit;
  const std::vector<Shape>& pieces = splits ? config.outputs : config.inputs;
  const Shape& whole = (splits ? config.inputs : config.outputs)[0];
  const int bytes = ElementBytes(config.types.output);
  const auto axis = static_cast<std::size_t>(config.axis);
  const std::int64_t inner = PackedSteps(whole.dims)[axis], row = whole.dims[axis] * inner;
  if (pieces.size() < 2 || pieces.size() > JoinCall::kMostParts || ElementCount(whole) == 0 ||
      !FitsCount(ElementCount(whole)))
    return std::nullopt;
  const auto make = [pieces, splits, bytes, axis, inner, row, whole](const KernelBuffers& buffers) {
    JoinCall call;
    call.splits = splits;
    call.whole = splits ? const_cast<void*>(buffers.operands[0]) : buffers.outputs[0];  // read only by a split
    call.unit_bytes = 16;
    while (row * bytes % call.unit_bytes != 0 || !IsAligned(call.whole, call.unit_bytes)) call.unit_bytes /= 2;
    std::int64_t end = 0;
    std::vector<std::int64_t> ends;  // in bytes
    for (const Shape& piece : pieces) {
      const auto place = static_cast<std::size_t>(call.parts++);
      void* const part = splits ? buffers.outputs[place] : const_cast<void*>(buffers.operands[place]);
      const std::int64_t width = piece.dims[axis] * inner * bytes;
      while (width % call.unit_bytes != 0 || !IsAligned(part, call.unit_bytes)) call.unit_bytes /= 2;
      call.part[place] = part;
      ends.push_back(end += width);
    }
    for (std::size_t part = 0; part < ends.size(); ++part)
      call.end[part] = static_cast<std::uint32_t>(ends[part] / call.unit_bytes);
    call.row = FastDivisor(row * bytes / call.unit_bytes);
    call.count = static_cast<std::uint32_t>(ElementCount(whole) * bytes / call.unit_bytes);
    return std::vector<KernelCall>{call};
  };
  return KernelOffer{std::string(ValueText(config.kind)) + ":joined", 0, make};
}

StridedCopy SliceOf(const MovementConfig& config, const cpu::LayerValues& values) {
  StridedCopy copy = CopyOf(config, config.outputs[0].dims);
  copy.from_steps = PackedSteps(config.inputs[0].dims);
  for (std::size_t d = 0; d < copy.dims.size(); ++d) {
    if (d < values.starts.size()) copy.from_at += values.starts[d] * copy.from_steps[d];
    if (d < values.steps.size()) copy.from_steps[d] *= values.steps[d];
  }
  return copy;
}

StridedCopy PadOf(const MovementConfig& config, const cpu::LayerValues& values) {
  StridedCopy copy = CopyOf(config, config.outputs[0].dims);
  copy.from_steps = PackedSteps(config.inputs[0].dims);
  bool limited = false;
  for (std::size_t d = 0; d < copy.dims.size(); ++d) {
    const std::int64_t size = config.inputs[0].dims[d], before = -cpu::InputPosition(config, values, d, 0);
    copy.from_at -= before * copy.from_steps[d];
    copy.begin.push_back(std::max<std::int64_t>(0, before));
    copy.end.push_back(std::min(copy.dims[d], before + size));
    limited = limited || copy.begin[d] > 0 || copy.end[d] < copy.dims[d];
  }
  if (limited) copy.limit = CopyCall::Limit::kBox;
  return copy;
}

std::optional<StridedCopy> TileOf(const MovementConfig& config) {
  const std::vector<std::int64_t>&in = config.inputs[0].dims, &out = config.outputs[0].dims;
  if (in.size() != out.size()) return std::nullopt;
  const std::vector<std::int64_t> steps = PackedSteps(in);
  StridedCopy copy = CopyOf(config, {});
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (in[d] == 0 || out[d] % in[d] != 0) return std::nullopt;
    copy.dims.insert(copy.dims.end(), {out[d] / in[d], in[d]});
    copy.from_steps.insert(copy.from_steps.end(), {0, steps[d]});
  }
  copy.to_steps = PackedSteps(copy.dims);
  return copy;
}

StridedCopy DepthToSpaceOf(const MovementConfig& config) {
  const std::int64_t block = cpu::DepthBlock(config);
  const std::vector<std::int64_t>&in = config.inputs[0].dims, &out = config.outputs[0].dims;
  if (block == 0) return CopyOf(config, out);
  StridedCopy copy;
  if (block > 0) {  // out: n, c, y, y in the block, x, x in the block
    const std::int64_t plane = in[2] * in[3], below = out[1];
    copy = CopyOf(config, {out[0], below, in[2], block, in[3], block});
    copy.from_steps = {in[1] * plane, plane, in[3], block * below * plane, 1, below * plane};
  } else {  // out: n, y in the block, x in the block, c, y, x
    const std::int64_t b = -block, plane = in[2] * in[3];
    copy = CopyOf(config, {out[0], b, b, in[1], out[2], out[3]});
    copy.from_steps = {in[1] * plane, in[3], 1, plane, b * in[3], b};
  }
  return copy;
}

StridedCopy ReverseOf(const MovementConfig& config) {
  StridedCopy copy = CopyOf(config, config.outputs[0].dims);
  if (copy.dims.empty()) return copy;
  const std::size_t axis = config.axis < 0 ? copy.dims.size() - 1 : static_cast<std::size_t>(config.axis);
  copy.from_at = (copy.dims[axis] - 1) * copy.from_steps[axis];
  copy.from_steps[axis] = -copy.from_steps[axis];
  return copy;
}

std::optional<Movement> MovementOf(const MovementConfig& config, const cpu::LayerValues& values) {
  const auto one = [](StridedCopy copy) { return Movement{{{std::move(copy), 0, 0}}}; };
  const std::vector<std::int64_t>& out = config.outputs[0].dims;
  switch (config.kind) {
    case MovementKind::kCopy:
      return one(CopyOf(config, {ElementCount(config.outputs[0])}));
    case MovementKind::kTranspose:
      return one(TransposeOf(config));
    case MovementKind::kConcat:
    case MovementKind::kSplit:
      return PiecesOf(config);
    case MovementKind::kSlice:
      return one(SliceOf(config, values));
    case MovementKind::kPad:
      return one(PadOf(config, values));
    case MovementKind::kExpand: {
      StridedCopy copy = CopyOf(config, out);
      copy.from_steps = BroadcastSteps(config.inputs[0], out);
      return one(copy);
    }
    case MovementKind::kTile: {
      const std::optional<StridedCopy> copy = TileOf(config);
      return copy ? std::optional<Movement>(one(*copy)) : std::nullopt;
    }
    case MovementKind::kDepthToSpace:
      return one(DepthToSpaceOf(config));
    case MovementKind::kReverse:
      return one(ReverseOf(config));
    case MovementKind::kTriangle: {
      StridedCopy copy = CopyOf(config, out);
      if (out.size() >= 2) copy.limit = CopyCall::Limit::kLowerTriangle;
      return one(copy);
    }
    default:
      return std::nullopt;
  }
}

// What a part's make() gives for one of the variants, for all parts.
template <class Make>
std::optional<KernelOffer> OfferOf(std::string name, const Movement& movement, const Make& make) {
  // Addresses as aligned as they can be: whether the copies fit at all.
  for (const Movement::Part& part : movement.parts) {
    if (!make(part.copy, nullptr, nullptr)) return std::nullopt;
  }
  const auto make_all = [movement, make](const KernelBuffers& buffers) {
    std::vector<KernelCall> calls;
    for (const Movement::Part& part : movement.parts) {
      if (part.copy.count_bytes() == 0) continue;
      calls.push_back(*make(part.copy, buffers.operands[part.operand], buffers.outputs[part.output]));
    }
    return calls;
  };
  return KernelOffer{std::move(name), 0, make_all};
}

std::vector<KernelOffer> CopyOffers(const std::string& name, const Movement& movement) {
  std::vector<KernelOffer> offers;
  const auto add = [&](const char* variant, StridedCopy::Variant how) {
    // One of `simple` decides for all: in wide units there are fewer.
    const auto make = [how](const StridedCopy& copy, const void* from, void* to) { return copy.Make(how, from, to); };
    if (std::optional<KernelOffer> offer = OfferOf(name + ":" + variant, movement, make)) offers.push_back(*offer);
  };
  const auto make_simple = [](const StridedCopy& copy, const void* from, void* to) {
    return copy.Make({false, 1, false}, from, to);
  };
  std::optional<KernelOffer> simple = OfferOf(name + ":simple", movement, make_simple);
  if (!simple) return {};
  add("vector", {true, 4, false});
  if (movement.parts[0].copy.limit == CopyCall::Limit::kNone) add("wide", {true, 1, false});
  const std::optional<KernelCall> first = movement.parts[0].copy.Make({}, nullptr, nullptr);
  if (movement.parts.size() == 1 && std::holds_alternative<FlatCopyCall>(*first)) {
    add("vector8", {true, 8, false});
    add("stream", {true, 4, true});
  }
  offers.push_back(*simple);
  int merged = movement.parts.size() == 1 ? movement.parts[0].copy.MostMerged() : 0;
  for (; merged >= 1; merged /= 2) {
    const auto make = [merged](const StridedCopy& copy, const void* from, void* to) {
      // Units of several elements need addresses to match.
      std::optional<KernelCall> call = copy.MakeTransposed(merged, from, to);
      return call ? call : copy.Make({}, from, to);
    };
    const std::string variant = ":tile" + std::to_string(32 * merged);
    if (std::optional<KernelOffer> offer = OfferOf(name + variant, movement, make)) offers.push_back(*offer);
  }
  return offers;
}

// How positions of the moved elements find index and data.
struct IndexedPositions {
  std::vector<std::int64_t> dims, data_steps, index_steps;
  std::int64_t axis_step = 1, axis_length = 1;
};

IndexedPositions PositionsOf(const MovementConfig& config, const Shape& data, const Shape& moved) {
  const cpu::IndexedForm form = cpu::FormOf(config, data, moved);
  switch (form.kind) {
    case cpu::IndexedForm::Kind::kAxis:
      return {{form.outer, form.picked, form.inner},
              {form.axis_length * form.inner, 0, 1},
              {0, 1, 0},
              form.inner,
              form.axis_length};
    case cpu::IndexedForm::Kind::kElements: {
      const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, config.axis));
      IndexedPositions positions{moved.dims, PackedSteps(data.dims), PackedSteps(moved.dims), 1};
      positions.axis_step = positions.data_steps[axis];
      positions.axis_length = data.dims[axis];
      positions.data_steps[axis] = 0;
      return positions;
    }
    default:
      return {{form.picked, form.inner}, {0, 1}, {1, 0}, form.inner, ElementCount(data) / form.inner};
  }
}

std::optional<GatherCall> GatherOf(IndexedPositions positions, int element_bytes, bool widens, const void* data,
                                   const void* moved) {
  Iteration iteration{positions.dims, {positions.data_steps, positions.index_steps, PackedSteps(positions.dims)}};
  iteration.Merge();
  std::int64_t times = widens ? 16 / element_bytes : 1;
  for (; times > 1; times /= 2) {
    if (!IsAligned(data, element_bytes * times) || !IsAligned(moved, element_bytes * times)) continue;
    if (iteration.dims.empty() || iteration.steps[0].back() != 1 || iteration.steps[1].back() != 0) continue;
    bool fits = iteration.dims.back() % times == 0 && positions.axis_step % times == 0;
    for (std::size_t d = 0; d + 1 < iteration.dims.size(); ++d) fits = fits && iteration.steps[0][d] % times == 0;
    if (fits) break;
  }
  if (times > 1) {
    iteration.dims.back() /= times;
    for (std::size_t d = 0; d + 1 < iteration.dims.size(); ++d) iteration.steps[0][d] /= times;
    positions.axis_step /= times;
  }
  const std::optional<Box> box = BoxOf(iteration.dims);
  const std::optional<Steps> data_steps = StepsOf(iteration.steps[0]), index_steps = StepsOf(iteration.steps[1]);
  if (!box || !data_steps || !index_steps) return std::nullopt;
  GatherCall call;
  call.unit_bytes = static_cast<int>(element_bytes * std::max<std::int64_t>(1, times));
  call.count = static_cast<std::uint32_t>(iteration.count());
  call.box = *box;
  call.data_steps = *data_steps;
  call.index_steps = *index_steps;
  call.axis_step = positions.axis_step;
  call.axis_length = positions.axis_length;
  return call;
}

std::vector<KernelOffer> IndexedOffers(const MovementConfig& config) {
  const bool scatters = config.kind == MovementKind::kScatter;
  if (scatters && config.inputs.size() < 2) return {};
  const Element index = ElementOf(config.types.weights);
  if (index != Element::kS64 && index != Element::kS32) return {};
  const Shape data = config.inputs[0], moved = scatters ? config.inputs[1] : config.outputs[0];
  const int bytes = ElementBytes(config.types.output);
  const IndexedPositions positions = PositionsOf(config, data, moved);
  if (!GatherOf(positions, bytes, false, nullptr, nullptr)) return {};
  std::vector<KernelOffer> offers;
  const auto add = [&](const char* variant, bool widens, int units) {
    const auto make = [=](const KernelBuffers& buffers) {
      std::vector<KernelCall> calls;
      const void* all = scatters ? buffers.outputs[0] : buffers.operands[0];
      const void* part = scatters ? buffers.operands[1] : buffers.outputs[0];
      if (scatters) {
        StridedCopy copy;
        copy.element_bytes = bytes;
        copy.dims = {ElementCount(data)};
        copy.from_steps = copy.to_steps = {1};
        calls.push_back(*copy.Make({}, buffers.operands[0], buffers.outputs[0]));
      }
      GatherCall call = *GatherOf(positions, bytes, widens, all, part);
      call.scatters = scatters;
      call.data = all;
      call.moved = const_cast<void*>(part);  // read only by a scatter
      call.indices = buffers.operands[config.inputs.size()];
      call.index_element = index;
      call.units_per_thread = units;
      calls.push_back(call);
      return calls;
    };
    offers.push_back({std::string(scatters ? "scatter:" : "gather:") + variant, 0, make});
  };
  add("vector", true, 4);
  if (!scatters) add("wide", true, 1);
  add("simple", false, 1);
  return offers;
}

std::vector<KernelOffer> FillOffers(const MovementConfig& config) {
  const auto make = [config](const KernelBuffers& buffers) {
    std::vector<KernelCall> calls;
    for (std::size_t i = 0; i < config.outputs.size(); ++i) {
      FillCall call;
      call.to = buffers.outputs[i];
      call.bytes = ElementCount(config.outputs[i]) * ElementBytes(config.types.output);
      while (!IsAligned(call.to, call.unit_bytes)) call.unit_bytes /= 2;
      calls.push_back(call);
    }
    return calls;
  };
  return {{"fill:vector", 0, make}};
}

std::vector<KernelOffer> OneHotOffers(const MovementConfig& config) {
  OneHotCall call;
  call.index_element = ElementOf(config.types.input);
  call.element = ElementOf(config.types.output);
  const std::int64_t count = ElementCount(config.outputs[0]), rows = ElementCount(config.inputs[0]);
  if (call.index_element == Element::kNone || call.element == Element::kNone) return {};
  if (rows == 0 || !FitsCount(count) || count % rows != 0) return {};
  call.count = static_cast<std::uint32_t>(count);
  call.depth = FastDivisor(std::max<std::int64_t>(1, count / rows));
  const auto make = [call](const KernelBuffers& buffers) {
    OneHotCall own = call;
    own.indices = buffers.operands[0];
    own.to = buffers.outputs[0];
    return std::vector<KernelCall>{own};
  };
  return {{"one_hot:simple", 0, make}};
}

}  // namespace

std::vector<KernelOffer> OffersFor(const MovementConfig& config, const cpu::LayerValues& values) {
  if (values.quantized() || ElementBytes(config.types.output) == 0) return {};
  switch (config.kind) {
    case MovementKind::kFill:
      return FillOffers(config);
    case MovementKind::kOneHot:
      return OneHotOffers(config);
    case MovementKind::kGather:
    case MovementKind::kScatter:
      if (config.types.input != config.types.output) return {};
      return IndexedOffers(config);
    default:
      break;
  }
  if (config.types.input != config.types.output) return {};
  const std::optional<Movement> movement = MovementOf(config, values);
  if (!movement) return {};
  std::vector<KernelOffer> offers = CopyOffers(ValueText(config.kind), *movement);
  if (config.kind == MovementKind::kConcat || config.kind == MovementKind::kSplit)
    if (std::optional<KernelOffer> joined = JoinOffer(config)) offers.push_back(*std::move(joined));
  return offers;
}

// Layouts with gaps are not taken.
std::vector<KernelOffer> OffersFor(const ReorderConfig& config) {
  if (config.types.input != config.types.output) return {};
  const std::optional<ElementOrder> from = ParseLayout(config.from, config.input);
  const std::optional<ElementOrder> to = ParseLayout(config.to, config.input);
  if (!from || !to || !from->is_dense() || !to->is_dense()) return {};
  const std::optional<CommonDimensions> common = OverCommonDimensions(from->runs, to->runs);
  return common ? KernelsForReorder(config.types.output, *common) : std::vector<KernelOffer>();
}

std::vector<KernelOffer> KernelsForReorder(DataType type, const CommonDimensions& orders) {
  StridedCopy copy;
  copy.element_bytes = ElementBytes(type);
  if (copy.element_bytes == 0) return {};
  // Outermost first as the output lies, so that neighbouring threads write neighbours.
  std::vector<std::size_t> places(orders.dims.size());
  std::iota(places.begin(), places.end(), 0u);
  std::ranges::sort(places, [&](std::size_t a, std::size_t b) { return orders.to[a] > orders.to[b]; });
  for (const std::size_t place : places) {
    copy.dims.push_back(orders.dims[place]);
    copy.from_steps.push_back(orders.from[place]);
    copy.to_steps.push_back(orders.to[place]);
  }
  if (copy.dims.empty()) {
    copy.dims = copy.from_steps = copy.to_steps = {1};
  }
  return CopyOffers("reorder", Movement{{{copy, 0, 0}}});
}

}  // namespace infimum::cuda
