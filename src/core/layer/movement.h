// Operators that move, pick or resize elements, and layout reorders.
//
//   movement kind=transpose dtype=f32:-:f32 in=128x12x64 out=12x128x64 perm=1,0,2
//   movement kind=concat dtype=f32:-:f32 in=1x64x3136,1x32x3136 out=1x96x3136 axis=1
//   movement kind=gather dtype=f32:s64:f32 in=30522x768 out=128x768 axis=0 indices=128
//   resample kind=linear dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20
//   resample kind=grid_sample dtype=f32:f32:f32 in=1x64x32x32 out=1x64x20x20
//   reorder dtype=f32:-:f32 in=1x64x56x56 from=nchw to=nChw8c
//
// Canonicalize() merges neighbouring dimensions that stay together. Operands: `in`, in order, then
// the indices of a gather or scatter, or a grid (batch x positions of out x spatial dimensions) where dtype has its
// type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/layer/element_order.h"
#include "infimum/layer/shape.h"
#include "src/core/layer/work.h"

namespace infimum {

enum class MovementKind {
  kCopy,          // "copy": a plain copy, also what the copy curve is measured with
  kTranspose,     // "transpose"
  kConcat,        // "concat"
  kSplit,         // "split"
  kSlice,         // "slice"
  kGather,        // "gather": also GatherElements and GatherND
  kScatter,       // "scatter": a copy of the data, then the updates
  kPad,           // "pad"
  kExpand,        // "expand": writes a broadcast out
  kTile,          // "tile"
  kDepthToSpace,  // "depth_to_space": also SpaceToDepth
  kReverse,       // "reverse"
  kFill,          // "fill": writes only (ConstantOfShape, Range, EyeLike, random generators)
  kOneHot,        // "one_hot"
  kTriangle,      // "triangle": Trilu
};
std::span<const NamedValue<MovementKind>> NamesOf(MovementKind);

struct MovementConfig {
  MovementKind kind = MovementKind::kCopy;
  OperandTypes types;  // weights: the indices' type
  std::vector<Shape> inputs;
  std::vector<Shape> outputs;
  std::int64_t axis = -1;                 // concat, split, gather, scatter; -1 (not written) elsewhere
  std::vector<std::int64_t> permutation;  // transpose; written only when not empty
  std::int64_t indices = 0;               // gather, scatter: their count; written only when not 0

  static constexpr std::string_view kName = "movement";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.inputs);
    visit("out", self.outputs);
    visit.Optional("axis", self.axis, std::int64_t{-1});
    visit.Optional("perm", self.permutation);
    visit.Optional("indices", self.indices);
  }
  friend bool operator==(const MovementConfig&, const MovementConfig&) = default;
};

enum class ResampleKind { kNearest, kLinear, kCubic, kGridSample, kRoiAlign };
std::span<const NamedValue<ResampleKind>> NamesOf(ResampleKind);

// Input elements that an output element combines in a resized dimension: 1 nearest, 4 cubic, 2 elsewhere.
int TapsPerDimension(ResampleKind kind);

struct ResampleConfig {
  ResampleKind kind = ResampleKind::kNearest;
  OperandTypes types;  // weights: of grid_sample's grid, where it is an operand
  Shape input;
  Shape output;

  static constexpr std::string_view kName = "resample";
  static void VisitFields(auto& self, auto& visit) {
    visit("kind", self.kind);
    visit("dtype", self.types);
    visit("in", self.input);
    visit("out", self.output);
  }
  friend bool operator==(const ResampleConfig&, const ResampleConfig&) = default;
};

// Alone in naming layouts: what a change of layout costs. Layout names are those of the library.
struct ReorderConfig {
  OperandTypes types;
  Shape input;
  std::string from;  // [A-Za-z0-9_]+
  std::string to;

  static constexpr std::string_view kName = "reorder";
  static void VisitFields(auto& self, auto& visit) {
    visit("dtype", self.types);
    visit("in", self.input);
    visit("from", self.from);
    visit("to", self.to);
  }
  friend bool operator==(const ReorderConfig&, const ReorderConfig&) = default;
};

MovementConfig Canonicalize(MovementConfig config);

// A transpose, concatenation or split that moves nothing: its elements stay where they are in memory.
struct InPlaceMovement {
  // Of the operand of a transpose, of each operand of a concatenation, of each result of a split.
  std::vector<std::vector<ElementRun>> orders;
  std::vector<std::int64_t> offsets;  // where the memory of each begins, in elements
};
bool MayStayInPlace(const MovementConfig& config);  // of such a kind
// Where its other side, the result or a split's operand, has the order `whole`; nullopt where nothing can stay. Parts
// begin at whole lines of a cache.
std::optional<InPlaceMovement> InPlace(const MovementConfig& config, const std::vector<ElementRun>& whole);

// No FLOPs. Reads what the outputs hold (gather, slice: the picked elements and the indices; fill:
// nothing), writes all outputs.
Work WorkOf(const MovementConfig& config);
Status Validate(const MovementConfig& config);
std::vector<Operand> OperandsOfFamily(const MovementConfig& config);
std::vector<Operand> OutputsOfFamily(const MovementConfig& config);

// direct = conventional = 2 operations for each tap: 0 nearest, 2^d linear, 4^d cubic taps an output
// element, d the resized dimensions. Reads at most the whole input and, for nearest, at
// most as many elements as there are outputs.
Work WorkOf(const ResampleConfig& config);
Status Validate(const ResampleConfig& config);
std::vector<Operand> OperandsOfFamily(const ResampleConfig& config);

Work WorkOf(const ReorderConfig& config);
Status Validate(const ReorderConfig& config);

}  // namespace infimum
