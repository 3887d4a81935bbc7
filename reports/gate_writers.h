// Gates as JSON, the same with a model and without one.
#pragma once

#include <span>

#include "infimum/reports/gate.h"
#include "reports/json_values.h"

namespace infimum {

// [{"gate","run","verdict","held","text"}], `held` null of one that was not judged.
Json GatesJson(std::span<const Gate> gates);

}  // namespace infimum
