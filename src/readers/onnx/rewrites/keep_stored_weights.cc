// Floating point times weights that are stored in fewer bits: they are read as stored and become numbers on the way.
// Folded into floating point they would be charged for several times their bytes.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "infimum/base/text.h"
#include "src/core/layer/small_float.h"
#include "src/readers/onnx/parse/node_view.h"
#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {
namespace {

constexpr std::string_view kProducts[] = {"Conv", "Gather", "Gemm", "MatMul", "com.microsoft.FusedMatMul"};
constexpr std::string_view kDequantize[] = {"DequantizeLinear", "com.microsoft.DequantizeLinear"};
constexpr std::string_view kViews[] = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"};

// A tensor's shape, and in the same rank that of the blocks which share a scale; no block: one scale for all.
struct Blocked {
  Shape shape;
  std::optional<Shape> block;
};

// The same elements in another shape; nullopt where blocks are none there.
std::optional<Blocked> Reshaped(const Blocked& from, const Shape& to) {
  if (ElementCount(from.shape) != ElementCount(to)) return std::nullopt;
  Blocked result{to, std::nullopt};
  if (!from.block) return result;
  result.block = Shape{std::vector<std::int64_t>(to.rank(), 1)};
  // From the innermost dimension out, in groups of as many elements. Of each, `covered` are in a block.
  std::size_t i = from.shape.rank(), j = to.rank();
  while (i > 0 || j > 0) {
    std::int64_t before = 1, after = 1, covered = 1;
    std::vector<std::size_t> group;
    do {
      if (i > 0 && (before <= after || j == 0)) {
        const std::int64_t extent = from.shape.dims[--i], part = from.block->dims[i];
        if (extent % part != 0 || (part > 1 && covered != before)) return std::nullopt;
        covered *= part;
        before *= extent;
      } else {
        after *= to.dims[--j];
        group.push_back(j);
      }
    } while (before != after && (i > 0 || j > 0));
    for (const std::size_t dim : group) {
      const std::int64_t part = std::min(covered, to.dims[dim]);
      if (covered % part != 0 || to.dims[dim] % part != 0) return std::nullopt;
      result.block->dims[dim] = part;
      covered /= part;
    }
  }
  return result;
}

std::optional<Blocked> Turned(const Blocked& from, const Layer& transpose) {
  std::vector<std::int64_t> reversed;
  for (std::size_t i = from.shape.rank(); i-- > 0;) reversed.push_back(static_cast<std::int64_t>(i));
  const std::vector<std::int64_t> order = IntegersOf(transpose, "perm", reversed);
  Blocked result{{}, from.block ? std::optional<Shape>(Shape()) : std::nullopt};
  for (const std::int64_t dim : order) {
    if (dim < 0 || static_cast<std::size_t>(dim) >= from.shape.rank()) return std::nullopt;
    result.shape.dims.push_back(from.shape.dims[static_cast<std::size_t>(dim)]);
    if (from.block) result.block->dims.push_back(from.block->dims[static_cast<std::size_t>(dim)]);
  }
  return result.shape.rank() == from.shape.rank() ? std::optional(result) : std::nullopt;
}

// Weights as they are stored, and what becomes of them on the way to the product.
struct Stored {
  std::optional<ValueId> tensor, scales, zero_points;
  Blocked form;                  // as the reader sees it
  bool is_view = false;          // whether that is another shape or order
  bool is_turned = false;        // whether that is a matrix turned round, and nothing else
  bool is_shifted = false;       // by a zero point that is none of `zero_points`
  std::vector<Layer*> absorbed;  // the reader's neighbour first
};

class StoredWeights {
 public:
  explicit StoredWeights(ModelGraph& graph) : graph_(graph), edit_(graph) {}

  std::vector<std::string> Run() {
    std::vector<std::string> rewrites;
    for (Layer& layer : graph_.layers) {
      if (edit_.IsRemoved(layer) || !layer.reason.empty() || !IsOneOf(layer.op, kProducts) || !Keep(layer)) continue;
      rewrites.push_back(layer.name);
    }
    edit_.Apply();
    return rewrites;
  }

 private:
  const Shape* ShapeOf(std::optional<ValueId> id) const {
    return id && graph_.value(*id).shape ? &*graph_.value(*id).shape : nullptr;
  }
  bool IsStoredNarrow(std::optional<ValueId> id) const {
    return edit_.IsConstant(id) && IsNarrowNumber(graph_.value(*id).type) && ShapeOf(id) != nullptr &&
           ElementCount(*ShapeOf(id)) > 0;
  }

  // Blocks of one scale, from the operator's attributes and the shape of its scales.
  bool FindBlocks(const Layer& dequantize, const Shape& scales, Blocked& form) const {
    if (ElementCount(scales) == 1) return true;
    const auto rank = static_cast<std::int64_t>(form.shape.rank());
    const std::int64_t given = IntegerOf(dequantize, "axis", 1), block = IntegerOf(dequantize, "block_size", 0);
    const std::int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank || block < 0) return false;
    const auto at = static_cast<std::size_t>(axis);
    form.block = block > 0 ? Shape{std::vector<std::int64_t>(form.shape.rank(), 1)} : form.shape;
    form.block->dims[at] = std::min(std::max<std::int64_t>(block, 1), form.shape.dims[at]);
    Shape blocks = form.shape;
    for (std::size_t i = 0; i < blocks.rank(); ++i)
      blocks.dims[i] = (blocks.dims[i] + form.block->dims[i] - 1) / form.block->dims[i];
    return block > 0 ? blocks == scales : ElementCount(blocks) == ElementCount(scales);
  }

  // Of a multiplication by scales or a subtraction of zero points, in arithmetic of its own: the input of the weights,
  // which are more.
  std::optional<std::size_t> WeightsIn(const Layer& layer) const {
    const Shape *const a = ShapeOf(InputOf(layer, 0)), *const b = ShapeOf(InputOf(layer, 1));
    if (a == nullptr || b == nullptr) return std::nullopt;
    const std::size_t weights = ElementCount(*a) >= ElementCount(*b) ? 0 : 1;
    const bool is_weights = edit_.IsConstant(InputOf(layer, 1 - weights)) && (weights == 0 || layer.op == "Mul");
    return is_weights ? std::optional(weights) : std::nullopt;
  }

  // What `numbers`, constant or not, were before they were converted.
  std::optional<ValueId> Unconverted(std::optional<ValueId> numbers) {
    Layer* const made = edit_.ProducerOf(numbers);
    const bool dequantizes = made != nullptr && IsOneOf(made->op, kDequantize);
    if (made == nullptr || (made->op != "Cast" && !dequantizes) ||
        edit_.IsConstant(InputOf(*made, 0)) != edit_.IsConstant(numbers))
      return numbers;
    // Scales of scales other than one for all are none that a product has.
    const Shape* const own = dequantizes ? ShapeOf(InputOf(*made, 1)) : nullptr;
    if (dequantizes && (own == nullptr || ElementCount(*own) != 1)) return numbers;
    scales_made_ = made;
    return InputOf(*made, 0);
  }

  // Of integers scales are what they were converted to.
  std::optional<ValueId> UnconvertedScales(std::optional<ValueId> numbers) {
    const std::optional<ValueId> before = Unconverted(numbers);
    if (before && IsFloatingPoint(graph_.value(*before).type)) return before;
    if (before != numbers) scales_made_ = nullptr;
    return numbers;
  }

  // Scales that the weights are multiplied by, or zero points: numbers that broadcast to the weights' shape.
  bool AddNumbers(const Layer& layer, std::size_t weights, Stored& stored) {
    const std::optional<ValueId> numbers = InputOf(layer, 1 - weights);
    Shape shape = *ShapeOf(numbers);
    if (ElementCount(shape) == 1) {
      stored.is_shifted = stored.is_shifted || layer.op == "Sub";
      return true;
    }
    const Shape& whole = stored.form.shape;
    if (shape.rank() > whole.rank()) return false;
    shape.dims.insert(shape.dims.begin(), whole.rank() - shape.rank(), 1);
    Shape block{std::vector<std::int64_t>(whole.rank(), 1)};
    for (std::size_t i = 0; i < whole.rank(); ++i) {
      if (shape.dims[i] != whole.dims[i] && shape.dims[i] != 1) return false;
      if (shape.dims[i] == 1) block.dims[i] = whole.dims[i];
    }
    if (stored.form.block && stored.form.block != block) return false;
    stored.form.block = block;
    (layer.op == "Mul" ? stored.scales : stored.zero_points) =
        layer.op == "Mul" ? UnconvertedScales(numbers) : Unconverted(numbers);
    return true;
  }

  // Backwards from what a product reads to what the file stores.
  std::optional<Stored> Find(std::optional<ValueId> value) {
    Stored stored;
    scales_made_ = nullptr;
    bool is_scaled = false, is_shifted = false;
    while (Layer* const layer = edit_.ProducerOf(value)) {
      stored.absorbed.push_back(layer);
      std::optional<ValueId> from = InputOf(*layer, 0);
      if ((layer->op == "Mul" && !is_scaled && !is_shifted) || (layer->op == "Sub" && is_scaled && !is_shifted)) {
        const std::optional<std::size_t> weights = WeightsIn(*layer);
        if (!weights) return std::nullopt;
        (layer->op == "Mul" ? is_scaled : is_shifted) = true;
        value = InputOf(*layer, *weights);
        continue;
      }
      const bool dequantizes = IsOneOf(layer->op, kDequantize);
      if (dequantizes || layer->op == "Cast") {
        if (IsStoredNarrow(from)) {
          stored.tensor = from;
          stored.form.shape = *ShapeOf(from);
          if (dequantizes && (is_scaled || !FindScales(*layer, stored))) return std::nullopt;
          break;
        }
        if (dequantizes) return std::nullopt;
      } else if (layer->op != "Transpose" && !IsOneOf(layer->op, kViews)) {
        return std::nullopt;
      }
      value = from;
    }
    if (!stored.tensor) return std::nullopt;
    for (auto layer = stored.absorbed.rbegin(); layer != stored.absorbed.rend(); ++layer) {
      if ((*layer)->op == "Mul" || (*layer)->op == "Sub") {
        if (!AddNumbers(**layer, *WeightsIn(**layer), stored)) return std::nullopt;
        continue;
      }
      const bool is_transpose = (*layer)->op == "Transpose", is_view = IsOneOf((*layer)->op, kViews);
      if (!is_transpose && !is_view) continue;
      stored.is_turned = is_transpose && stored.form.shape.rank() == 2 && (!stored.is_view || stored.is_turned) &&
                         IntegersOf(**layer, "perm", {1, 0}) == std::vector<std::int64_t>{1, 0} && !stored.is_turned;
      stored.is_view = true;
      const Shape* const shape = ShapeOf(OutputOf(**layer, 0));
      std::optional<Blocked> next;
      if (is_transpose) next = Turned(stored.form, **layer);
      if (is_view && shape != nullptr) next = Reshaped(stored.form, *shape);
      if (!next) return std::nullopt;
      stored.form = *std::move(next);
    }
    if (stored.zero_points && !stored.scales) return std::nullopt;
    if (scales_made_ != nullptr) stored.absorbed.push_back(scales_made_);
    return stored;
  }

  bool FindScales(const Layer& dequantize, Stored& stored) {
    const std::optional<ValueId> scales = InputOf(dequantize, 1), zeros = InputOf(dequantize, 2);
    if (!edit_.IsConstant(scales) || ShapeOf(scales) == nullptr) return false;
    if (!FindBlocks(dequantize, *ShapeOf(scales), stored.form)) return false;
    const auto numbers = zeros ? edit_.IntegersIn(zeros) : std::nullopt;
    const bool are_zero = !zeros || IsFloatingPoint(graph_.value(*stored.tensor).type) ||
                          graph_.value(*zeros).zeros.all ||
                          (numbers && std::ranges::all_of(*numbers, [](std::int64_t number) { return number == 0; }));
    if (!stored.form.block) {
      stored.is_shifted = !are_zero;
      return true;
    }
    stored.scales = UnconvertedScales(scales);  // they may be stored in fewer bits than they are used in themselves
    if (are_zero) return true;
    if (!edit_.IsConstant(zeros)) return false;
    stored.zero_points = zeros;
    return true;
  }

  // What the product reads as input 0 where other layers made floats of at most 8 bits, with a scale for each block of
  // a row.
  std::optional<Stored> FindRows(const Layer& product) {
    if (product.op == "Gemm" ? IntegerOf(product, "transA", 0) != 0 : product.op != "MatMul") return std::nullopt;
    Stored stored;
    scales_made_ = nullptr;
    Layer* layer = edit_.ProducerOf(InputOf(product, 0));
    for (; layer != nullptr && layer->op == "Cast"; layer = edit_.ProducerOf(InputOf(*layer, 0))) {
      const DataType to = graph_.value(*layer->outputs[0]).type;
      if (!IsFloatingPoint(to) || IsSmallFloat(to)) return std::nullopt;
      stored.absorbed.push_back(layer);
    }
    if (layer == nullptr || !IsOneOf(layer->op, kDequantize)) return std::nullopt;
    stored.absorbed.push_back(layer);
    stored.tensor = InputOf(*layer, 0);
    const Shape *const shape = ShapeOf(stored.tensor), *const scales = ShapeOf(InputOf(*layer, 1));
    if (shape == nullptr || scales == nullptr || !IsSmallFloat(graph_.value(*stored.tensor).type)) return std::nullopt;
    stored.form.shape = *shape;
    if (!FindBlocks(*layer, *scales, stored.form) || !stored.form.block) return std::nullopt;
    const std::vector<std::int64_t>& block = stored.form.block->dims;
    if (std::any_of(block.begin(), block.end() - 1, [](std::int64_t extent) { return extent != 1; }))
      return std::nullopt;
    stored.scales = UnconvertedScales(InputOf(*layer, 1));
    if (scales_made_ != nullptr) stored.absorbed.push_back(scales_made_);
    return stored;
  }

  void Absorb(Layer& layer, const std::vector<Layer*>& all) {
    for (Layer* const absorbed : all) {
      if (edit_.IsRemoved(*absorbed) || !edit_.IsUnread(*absorbed->outputs[0])) continue;
      GraphEdit::PrependOrigins(layer, *absorbed);
      edit_.Remove(*absorbed);
    }
  }

  bool Keep(Layer& layer) {
    const bool is_gather = layer.op == "Gather", is_convolution = layer.op == "Conv";
    const std::size_t place = is_gather ? 0 : 1;
    const std::optional<Stored> stored = Find(InputOf(layer, place));
    if (!stored || (stored->is_view && (is_gather || is_convolution))) return false;
    edit_.SetInput(layer, place, stored->tensor);
    if (stored->is_view) layer.attributes[kStoredShape] = stored->form.shape.dims;
    if (stored->is_turned) layer.attributes[kStoredTurned] = std::int64_t{1};
    if (stored->is_shifted) graph_.values[stored->tensor->index()].zeros = {};
    if (is_gather) {
      layer.op = "com.microsoft.GatherBlockQuantized";
      layer.attributes["gather_axis"] = IntegerOf(layer, "axis", 0);
      layer.attributes["bits"] = std::int64_t{8};
    }
    if (stored->scales && !is_convolution) {
      const std::size_t scales = is_gather ? 2 : kStoredScales;
      layer.attributes[kStoredBlock] = stored->form.block->dims;
      edit_.SetInput(layer, scales, stored->scales);
      if (stored->zero_points) edit_.SetInput(layer, scales + 1, stored->zero_points);
    }
    Absorb(layer, stored->absorbed);
    if (!stored->scales || !IsSmallFloat(graph_.value(*stored->tensor).type)) return true;
    if (const std::optional<Stored> rows = FindRows(layer)) {
      layer.attributes[kRowBlock] = rows->form.block->dims.back();
      edit_.SetInput(layer, 0, rows->tensor);
      edit_.SetInput(layer, kStoredScales + 2, rows->scales);
      Absorb(layer, rows->absorbed);
    }
    return true;
  }

  ModelGraph& graph_;
  GraphEdit edit_;
  Layer* scales_made_ = nullptr;  // by the Find() that runs
};

}  // namespace

RewritePass KeepStoredWeights(ModelGraph& graph) {
  RewritePass pass{"keep-stored-weights", "weights in fewer bits than the arithmetic are read as they are stored", {}};
  if (HasOperator(graph, {"Cast", "DequantizeLinear", "com.microsoft.DequantizeLinear"}))
    pass.rewrites = StoredWeights(graph).Run();
  return pass;
}

}  // namespace infimum
