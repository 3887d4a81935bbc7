// What a file or the user gets wrong: one line that says where, what, and what next; quickly, and without
// taking memory for what a length merely claims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

#include "src/readers/onnx/parse/model_inputs.h"
#include "tests/readers/onnx/model_text.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string ErrorOfFile(const std::filesystem::path& path) {
  const auto start = std::chrono::steady_clock::now();
  const Result<ModelGraph> graph = ReadModel(path, {});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  return graph.ok() ? "" : graph.error().message;
}

std::string SmallModel() {
  return ModelOf("g (float[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y) <float[4, 3, 1, 1] w> { y = Conv (x, w) }")
      .SerializeAsString();
}

TEST(BadFile, ThatIsMissingOrAFolderOrEmptyIsNamed) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(ErrorOfFile(folder.path() / "none.onnx"),
              EndsWith("none.onnx: cannot be opened: No such file or directory"));
  EXPECT_THAT(ErrorOfFile(folder.path()), EndsWith(": is a folder; name the file in it"));
  EXPECT_THAT(ErrorOfFile(folder.Write("empty.onnx", "")),
              EndsWith("is empty, not an ONNX file; export or copy it again"));
}

TEST(BadFile, CutAtAnyByteIsRefused) {
  const testing::TemporaryFolder folder;
  onnx::ModelProto model = ModelOf(R"(
      g (float[1, 3, 8, 8] x) => (float[1, 4] y) <float[4, 3, 1, 1] w = {0.,1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.}> {
        [c] c = Conv <pads = [0, 0, 0, 0]> (x, w)
        [r] r = Relu (c)
        [p] p = GlobalAveragePool (r)
        [f] y = Flatten <axis = 1> (p)
      })");
  model.mutable_opset_import()->DeleteSubrange(1, model.opset_import_size() - 1);  // the last thing in the file
  const std::string whole = model.SerializeAsString();
  for (std::size_t length = 0; length<whole.size(); length += whole.size()> 2000 ? 97 : 1) {
    const std::string error = ErrorOfFile(folder.Write("cut.onnx", whole.substr(0, length)));
    EXPECT_THAT(error, HasSubstr("cut.onnx: ")) << length;
  }
}

TEST(BadFile, WithRandomBytesIsRefused) {
  const testing::TemporaryFolder folder;
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(1 + random() % 4096, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_THAT(ErrorOfFile(folder.Write("random.onnx", bytes)), HasSubstr("not an ONNX file"));
  }
}

TEST(BadFile, WithBytesChangedNeverCrashes) {
  const testing::TemporaryFolder folder;
  const std::string whole = SmallModel();
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (int change = 0; change < 3; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
    static_cast<void>(ErrorOfFile(folder.Write("changed.onnx", bytes)));
  }
}

TEST(BadFile, ThatClaimsTwoGigabytesIsRefusedAtOnce) {
  const testing::TemporaryFolder folder;
  // Field 7 (graph) with a length of 2^31 - 1, then of 2^63.
  EXPECT_THAT(ErrorOfFile(folder.Write("claim.onnx", "\x3a\xff\xff\xff\xff\x07 rest")), HasSubstr("not an ONNX file"));
  EXPECT_THAT(ErrorOfFile(folder.Write("claim.onnx", "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f rest")),
              HasSubstr("not an ONNX file"));
}

TEST(BadFile, LargerThanTwoGigabytesIsRefusedWithAdviceToUseExternalData) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.Write("large.onnx", "x");
  std::filesystem::resize_file(path, std::uintmax_t{3} << 30);  // sparse: takes no space
  EXPECT_THAT(ErrorOfFile(path), HasSubstr("save the model with its weights as external data"));
}

TEST(BadGraph, WithACycleNamesItsNodes) {
  EXPECT_EQ(ErrorOf("g (float[2] x) => (float[2] y) { [a] b = Add (x, c) [b] c = Relu (b) [d] y = Relu (c) }"),
            "the graph has a cycle; each of these reads an output of the next: node 'a' (Add), node 'b' (Relu)");
}

TEST(BadGraph, WithAnUndefinedNameSuggestsTheNearest) {
  EXPECT_EQ(ErrorOf("g (float[2] tokens) => (float[2] y) { [a] y = Relu (tokns) }"),
            "node 'a' (Relu): input 'tokns' is written by no node and is neither input nor initializer, did you mean "
            "'tokens'?");
  EXPECT_THAT(ErrorOf("g (float[2] x) => (float[2] nothing) { y = Relu (x) }"), HasSubstr("graph output 'nothing'"));
}

TEST(BadGraph, WithAMissingInputNamesTheNode) {
  EXPECT_THAT(ErrorOf("g (float[2] x) => (float[2] y) { [a] y = Add (x) }"),
              AllOf(HasSubstr("node 'a' (Add): "), HasSubstr("input")));
}

TEST(BadGraph, ThatDefinesANameTwiceIsRefused) {
  EXPECT_EQ(ErrorOf("g (float[2] x) => (float[2] y) { [a] y = Relu (x) [b] y = Abs (x) }"),
            "node 'b' (Abs): output: 'y' is defined twice");
}

TEST(BadGraph, WithShapesThatDoNotFitNamesTheNode) {
  EXPECT_THAT(ErrorOf("g (float[2, 3] a, float[4, 5] b) => (float[2, 5] y) { [m] y = MatMul (a, b) }"),
              HasSubstr("node 'm' (MatMul): "));
}

TEST(BadGraph, WithTooManyElementsIsRefused) {
  EXPECT_THAT(ErrorOf("g (float[N] x) => (float[M, N] y) { [u] u = Unsqueeze <axes = [1]> (x) [e] y = Mul (u, x) }",
                      {{"N", std::int64_t{1} << 30}}, 11),
              HasSubstr("node 'e' (Mul): output 'y': "));
}

TEST(BadGraph, WithoutOnnxOperatorSetIsRefused) {
  onnx::ModelProto model = ModelOf("g (float[2] x) => (float[2] y) { [a] y = Relu (x) }");
  model.mutable_opset_import()->Clear();
  EXPECT_THAT(ErrorOf(model), HasSubstr("imports no ONNX operator set"));
}

TEST(BadGraph, WithAnInitializerOfTheWrongSizeIsRefused) {
  onnx::ModelProto model = ModelOf("g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Add (x, w) }");
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, 3);
  EXPECT_EQ(ErrorOf(model), "initializer 'w': has 2 elements where its shape is 3");
  model.mutable_graph()->mutable_initializer(0)->clear_float_data();
  model.mutable_graph()->mutable_initializer(0)->set_raw_data("12345678");
  EXPECT_EQ(ErrorOf(model), "initializer 'w': has 8 bytes of elements where its shape 3 takes 12");
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, -2);
  EXPECT_THAT(ErrorOf(model), HasSubstr("initializer 'w': "));
}

TEST(Dimensions, ThatStayUnboundAreAllNamedWithTheOption) {
  EXPECT_EQ(ErrorOf("g (float[batch, sequence, 8] x) => (float[a, b, c] y) { y = Relu (x) }"),
            "input 'x' has the symbolic dimension 'batch'; bind it with --dim batch=N --dim sequence=N");
}

TEST(Dimensions, BoundUnderAWrongNameGetASuggestion) {
  const std::string text = "g (float[batch, 8] x) => (float[batch, 8] y) { y = Relu (x) }";
  EXPECT_EQ(ErrorOf(text, {{"batc", 8}}),
            "--dim batc=8: the model has no dimension of this name, did you mean 'batch'?");
  EXPECT_EQ(ErrorOf(text, {{"zzz", 8}}), "--dim zzz=8: the model has no dimension of this name; it has batch");
  EXPECT_EQ(ErrorOf("g (float[2] x) => (float[2] y) { y = Relu (x) }", {{"batch", 8}}),
            "--dim batch=8: the model has no symbolic dimension");
}

TEST(ModelInputs, AreListedBeforeTheyAreBound) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.Write(
      "m.onnx",
      ModelOf("g (float[batch, 3, ?] x, int64[2] i) => (float[batch, 3, ?] y) { y = Relu (x) }").SerializeAsString());
  const Result<std::vector<DeclaredInput>> inputs = ReadModelInputs(path);
  ASSERT_TRUE(inputs.ok()) << inputs.error().message;
  ASSERT_EQ(inputs->size(), 2u);
  const DeclaredInput& x = inputs->front();
  EXPECT_EQ(x.type, DataType::kF32);
  ASSERT_EQ(x.dims.size(), 3u);
  EXPECT_EQ(x.dims[0].symbol, "batch");
  EXPECT_EQ(x.dims[1].size, 3);
  EXPECT_EQ(x.dims[2].symbol, "x.2");
  ASSERT_EQ(x.readers.size(), 1u);
  EXPECT_EQ(x.readers[0].op, "Relu");
  EXPECT_EQ((*inputs)[1].readers.size(), 0u);
  EXPECT_FALSE(ReadModelInputs(folder.path() / "none.onnx").ok());
}

TEST(Dimensions, WithoutNameAreBoundByInputAndAxis) {
  onnx::ModelProto model = ModelOf("g (float[2, 8] x) => (float[2, 8] y) { y = Relu (x) }");
  auto* dim =
      model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0);
  dim->clear_dim_value();
  EXPECT_EQ(ErrorOf(model), "input 'x' has neither a number nor a name for its dimension 0; bind it with --dim x.0=N");
  dim->set_dim_value(-1);
  EXPECT_EQ(ErrorOf(model), "input 'x' has -1 as its dimension 0; bind it with --dim x.0=N");
  const Result<ModelGraph> graph = TryRead(model, {{"x.0", 5}});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(TypeOf(*graph, "y"), "f32 5x8");
}

TEST(Dimensions, OutOfRangeAreRefused) {
  const std::string text = "g (float[batch, 8] x) => (float[batch, 8] y) { y = Relu (x) }";
  EXPECT_EQ(ErrorOf(text, {{"batch", -1}}), "--dim batch=-1: a dimension must be from 0 to 2^47");
  EXPECT_THAT(ErrorOf(text, {{"batch", INT64_MAX}}), HasSubstr("a dimension must be from 0 to 2^47"));
  EXPECT_THAT(ErrorOf(text, {{"batch", std::int64_t{1} << 47}}), HasSubstr("input 'x': "));
}

TEST(Dimensions, OfZeroMakeLayersWithoutElementsFree) {
  const ModelGraph graph = ReadText("g (float[past, 8] x) => (float[past, 8] y) { [a] y = Relu (x) }", {{"past", 0}});
  EXPECT_EQ(Describe(LayerCalled(graph, "a")), "free: its result has no elements");
}

TEST(OperatorSet, ThatDoesNotExistIsRefused) {
  onnx::ModelProto model = ModelOf("g (float[2] x) => (float[2] y) { y = Relu (x) }");
  EXPECT_EQ(ErrorOf(model), "");
  model.mutable_opset_import(0)->set_version(99);
  EXPECT_THAT(ErrorOf(model), HasSubstr("operator set 99 is none that is known: ONNX's newest here is "));
  // Those of others are theirs to know.
  model.mutable_opset_import(0)->set_version(21);
  onnx::OperatorSetIdProto& other = *model.add_opset_import();
  other.set_domain("org.example");
  other.set_version(99);
  EXPECT_EQ(ErrorOf(model), "");
}

TEST(ModelName, OfAModelFileIsItsFolders) {
  EXPECT_EQ(ModelName("a/resnet50.onnx"), "resnet50");
  EXPECT_EQ(ModelName("/models/Llama-3.2-1B/model.onnx"), "Llama-3.2-1B");
  EXPECT_EQ(ModelName("/models/Llama-3.2-1B/onnx/model.onnx"), "Llama-3.2-1B");
  EXPECT_EQ(ModelName("/models/here/../there/./model.onnx"), "there");
  EXPECT_EQ(ModelName("/model.onnx"), "model");
  EXPECT_EQ(ModelName("model.onnx"), ModelName(std::filesystem::current_path() / "model.onnx"));
}

TEST(UnknownOperator, OfAnotherDomainIsListedAndNotFatal) {
  const ModelGraph graph = ReadText("g (float[2] x) => (float[2] y) { [a] h = custom.Thing (x) [b] y = Relu (h) }");
  EXPECT_EQ(LayerCalled(graph, "a").status, LayerStatus::kUnknown);
  EXPECT_EQ(LayerCalled(graph, "a").op, "custom.Thing");
  EXPECT_EQ(LayerCalled(graph, "a").work.read().value, 8);
  EXPECT_EQ(LayerCalled(graph, "b").status, LayerStatus::kUnknown);
}

TEST(UnknownOperator, LeavesTheShapeThatTheFileClaims) {
  const ModelGraph graph = ReadText(
      "g (float[N, 4] x) => (float[N, 4] y) <float[N, 4] h> { [a] h = custom.Thing (x) [b] y = Relu (h) }", {{"N", 3}});
  EXPECT_EQ(TypeOf(graph, "h"), "f32 3x4");
  EXPECT_EQ(LayerCalled(graph, "b").status, LayerStatus::kMeasurable);
}

TEST(UnknownOperator, OfOnnxIsReportedWithItsOperatorSet) {
  const ModelGraph graph = ReadText("g (float[2] x) => (float[2] y) { [a] y = Frobnicate (x) }");
  EXPECT_EQ(Describe(LayerCalled(graph, "a")), "unknown: ONNX has no operator Frobnicate in operator set 21");
}

}  // namespace
}  // namespace infimum
