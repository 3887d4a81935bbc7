// The file in which a user declares which layers of the model an engine's layers are (graph/alignment_overrides.h).
//
//   {"schema": "infimum.alignment/1",
//    "rows": [{"engine_layers": ["fused_17", "fused_18"], "nodes": ["Conv_5", "Relu_6"]},
//             {"engine_layers": ["__myl_Move_3"], "nodes": []}]}            the engine's own work
//
// JSON, since a name may hold any character. A misspelt key is an error.
#pragma once

#include <istream>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/alignment_overrides.h"

namespace infimum {

// `origin` is named in errors, with the row: "mine.json: row 2: ...".
Result<std::vector<AlignmentOverride>> ReadAlignmentFile(std::istream& input, std::string_view origin);

}  // namespace infimum
