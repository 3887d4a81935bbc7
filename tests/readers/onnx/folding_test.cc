#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include "src/readers/onnx/folding/elements.h"
#include "src/readers/onnx/parse/node_view.h"
#include "tests/readers/onnx/model_text.h"
#include "tests/support/text_cases.h"

namespace infimum {
namespace {

using Integers = std::vector<std::int64_t>;

// "int64 {2,3}", or "int64 not constant"; the type is the one that the graph declares for c.
std::string FoldedElements(const std::string& nodes, const std::string& type) {
  static const std::regex kList(R"((\w+) = \{([^}]*)\})"), kNumber(R"((\w+) = (-?\d+)(?= ))");
  std::string text = std::regex_replace(nodes, kList, "$1 = Constant <value_ints = [$2]> ()");
  text = std::regex_replace(text, kNumber, "$1 = Constant <value_int = $2> ()");
  const ModelGraph graph = ReadText("g (float[2, 3, 4] x) => (" + type + "[N] c) { " + text + " }");
  const Value& value = ValueCalled(graph, "c");
  EXPECT_EQ(value.kind, ValueKind::kWeight);
  if (!value.constant) return type + " not constant";
  std::ostringstream list;
  const auto add = [&list, separator = ""](auto element) mutable { list << std::exchange(separator, ",") << element; };
  if (type == "float")
    std::ranges::for_each(NumbersOf(&*value.constant).value(), add);
  else
    std::ranges::for_each(IntegersOf(&*value.constant).value(), add);
  return type + " {" + list.str() + "}";
}

class Folding : public ::testing::TestWithParam<testing::TextSection> {};

TEST_P(Folding, GivesTheElementsOfItsTable) {
  for (const auto& [where, nodes, expected] : GetParam().cases) {
    SCOPED_TRACE(where);
    ASSERT_EQ(expected.size(), 1u);
    EXPECT_EQ(FoldedElements(nodes, expected.front().substr(0, expected.front().find(' '))), expected.front()) << nodes;
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, Folding, ::testing::ValuesIn(testing::ReadTextCases("tests/readers/onnx/folding.txt")),
                         testing::kSectionName);

TEST(ConstantFolding, NeverMakesLargeConstants) {
  const ModelGraph graph = ReadText(
      "g (float[4] x) => (float[4096, 4096] c) { s = Constant <value_ints = [4096, 4096]> () "
      "[w] w = ConstantOfShape (s) [t] t = Transpose (w) [q] c = Mul (t, t) }");
  EXPECT_EQ(Describe(LayerCalled(graph, "q")), "free: folded: it depends on constants only");
  EXPECT_EQ(ValueCalled(graph, "c").kind, ValueKind::kWeight);
  EXPECT_FALSE(ValueCalled(graph, "c").constant);
  EXPECT_EQ(TypeOf(graph, "c"), "f32 4096x4096");
}

// Which rows of a weight they pick is counted, however many they are; nothing is folded from so many.
TEST(ConstantFolding, KeepsManyIndicesThatAreInTheFile) {
  for (const int count : {1024, 2048, 3000, 20'000, 200'000})
    for (const bool is_raw : {false, true}) {
      const std::string length = std::to_string(count);
      onnx::ModelProto model = ModelOf("g (float[1, " + length + "] x) => (float[1, 8] y) <float[300000, 8] w, int64[" +
                                       length + "] ids> { [pick] rows = Gather (w, ids) y = MatMul (x, rows) }");
      onnx::TensorProto* ids = nullptr;
      for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer())
        if (tensor.name() == "ids") ids = &tensor;
      ASSERT_NE(ids, nullptr);
      ids->clear_raw_data();
      ids->clear_int64_data();
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t id = 3 * i / 2;
        if (is_raw)
          ids->mutable_raw_data()->append(reinterpret_cast<const char*>(&id), sizeof id);
        else
          ids->add_int64_data(id);
      }
      const Result<ModelGraph> graph = TryRead(model);
      ASSERT_TRUE(graph.ok()) << graph.error().message;
      const Value& kept = ValueCalled(*graph, "ids");
      // A large model's packed numbers are left in the file.
      const bool is_packed = !is_raw && count > 4096;
      ASSERT_EQ(kept.constant.has_value(), !is_packed) << count << " " << is_raw;
      if (is_packed) continue;
      const auto numbers = IntegersOf(&*kept.constant);
      ASSERT_TRUE(numbers && numbers->size() == static_cast<std::size_t>(count));
      EXPECT_EQ(numbers->back(), 3 * (count - 1) / 2);
    }
}

TEST(ConstantFolding, LeavesRandomNumbersAlone) {
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
