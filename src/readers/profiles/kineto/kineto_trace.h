// Reads the Chrome traces of PyTorch's profiler (Kineto), old and new: one event a host call or piece of device work.
//
//   {"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100",...}],"traceEvents":[
//    {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":7,"tid":7,"ts":1419.708,"dur":22.51,
//     "args":{"External id":2,"Input Dims":[[1,512]]}},
//    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1490.1,"dur":6.2,
//     "args":{"correlation":77,"device":0,"stream":7,"grid":[50,1,1],"block":[256,1,1]}}, ...]}
//
// Kept are operators, calls of the CUDA, driver and HIP interfaces, named ranges, kernels, copies and sets. Python
// frames, flow arrows (correlation ids have the same), instants and counters are ignored and counted in
// Timeline::remarks.
#pragma once

#include <istream>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/graph/timeline.h"

namespace infimum {

// Times are exact to the nanosecond; the trace's microseconds may have decimals. Begin and end events become calls and
// work as whole ones do. Read in windows, so memory is the timeline's own. An event that cannot be read is skipped, a
// field of one left out; remarks count both. An error names the event and its byte: of a text that is no JSON or was
// cut off, or of a trace in which nothing else is left.
Result<Timeline> ReadKinetoTrace(std::istream& input, std::string_view origin);

}  // namespace infimum
