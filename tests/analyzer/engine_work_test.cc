#include "analyzer/alignment/engine_work.h"

#include <gtest/gtest.h>

namespace infimum::engine_work_test {
namespace {

ProfiledLayer Layer(std::string name, std::string op) {
  ProfiledLayer layer;
  layer.name = std::move(name);
  layer.op = std::move(op);
  return layer;
}

TEST(EngineWork, IsToldByOperatorAndName) {
  EXPECT_EQ(OwnWorkOf(Layer("r", "ReorderOutput")), EngineWork::kLayoutChange);
  EXPECT_EQ(OwnWorkOf(Layer("r", "com.microsoft.nchwc.ReorderInput")), EngineWork::kLayoutChange);
  EXPECT_EQ(OwnWorkOf(Layer("Transpose_token_115", "Transpose")), EngineWork::kLayoutChange);
  const char* reformat = "Reformatting CopyNode for Input Tensor 0 to Conv_0";
  EXPECT_EQ(OwnWorkOf(Layer(reformat, "Reformat")), EngineWork::kLayoutChange);
  EXPECT_EQ(OwnWorkOf(Layer("n3_aBcd16b_acdb_n4", "Reorder")), EngineWork::kLayoutChange);
  EXPECT_EQ(OwnWorkOf(Layer("Convert_4107", "Convert")), EngineWork::kTypeChange);
  EXPECT_EQ(OwnWorkOf(Layer(reformat, "NoOp")), EngineWork::kCopy);  // which moves nothing
  EXPECT_EQ(OwnWorkOf(Layer("InsertedPrecisionFreeCast_x", "Cast")), EngineWork::kTypeChange);
  EXPECT_EQ(OwnWorkOf(Layer("Memcpy", "MemcpyFromHost")), EngineWork::kCopy);
  EXPECT_EQ(OwnWorkOf(Layer("reshape_after_Gemm_48", "NoOp")), EngineWork::kCopy);
  EXPECT_EQ(OwnWorkOf(Layer("aten::copy_#3", "aten::copy_")), EngineWork::kCopy);
  EXPECT_EQ(OwnWorkOf(Layer("k#1", "cudnn::ops::nchwToNhwcKernel")), EngineWork::kLayoutChange);
  ProfiledLayer serving = Layer("unsqueeze_before_a", "Unsqueeze");
  serving.serves = "a";
  EXPECT_EQ(OwnWorkOf(serving), EngineWork::kCopy);
}

TEST(EngineWork, WhatMayBeALayerOfTheModelIsNone) {
  EXPECT_EQ(OwnWorkOf(Layer("conv", "Conv")), EngineWork::kNone);
  EXPECT_EQ(OwnWorkOf(Layer("/attention/Transpose", "Transpose")), EngineWork::kNone);
  EXPECT_EQ(OwnWorkOf(Layer("cast", "Cast")), EngineWork::kNone);
  EXPECT_EQ(OwnWorkOf(Layer("", "")), EngineWork::kNone);
  // TensorRT reformats where a node of the model changes the type, too.
  ProfiledLayer quantizes = Layer("QuantizeLinear_2", "Reformat");
  EXPECT_EQ(OwnWorkOf(quantizes), EngineWork::kLayoutChange);
  quantizes.nodes = {"QuantizeLinear_2"};
  EXPECT_EQ(OwnWorkOf(quantizes), EngineWork::kNone);
}

}  // namespace
}  // namespace infimum::engine_work_test
