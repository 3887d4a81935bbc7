#include "src/core/layer/movement.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr std::array kMovementNames = {
    NamedValue<MovementKind>{MovementKind::kCopy, "copy"},
    NamedValue<MovementKind>{MovementKind::kTranspose, "transpose"},
    NamedValue<MovementKind>{MovementKind::kConcat, "concat"},
    NamedValue<MovementKind>{MovementKind::kSplit, "split"},
    NamedValue<MovementKind>{MovementKind::kSlice, "slice"},
    NamedValue<MovementKind>{MovementKind::kGather, "gather"},
    NamedValue<MovementKind>{MovementKind::kScatter, "scatter"},
    NamedValue<MovementKind>{MovementKind::kPad, "pad"},
    NamedValue<MovementKind>{MovementKind::kExpand, "expand"},
    NamedValue<MovementKind>{MovementKind::kTile, "tile"},
    NamedValue<MovementKind>{MovementKind::kDepthToSpace, "depth_to_space"},
    NamedValue<MovementKind>{MovementKind::kReverse, "reverse"},
    NamedValue<MovementKind>{MovementKind::kFill, "fill"},
    NamedValue<MovementKind>{MovementKind::kOneHot, "one_hot"},
    NamedValue<MovementKind>{MovementKind::kTriangle, "triangle"},
};

constexpr std::size_t kMostShapes = 4096;

bool HasAxis(MovementKind kind) {
  return kind == MovementKind::kConcat || kind == MovementKind::kSplit || kind == MovementKind::kGather ||
         kind == MovementKind::kScatter;
}
bool HasIndices(MovementKind kind) { return kind == MovementKind::kGather || kind == MovementKind::kScatter; }
bool MayChangeType(MovementKind kind) { return kind == MovementKind::kFill || kind == MovementKind::kOneHot; }

Error Mismatch(const MovementConfig& config, std::string_view rule) {
  return Error{"kind=" + ValueText(config.kind) + " in=" + ValueText(config.inputs) +
               " out=" + ValueText(config.outputs) + ": " + std::string(rule)};
}

// The pieces of a concat or split and their whole agree but in `axis`, where they add up.
Status CheckPieces(const MovementConfig& config, const std::vector<Shape>& pieces, const Shape& whole) {
  if (config.axis < 0 || config.axis >= static_cast<std::int64_t>(whole.rank()))
    return Mismatch(config, "axis=" + std::to_string(config.axis) + " is not one of the dimensions");
  const auto axis = static_cast<std::size_t>(config.axis);
  std::int64_t sum = 0;
  for (const Shape& piece : pieces) {
    Shape expected = whole;
    if (piece.rank() == whole.rank()) expected.dims[axis] = piece.dims[axis];
    if (piece != expected) return Mismatch(config, "the pieces and the whole differ outside of the axis");
    sum += piece.dims[axis];
  }
  if (sum != whole.dims[axis]) return Mismatch(config, "the pieces do not add up to the whole");
  return {};
}

Status CheckPermutation(const MovementConfig& config, const Shape& in, const Shape& out) {
  std::vector<std::int64_t> sorted = config.permutation;
  std::ranges::sort(sorted);
  std::vector<std::int64_t> all(in.rank());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) return Mismatch(config, "perm must name each dimension of in once");
  if (out.rank() != in.rank()) return Mismatch(config, "in and out differ in rank");
  for (std::size_t i = 0; i < in.rank(); ++i)
    if (out.dims[i] != in.dims[static_cast<std::size_t>(config.permutation[i])])
      return Mismatch(config, "out is not in permuted by perm=" + ValueText(config.permutation));
  return {};
}

Status CheckCounts(const MovementConfig& config) {
  const std::size_t most_inputs = config.kind == MovementKind::kConcat    ? kMostShapes
                                  : config.kind == MovementKind::kScatter ? 2
                                  : config.kind == MovementKind::kFill    ? 0
                                                                          : 1;
  const std::size_t least_inputs = std::min<std::size_t>(most_inputs, config.kind == MovementKind::kScatter ? 2 : 1);
  const std::size_t most_outputs = config.kind == MovementKind::kSplit ? kMostShapes : 1;
  if (config.inputs.size() < least_inputs || config.inputs.size() > most_inputs)
    return Error{"kind=" + ValueText(config.kind) + " takes " + std::to_string(least_inputs) +
                 (most_inputs > least_inputs ? " to " + std::to_string(most_inputs) : "") + " inputs, in has " +
                 std::to_string(config.inputs.size())};
  if (config.outputs.empty() || config.outputs.size() > most_outputs)
    return Error{"kind=" + ValueText(config.kind) + " has 1" +
                 (most_outputs > 1 ? " to " + std::to_string(most_outputs) : "") + " outputs, out has " +
                 std::to_string(config.outputs.size())};
  return {};
}

Status CheckParameters(const MovementConfig& config) {
  // A gather or scatter by coordinates has no axis.
  if (HasAxis(config.kind) && config.axis < -1) return Error{"axis counts from the front, write 0 or more"};
  if (!HasAxis(config.kind) && config.axis != -1)
    return Error{"axis does not belong to kind=" + ValueText(config.kind) + ", remove it"};
  if (config.kind != MovementKind::kTranspose && !config.permutation.empty())
    return Error{"perm belongs to kind=transpose, remove it"};
  if (HasIndices(config.kind)) return CheckRange("indices", config.indices, 1, kMaxElements);
  if (config.indices != 0) return Error{"indices belongs to gather and scatter, remove it"};
  return {};
}

Status CheckMovementTypes(const MovementConfig& config) {
  if (config.kind == MovementKind::kFill) {
    if (config.types.output == DataType::kNone) return Error{"dtype has no output type, write it after the second ':'"};
    if (config.types.weights != DataType::kNone)
      return Error{"a fill has no second operand: write '-' between the ':'"};
    return {};
  }
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, HasIndices(config.kind)));
  if (!MayChangeType(config.kind) && config.types.input != config.types.output)
    return Error{"a movement keeps the element type, use pointwise kind=cast to change " +
                 std::string(Name(config.types.input)) + " into " + std::string(Name(config.types.output))};
  return {};
}

// After CheckCounts and CheckTensor of every shape.
Status CheckShapes(const MovementConfig& config) {
  const Shape& out = config.outputs[0];
  if (config.kind == MovementKind::kFill) return {};
  const Shape& in = config.inputs[0];
  switch (config.kind) {
    case MovementKind::kFill:
      return {};
    case MovementKind::kCopy:
    case MovementKind::kDepthToSpace:
      return ElementCount(in) == ElementCount(out) ? Status() : Mismatch(config, "the numbers of elements differ");
    case MovementKind::kTranspose:
      return CheckPermutation(config, in, out);
    case MovementKind::kConcat:
      return CheckPieces(config, config.inputs, out);
    case MovementKind::kSplit:
      return CheckPieces(config, config.outputs, in);
    case MovementKind::kSlice:
      if (in.rank() != out.rank()) return Mismatch(config, "in and out differ in rank");
      for (std::size_t i = 0; i < in.rank(); ++i)
        if (out.dims[i] > in.dims[i]) return Mismatch(config, "out is larger than in");
      return {};
    case MovementKind::kPad:
      return in.rank() == out.rank() ? Status() : Mismatch(config, "in and out differ in rank");
    case MovementKind::kExpand: {
      const Result<Shape> both = Broadcast(in, out);
      return both.ok() && *both == out ? Status() : Mismatch(config, "in does not broadcast to out");
    }
    case MovementKind::kTile:
      if (in.rank() != out.rank()) return Mismatch(config, "in and out differ in rank");
      for (std::size_t i = 0; i < in.rank(); ++i)
        if (out.dims[i] % in.dims[i] != 0) return Mismatch(config, "out is not a whole number of tiles");
      return {};
    case MovementKind::kReverse:
    case MovementKind::kTriangle:
      return in == out ? Status() : Mismatch(config, "in and out differ");
    case MovementKind::kOneHot:
      return ElementCount(out) % ElementCount(in) == 0
                 ? Status()
                 : Mismatch(config, "out is not one vector for each element of in");
    case MovementKind::kGather:
    case MovementKind::kScatter:
      break;
  }
  if (config.axis >= static_cast<std::int64_t>(in.rank()) && config.axis != -1)
    return Mismatch(config, "axis=" + std::to_string(config.axis) + " is not one of the dimensions");
  if (config.kind == MovementKind::kScatter && in != out) return Mismatch(config, "the data and out differ");
  return {};
}

MovementConfig Flattened(MovementConfig config) {
  config.kind = MovementKind::kCopy;
  config.permutation.clear();
  const Shape flat{{ElementCount(config.inputs[0])}};
  config.inputs = {flat};
  config.outputs = {flat};
  return config;
}

// Without dimensions of one element, and with those merged that stay neighbours in the same order; what
// then permutes nothing is a copy.
MovementConfig MergedTranspose(MovementConfig config) {
  const Shape& in = config.inputs[0];
  std::vector<std::size_t> order;
  for (const std::int64_t source : config.permutation)
    if (in.dims[static_cast<std::size_t>(source)] != 1) order.push_back(static_cast<std::size_t>(source));
  struct Run {
    std::size_t first;  // dimension of the input that the run starts at
    std::int64_t extent;
  };
  std::vector<Run> runs;  // in the order of the output
  for (std::size_t i = 0; i < order.size(); ++i) {
    // Neighbours in the input, if only dimensions of one element are between them.
    const bool follows = i > 0 && order[i] > order[i - 1] && ElementsBetween(in, order[i - 1] + 1, order[i]) == 1;
    if (follows)
      runs.back().extent *= in.dims[order[i]];
    else
      runs.push_back({order[i], in.dims[order[i]]});
  }
  if (runs.size() < 2) return Flattened(std::move(config));
  std::vector<Run> sources = runs;
  std::ranges::sort(sources, {}, &Run::first);
  Shape merged_in, merged_out;
  for (const Run& run : sources) merged_in.dims.push_back(run.extent);
  config.permutation.clear();
  for (const Run& run : runs) {
    merged_out.dims.push_back(run.extent);
    config.permutation.push_back(std::ranges::find(sources, run.first, &Run::first) - sources.begin());
  }
  config.inputs = {merged_in};
  config.outputs = {merged_out};
  return config;
}

MovementConfig MergedPieces(MovementConfig config) {
  const auto axis = static_cast<std::size_t>(config.axis);
  for (Shape& shape : config.inputs) shape = OuterAxisInner(shape, axis);
  for (Shape& shape : config.outputs) shape = OuterAxisInner(shape, axis);
  config.axis = 1;
  return config;
}

// Merges neighbouring dimensions that the operator leaves alone, and drops those of one element. An
// expand also merges neighbours that it both stretches from 1.
MovementConfig MergedUntouched(MovementConfig config) {
  Shape in = config.inputs[0];
  const Shape& out = config.outputs[0];
  if (in.rank() < out.rank()) in.dims.insert(in.dims.begin(), out.rank() - in.rank(), 1);
  enum class Kind { kNone, kUntouched, kStretched, kOther };
  Shape merged_in, merged_out;
  Kind last = Kind::kNone;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    if (in.dims[i] == 1 && out.dims[i] == 1) continue;
    const Kind kind = in.dims[i] == out.dims[i]                                 ? Kind::kUntouched
                      : in.dims[i] == 1 && config.kind == MovementKind::kExpand ? Kind::kStretched
                                                                                : Kind::kOther;
    if (kind == last && kind != Kind::kOther) {
      merged_in.dims.back() *= in.dims[i];
      merged_out.dims.back() *= out.dims[i];
    } else {
      merged_in.dims.push_back(in.dims[i]);
      merged_out.dims.push_back(out.dims[i]);
    }
    last = kind;
  }
  if (merged_in.dims.empty() || (merged_in == merged_out)) return Flattened(std::move(config));
  config.inputs = {merged_in};
  config.outputs = {merged_out};
  return config;
}

// [outer x] axis [x inner] for a gather of whole slices, which that of single elements or coordinates is not.
MovementConfig MergedGather(MovementConfig config) {
  if (config.axis < 0) return config;
  const Shape parts = OuterAxisInner(config.inputs[0], static_cast<std::size_t>(config.axis));
  const std::int64_t outer = parts.dims[0], inner = parts.dims[2];
  if ((ExactCount(outer) * config.indices * inner).ValueOr(-1) != ElementCount(config.outputs[0])) return config;
  Shape in, out;
  if (outer > 1) in.dims = out.dims = {outer};
  config.axis = outer > 1 ? 1 : 0;
  in.dims.push_back(parts.dims[1]);
  out.dims.push_back(config.indices);
  if (inner > 1) in.dims.push_back(inner), out.dims.push_back(inner);
  config.inputs = {in};
  config.outputs = {out};
  return config;
}

}  // namespace

std::span<const NamedValue<MovementKind>> NamesOf(MovementKind) { return kMovementNames; }

MovementConfig Canonicalize(MovementConfig config) {
  // An invalid configuration stays as it is; Validate refuses it.
  if (config.kind == MovementKind::kFill) {
    config.inputs.clear();
    config.types.input = DataType::kNone;
  }
  if (!Validate(config).ok()) return config;
  switch (config.kind) {
    case MovementKind::kCopy:
      return Flattened(std::move(config));
    case MovementKind::kTranspose:
      return MergedTranspose(std::move(config));
    case MovementKind::kConcat:
    case MovementKind::kSplit:
      return MergedPieces(std::move(config));
    case MovementKind::kSlice:
    case MovementKind::kPad:
    case MovementKind::kExpand:
    case MovementKind::kTile:
      return MergedUntouched(std::move(config));
    case MovementKind::kGather:
      return MergedGather(std::move(config));
    case MovementKind::kFill:
      config.outputs = {Shape{{ElementCount(config.outputs[0])}}};
      return config;
    case MovementKind::kScatter:
    case MovementKind::kDepthToSpace:
    case MovementKind::kReverse:
    case MovementKind::kOneHot:
    case MovementKind::kTriangle:
      return config;
  }
  return config;
}

bool MayStayInPlace(const MovementConfig& config) {
  return config.kind == MovementKind::kTranspose || config.kind == MovementKind::kConcat ||
         config.kind == MovementKind::kSplit;
}

std::optional<InPlaceMovement> InPlace(const MovementConfig& config, const std::vector<ElementRun>& whole) {
  if (!MayStayInPlace(config)) return std::nullopt;
  if (config.kind == MovementKind::kTranspose) {
    // The operand is the result, turned back.
    std::vector<std::int64_t> back(config.permutation.size());
    for (std::size_t i = 0; i < back.size(); ++i)
      back[static_cast<std::size_t>(config.permutation[i])] = static_cast<std::int64_t>(i);
    auto moved = TransposedInPlace(whole, config.outputs[0], back);
    return moved ? std::optional<InPlaceMovement>({{*std::move(moved)}, {0}}) : std::nullopt;
  }
  const bool joins = config.kind == MovementKind::kConcat;
  const Shape& all = joins ? config.outputs[0] : config.inputs[0];
  if (ElementsBetween(all, 0, static_cast<std::size_t>(config.axis)) != 1) return std::nullopt;
  constexpr std::int64_t kCacheLineBits = 8 * 64;
  std::vector<std::int64_t> counts, offsets;
  std::int64_t before = 0;
  for (const Shape& part : joins ? config.inputs : config.outputs) {
    if (before * BitsPerElement(config.types.input) % kCacheLineBits != 0) return std::nullopt;
    offsets.push_back(before);
    counts.push_back(ElementCount(part));
    before += counts.back();
  }
  auto parts = JoinedInPlace(whole, counts);
  return parts ? std::optional<InPlaceMovement>({*std::move(parts), std::move(offsets)}) : std::nullopt;
}

// Which elements a gather picks, and which half of a triangle is kept, are values: the picked elements
// count as distinct as far as the input has that many, the kept half as nothing, since it may be empty.
Work WorkOf(const MovementConfig& config) {
  const std::vector<Operand> operands = OperandsOfFamily(config);
  Work work = WholeWork(operands, OutputsOfFamily(config));
  if (config.inputs.empty()) return work;
  const std::int64_t in = ElementCount(config.inputs[0]);
  const std::int64_t out = ElementCount(config.outputs[0]);
  switch (config.kind) {
    case MovementKind::kSlice:
    case MovementKind::kPad:  // may crop
    case MovementKind::kGather:
      work.operand_reads[0] = SizeOf(config.types.input, std::min(in, out));
      break;
    case MovementKind::kScatter:  // what an update overwrites need not be read
      work.operand_reads[0] =
          SizeOf(config.types.input, std::max<std::int64_t>(0, in - ElementCount(config.inputs[1])));
      break;
    case MovementKind::kTriangle:
      work.operand_reads[0] = Bytes{0};
      break;
    default:
      break;
  }
  return work;
}

Status Validate(const MovementConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckCounts(config));
  INFIMUM_RETURN_IF_ERROR(CheckMovementTypes(config));
  for (const Shape& shape : config.inputs) INFIMUM_RETURN_IF_ERROR(CheckTensor("in", shape));
  for (const Shape& shape : config.outputs) INFIMUM_RETURN_IF_ERROR(CheckTensor("out", shape));
  // Any number of pieces, so that the sum of their bytes is exact.
  ExactCount total = 0;
  for (const Shape& shape : config.inputs) total = total + ElementCount(shape);
  for (const Shape& shape : config.outputs) total = total + ElementCount(shape);
  INFIMUM_RETURN_IF_ERROR(total.AsFlops());
  INFIMUM_RETURN_IF_ERROR(CheckParameters(config));
  return CheckShapes(config);
}

std::vector<Operand> OperandsOfFamily(const MovementConfig& config) {
  std::vector<Operand> operands;
  for (const Shape& input : config.inputs) operands.push_back({input, config.types.input, false});
  if (HasIndices(config.kind)) operands.push_back({Shape{{config.indices}}, config.types.weights, false});
  return operands;
}

std::vector<Operand> OutputsOfFamily(const MovementConfig& config) {
  std::vector<Operand> outputs;
  for (const Shape& output : config.outputs) outputs.push_back({output, config.types.output, false});
  return outputs;
}

}  // namespace infimum
