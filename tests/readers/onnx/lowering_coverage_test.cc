// Nothing is forgotten: every operator that ONNX registers, and every one that ONNX Runtime adds, either
// has a lowering or is in the list of those that have none, with its reason.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <fstream>
#include <set>
#include <string>

#include "src/readers/onnx/lowering/lower.h"
#include "tests/support/folders.h"

namespace infimum {
namespace {

bool IsDeliberatelyUnknown(std::string_view domain, std::string_view op) {
  for (const UnknownOperator& unknown : DeliberatelyUnknown())
    if (unknown.domain == domain && unknown.op == op) return true;
  return false;
}

TEST(LoweringCoverage, EveryOnnxOperatorIsLoweredOrDeliberatelyUnknown) {
  std::size_t seen = 0;
  for (const auto& schema : ONNX_NAMESPACE::OpSchemaRegistry::get_all_schemas()) {
    if (!schema.domain().empty()) continue;
    ++seen;
    EXPECT_TRUE(HasLowering("", schema.Name()) || IsDeliberatelyUnknown("", schema.Name()))
        << schema.Name() << " of opset " << schema.since_version()
        << ": add it to a family in src/readers/onnx/lowering, or with its reason to unknown_operators.cc";
  }
  EXPECT_GT(seen, 180u) << "the registry is not filled";
}

TEST(LoweringCoverage, EveryOnnxRuntimeOperatorIsLoweredOrDeliberatelyUnknown) {
  std::ifstream file(testing::SourceFolder() + "/tests/readers/onnx/onnxruntime_operators.txt");
  std::size_t seen = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    ++seen;
    const std::size_t dot = line.rfind('.');
    ASSERT_NE(dot, std::string::npos) << line;
    const std::string domain = line.substr(0, dot), op = line.substr(dot + 1);
    EXPECT_TRUE(HasLowering(domain, op) || IsDeliberatelyUnknown(domain, op)) << line;
  }
  EXPECT_GT(seen, 140u);
}

TEST(LoweringCoverage, NoOperatorIsBothLoweredAndUnknown) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const UnknownOperator& unknown : DeliberatelyUnknown()) {
    EXPECT_FALSE(HasLowering(unknown.domain, unknown.op)) << unknown.domain << "." << unknown.op;
    EXPECT_FALSE(unknown.reason.empty()) << unknown.op;
    EXPECT_TRUE(seen.emplace(unknown.domain, unknown.op).second) << unknown.op << " is listed twice";
  }
}

TEST(LoweringCoverage, TheOnnxDomainHasTwoNames) {
  EXPECT_TRUE(HasLowering("", "Conv"));
  EXPECT_TRUE(HasLowering("ai.onnx", "Conv"));
  EXPECT_FALSE(HasLowering("ai.onnx.ml", "Conv"));
}

TEST(LoweringCoverage, OperatorsOfOnnxAndOfDomainsWithLoweringsAreKnown) {
  for (const char* op : {"Conv", "ai.onnx.ml.TreeEnsemble", "com.microsoft.Attention", "com.microsoft.QLinearAdd",
                         "NonZero", "LayerNormalization"})
    EXPECT_TRUE(IsKnownOperator(op)) << op;
}

TEST(LoweringCoverage, OperatorsOfOtherDomainsAreNotKnown) {
  for (const char* op : {"", ".", "Blend", "com.acme.Blend", "com.acme.Conv", "com.microsoft.Blend", "custom-1"})
    EXPECT_FALSE(IsKnownOperator(op)) << op;
}

}  // namespace
}  // namespace infimum
