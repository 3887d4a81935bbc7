#include "src/readers/onnx/shapes/known_operator.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <string>

#include "src/readers/onnx/lowering/lower.h"

namespace infimum {

bool IsKnownOperator(std::string_view op) {
  std::string_view domain;
  if (const std::size_t dot = op.rfind('.'); dot != std::string_view::npos) {
    domain = op.substr(0, dot);
    op.remove_prefix(dot + 1);
  }
  if (HasLowering(domain, op)) return true;
  const auto is_this = [&](const UnknownOperator& known) { return known.op == op && known.domain == domain; };
  if (std::ranges::any_of(DeliberatelyUnknown(), is_this)) return true;
  return onnx::OpSchemaRegistry::Schema(std::string(op), std::string(domain == "ai.onnx" ? "" : domain)) != nullptr;
}

}  // namespace infimum
