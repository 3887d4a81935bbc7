#include "src/readers/onnx/shapes/known_operator.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

TEST(KnownOperator, IsOneOfOnnxOrOfADomainThatModelsAreReadWith) {
  for (const char* op : {"Conv", "ai.onnx.ml.TreeEnsemble", "com.microsoft.Attention", "com.microsoft.QLinearAdd",
                         "NonZero", "LayerNormalization"})
    EXPECT_TRUE(IsKnownOperator(op)) << op;
}

TEST(KnownOperator, IsNotWhatOnlyOneModelHas) {
  for (const char* op : {"", ".", "Blend", "com.acme.Blend", "com.acme.Conv", "com.microsoft.Blend", "custom-1"})
    EXPECT_FALSE(IsKnownOperator(op)) << op;
}

}  // namespace
}  // namespace infimum
