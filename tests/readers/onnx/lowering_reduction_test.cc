#include <gtest/gtest.h>

#include "tests/readers/onnx/lowering_support.h"

namespace infimum {
namespace {

TEST(LoweringReduction, AxesAreAnAttributeOrAnInputOrAll) {
  ExpectLowerings({
      {"ReduceMean", "f32 1x1280x7x7, w s64 2=[2,3] -> f32 1x1280x1x1", "",
       "reduction kind=mean dtype=f32:-:f32 in=1280x49 axes=1 {0}"},
      {"ReduceMean@13", "f32 1x1280x7x7 -> f32 1x1280", "axes=[-1,-2] keepdims=0",
       "reduction kind=mean dtype=f32:-:f32 in=1280x49 axes=1 {0}"},
      {"ReduceSum", "f32 4x8 -> f32 1x1", "", "reduction kind=sum dtype=f32:-:f32 in=32 axes=0 {0}"},
      {"ReduceSum", "f32 4x8, w s64 0=[] -> f32 4x8", "noop_with_empty_axes=1", "free: reduces over no axes"},
      {"ReduceSum", "f32 4x8 -> f32 4x8", "noop_with_empty_axes=1", "free: reduces over no axes"},
      {"ReduceSum", "f32 4x8, s64 1 -> f32 ?", "", "unknown: its axes are known only at run time"},
      {"ReduceSum", "f32 4x1x8, w s64 1=[1] -> f32 4x1x8", "", "free: every reduced dimension has one element"},
      {"ReduceSum", "f32 4x8, w s64 1=[2] -> f32 ?", "", "unknown: axis 2 does not exist in a tensor of rank 2"},
      {"ReduceSumSquare", "f32 4x8 -> f32 4x8", "noop_with_empty_axes=1",
       "pointwise kind=square dtype=f32:-:f32 in=32 {0}"},
      {"ReduceLogSum", "f32 4x1, w s64 1=[1] -> f32 4x1", "", "pointwise kind=logarithm dtype=f32:-:f32 in=4 {0}"},
  });
}

TEST(LoweringReduction, EveryReductionHasItsKind) {
  ExpectLowerings({
      {"ReduceL1", "f32 4x8x16, w s64 1=[1] -> f32 4x1x16", "",
       "reduction kind=l1 dtype=f32:-:f32 in=4x8x16 axes=1 {0}"},
      {"ReduceL2", "f32 4x8x16, w s64 1=[1] -> f32 4x1x16", "",
       "reduction kind=l2 dtype=f32:-:f32 in=4x8x16 axes=1 {0}"},
      {"ReduceLogSum", "f32 4x8x16, w s64 1=[1] -> f32 4x1x16", "",
       "reduction kind=log_sum dtype=f32:-:f32 in=4x8x16 axes=1 {0}"},
      {"ReduceLogSumExp", "f32 4x8x16, w s64 1=[1] -> f32 4x1x16", "",
       "reduction kind=log_sum_exp dtype=f32:-:f32 in=4x8x16 axes=1 {0}"},
      {"ReduceMax", "f32 4x8x16, w s64 1=[1] -> f32 4x1x16", "",
       "reduction kind=max dtype=f32:-:f32 in=4x8x16 axes=1 {0}"},
      {"ReduceMin", "f32 4x8x16, w s64 1=[1] -> f32 4x1x16", "",
       "reduction kind=min dtype=f32:-:f32 in=4x8x16 axes=1 {0}"},
      {"ReduceProd", "f32 4x8x16, w s64 1=[1] -> f32 4x1x16", "",
       "reduction kind=product dtype=f32:-:f32 in=4x8x16 axes=1 {0}"},
      {"ReduceSumSquare", "f32 4x8x16, w s64 1=[1] -> f32 4x1x16", "",
       "reduction kind=sum_square dtype=f32:-:f32 in=4x8x16 axes=1 {0}"},
      {"ArgMax", "f32 4x8x16 -> s64 4x1x16", "axis=1", "reduction kind=arg_max dtype=f32:-:s64 in=4x8x16 axes=1 {0}"},
      {"ArgMin", "f32 4x8x16 -> s64 1x8x16", "", "reduction kind=arg_min dtype=f32:-:s64 in=4x128 axes=0 {0}"},
      {"ArgMax", "f32 4x1 -> s64 4x1", "axis=1", "free: the dimension has one element, so every index is 0"},
      {"com.microsoft.QLinearReduceMean", "u8 4x8, f32, u8, f32, u8 -> u8 4x1", "axes=[1]",
       "reduction kind=mean dtype=u8:-:u8 in=4x8 axes=1 {0}"},
      {"com.microsoft.ReduceSumInteger", "s8 4x8 -> s32 4x1", "axes=[1]",
       "reduction kind=sum dtype=s8:-:s32 in=4x8 axes=1 {0}"},
  });
}

TEST(LoweringReduction, ScansAndSortsAreOuterTimesAxisTimesInner) {
  ExpectLowerings({
      {"CumSum", "f32 4x8x16, w s64=[1] -> f32 4x8x16", "", "scan kind=sum dtype=f32:-:f32 in=4x8x16 axis=1 {0}"},
      {"CumSum", "f32 8, s64 -> f32 8", "", "scan kind=sum dtype=f32:-:f32 in=1x8x1 axis=1 {0}"},
      {"CumSum", "f32 4x8, s64 -> f32 4x8", "", "unknown: its axis is known only at run time"},
      {"CumProd@26", "f32 4x8, w s64=[-1] -> f32 4x8", "exclusive=1",
       "scan kind=product dtype=f32:-:f32 in=4x8x1 axis=1 {0}"},
      {"TopK", "f32 8x1000, w s64 1=[5] -> f32 8x5, s64 8x5", "",
       "sort kind=topk dtype=f32:-:f32 in=8x1000x1 axis=1 k=5 {0}"},
      {"TopK", "f32 8x1000, s64 1 -> f32 8x5, s64 8x5", "",
       "sort kind=topk dtype=f32:-:f32 in=8x1000x1 axis=1 k=5 {0}"},
      {"TopK@9", "f32 8x1000 -> f32 8x5, s64 8x5", "k=5 axis=-1",
       "sort kind=topk dtype=f32:-:f32 in=8x1000x1 axis=1 k=5 {0}"},
      {"TopK", "f32 8x1000, s64 1 -> f32 ?, s64 ?", "", "unknown: the shape of output 0 ('x') is not known"},
      {"TopK", "f32 8x4, w s64 1=[5] -> f32 8x5, s64 8x5", "", "unknown: k is 5, expected 1 to 4"},
  });
}

}  // namespace
}  // namespace infimum
