// The order in which the nodes of one graph can be read. ONNX asks for sorted files; not every writer
// obeys, and runtimes sort for themselves.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "infimum/base/result.h"

namespace infimum {

// Indices of the nodes, producers first, otherwise as in the file. An error names the nodes of a cycle.
// Names that no node of the graph writes are somebody else's concern.
Result<std::vector<int>> OrderNodes(const onnx::GraphProto& graph);

// "node 'Conv_3' (Conv)", or "node 17 (Conv)" where it has no name.
std::string Describe(const onnx::NodeProto& node, int position);

}  // namespace infimum
