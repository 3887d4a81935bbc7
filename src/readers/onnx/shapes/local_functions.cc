#include "src/readers/onnx/shapes/local_functions.h"

#include <onnx/inliner/inliner.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "infimum/base/text.h"
#include "src/readers/onnx/parse/library_message.h"

namespace infimum {
namespace {

constexpr std::int64_t kMostNodes = 1'000'000;

// How many nodes the calls become.
class Expansion {
 public:
  explicit Expansion(const onnx::ModelProto& model) {
    for (const onnx::FunctionProto& function : model.functions())
      functions_[Key(function.domain(), function.name())] = {&function};
  }

  template <class Nodes>
  Result<std::int64_t> Count(const Nodes& nodes) {
    std::int64_t count = 0;
    for (const onnx::NodeProto& node : nodes) {
      INFIMUM_ASSIGN_OR_RETURN(const std::int64_t own, CountCall(node));
      count = std::min(kMostNodes + 1, count + own);
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        INFIMUM_ASSIGN_OR_RETURN(const std::int64_t inner, Count(attribute.g().node()));
        count = std::min(kMostNodes + 1, count + inner);
      }
    }
    return count;
  }

 private:
  struct Function {
    const onnx::FunctionProto* proto = nullptr;
    bool counting = false;
    std::int64_t nodes = -1;  // not counted yet
  };

  static std::string Key(const std::string& domain, const std::string& name) {
    return (domain == "ai.onnx" ? "" : domain) + "." + name;
  }

  Result<std::int64_t> CountCall(const onnx::NodeProto& node) {
    const auto found = functions_.find(Key(node.domain(), node.op_type()));
    if (found == functions_.end()) return std::int64_t{1};
    Function& function = found->second;
    if (function.counting) return Error{"function " + Quoted(found->first) + " calls itself, which ONNX forbids"};
    if (function.nodes < 0) {
      function.counting = true;
      if (++depth_ > kDeepest)
        return Error{"functions call each other more than " + std::to_string(kDeepest) + " deep"};
      INFIMUM_ASSIGN_OR_RETURN(function.nodes, Count(function.proto->node()));
      --depth_;
      function.counting = false;
    }
    return function.nodes;
  }

  static constexpr int kDeepest = 100;
  std::map<std::string, Function> functions_;
  int depth_ = 0;
};

}  // namespace

Status InlineLocalFunctions(onnx::ModelProto& model) {
  if (model.functions_size() == 0) return {};
  Expansion expansion(model);
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t nodes, expansion.Count(model.graph().node()));
  if (nodes > kMostNodes)
    return Error{"its functions would become more than a million nodes; save the model with fewer nested functions"};
  try {
    onnx::inliner::InlineLocalFunctions(model);
  } catch (const std::exception& problem) {
    return Error{std::string("its functions cannot be inlined: ") + MessageLine(problem.what())};
  }
  return {};
}

}  // namespace infimum
