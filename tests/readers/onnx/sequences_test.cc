// A sequence that a split makes and positions alone are asked of is a Split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/onnx/model_text.h"

namespace infimum {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Over x of 2x7x4; `nodes` define s, a sequence, and y.
ModelGraph Read(const std::string& nodes, const std::string& shape) {
  return ReadText("g (float[2, 7, 4] x) => (float[" + shape +
                  "] y) { i = Constant <value_int = 1> () "
                  "last = Constant <value_int = -1> () " +
                  nodes + " }");
}

struct Case {
  const char* split;   // its nodes
  const char* shape;   // of the part that is read
  const char* config;  // of the layer `s`
};

class SplitSequence : public ::testing::TestWithParam<Case> {};

TEST_P(SplitSequence, IsASplit) {
  const ModelGraph graph = Read(std::string(GetParam().split) +
                                    "[a] a = SequenceAt (s, i) [b] b = SequenceAt (s, last) "
                                    "r = Relu (b) y = Mul (a, a) z = Neg (r)",
                                GetParam().shape);
  EXPECT_THAT(Describe(LayerCalled(graph, "split")), HasSubstr(GetParam().config));
  EXPECT_EQ(Describe(LayerCalled(graph, "a")), "free: returns its input");
  for (const Layer& layer : graph.layers) EXPECT_NE(layer.status, LayerStatus::kUnknown) << layer.name;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, SplitSequence,
    ::testing::Values(
        // A number: parts of so many, and what is left over. Where one part is read, it is a slice.
        Case{"n = Constant <value_int = 2> () [split] s = SplitToSequence <axis = 2> (x, n) ", "2, 7, 2",
             "in=14x4 out=14x2"},
        Case{"n = Constant <value_int = 3> () [split] s = SplitToSequence <axis = -2> (x, n) ", "2, 3, 4",
             "out=2x3x4,2x3x4,2x1x4"},
        Case{"n = Constant <value_ints = [1, 4, 2]> () [split] s = SplitToSequence <axis = 1> (x, n) ", "2, 4, 4",
             "out=2x1x4,2x4x4,2x2x4"},
        // None: one each.
        Case{"[split] s = SplitToSequence <axis = 0> (x) ", "1, 7, 4", "in=2x28 out=1x28"}),
    [](const auto& which) { return "Case" + std::to_string(which.index); });

TEST(SplitSequence, StaysWhatItIsWhereMoreThanPositionsAreAsked) {
  const ModelGraph counted =
      Read("[split] s = SplitToSequence <axis = 0> (x) n = SequenceLength (s) [a] y = SequenceAt (s, i)", "1, 7, 4");
  EXPECT_EQ(LayerCalled(counted, "split").op, "SplitToSequence");
  EXPECT_EQ(LayerCalled(counted, "a").op, "SequenceAt");
  const ModelGraph chosen = ReadText(
      "g (float[2, 7, 4] x, int64 p) => (float[1, 7, 4] y) { [split] s = SplitToSequence <axis = 0> (x) "
      "[a] y = SequenceAt (s, p) }");
  EXPECT_EQ(LayerCalled(chosen, "split").op, "SplitToSequence");
  // Without its dimension a part is no part of the input.
  const ModelGraph squeezed =
      Read("[split] s = SplitToSequence <axis = 0, keepdims = 0> (x) [a] y = SequenceAt (s, i)", "7, 4");
  EXPECT_EQ(LayerCalled(squeezed, "split").op, "SplitToSequence");
}

TEST(SplitSequence, APositionBeyondItsEndIsNamed) {
  const Result<ModelGraph> graph = TryRead(ModelOf(
      "g (float[2, 7, 4] x) => (float[1, 7, 4] y) { p = Constant <value_int = 2> () s = SplitToSequence <axis = 0> (x) "
      "[a] y = SequenceAt (s, p) }"));
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.error().message, HasSubstr("position 2 of a sequence of 2"));
}

TEST(SplitSequence, ANameThatIsThereAlreadyIsAnError) {
  for (const char* twice : {"s = SplitToSequence <axis = 1> (x)", "s = Relu (x)"}) {
    const Result<ModelGraph> graph =
        TryRead(ModelOf("g (float[2, 7, 4] x) => (float[1, 7, 4] y) { p = Constant <value_int = 0> () "
                        "s = SplitToSequence <axis = 0> (x) " +
                        std::string(twice) + " [a] y = SequenceAt (s, p) }"));
    ASSERT_FALSE(graph.ok()) << twice;
    EXPECT_THAT(graph.error().message, HasSubstr("is defined twice"));
  }
}

TEST(SplitSequence, PartsAreAsManyAsModelsHave) {
  std::string nodes;
  for (int i = 0; i < 300; ++i) nodes += "s" + std::to_string(i) + " = SplitToSequence <axis = 0> (x) ";
  const auto read = [&](int rows) {
    return TryRead(ModelOf("g (float[" + std::to_string(rows) +
                           ", 4] x) => (float[1, 4] y) { p = Constant <value_int = 0> () " + nodes +
                           "[a] y = SequenceAt (s0, p) }"));
  };
  const Result<ModelGraph> few = read(64), many = read(65);
  ASSERT_TRUE(few.ok()) << few.error().message;
  ASSERT_TRUE(many.ok()) << many.error().message;
  EXPECT_NE(LayerCalled(*few, "a").op, "SequenceAt");
  EXPECT_EQ(LayerCalled(*many, "a").op, "SequenceAt");
}

// Sizes that fit nothing, from files that mean no good, leave it as it was.
TEST(SplitSequence, SizesThatDoNotFitAreNoSplit) {
  for (const char* sizes : {"{-1, 8}", "{0, 6}", "{9223372036854775807, 9223372036854775807, 9}", "{7, 7}"}) {
    const Result<ModelGraph> graph =
        TryRead(ModelOf("g (float[2, 7, 4] x) => (float[N, M, K] y) { n = Constant <value_ints = [" +
                        std::string(sizes).substr(1, std::string(sizes).size() - 2) +
                        "]> () p = Constant <value_int = 0> () [split] s = SplitToSequence <axis = 1> (x, n) "
                        "[a] y = SequenceAt (s, p) }"));
    if (graph.ok()) {
      EXPECT_EQ(LayerCalled(*graph, "split").op, "SplitToSequence") << sizes;
    }
  }
  for (const char* each : {"0", "-3", "-9223372036854775808"}) {
    const Result<ModelGraph> graph =
        TryRead(ModelOf("g (float[2, 7, 4] x) => (float[N, M, K] y) { n = Constant <value_int = " + std::string(each) +
                        "> () p = Constant <value_int = 0> () [split] s = SplitToSequence <axis = 1> (x, n) "
                        "[a] y = SequenceAt (s, p) }"));
    if (graph.ok()) {
      EXPECT_EQ(LayerCalled(*graph, "split").op, "SplitToSequence") << each;
    }
  }
}

}  // namespace
}  // namespace infimum
