#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringMovement, TransposesThatMoveOnlyOnesAreViews) {
  ExpectLowerings({
      {"Transpose", "f32 1x128x12x64 -> f32 1x12x128x64", "perm=[0,2,1,3]",
       "movement kind=transpose dtype=f32:-:f32 in=128x12x64 out=12x128x64 perm=1,0,2 {0}"},
      {"Transpose", "f32 3x4 -> f32 4x3", "", "movement kind=transpose dtype=f32:-:f32 in=3x4 out=4x3 perm=1,0 {0}"},
      {"Transpose", "f32 1x128x1x64 -> f32 1x1x128x64", "perm=[0,2,1,3]", "free: moves only dimensions of one element"},
      {"Transpose", "f32 3x4 -> f32 3x4", "perm=[0,1]", "free: moves only dimensions of one element"},
      {"Transpose", "f32 3x4 -> f32 ?", "perm=[0,0]", "unknown: attribute 'perm' is not a permutation of 2 dimensions"},
  });
}

TEST(LoweringMovement, JoinsAndPartsAreCopies) {
  ExpectLowerings({
      {"Concat", "f32 1x64x56x56, f32 1x32x56x56 -> f32 1x96x56x56", "axis=1",
       "movement kind=concat dtype=f32:-:f32 in=1x64x3136,1x32x3136 out=1x96x3136 axis=1 {0,1}"},
      {"Concat", "f32 1x64, f32 1x0 -> f32 1x64", "axis=1", "free: joins one tensor"},
      {"Concat", "f32 1x0, f32 1x0 -> f32 1x64", "axis=1", "free: no elements to compute"},
      {"Concat", "f32 1x64 -> f32 1x64", "axis=1", "free: joins one tensor"},
      {"Concat", "f32 1x64, f32 2x64 -> f32 ?", "axis=1", "unknown: inputs of 1x64 and 2x64 cannot be joined"},
      {"com.microsoft.QLinearConcat", "f32, u8, u8 1x64x8x8, f32, u8, u8 1x32x8x8, f32, u8 -> u8 1x96x8x8", "axis=1",
       "movement kind=concat dtype=u8:-:u8 in=1x64x64,1x32x64 out=1x96x64 axis=1 {2,5}"},
      {"Split", "f32 1x128x2304 -> f32 1x128x768, f32 1x128x768, f32 1x128x768", "axis=2",
       "movement kind=split dtype=f32:-:f32 in=128x2304x1 out=128x768x1,128x768x1,128x768x1 axis=1 {0}"},
      {"Split", "f32 1x128x2304 -> f32 1x128x768, -, -", "axis=2",
       "movement kind=slice dtype=f32:-:f32 in=128x2304 out=128x768 {0}"},
      {"Split", "f32 1x128 -> f32 1x128", "axis=1", "free: its one part is the whole input"},
      {"Slice", "f32 1x64x56x56, w s64 1=[0], w s64 1=[32], w s64 1=[1] -> f32 1x32x56x56", "",
       "movement kind=slice dtype=f32:-:f32 in=64x3136 out=32x3136 {0}"},
      {"Slice", "f32 8x8, w s64 1=[0], w s64 1=[8] -> f32 8x8", "", "free: takes the whole input"},
      {"Slice", "f32 8x8, w s64 1=[7], w s64 1=[-99], w s64 1=[0], w s64 1=[-1] -> f32 8x8", "",
       "movement kind=reverse dtype=f32:-:f32 in=8x8 out=8x8 {0}"},
      {"Slice", "f32 8x8, s64 1, s64 1 -> f32 ?", "", "unknown: the shape of output 0 ('x') is not known"},
  });
}

TEST(LoweringMovement, PaddingAndRepeatingMayDoNothing) {
  ExpectLowerings({
      {"Pad", "f32 1x3x8x8, w s64 8=[0,0,1,1,0,0,1,1] -> f32 1x3x10x10", "",
       "movement kind=pad dtype=f32:-:f32 in=3x8x8 out=3x10x10 {0}"},
      {"Pad", "f32 1x3x8x8, w s64 8=[0,0,0,0,0,0,0,0] -> f32 1x3x8x8", "", "free: pads nothing"},
      {"Pad@2", "f32 8x8 -> f32 10x8", "pads=[1,0,1,0]", "movement kind=pad dtype=f32:-:f32 in=8x8 out=10x8 {0}"},
      {"com.microsoft.Pad", "f32 8x8, w s64 4=[1,0,1,0] -> f32 10x8", "",
       "movement kind=pad dtype=f32:-:f32 in=8x8 out=10x8 {0}"},
      {"Expand", "f32 1x1x128, s64 3 -> f32 4x8x128", "",
       "movement kind=expand dtype=f32:-:f32 in=1x128 out=32x128 {0}"},
      {"Expand", "f32 1x128, s64 3 -> f32 1x1x128", "", "free: repeats nothing"},
      {"Tile", "f32 3x4, s64 2 -> f32 6x4", "", "movement kind=tile dtype=f32:-:f32 in=3x4 out=6x4 {0}"},
      {"Tile", "f32 3x4, s64 2 -> f32 3x4", "", "free: repeats nothing"},
      {"CenterCropPad", "f32 3x10x6, s64 2 -> f32 3x8x8", "axes=[1,2]",
       "region [movement kind=slice dtype=f32:-:f32 in=3x10x6 out=3x8x6](in0) ; [movement kind=pad dtype=f32:-:f32 "
       "in=24x6 out=24x8](%0) {0}"},
      {"CenterCropPad", "f32 3x10x6, s64 3 -> f32 3x10x6", "", "free: neither crops nor pads"},
  });
}

TEST(LoweringMovement, RearrangementsKeepTheirShapes) {
  ExpectLowerings({
      {"DepthToSpace", "f32 1x64x8x8 -> f32 1x16x16x16", "blocksize=2",
       "movement kind=depth_to_space dtype=f32:-:f32 in=1x64x8x8 out=1x16x16x16 {0}"},
      {"SpaceToDepth", "f32 1x16x16x16 -> f32 1x64x8x8", "blocksize=2",
       "movement kind=depth_to_space dtype=f32:-:f32 in=1x16x16x16 out=1x64x8x8 {0}"},
      {"DepthToSpace", "f32 1x64x8x8 -> f32 1x64x8x8", "blocksize=1", "free: blocks of one element"},
      {"com.ms.internal.nhwc.DepthToSpace", "f32 1x8x8x64 -> f32 1x16x16x16", "blocksize=2",
       "movement kind=depth_to_space dtype=f32:-:f32 in=1x64x8x8 out=1x16x16x16 {0}"},
      {"com.ms.internal.nhwc.SpaceToDepth", "f32 1x16x16x16 -> f32 1x8x8x64", "blocksize=2",
       "movement kind=depth_to_space dtype=f32:-:f32 in=1x16x16x16 out=1x64x8x8 {0}"},
      {"ReverseSequence", "f32 10x4x8, s64 4 -> f32 10x4x8", "time_axis=0 batch_axis=1",
       "movement kind=reverse dtype=f32:-:f32 in=10x4x8 out=10x4x8 {0}"},
      {"Trilu", "f32 4x8x8 -> f32 4x8x8", "upper=0", "movement kind=triangle dtype=f32:-:f32 in=4x8x8 out=4x8x8 {0}"},
      {"com.microsoft.Trilu", "f32 4x8x8 -> f32 4x8x8", "",
       "movement kind=triangle dtype=f32:-:f32 in=4x8x8 out=4x8x8 {0}"},
      {"OneHot", "s64 4x8, s64, f32 2 -> f32 4x8x10", "",
       "movement kind=one_hot dtype=s64:-:f32 in=4x8 out=4x8x10 {0}"},
      {"com.microsoft.nchwc.ReorderInput", "f32 1x64x56x56 -> f32 1x64x56x56", "",
       "reorder dtype=f32:-:f32 in=1x64x56x56 from=nchw to=nChw16c {0}"},
      {"com.microsoft.nchwc.ReorderInput", "f32 1x56x56x24 -> f32 1x24x56x56", "channels_last=1",
       "reorder dtype=f32:-:f32 in=1x24x56x56 from=nhwc to=nChw8c {0}"},
      {"com.microsoft.nchwc.ReorderOutput", "f32 1x64x56x56 -> f32 1x64x56x56", "channels=64",
       "reorder dtype=f32:-:f32 in=1x64x56x56 from=nChw16c to=nchw {0}"},
      {"MemcpyFromHost", "f32 3x4 -> f32 3x4", "", "movement kind=copy dtype=f32:-:f32 in=12 out=12 {0}"},
      {"MemcpyToHost", "f32 3x4 -> f32 3x4", "", "movement kind=copy dtype=f32:-:f32 in=12 out=12 {0}"},
      {"com.microsoft.MemcpyFromHost", "f32 3x4 -> f32 3x4", "", "movement kind=copy dtype=f32:-:f32 in=12 out=12 {0}"},
      {"com.microsoft.MemcpyToHost", "f32 3x4 -> f32 3x4", "", "movement kind=copy dtype=f32:-:f32 in=12 out=12 {0}"},
  });
}

TEST(LoweringMovement, GeneratorsOnlyWrite) {
  ExpectLowerings({
      {"ConstantOfShape", "s64 2=[3,4] -> f32 3x4", "", "movement kind=fill dtype=-:-:f32 in=- out=12 {}"},
      {"ConstantOfShape", "s64 1 -> f32 ?", "",
       "unknown: the number of elements that it generates depends on the data"},
      {"Range", "s64, s64, s64 -> s64 10", "", "movement kind=fill dtype=-:-:s64 in=- out=10 {}"},
      {"com.microsoft.Range", "s64, s64, s64 -> s64 10", "", "movement kind=fill dtype=-:-:s64 in=- out=10 {}"},
      {"EyeLike", "f32 8x8 -> f32 8x8", "", "movement kind=fill dtype=-:-:f32 in=- out=64 {}"},
      {"RandomNormal", "-> f32 3x4", "shape=[3,4]", "movement kind=fill dtype=-:-:f32 in=- out=12 {}"},
      {"RandomUniform", "-> f32 3x4", "shape=[3,4]", "movement kind=fill dtype=-:-:f32 in=- out=12 {}"},
      {"RandomNormalLike", "f32 3x4 -> f32 3x4", "", "movement kind=fill dtype=-:-:f32 in=- out=12 {}"},
      {"RandomUniformLike", "f32 3x4 -> f32 3x4", "", "movement kind=fill dtype=-:-:f32 in=- out=12 {}"},
      {"BlackmanWindow", "s64 -> f32 400", "", "movement kind=fill dtype=-:-:f32 in=- out=400 {}"},
      {"HannWindow", "s64 -> f32 400", "", "movement kind=fill dtype=-:-:f32 in=- out=400 {}"},
      {"HammingWindow", "s64 -> f32 400", "", "movement kind=fill dtype=-:-:f32 in=- out=400 {}"},
      {"MelWeightMatrix", "s64, s64, s64, f32, f32 -> f32 201x80", "",
       "movement kind=fill dtype=-:-:f32 in=- out=16080 {}"},
      {"Bernoulli", "f32 3x4 -> f32 3x4", "",
       "region [movement kind=fill dtype=-:-:f32 in=- out=12]() ; [pointwise kind=less dtype=f32:f32:bool "
       "in=12,12](%0,in0) ; [pointwise kind=cast dtype=bool:-:f32 in=12](%1) {0}"},
      {"Bernoulli", "f32 3x4 -> bool 3x4", "dtype=9",
       "region [movement kind=fill dtype=-:-:f32 in=- out=12]() ; [pointwise kind=less dtype=f32:f32:bool "
       "in=12,12](%0,in0) {0}"},
      {"AffineGrid", "f32 2x2x3, s64 4 -> f32 2x8x8x2", "",
       "region [movement kind=fill dtype=-:-:f32 in=- out=192]() ; [matmul dtype=f32:f32:f32 a=1x64x3 b=2x3x2 bias=no "
       "weights=variable](%0,in0) {0}"},
  });
}

TEST(LoweringMovement, GathersReadOnlyTheGatheredElements) {
  ExpectLowerings({
      {"Gather", "w f32 30522x768, s64 1x128 -> f32 1x128x768", "",
       "movement kind=gather dtype=f32:s64:f32 in=30522x768 out=128x768 axis=0 indices=128 {0,1}"},
      {"Gather", "f32 4x10x8, w s64=[0] -> f32 4x8", "axis=1",
       "movement kind=gather dtype=f32:s64:f32 in=4x10x8 out=4x1x8 axis=1 indices=1 {0,1}"},
      {"Gather", "f32 4x10x8, s64 3 -> f32 4x3x8", "axis=-2",
       "movement kind=gather dtype=f32:s64:f32 in=4x10x8 out=4x3x8 axis=1 indices=3 {0,1}"},
      {"GatherElements", "f32 4x8, s64 4x3 -> f32 4x3", "axis=1",
       "movement kind=gather dtype=f32:s64:f32 in=4x8 out=4x3 axis=1 indices=12 {0,1}"},
      {"GatherND", "f32 4x8x16, s64 5x2 -> f32 5x16", "",
       "movement kind=gather dtype=f32:s64:f32 in=1x32x16 out=1x5x16 axis=1 indices=10 {0,1}"},
      {"GatherND", "f32 4x8x16, s64 4x5x1 -> f32 4x5x16", "batch_dims=1",
       "movement kind=gather dtype=f32:s64:f32 in=4x8x16 out=4x5x16 axis=1 indices=20 {0,1}"},
      {"com.microsoft.GatherND", "f32 4x8x16, s64 5x3 -> f32 5", "",
       "movement kind=gather dtype=f32:s64:f32 in=1x512x1 out=1x5x1 axis=1 indices=15 {0,1}"},
      {"com.microsoft.TorchEmbedding", "w f32 1000x64, s64 2x8 -> f32 2x8x64", "",
       "movement kind=gather dtype=f32:s64:f32 in=1000x64 out=16x64 axis=0 indices=16 {0,1}"},
      {"com.microsoft.GatherBlockQuantized", "w u4 1000x64, s64 2x8, w f32 1000x2 -> f32 2x8x64",
       "gather_axis=0 quantize_axis=1",
       "region [movement kind=gather dtype=u4:s64:u4 in=1000x64 out=16x64 axis=0 indices=16](w0,in0) ; [pointwise "
       "kind=dequantize dtype=u4:-:f32 in=1024](%0) {0,1}"},
      {"com.microsoft.GatherBlockQuantized", "w u8 1000x32, s64 2x8, w f32 1000x2 -> f32 2x8x64", "bits=4",
       "region [movement kind=gather dtype=u4:s64:u4 in=1000x64 out=16x64 axis=0 indices=16](w0,in0) ; [pointwise "
       "kind=dequantize dtype=u4:-:f32 in=1024](%0) {0,1}"},
      {"com.microsoft.RelativePositionBias", "w f32 32x12, s64, s64 -> f32 1x12x128x128", "",
       "region [movement kind=fill dtype=-:-:s64 in=- out=16384]() ; [movement kind=gather dtype=f32:s64:f32 in=12x32 "
       "out=12x16384 axis=1 indices=16384](w0,%0) {0}"},
      {"Compress", "f32 4x8, w bool 4 -> f32 2x8", "axis=0",
       "movement kind=gather dtype=f32:bool:f32 in=1x4x8 out=1x2x8 axis=1 indices=4 {0,1}"},
      {"Compress", "f32 4x8, w bool 32 -> f32 7", "",
       "movement kind=gather dtype=f32:bool:f32 in=1x32x1 out=1x7x1 axis=1 indices=32 {0,1}"},
      {"Compress", "f32 4x8, bool 4 -> f32 ?", "axis=0",
       "unknown: the number of elements that its condition keeps depends on the data"},
  });
}

TEST(LoweringMovement, ScattersCopyThenUpdate) {
  ExpectLowerings({
      {"ScatterElements", "f32 4x8, s64 4x2, f32 4x2 -> f32 4x8", "axis=1",
       "movement kind=scatter dtype=f32:s64:f32 in=4x8,4x2 out=4x8 axis=1 indices=8 {0,2,1}"},
      {"Scatter@9", "f32 4x8, s64 4x2, f32 4x2 -> f32 4x8", "axis=1",
       "movement kind=scatter dtype=f32:s64:f32 in=4x8,4x2 out=4x8 axis=1 indices=8 {0,2,1}"},
      {"ScatterND", "f32 4x8x16, s64 5x2, f32 5x16 -> f32 4x8x16", "",
       "movement kind=scatter dtype=f32:s64:f32 in=32x16,5x16 out=32x16 axis=0 indices=10 {0,2,1}"},
      {"ScatterND", "f32 4x8x16, s64 0x2, f32 0x16 -> f32 4x8x16", "", "free: it updates no elements"},
      {"ScatterND", "f32 4x8x16, s64 5x2, f32 4x16 -> f32 4x8x16", "",
       "unknown: indices of 5x2 and updates of 4x16 do not fit data of 4x8x16"},
      {"TensorScatter@24", "f32 2x8x128x64, f32 2x8x1x64, s64 2 -> f32 2x8x128x64", "",
       "movement kind=scatter dtype=f32:s64:f32 in=2x8x128x64,2x8x1x64 out=2x8x128x64 axis=2 indices=2 {0,1,2}"},
      {"TensorScatter@24", "f32 2x8x128x64, f32 2x8x1x64 -> f32 2x8x128x64", "",
       "region [movement kind=fill dtype=-:-:s64 in=- out=2]() ; [movement kind=scatter dtype=f32:s64:f32 "
       "in=2x8x128x64,2x8x1x64 out=2x8x128x64 axis=2 indices=2](in0,in1,%0) {0,1}"},
  });
}

TEST(LoweringMovement, ResamplingNamesItsInterpolation) {
  ExpectLowerings({
      {"Resize", "f32 1x256x10x10, -, w f32 4 -> f32 1x256x20x20", "mode=linear",
       "resample kind=linear dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20 {0}"},
      {"Resize", "f32 1x256x10x10, w f32 0, w f32 4 -> f32 1x256x20x20", "",
       "resample kind=nearest dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20 {0}"},
      {"Resize", "f32 1x256x10x10, -, -, s64 4 -> f32 1x256x20x20", "mode=cubic",
       "resample kind=cubic dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20 {0}"},
      {"Resize", "f32 1x256x10x10, -, w f32 4 -> f32 1x256x10x10", "mode=linear", "free: resizes nothing"},
      {"Resize", "f32 1x256x10x10, -, w f32 4 -> f32 1x256x10x10",
       "mode=linear coordinate_transformation_mode=tf_crop_and_resize",
       "resample kind=linear dtype=f32:-:f32 in=1x256x10x10 out=1x256x10x10 {0}"},
      {"Resize", "f32 1x256x10x10, -, w f32 4 -> f32 1x256x20x20", "mode=blurry",
       "unknown: attribute 'mode' is 'blurry', an unknown value"},
      {"Upsample@9", "f32 1x256x10x10, w f32 4 -> f32 1x256x20x20", "",
       "resample kind=nearest dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20 {0}"},
      {"com.microsoft.nchwc.Upsample", "f32 1x256x10x10 -> f32 1x256x20x20", "scales=[1,1,2,2]",
       "resample kind=nearest dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20 {0}"},
      {"com.ms.internal.nhwc.Resize", "f32 1x10x10x256, -, w f32 4 -> f32 1x20x20x256", "mode=linear",
       "resample kind=linear dtype=f32:-:f32 in=1x256x10x10 out=1x256x20x20 {0}"},
      {"GridSample", "f32 1x3x64x64, f32 1x32x32x2 -> f32 1x3x32x32", "",
       "resample kind=grid_sample dtype=f32:-:f32 in=1x3x64x64 out=1x3x32x32 {0}"},
      {"com.microsoft.GridSample", "f32 1x3x64x64, f32 1x32x32x2 -> f32 1x3x32x32", "",
       "resample kind=grid_sample dtype=f32:-:f32 in=1x3x64x64 out=1x3x32x32 {0}"},
      {"com.ms.internal.nhwc.GridSample", "f32 1x64x64x3, f32 1x32x32x2 -> f32 1x32x32x3", "",
       "resample kind=grid_sample dtype=f32:-:f32 in=1x3x64x64 out=1x3x32x32 {0}"},
      {"RoiAlign", "f32 1x256x50x50, f32 1000x4, s64 1000 -> f32 1000x256x7x7", "",
       "resample kind=roi_align dtype=f32:-:f32 in=1x256x50x50 out=1000x256x7x7 {0}"},
      {"MaxRoiPool", "f32 1x256x50x50, f32 1000x5 -> f32 1000x256x7x7", "pooled_shape=[7,7]",
       "resample kind=roi_align dtype=f32:-:f32 in=1x256x50x50 out=1000x256x7x7 {0}"},
      {"com.microsoft.CropAndResize", "f32 1x256x50x50, f32 1000x4, s32 1000, s32 2 -> f32 1000x256x7x7", "",
       "resample kind=roi_align dtype=f32:-:f32 in=1x256x50x50 out=1000x256x7x7 {0}"},
  });
}

TEST(LoweringMovement, ViewsAreFree) {
  ExpectLowerings({
      {"Reshape", "f32 4x8, w s64 1 -> f32 32", "", "free: changes the shape, not the elements"},
      {"Flatten", "f32 4x8x2 -> f32 4x16", "", "free: changes the shape, not the elements"},
      {"Squeeze", "f32 4x1 -> f32 4", "", "free: changes the shape, not the elements"},
      {"Unsqueeze", "f32 4 -> f32 4x1", "", "free: changes the shape, not the elements"},
      {"com.microsoft.ExpandDims", "f32 4, s32 -> f32 4x1", "", "free: changes the shape, not the elements"},
      {"Identity", "f32 4 -> f32 4", "", "free: returns its input"},
      {"Shape", "f32 4x8 -> s64 2", "", "free: follows from shapes that are known"},
      {"Size", "f32 4x8 -> s64", "", "free: follows from shapes that are known"},
      {"Constant", "-> f32 4", "", "free: a constant"},
      {"Dropout", "f32 4x8 -> f32 4x8, bool 4x8", "", "free: drops nothing at inference"},
      {"Dropout", "f32 4x8, w f32, w bool=[1] -> f32 4x8", "",
       "unknown: it drops elements (training_mode = 1); export the model for inference"},
      {"Dropout", "f32 4x8, w f32, bool -> f32 4x8", "",
       "unknown: whether it drops elements is known only at run time"},
      {"Dropout@6", "f32 4x8 -> f32 4x8", "is_test=0",
       "unknown: it drops elements (is_test = 0); export the model for inference"},
      {"com.microsoft.BitmaskDropout", "f32 4x8 -> f32 4x8", "", "free: drops nothing at inference"},
      {"com.microsoft.SampleOp", "f32 4x8 -> f32 4x8", "", "free: returns its input"},
  });
}

TEST(LoweringMovement, NothingToComputeIsFree) {
  ExpectLowerings({
      {"Relu", "f32 0x8 -> f32 0x8", "", "free: no elements to compute"},
      {"MatMul", "f32 4x0, f32 0x8 -> f32 4x8", "", "free: no elements to compute"},
      {"Conv", "f32 0x3x8x8, w f32 4x3x3x3 -> f32 0x4x6x6", "", "free: no elements to compute"},
      {"Gather", "f32 4x8, s64 0 -> f32 0x8", "", "free: no elements to compute"},
  });
}

TEST(LoweringMovement, ControlFlowIsNotALayer) {
  ExpectLowerings({
      {"If", "bool -> f32 4", "", "unknown: control flow: its bodies are graphs of their own"},
      {"Loop", "s64, bool -> f32 4", "", "unknown: control flow: its bodies are graphs of their own"},
      {"Scan", "f32 4 -> f32 4", "", "unknown: control flow: its bodies are graphs of their own"},
  });
}

}  // namespace
}  // namespace infimum
