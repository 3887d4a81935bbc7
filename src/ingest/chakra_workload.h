// Chakra's graph of a workload: operators in the pieces that lie between the kernels they start.
//
//   aten::mm(0) -> kernel -> aten::mm(1)     one layer "aten::mm", its sample the kernel's time
#pragma once

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "src/ingest/json_fields.h"

namespace infimum::ingest {

// Of the object that has "workload_graph".
Result<RunProfile> ReadChakraWorkload(const Json& document);

}  // namespace infimum::ingest
