#include <utility>

#include "src/readers/onnx/rewrites.h"
#include "src/readers/onnx/rewrites/graph_edit.h"

namespace infimum {

void ApplyRewrites(ModelGraph& graph) {
  for (const auto rewrite :
       {DropIdentity, FoldConstantPadding, FoldBatchNormalization, FuseQuantized, RemoveDeadLayers}) {
    RewritePass pass = rewrite(graph);
    if (!pass.rewrites.empty()) graph.passes.push_back(std::move(pass));
  }
  DropUnusedValues(graph);
}

}  // namespace infimum
