// Gates as JSON, the same with a model and without one.
#pragma once

#include <span>

#include "reports/run/gate.h"
#include "reports/text/json_values.h"

namespace infimum {

// [{"gate","run","verdict","held","text"}], `held` null of one that was not judged.
Json GatesJson(std::span<const Gate> gates);

}  // namespace infimum
