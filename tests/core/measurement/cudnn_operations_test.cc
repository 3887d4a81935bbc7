// Workloads as operations of cuDNN's graph, which the runner and emitted sources share.
#include "src/core/measurement/cudnn_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "infimum/layer/workload.h"
#include "src/core/measurement/cudnn_form.h"
#include "tests/support/random_layer.h"

namespace infimum::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<CudnnOperations> OperationsOf(const std::string& region) {
  return CudnnOperationsOf(std::get<Region>(*ParseWorkload(region)));
}

std::vector<std::string> CallsOf(const CudnnOperations& operations) {
  std::vector<std::string> calls;
  for (const cudnn::Operation& operation : operations.graph.operations)
    calls.push_back(operation.mode.empty() ? operation.call : operation.mode);
  return calls;
}

TEST(CudnnOperations, AConvolutionsBiasAndFollowersAreElementWise) {
  const Result<CudnnOperations> operations = OperationsOf(
      "region [convolution dtype=f16:f16:f16 in=1x64x56x56 out_channels=256 kernel=1x1 stride=1x1 dilation=1x1 "
      "pad=0,0,0,0 groups=1 bias=yes weights=const](in0,w0,w1) ; [pointwise kind=add dtype=f16:f16:f16 "
      "in=802816,802816](%0,in1) ; [pointwise kind=relu dtype=f16:-:f16 in=802816](%1)");
  ASSERT_TRUE(operations.ok());
  EXPECT_THAT(CallsOf(*operations), ElementsAre("conv_fprop", "ADD", "ADD", "RELU_FWD"));
  // The flat addend is seen in the convolution's dimensions.
  EXPECT_THAT(operations->graph.tensors[3].dims, ElementsAre(1, 256, 56, 56));
  EXPECT_EQ(operations->graph.tensors[3].name, "in1");
  EXPECT_EQ(operations->graph.outputs[0].name, "y2");
}

TEST(CudnnOperations, IntegersAreBiasedBeforeTheyAreScaled) {
  const Result<CudnnOperations> operations = OperationsOf(
      "region [matmul dtype=s8:s8:s8 a=1x128x256 b=1x256x512 bias=column weights=const](in0,w0,w1) ; [pointwise "
      "kind=relu dtype=s8:-:s8 in=65536](%0)");
  ASSERT_TRUE(operations.ok());
  EXPECT_THAT(CallsOf(*operations), ElementsAre("matmul", "ADD", "MUL", "RELU_FWD"));
  EXPECT_EQ(operations->graph.operations[0].result_type, "s32");
  EXPECT_EQ(operations->tensors[3].own_of, 0U);
}

TEST(CudnnOperations, WhatCudnnSeesRotatedLiesAsInTheRegion) {
  const Result<CudnnOperations> operations = OperationsOf(
      "region [pointwise kind=add dtype=f16:f16:f16 in=98304,98304](in0,in1) ; [normalization kind=layer "
      "dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=yes](%0,w0,w1)");
  ASSERT_TRUE(operations.ok());
  EXPECT_THAT(operations->graph.tensors[0].dims, ElementsAre(128, 768, 1, 1));
  EXPECT_EQ(operations->tensors[0].shape, (Shape{{98304}}));
  EXPECT_EQ(operations->outputs[0].shape, (Shape{{128, 768}}));
}

TEST(CudnnOperations, ValuesOfAMemberAreItsNumbers) {
  CudnnValues values;
  values.epsilon = 0.5;
  const Region region = std::get<Region>(*ParseWorkload(
      "region [normalization kind=rms dtype=f16:f16:f16 in=128x768 axis=1 scale=yes bias=no](in0,w0) ; [pointwise "
      "kind=relu dtype=f16:-:f16 in=98304](%0)"));
  EXPECT_EQ(CudnnOperationsOf(region, {values, {}})->graph.operations[0].number, 0.5F);
  EXPECT_EQ(CudnnOperationsOf(region)->graph.operations[0].number, 1e-5F);
}

// What is read was made before, every form has strides for every tensor, and each tensor is one of the region's.
TEST(CudnnOperations, OfRandomRegionsFitTogether) {
  testing::RandomLayers random(3);
  int made = 0;
  for (int i = 0; i < 3000; ++i) {
    const Workload workload = random.Either();
    const auto* region = std::get_if<Region>(&workload);
    if (region == nullptr) continue;
    SCOPED_TRACE(Format(workload));
    const Result<CudnnOperations> operations = CudnnOperationsOf(*region);
    if (!operations.ok()) {
      EXPECT_THAT(operations.error().message, HasSubstr("unsupported: "));
      continue;
    }
    ++made;
    const cudnn::OperationGraph& graph = operations->graph;
    ASSERT_EQ(graph.tensors.size(), operations->tensors.size());
    ASSERT_EQ(graph.outputs.size(), region->outputs.size());
    std::set<std::string> names;
    for (std::size_t k = 0; k < graph.tensors.size(); ++k) {
      EXPECT_TRUE(names.insert(graph.tensors[k].name).second);
      EXPECT_EQ(ElementCount(operations->tensors[k].shape), ElementCount(Shape{graph.tensors[k].dims}));
    }
    for (const cudnn::Operation& operation : graph.operations) {
      for (const std::string& operand : operation.operands) EXPECT_TRUE(names.contains(operand)) << operand;
      EXPECT_TRUE(names.insert(operation.result).second);
    }
    for (const cudnn::Output& output : graph.outputs) EXPECT_TRUE(names.contains(output.name));
  }
  EXPECT_GT(made, 0);
}

TEST(CudnnLayouts, AFormLaysOutChannelsFiltersAndTheSecondMatrix) {
  using cudnn::Layout;
  cudnn::Form form;
  form.channels_last = true;
  form.channel_multiple = 8;
  EXPECT_THAT(cudnn::RoomOf({1, 3, 4, 5}, Layout::kChannels, form), ElementsAre(1, 8, 4, 5));
  EXPECT_THAT(cudnn::RoomOf({30, 3, 7, 7}, Layout::kFilter, form), ElementsAre(32, 8, 7, 7));
  EXPECT_THAT(cudnn::StridesOf({1, 8, 4, 5}, Layout::kChannels, form), ElementsAre(160, 1, 40, 8));
  EXPECT_THAT(cudnn::StridesOf({1, 8, 4, 5}, Layout::kRowMajor, form), ElementsAre(160, 20, 5, 1));
  EXPECT_THAT(cudnn::StridesOf({2, 3, 4}, Layout::kSecondMatrix, form), ElementsAre(12, 1, 3));
  EXPECT_THAT(cudnn::StridesOf({2, 3, 4}, Layout::kSecondMatrix, {}), ElementsAre(12, 4, 1));
  EXPECT_THAT(cudnn::StridesOf({2, 3, 4, 5}, Layout::kChannelsLast, {}), ElementsAre(60, 1, 15, 3));
}

}  // namespace
}  // namespace infimum::cuda
