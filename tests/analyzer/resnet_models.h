// The models that the real TensorRT engines beside the checkout were built from, as far as their layers' names tell:
// operators, shapes, order and names of nodes. Weights are ConstantOfShape nodes.
//
//   onnx::ModelProto model = ResNet18(false);   // Conv_0, Relu_1, MaxPool_2, Conv_3, ... as torch.onnx wrote in 2021
#pragma once

#include <onnx/onnx_pb.h>

namespace infimum {

// torchvision's ResNet-18, batch 32. Quantized: as pytorch-quantization exports it, with QuantizeLinear and
// DequantizeLinear nodes before every convolution and its weights, and BatchNormalization nodes.
onnx::ModelProto ResNet18(bool quantized);

// Keras' ResNet-50, batch 32, channels last, as tf2onnx exports it: "resnet50/conv2_block1_1_conv/Conv2D", values
// "resnet50/conv2_block1_1_relu/Relu:0", strides in the first 1x1 convolution of a block.
onnx::ModelProto KerasResNet50();

}  // namespace infimum
