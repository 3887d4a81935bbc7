#include <gtest/gtest.h>

#include "tests/readers/onnx/model_text.h"
#include "tests/support/text_cases.h"

namespace infimum {
namespace {

TEST(MicrosoftShapes, AreInferred) {
  for (const testing::TextSection& section : testing::ReadTextCases("tests/readers/onnx/microsoft_shapes.txt")) {
    for (const auto& [where, inputs, expected] : section.cases) {
      SCOPED_TRACE(where);
      ASSERT_EQ(expected.size(), 2u);
      const ModelGraph graph = ReadText("g (" + inputs + ") => (float[N] y) { " + expected[0] + " }", {}, 21,
                                        /*apply_rewrites=*/false);
      EXPECT_EQ(TypeOf(graph, "y"), expected[1]) << expected[0];
    }
  }
}

}  // namespace
}  // namespace infimum
