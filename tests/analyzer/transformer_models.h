// The transformers of real PyTorch traces beside the checkout, as torch.onnx exports them: a product and an Add for
// each linear layer, attention as MatMul, Softmax and MatMul, gelu as its formula. Nodes are called by what they are:
// "b3/q", "b3/q/bias", "b3/scores", "b3/softmax", "b3/context", "b3/gelu/erf", "b3/norm1".
#pragma once

#include <onnx/onnx_pb.h>

namespace infimum {

// ViT-B/16 without a classifier, batch 4: "patches", "cat", "position", 12 blocks, "norm", "pooler", "pooler/tanh".
onnx::ModelProto VisionTransformer();

// BERT-small (4 blocks of width 512) with its head for masked words, batch 1, 141 words.
onnx::ModelProto BertSmall();

}  // namespace infimum
