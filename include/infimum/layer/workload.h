// What plans, results and stores are keyed on: one layer configuration, or a region of several.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "infimum/layer/layer_config.h"
#include "infimum/layer/region.h"

namespace infimum {

using Workload = std::variant<LayerConfig, Region>;

std::string Format(const Workload& workload);
Result<Workload> ParseWorkload(std::string_view text);
Status Validate(const Workload& workload);
Work WorkOf(const Workload& workload);

// The family of a configuration; of a region, its first product's family or its first member's.
std::string_view FamilyOf(const Workload& workload);

// Whether an element of an output is made of the operands' elements at its own place alone: then any order of memory
// without gaps serves, if all of them have it. Broadcasts are not.
bool IsElementwise(const Workload& workload);

// Whether it reads weights that are known before the first inference: `weights=const`, a region's w0, w1 ... A
// normalization's parameters alone are none: a few vectors, which kernels fold or convert as they like.
bool HasConstants(const Workload& workload);

// The canonical text as a type of its own, so that a key is never mistaken for a name.
struct WorkloadKey {
  std::string text;

  friend auto operator<=>(const WorkloadKey&, const WorkloadKey&) = default;
};
WorkloadKey KeyOf(const Workload& workload);

}  // namespace infimum
