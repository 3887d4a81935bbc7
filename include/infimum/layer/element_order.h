// The layout of a tensor in memory, comparable across the shapes in which layers see it.
//
//   ParseLayout("acdb", Shape{{1, 64, 56, 56}})    channels last       runs {64 x 3136 -> 1}, {3136 x 1 -> 64}
//   ParseLayout("nhwc", Shape{{1, 64, 56, 56}})    the same order by another name
//   ParseLayout("aBcd16b", Shape{{1, 64, 7, 7}})   blocks of channels  runs {4 x 784 -> 784}, {16 x 49 -> 1}, {49 x 1
//   -> 16} ParseLayout("ab", Shape{{64, 3136}})           row-major           one run {200704 x 1 -> 1}, in every shape
//
// A run is, outermost first, how far a step of the row-major index moves in memory. A convolution may see
// 1x64x56x56 where a matrix product sees 64x3136: whether what one writes is what the other reads is whether their
// runs are equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/layer/shape.h"

namespace infimum {

struct ElementRun {
  std::int64_t extent = 1;
  std::int64_t logical = 1;   // step of the row-major index
  std::int64_t physical = 1;  // step in memory
  friend bool operator==(const ElementRun&, const ElementRun&) = default;
};

// Sorted from the outermost to the innermost of the row-major index, those of extent one left out, neighbours that move
// together joined: two orders are the same exactly when these are equal.
std::vector<ElementRun> Normalized(std::vector<ElementRun> runs);

// Two orders of the same elements over dimensions that neither of them splits, outermost first: what a copy from one to
// the other goes through. nullopt where there are no such dimensions (6 = 2 x 3 against 3 x 2).
struct CommonDimensions {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> from, to;  // steps in memory
};
std::optional<CommonDimensions> OverCommonDimensions(const std::vector<ElementRun>& from,
                                                     const std::vector<ElementRun>& to);

// The order of a transposed tensor that stays where it is: each of its elements is at the address that it had. The
// result's dimension i is dimension permutation[i] of `shape`, in which the runs are. nullopt where a run ends within
// a dimension.
//
//   row-major, 4096x128, {1, 0}    {128 x 4096 -> 1}, {4096 x 1 -> 128}: channels last, where they are outermost
std::optional<std::vector<ElementRun>> TransposedInPlace(const std::vector<ElementRun>& runs, const Shape& shape,
                                                         const std::vector<std::int64_t>& permutation);

// The orders of tensors that lie one behind the other in memory, of so many elements each, where the tensor that they
// are together, in the row-major index too, has the order `runs`. nullopt where they lie in no such way.
//
//   row-major                          each is row-major
//   aBcd8b, of 64 and 32 channels      each is aBcd8b
//   acdb                               nullopt: the channels of a pixel lie side by side
std::optional<std::vector<std::vector<ElementRun>>> JoinedInPlace(const std::vector<ElementRun>& runs,
                                                                  const std::vector<std::int64_t>& counts);

struct ElementOrder {
  std::vector<ElementRun> runs;  // normalized
  // For an order with gaps (channels that do not fill their last block) its name and shape, which are all that two of
  // them can be compared by; empty without gaps.
  std::string padded;

  bool is_row_major() const;
  bool is_dense() const { return padded.empty(); }
  friend bool operator==(const ElementOrder&, const ElementOrder&) = default;
};

ElementOrder RowMajorOrder(const Shape& shape);

// The layout that `name` is in `shape`: letters of dimensions ("acdb"; a capital where a block is split off:
// "aBcd16b"), the names of activations ("nchw", "nhwc", "ncdhw", "nChw16c"), "plain" for row-major. With a shape before
// it
// ("64x3136:ba") the tensor is seen in that one instead, which has as many elements. nullopt for every other name
// ("any", "opaque") and where the name has another rank than the shape.
std::optional<ElementOrder> ParseLayout(std::string_view name, const Shape& shape);

// A name for an order without gaps, in whatever shape it is plain: "64x3136:ba".
std::string NameInOwnShape(const ElementOrder& order);

// The shape and the letters of a name: {64x3136, "ba"} of "64x3136:ba", {`shape`, "acdb"} of "nhwc".
struct LayoutView {
  Shape shape;
  std::string letters;
};
LayoutView ViewOf(std::string_view name, const Shape& shape);

// "abcd" for rank 4.
std::string RowMajorName(std::size_t rank);

}  // namespace infimum
