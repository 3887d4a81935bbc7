// Gates as JSON, the same with a model and without one.
#pragma once

#include "reports/run/gate.h"
#include "reports/text/json_values.h"

namespace infimum {

// {"gate","run","verdict","held","text"}, `held` null of one that was not judged.
void to_json(Json& json, const Gate& gate);

}  // namespace infimum
