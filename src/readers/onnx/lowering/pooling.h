// The pool that MaxPool and its fused, masked and quantised forms share.
#pragma once

#include "src/core/layer/pooling.h"
#include "src/readers/onnx/lowering/operator_table.h"

namespace infimum::lowering {

// Input 0 and the window attributes. A padded average without padding is a plain average.
Result<PoolingConfig> ReadPooling(const NodeView& node, PoolingKind kind);

}  // namespace infimum::lowering
