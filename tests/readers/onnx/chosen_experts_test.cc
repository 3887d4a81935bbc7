// Experts that a TopK chooses and a gather picks, as exporters write a mixture of experts out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/readers/onnx/model_text.h"

namespace infimum {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// `tokens` through two of eight experts of 64 x 32; `choice` makes `chosen` of the TopK's indices.
std::string Mixture(std::int64_t tokens, const std::string& choice) {
  const std::string t = std::to_string(tokens), rows = std::to_string(2 * tokens);
  return "g (float[" + t + ", 8] router, float[" + rows + ", 1, 64] x) => (float[" + rows +
         ", 1, 32] y) <float[8, 64, 32] w, int64[1] k = {2}, int64[1] flat = {-1}> {"
         "values, indices = TopK <axis = -1> (router, k) " +
         choice + " [pick] slices = Gather <axis = 0> (w, chosen) [product] y = MatMul (x, slices) }";
}
const char* const kFlat = "chosen = Reshape (indices, flat)";
constexpr double kSlice = 64 * 32 * 4;

TEST(ChosenExperts, AreAtTheLeastAsManyAsATokenChooses) {
  for (const std::int64_t tokens : {1, 8, 64}) {
    const ModelGraph graph = ReadText(Mixture(tokens, kFlat));
    ASSERT_EQ(graph.quantities.size(), 1u);
    const RunTimeQuantity& quantity = graph.quantities[0];
    EXPECT_EQ(quantity,
              (RunTimeQuantity{"moe.experts", "pick", std::nullopt, 2, std::min<std::int64_t>(2 * tokens, 8)}));
  }
}

TEST(ChosenExperts, AreAsManyAsAreStated) {
  const ModelGraph graph = ReadText(Mixture(8, kFlat), {{"moe.experts", 5}});
  ASSERT_EQ(graph.quantities.size(), 1u);
  EXPECT_EQ(graph.quantities[0].stated, 5);
  EXPECT_EQ(static_cast<double>(LayerCalled(graph, "pick").work.operand_reads[0].value), 5 * kSlice);
  EXPECT_THAT(ErrorOf(Mixture(8, kFlat), {{"moe.experts", 9}}), HasSubstr("it is from 2 to 8"));
}

// A roofline's bytes: no slice is read for each token, written and read again.
TEST(ChosenExperts, AreReadOnceByTheirProducts) {
  for (const std::int64_t tokens : {1, 8, 64}) {
    const ModelGraph graph = ReadText(Mixture(tokens, kFlat));
    const Work& pick = LayerCalled(graph, "pick").work;
    EXPECT_EQ(static_cast<double>(pick.operand_reads[0].value),
              std::min(2.0 * static_cast<double>(tokens), 8.0) * kSlice);
    EXPECT_EQ(pick.written.value, 0);
    EXPECT_EQ(LayerCalled(graph, "product").work.read().value, 2 * tokens * 64 * 4);
  }
}

TEST(ChosenExperts, OfOtherIndicesNothingIsKnown) {
  // A part of the choices may be of tokens that chose the same.
  for (const char* choice : {"zero = Constant <value_ints = [0]> () one = Constant <value_ints = [1]> () "
                             "part = Slice (indices, zero, one, one) chosen = Concat <axis = 0> (part, part)",
                             "twice = Add (indices, indices) chosen = Reshape (twice, flat)"})
    EXPECT_THAT(ReadText(Mixture(1, choice)).quantities, IsEmpty()) << choice;
}

}  // namespace
}  // namespace infimum
