#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/readers/onnx/folding/elements.h"
#include "src/readers/onnx/parse/node_view.h"
#include "tests/readers/onnx/model_text.h"

namespace infimum {
namespace {

using Integers = std::vector<std::int64_t>;

// The elements that `c` folds to; the graph is "... => (... c) { ... }" around the given nodes, over x of 2x3x4.
Integers FoldedIntegers(const std::string& nodes) {
  const ModelGraph graph = ReadText("g (float[2, 3, 4] x) => (int64[N] c) { " + nodes + " }");
  const Value& value = ValueCalled(graph, "c");
  EXPECT_EQ(value.kind, ValueKind::kWeight);
  EXPECT_TRUE(value.constant) << nodes;
  return value.constant ? IntegersOf(&*value.constant).value_or(Integers{-999}) : Integers{-998};
}

std::vector<double> FoldedNumbers(const std::string& nodes) {
  const ModelGraph graph = ReadText("g (float[2, 3, 4] x) => (float[N] c) { " + nodes + " }");
  const Value& value = ValueCalled(graph, "c");
  EXPECT_TRUE(value.constant) << nodes;
  return value.constant ? NumbersOf(&*value.constant).value_or(std::vector<double>{}) : std::vector<double>{};
}

std::string Ints(const std::string& name, const std::string& values) {
  return name + " = Constant <value_ints = [" + values + "]> () ";
}
std::string Int(const std::string& name, const std::string& value) {
  return name + " = Constant <value_int = " + value + "> () ";
}

TEST(Folding, FoldsTheShapeOfAValueThatIsNotConstant) {
  EXPECT_EQ(FoldedIntegers("c = Shape (x)"), (Integers{2, 3, 4}));
  EXPECT_EQ(FoldedIntegers("c = Shape <start = 1> (x)"), (Integers{3, 4}));
  EXPECT_EQ(FoldedIntegers("c = Shape <start = -2, end = -1> (x)"), (Integers{3}));
  EXPECT_EQ(FoldedIntegers("c = Shape <start = 2, end = 1> (x)"), (Integers{}));
  EXPECT_EQ(FoldedIntegers("c = Size (x)"), (Integers{24}));
}

TEST(Folding, MovesElements) {
  EXPECT_EQ(FoldedIntegers("s = Shape (x) " + Ints("i", "2,-3") + "c = Gather (s, i)"), (Integers{4, 2}));
  EXPECT_EQ(FoldedIntegers("s = Shape (x) " + Ints("m", "-1") + "c = Concat <axis = 0> (s, m)"),
            (Integers{2, 3, 4, -1}));
  EXPECT_EQ(
      FoldedIntegers("s = Shape (x) " + Ints("a", "1") + Ints("b", "9223372036854775807") + "c = Slice (s, a, b)"),
      (Integers{3, 4}));
  EXPECT_EQ(FoldedIntegers("s = Shape (x) " + Ints("a", "-1") + Ints("b", "-100") + Ints("ax", "0") + Ints("st", "-2") +
                           "c = Slice (s, a, b, ax, st)"),
            (Integers{4, 2}));
  EXPECT_EQ(FoldedIntegers("s = Shape (x) " + Ints("a", "0") + "u = Unsqueeze (s, a) " + Ints("r", "2,1") +
                           "t = Tile (u, r) " + Ints("f", "-1") + "c = Reshape (t, f)"),
            (Integers{2, 3, 4, 2, 3, 4}));
  EXPECT_EQ(FoldedIntegers(Ints("v", "1,2,3,4,5,6") + Ints("sh", "2,3") + "m = Reshape (v, sh) t = Transpose (m) " +
                           Ints("f", "-1") + "c = Reshape (t, f)"),
            (Integers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(FoldedIntegers(Ints("v", "7") + Ints("sh", "3") + "c = Expand (v, sh)"), (Integers{7, 7, 7}));
  EXPECT_EQ(FoldedIntegers(Ints("v", "1,2,3,4,5") + "a, c = Split <num_outputs = 2> (v)"), (Integers{4, 5}));
  EXPECT_EQ(FoldedIntegers(Ints("sh", "3") + "c = ConstantOfShape <value = int64[1] {5}> (sh)"), (Integers{5, 5, 5}));
  EXPECT_EQ(FoldedIntegers(Ints("v", "1,2,3") + "i = Constant <value = int64[1,1] {1}> () " + Ints("u", "9") +
                           "c = ScatterND (v, i, u)"),
            (Integers{1, 9, 3}));
  EXPECT_EQ(FoldedIntegers("o = Constant <value = int64[2,2] {1,2,3,4}> () t = Trilu (o) " + Ints("f", "-1") +
                           "c = Reshape (t, f)"),
            (Integers{1, 2, 0, 4}));
}

TEST(Folding, ComputesIntegers) {
  EXPECT_EQ(FoldedIntegers("s = Shape (x) " + Int("k", "2") + "c = Mul (s, k)"), (Integers{4, 6, 8}));
  EXPECT_EQ(FoldedIntegers(Ints("a", "7,-7") + Ints("b", "2,2") + "c = Div (a, b)"), (Integers{3, -3}));
  EXPECT_EQ(FoldedIntegers(Ints("a", "7,-7") + Int("b", "3") + "c = Mod (a, b)"), (Integers{1, 2}));
  EXPECT_EQ(FoldedIntegers(Ints("a", "1,5,3") + Ints("b", "4,2,3") + "c = Max (a, b)"), (Integers{4, 5, 3}));
  EXPECT_EQ(
      FoldedIntegers(Ints("a", "-1,0,2") + Ints("z", "0") + Ints("y", "8") + "p = Less (a, z) c = Where (p, y, a)"),
      (Integers{8, 0, 2}));
  EXPECT_EQ(FoldedIntegers("s = Shape (x) " + Ints("ax", "0") + "c = ReduceProd (s, ax)"), (Integers{24}));
  EXPECT_EQ(FoldedIntegers(Int("a", "2") + Int("b", "9") + Int("d", "3") + "c = Range (a, b, d)"), (Integers{2, 5, 8}));
  EXPECT_EQ(FoldedIntegers(Ints("a", "1,2,3") + Int("ax", "0") + "c = CumSum (a, ax)"), (Integers{1, 3, 6}));
  EXPECT_EQ(FoldedIntegers(Ints("a", "0,5,0,7") + "n = NonZero (a) " + Ints("f", "-1") + "c = Reshape (n, f)"),
            (Integers{1, 3}));
}

TEST(Folding, ComputesNumbersAndConverts) {
  EXPECT_EQ(FoldedIntegers("s = Shape (x) f = Cast <to = 1> (s) h = Constant <value_float = 0.5> () m = Mul (f, h) "
                           "e = Ceil (m) c = Cast <to = 7> (e)"),
            (Integers{1, 2, 2}));
  EXPECT_EQ(FoldedNumbers("a = Constant <value_floats = [4.0, 9.0]> () c = Sqrt (a)"), (std::vector<double>{2, 3}));
  EXPECT_EQ(FoldedNumbers("a = Constant <value_floats = [4.0, 9.0]> () h = Cast <to = 10> (a) c = Cast <to = 1> (h)"),
            (std::vector<double>{4, 9}));
}

TEST(Folding, RefusesToOverflowOrDivideByZero) {
  for (const std::string& nodes : {Ints("a", "9223372036854775807") + Ints("b", "2") + "c = Mul (a, b)",
                                   Ints("a", "1") + Ints("b", "0") + "c = Div (a, b)",
                                   Ints("a", "-9223372036854775807") + Ints("b", "-2") + "c = Add (a, b)",
                                   Ints("a", "1") + Ints("b", "0") + "c = Mod (a, b)"}) {
    const ModelGraph graph = ReadText("g (float[2] x) => (int64[1] c) { " + nodes + " }");
    EXPECT_EQ(ValueCalled(graph, "c").kind, ValueKind::kWeight);
    EXPECT_FALSE(ValueCalled(graph, "c").constant) << nodes;
  }
}

TEST(Folding, NeverMakesLargeConstants) {
  const ModelGraph graph = ReadText(
      "g (float[4] x) => (float[4096, 4096] c) { s = Constant <value_ints = [4096, 4096]> () "
      "[w] w = ConstantOfShape (s) [t] t = Transpose (w) [q] c = Mul (t, t) }");
  EXPECT_EQ(Describe(LayerCalled(graph, "q")), "free: folded: it depends on constants only");
  EXPECT_EQ(ValueCalled(graph, "c").kind, ValueKind::kWeight);
  EXPECT_FALSE(ValueCalled(graph, "c").constant);
  EXPECT_EQ(TypeOf(graph, "c"), "f32 4096x4096");
}

TEST(Folding, LeavesRandomNumbersAlone) {
  const ModelGraph graph =
      ReadText("g (float[4] x) => (float[4] y) { [r] r = RandomNormal <shape = [4]> () y = Add (x, r) }");
  EXPECT_EQ(ValueCalled(graph, "r").kind, ValueKind::kIntermediate);
}

TEST(Elements, RoundToHalfPrecisionAsTheProcessorDoes) {
  const auto half = [](double number) {
    Elements elements;
    elements.floating = true;
    elements.numbers = {number};
    const std::optional<Tensor> tensor = Encode(elements, DataType::kF16, Shape{{1}});
    return NumbersOf(&*tensor)->front();
  };
  EXPECT_EQ(half(1), 1);
  EXPECT_EQ(half(65504), 65504);
  EXPECT_EQ(half(65519.9), 65504);
  EXPECT_EQ(half(65520), INFINITY);
  EXPECT_EQ(half(-0.333251953125), -0.333251953125);
  EXPECT_EQ(half(0x1p-24), 0x1p-24);
  EXPECT_EQ(half(0x1p-26), 0);
  EXPECT_EQ(half(2049), 2048);  // to even
  EXPECT_EQ(half(2051), 2052);
}

TEST(NodeView, ReadsTheElementsOfEveryType) {
  const auto bytes = [](std::initializer_list<int> values) {
    std::vector<std::byte> result;
    for (const int value : values) result.push_back(static_cast<std::byte>(value));
    return result;
  };
  const Tensor s4{DataType::kS4, Shape{{3}}, bytes({0xF1, 0x08})};
  EXPECT_EQ(IntegersOf(&s4), (Integers{1, -1, -8}));
  const Tensor u4{DataType::kU4, Shape{{3}}, bytes({0xF1, 0x08})};
  EXPECT_EQ(IntegersOf(&u4), (Integers{1, 15, 8}));
  const Tensor e4m3{DataType::kF8E4M3, Shape{{3}}, bytes({0x38, 0x7E, 0x01})};
  EXPECT_EQ(NumbersOf(&e4m3), (std::vector<double>{1, 448, 0x1p-9}));
  const Tensor bf16{DataType::kBF16, Shape{{1}}, bytes({0x80, 0xBF})};
  EXPECT_EQ(NumbersOf(&bf16), (std::vector<double>{-1}));
  const Tensor torn{DataType::kS64, Shape{{2}}, bytes({1, 2, 3})};
  EXPECT_EQ(IntegersOf(&torn), std::nullopt);
  EXPECT_EQ(IntegersOf(nullptr), std::nullopt);
}

}  // namespace
}  // namespace infimum
