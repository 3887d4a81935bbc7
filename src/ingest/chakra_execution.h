// Chakra's traces of an execution: what PyTorch's ExecutionTraceObserver wrote, and chakra_trace_link added times to.
#pragma once

#include <variant>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"
#include "src/ingest/json_fields.h"

namespace infimum::ingest {

// Of the object that has "nodes". With times it is a timeline, else layers without samples.
Result<std::variant<RunProfile, Timeline>> ReadChakraExecution(const Json& document);

}  // namespace infimum::ingest
