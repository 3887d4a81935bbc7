#include <set>
#include <string_view>
#include <unordered_map>

#include "infimum/base/text.h"
#include "infimum/graph/model_graph.h"

namespace infimum {
namespace {

// Deeper than any model nests If, Loop and Scan, shallow enough for recursion.
constexpr int kMaxNesting = 64;

// What a body may capture: the names of the graph around it that exist before a layer runs, and beyond
// that graph of the one around it.
struct Scope {
  const Scope* outer = nullptr;
  // For each value's name, how many of the graph's layers must have run before it exists.
  const std::unordered_map<std::string_view, std::size_t>* available_after = nullptr;
  std::size_t position = 0;

  static bool Has(const Scope* scope, std::string_view name) {
    for (; scope != nullptr; scope = scope->outer) {
      const auto found = scope->available_after->find(name);
      if (found != scope->available_after->end() && found->second <= scope->position) return true;
    }
    return false;
  }
};

// One graph, checked step by step; the first broken invariant is the error.
class GraphCheck {
 public:
  GraphCheck(const ModelGraph& graph, std::string where, const Scope* outer, int depth)
      : graph_(graph), where_(std::move(where)), outer_(outer), depth_(depth) {}

  Status Run() {
    INFIMUM_RETURN_IF_ERROR(CheckValues());
    INFIMUM_RETURN_IF_ERROR(FindProducers());
    for (std::size_t index = 0; index < graph_.layers.size(); ++index) {
      INFIMUM_RETURN_IF_ERROR(CheckLayer(graph_.layers[index], index));
    }
    for (ValueId output : graph_.outputs) {
      INFIMUM_RETURN_IF_ERROR(CheckAvailable(output, graph_.layers.size(), "the graph's output"));
    }
    return {};
  }

 private:
  static constexpr std::size_t kNoProducer = static_cast<std::size_t>(-1);

  Error Broken(const std::string& what) const { return Error{where_ + ": " + what}; }
  Error Broken(const Layer& layer, const std::string& what) const {
    return Error{where_ + ": layer " + Quoted(layer.name) + ": " + what};
  }
  std::string OutOfRange(const std::string& what, ValueId id) const {
    return what + " is value " + std::to_string(id.index()) + ", but there are " +
           std::to_string(graph_.values.size()) + " values";
  }

  Status CheckValues() const {
    for (const Value& value : graph_.values) {
      if (!value.shape) continue;
      if (const auto count = CheckedElementCount(*value.shape); !count.ok()) {
        return Broken("value " + Quoted(value.name) + ": " + count.error().message);
      }
    }
    for (ValueId input : graph_.inputs) {
      if (input.index() >= graph_.values.size()) return Broken(OutOfRange("an input", input));
    }
    return {};
  }

  Status FindProducers() {
    producers_.assign(graph_.values.size(), kNoProducer);
    for (ValueId input : graph_.inputs) is_input_.insert(input.index());
    for (std::size_t index = 0; index < graph_.layers.size(); ++index) {
      const Layer& layer = graph_.layers[index];
      if (!layer_names_.insert(layer.name).second) {
        return Broken("two layers are called " + Quoted(layer.name));
      }
      for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
        if (!layer.outputs[i]) continue;
        const ValueId id = *layer.outputs[i];
        const std::string what = "output " + std::to_string(i);
        if (id.index() >= graph_.values.size()) return Broken(layer, OutOfRange(what, id));
        const std::string value = what + ", " + Quoted(graph_.value(id).name) + ", ";
        if (is_input_.contains(id.index())) return Broken(layer, value + "is an input of the graph");
        if (producers_[id.index()] != kNoProducer) {
          const Layer& other = graph_.layers[producers_[id.index()]];
          return Broken(layer, value + "is produced by layer " + Quoted(other.name) + " already");
        }
        producers_[id.index()] = index;
      }
    }
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      available_after_.emplace(graph_.values[i].name, producers_[i] == kNoProducer ? 0 : producers_[i] + 1);
    }
    return {};
  }

  // Whether a layer at `position` may read the value.
  Status CheckAvailable(ValueId id, std::size_t position, const std::string& what) const {
    if (id.index() >= graph_.values.size()) return Broken(OutOfRange(what, id));
    const Value& value = graph_.value(id);
    const std::size_t producer = producers_[id.index()];
    if (producer != kNoProducer) {
      if (producer < position) return {};
      return Broken(what + ", " + Quoted(value.name) + ", is produced later, by layer " +
                    Quoted(graph_.layers[producer].name));
    }
    const bool given = value.kind == ValueKind::kWeight || is_input_.contains(id.index());
    if (given || Scope::Has(outer_, value.name)) return {};
    return Broken(what + ", " + Quoted(value.name) + ", is produced by no layer");
  }

  Status CheckLayer(const Layer& layer, std::size_t index) const {
    const std::string prefix = "layer " + Quoted(layer.name) + ": input ";
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      if (layer.inputs[i]) {
        INFIMUM_RETURN_IF_ERROR(CheckAvailable(*layer.inputs[i], index, prefix + std::to_string(i)));
      }
    }
    for (const FoldedConstants& folded : layer.folded) {
      for (const std::optional<ValueId> id : {folded.scale, folded.bias, folded.mean, folded.variance}) {
        if (!id) continue;
        // Known before any layer runs, also where a layer further on states it (an Unsqueeze of a weight).
        const std::string what = "layer " + Quoted(layer.name) + ": a folded constant";
        if (id->index() >= graph_.values.size()) return Broken(OutOfRange(what, *id));
        if (graph_.value(*id).kind != ValueKind::kWeight)
          return Broken(what + ", " + Quoted(graph_.value(*id).name) + ", is no constant");
      }
      if (folded.mean.has_value() != folded.variance.has_value())
        return Broken(layer, "has a folded mean without a variance, or the reverse");
    }
    if (layer.status == LayerStatus::kMeasurable) {
      if (!layer.workload) return Broken(layer, "measurable, but without a workload");
      if (const Status status = infimum::Validate(*layer.workload); !status.ok()) {
        return Broken(layer, status.error().message);
      }
    } else {
      if (layer.workload) return Broken(layer, "has a workload, but is not measurable");
      if (layer.reason.empty()) return Broken(layer, "free or unknown, but without a reason");
    }
    if (layer.least && layer.status != LayerStatus::kUnknown) return Broken(layer, "has a least, but is not unknown");
    for (const InPlaceResult& result : layer.in_place) {
      if (result.output >= layer.outputs.size() || result.input >= layer.inputs.size() || !layer.inputs[result.input]) {
        return Broken(layer, "is written in place where it has no operand");
      }
    }
    for (std::size_t input : layer.operand_inputs) {
      if (input >= layer.inputs.size() || !layer.inputs[input]) {
        return Broken(layer, "an operand is input " + std::to_string(input) + ", which it does not have");
      }
    }
    for (const SubGraph& body : layer.bodies) INFIMUM_RETURN_IF_ERROR(CheckBody(layer, body, index));
    return {};
  }

  Status CheckBody(const Layer& layer, const SubGraph& body, std::size_t index) const {
    if (!body.graph) return Broken(layer, "body " + Quoted(body.name) + " is empty");
    if (body.least_executions < 0) return Broken(layer, "body " + Quoted(body.name) + " runs less than never");
    if (depth_ >= kMaxNesting) {
      return Broken(layer, "bodies nest deeper than " + std::to_string(kMaxNesting) + " levels");
    }
    const Scope scope{outer_, &available_after_, index};
    std::string where = where_ + ": layer " + Quoted(layer.name) + ": body " + Quoted(body.name);
    return GraphCheck(*body.graph, std::move(where), &scope, depth_ + 1).Run();
  }

  const ModelGraph& graph_;
  const std::string where_;
  const Scope* const outer_;
  const int depth_;
  std::vector<std::size_t> producers_;  // by value; kNoProducer where no layer produces it
  std::unordered_map<std::string_view, std::size_t> available_after_;
  std::set<std::size_t> is_input_;
  std::set<std::string_view> layer_names_;
};

}  // namespace

Status Validate(const ModelGraph& graph) { return GraphCheck(graph, "graph " + Quoted(graph.name), nullptr, 0).Run(); }

}  // namespace infimum
