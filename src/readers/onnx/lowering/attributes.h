// Typed, range-checked access to a node's attributes: what a file can get wrong becomes an error that
// names the attribute, and no number comes through that later arithmetic could overflow on.
//
//   INFIMUM_ASSIGN_OR_RETURN(const std::int64_t groups, IntegerIn(node, "group", 1, {1, kMaxAttribute}));
//   INFIMUM_ASSIGN_OR_RETURN(const auto strides, IntegersIn(node, "strides", {1, kMaxAttribute}));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "src/readers/onnx/parse/node_view.h"

namespace infimum::lowering {

// No kernel, stride, padding, axis or count of a real model comes near it, and products of two stay
// exact.
inline constexpr std::int64_t kMaxAttribute = std::int64_t{1} << 30;

struct IntegerRange {
  std::int64_t least = -kMaxAttribute;
  std::int64_t most = kMaxAttribute;
};

bool HasAttribute(const NodeView& node, const std::string& name);

// `otherwise` where the attribute is absent; an error where it has another type or is out of range.
Result<std::int64_t> IntegerIn(const NodeView& node, const std::string& name, std::int64_t otherwise,
                               IntegerRange range = {});
// The same for an attribute that must be there.
Result<std::int64_t> RequiredInteger(const NodeView& node, const std::string& name, IntegerRange range = {});
Result<bool> Flag(const NodeView& node, const std::string& name, bool otherwise);
Result<double> Number(const NodeView& node, const std::string& name, double otherwise);
Result<std::string> Text(const NodeView& node, const std::string& name, std::string otherwise);
// nullopt where it is absent.
Result<std::optional<std::vector<std::int64_t>>> IntegersIn(const NodeView& node, const std::string& name,
                                                            IntegerRange range = {});
Result<std::vector<std::string>> Texts(const NodeView& node, const std::string& name);

}  // namespace infimum::lowering
