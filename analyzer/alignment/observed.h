// A framework's own layers as candidates: what it ran in one piece, it can run again.
//
//   profile of onnxruntime 1.31.1: "fused Conv_0" (Conv_0, Relu_1) 1.10 ms, "MaxPool_2" 0.20 ms
//   ->  {Conv_0, Relu_1} 1.10 ms and {MaxPool_2} 0.20 ms, candidate "observed/onnxruntime-1.31.1"
//
// A profiler's times are no benchmark: it runs in the middle of a model, with its own overhead, caches as they come. So
// such candidates are asked for (`infimum bound --observed`), never taken unasked.
#pragma once

#include "analyzer/types/layer_time.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

// One for each aligned row (align_run.h) that covers layers which take time, that was seen in at least one sample
// and whose clues are sure: rows that hold a layer only because nothing else covers it are left out.
std::vector<ObservedUnit> ObservedIn(const ModelGraph& graph, const RunProfile& run);

}  // namespace infimum
