// Reads Chakra's traces as JSON, of which there are three:
//
//   {"schema":"1.1.1-chakra.0.0.4","nodes":[{"id":4,"name":"aten::mm","ctrl_deps":2,"inputs":{...},...}]}
//     what PyTorch's ExecutionTraceObserver wrote: the host's operators, their operands, no times. The operators become
//     layers without samples.
//   the same with "ts" and "inclusive_dur" in nodes, and nodes with "cat" and "stream": chakra_trace_link joined it
//   with
//     the trace of PyTorch's profiler. It becomes a timeline.
//   {"workload_graph":[{"Id":216,"Name":"aten::mm(0)","is_cpu_op":true,"runtime":318,"data_deps":[3]},...]}
//     what simulators are fed with: operators and kernels with their durations in microseconds and what they wait for,
//     no starts. Operators become layers; their sample is their kernels' time, or their own in a trace without kernels.
#pragma once

#include <istream>
#include <string_view>
#include <variant>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"

namespace infimum {

// By the start of the file: a graph of nodes, called so by its schema or by the node of a process or thread that comes
// first.
bool IsChakraTrace(std::string_view start);

// The run's `warnings` or the timeline's `remarks` list what the trace does not contain.
Result<std::variant<RunProfile, Timeline>> ReadChakraTrace(std::istream& input, std::string_view origin);

}  // namespace infimum
