// What the lowering of one operator sees of a node: its attributes, and of each operand the type, the
// shape and, where it is a small constant, the elements. Lowering is a pure function of this view, so
// it is tested without a model file.
//
//   NodeView node{.op = "Conv", .domain = "", .opset = 18, .inputs = {x, w, std::nullopt}, .outputs = {y},
//                 .attributes = attributes};
//   IntegerAttribute(node, "group", 1)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/graph/model_graph.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum {

struct OperandView {
  std::string_view name;
  DataType type = DataType::kNone;  // kNone: not known, or a type without elements (string, sequence)
  const Shape* shape = nullptr;     // null: not known
  bool constant = false;            // a weight: known before the first inference
  const Tensor* value = nullptr;    // a weight's elements; null: not known, or too many to keep
  ZeroPattern zeros = {};
};

// After the rewrites: a Conv may carry a bias that a folded BatchNormalization gave it.
struct NodeView {
  std::string_view op;                             // "Conv"
  std::string_view domain;                         // "" for ONNX itself, "com.microsoft", "ai.onnx.ml" ...
  std::int64_t opset = 0;                          // of that domain
  std::vector<std::optional<OperandView>> inputs;  // absent: an optional input that is not given
  std::vector<std::optional<OperandView>> outputs;
  const std::map<std::string, AttributeValue>& attributes;  // without graphs
  const StatedQuantities* stated = nullptr;                 // null: none
  std::string_view layer = {};

  // The operand at a position, or null where the node has none.
  const OperandView* input(std::size_t position) const;
  const OperandView* output(std::size_t position) const;
};

// What the rewrite keep-stored-weights leaves of a product whose input 1 is a tensor as the file stores it: attributes
// say its shape as the product sees it, where another, and in that shape the block of elements that share a scale;
// scales and zero points are inputs of their own. Where input 0 is in fewer bits too, its rows have blocks of so many
// elements, and behind the zero points are their scales.
inline constexpr const char* kStoredShape = "stored_shape";
inline constexpr const char* kStoredTurned = "stored_turned";  // where that is the stored matrix turned round
inline constexpr const char* kStoredBlock = "stored_block";
inline constexpr const char* kRowBlock = "row_block";
inline constexpr std::size_t kStoredScales = 3;

// What became of a node. Its workload is checked with Validate() by the caller: lowering need not.
struct Lowering {
  LayerStatus status = LayerStatus::kUnknown;
  std::optional<Workload> workload;         // exactly when measurable
  std::vector<std::size_t> operand_inputs;  // for each operand of the workload, the index in `inputs`
  std::string reason;                       // why free or unknown, in words
  std::optional<Workload> least = {};       // as Layer's
  std::vector<InPlaceResult> in_place = {};
  std::vector<RunTimeQuantity> quantities = {};  // that it depends on
};

// A number that only a run decides, as stated for this layer or for all layers. What cannot be counts as not stated;
// the reader refuses it (read_model.cc).
RunTimeQuantity QuantityOf(const NodeView& node, std::string_view name, std::int64_t least, std::int64_t most);

// Attributes by name, with the operator's default. One of another type counts as absent: ONNX's type
// checks were made when the model was read.
std::int64_t IntegerAttribute(const NodeView& node, const std::string& name, std::int64_t otherwise);
double NumberAttribute(const NodeView& node, const std::string& name, double otherwise);
std::string_view TextAttribute(const NodeView& node, const std::string& name, std::string_view otherwise);
// Null where the attribute is absent.
const std::vector<std::int64_t>* IntegersAttribute(const NodeView& node, const std::string& name);

}  // namespace infimum
