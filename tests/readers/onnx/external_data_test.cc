#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/readers/onnx/model_text.h"
#include "tests/support/temporary_folder.h"

namespace infimum {
namespace {

using ::testing::HasSubstr;

// y = x w, with w of rows x 4 in f32 at `location`.
onnx::ModelProto ModelWithWeightsAt(const std::string& location, std::int64_t rows, const std::string& offset = "") {
  onnx::ModelProto model = ModelOf("g (float[2, 8] x) => (float[2, 4] y) <float[8, 4] w> { [m] y = MatMul (x, w) }");
  onnx::TypeProto::Tensor& input = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  input.mutable_shape()->mutable_dim(1)->set_dim_value(rows);
  model.mutable_graph()->clear_value_info();
  model.mutable_graph()->clear_initializer();
  onnx::TensorProto& w = *model.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(rows);
  w.add_dims(4);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const std::string& key, const std::string& value) {
    onnx::StringStringEntryProto& entry = *w.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  if (!offset.empty()) add("offset", offset);
  return model;
}

long PeakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string ReadIn(const testing::TemporaryFolder& folder, const onnx::ModelProto& model) {
  const Result<ModelGraph> graph = ReadModel(folder.Write("model.onnx", model.SerializeAsString()), {});
  return graph.ok() ? "" : graph.error().message;
}

TEST(ExternalData, BesideTheModelIsFound) {
  const testing::TemporaryFolder folder;
  folder.Write("w.bin", std::string(128, 'a'));
  const Result<ModelGraph> graph =
      ReadModel(folder.Write("model.onnx", ModelWithWeightsAt("w.bin", 8).SerializeAsString()), {});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(LayerCalled(*graph, "m").parameters.value, 128);
  ASSERT_TRUE(ValueCalled(*graph, "w").constant);
  EXPECT_EQ(ValueCalled(*graph, "w").constant->bytes[5], std::byte{'a'});
}

// y = x w + relu(x) v with v beside the model as w is, but at `offset`.
onnx::ModelProto ModelWithTwoWeights(const std::string& offset) {
  onnx::ModelProto model = ModelWithWeightsAt("w.bin", 8);
  onnx::TensorProto& v = *model.mutable_graph()->add_initializer();
  v = model.graph().initializer(0);
  v.set_name("v");
  onnx::StringStringEntryProto& entry = *v.add_external_data();
  entry.set_key("offset");
  entry.set_value(offset);
  const onnx::ModelProto nodes = ModelOf(
      "g (float[2, 8] x, float[8, 4] w, float[8, 4] v) => (float[2, 4] y) "
      "{ [m] a = MatMul (x, w) r = Relu (x) [n] b = MatMul (r, v) y = Add (a, b) }");
  *model.mutable_graph()->mutable_node() = nodes.graph().node();
  return model;
}

TEST(ExternalData, OfOnePlaceIsOneWeightWhateverItsNames) {
  for (const bool same : {true, false}) {
    const testing::TemporaryFolder folder;
    folder.Write("w.bin", std::string(256, 'a'));
    const Result<ModelGraph> graph =
        ReadModel(folder.Write("model.onnx", ModelWithTwoWeights(same ? "0" : "128").SerializeAsString()), {});
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    EXPECT_EQ(LayerCalled(*graph, "m").inputs[1] == LayerCalled(*graph, "n").inputs[1], same);
  }
}

// Tools that leave the weights out give all of them one place.
TEST(ExternalData, OfAPlaceThatIsMadeUpAreManyWeights) {
  const testing::TemporaryFolder folder;
  onnx::ModelProto model = ModelWithTwoWeights("0");
  onnx::TensorProto& other = *model.mutable_graph()->add_initializer();
  other = model.graph().initializer(0);
  other.set_name("u");
  other.set_dims(0, 4);
  const Result<ModelGraph> graph = ReadModel(folder.Write("model.onnx", model.SerializeAsString()), {});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_NE(LayerCalled(*graph, "m").inputs[1], LayerCalled(*graph, "n").inputs[1]);
}

TEST(ExternalData, OutsideOfTheFolderIsRefused) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "model");
  folder.Write("secret", std::string(128, 's'));
  const auto error_of = [&](const std::string& location) {
    const std::filesystem::path file =
        folder.Write("model/model.onnx", ModelWithWeightsAt(location, 8).SerializeAsString());
    const Result<ModelGraph> graph = ReadModel(file, {});
    return graph.ok() ? "" : graph.error().message;
  };
  EXPECT_THAT(error_of("../secret"),
              HasSubstr("initializer 'w': external data '../secret' is outside the model's folder"));
  EXPECT_THAT(error_of("sub/../../secret"), HasSubstr("is outside the model's folder"));
  EXPECT_THAT(error_of((folder.path() / "secret").string()), HasSubstr("is outside the model's folder"));
  std::filesystem::create_symlink(folder.path() / "secret", folder.path() / "model/link");
  EXPECT_THAT(error_of("link"), HasSubstr("is a link that leaves the model's folder"));
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "model/up");
  EXPECT_THAT(error_of("up/secret"), HasSubstr("is a link that leaves the model's folder"));
  EXPECT_THAT(error_of(""), HasSubstr("does not name a file"));
}

TEST(ExternalData, OfALinkedModelMayBeInTheFolderOfTheLinksTarget) {
  // The way download caches keep files: links in a folder of the model, the files themselves in a store.
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "store");
  std::filesystem::create_directory(folder.path() / "model");
  folder.Write("store/1234", ModelWithWeightsAt("w.bin", 8).SerializeAsString());
  folder.Write("store/5678", std::string(128, 'a'));
  std::filesystem::create_symlink(folder.path() / "store/1234", folder.path() / "model/model.onnx");
  std::filesystem::create_symlink(folder.path() / "store/5678", folder.path() / "model/w.bin");
  const Result<ModelGraph> graph = ReadModel(folder.path() / "model/model.onnx", {});
  EXPECT_TRUE(graph.ok()) << graph.error().message;
}

TEST(ExternalData, ThatIsMissingOrTooShortIsNamed) {
  const testing::TemporaryFolder folder;
  ReadOptions needs;
  needs.needs_weights = true;
  const Result<ModelGraph> needed =
      ReadModel(folder.Write("none.onnx", ModelWithWeightsAt("none.bin", 8).SerializeAsString()), needs);
  ASSERT_FALSE(needed.ok());
  EXPECT_THAT(needed.error().message, HasSubstr("external data 'none.bin' cannot be found beside the model"));
  folder.Write("w.bin", std::string(127, 'a'));
  EXPECT_THAT(ReadIn(folder, ModelWithWeightsAt("w.bin", 8)),
              HasSubstr("ends at byte 127, before the 128 bytes at offset 0"));
  folder.Write("w.bin", std::string(256, 'a'));
  EXPECT_EQ(ReadIn(folder, ModelWithWeightsAt("w.bin", 8, "128")), "");
  EXPECT_THAT(ReadIn(folder, ModelWithWeightsAt("w.bin", 8, "129")), HasSubstr("truncated"));
  EXPECT_THAT(ReadIn(folder, ModelWithWeightsAt("w.bin", 8, "9223372036854775807")), HasSubstr("truncated"));
  EXPECT_THAT(ReadIn(folder, ModelWithWeightsAt("w.bin", 8, "-1")), HasSubstr("expected a number of bytes"));
}

TEST(ExternalData, ThatIsAbsentLeavesTheShapesWhereTheyAreEnough) {
  const testing::TemporaryFolder folder;
  const ReadOptions options;
  const std::filesystem::path file = folder.Write("model.onnx", ModelWithWeightsAt("w.bin", 8).SerializeAsString());
  const Result<ModelGraph> graph = ReadModel(file, options);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(LayerCalled(*graph, "m").parameters.value, 128);
  EXPECT_FALSE(ValueCalled(*graph, "w").constant);
  // What is there is checked all the same, and what lies outside is refused.
  folder.Write("w.bin", std::string(127, 'a'));
  EXPECT_FALSE(ReadModel(file, options).ok());
  EXPECT_FALSE(ReadModel(folder.Write("out.onnx", ModelWithWeightsAt("../w", 8).SerializeAsString()), options).ok());
}

TEST(ExternalData, ThatIsAbsentAndMayDecideAShapeIsNamed) {
  const testing::TemporaryFolder folder;
  onnx::ModelProto model = ModelOf("g (float[2, 6] x) => (float[3, 4] y) { y = Reshape (x, shape) }");
  onnx::TensorProto& shape = *model.mutable_graph()->add_initializer();
  shape.set_name("shape");
  shape.set_data_type(onnx::TensorProto::INT64);
  shape.add_dims(2);
  shape.set_data_location(onnx::TensorProto::EXTERNAL);
  shape.add_external_data()->set_key("location");
  shape.mutable_external_data(0)->set_value("w.bin");
  EXPECT_THAT(
      ReadIn(folder, model),
      HasSubstr(
          "initializer 'shape': its integers may decide a shape, and the file beside the model that they lie in, '"));
}

TEST(ExternalData, IsHashedByItsContent) {
  const testing::TemporaryFolder folder;
  const auto hash = [&](const onnx::ModelProto& model) {
    return HashOfExternalData(folder.Write("model.onnx", model.SerializeAsString()));
  };
  const onnx::ModelProto one = ModelWithWeightsAt("w.bin", 8);
  EXPECT_EQ(hash(ModelOf("g (float[2] x) => (float[2] y) <float[2] w> { y = Mul (x, w) }")), "");
  EXPECT_EQ(HashOfExternalData(folder.Write("text.onnx", "no model")), "");
  EXPECT_EQ(HashOfExternalData(folder.path() / "none.onnx"), "");
  const std::string absent = hash(one);
  EXPECT_THAT(absent, HasSubstr("+absent "));
  folder.Write("w.bin", std::string(128, 'a'));
  const std::string with = hash(one);
  EXPECT_EQ(with.size(), 65U);
  EXPECT_NE(absent.substr(8), with.substr(1));
  folder.Write("w.bin", std::string(127, 'a') + "b");
  EXPECT_NE(hash(one), with);
  // By content: where it is called otherwise it is the same. A file of several tensors is read once.
  folder.Write("v.bin", std::string(128, 'a'));
  onnx::ModelProto other = ModelWithWeightsAt("v.bin", 8);
  *other.mutable_graph()->add_initializer() = other.graph().initializer(0);
  EXPECT_EQ(hash(other), with);
  // Also of a constant in a body, and of a function's.
  onnx::ModelProto nested = ModelWithWeightsAt("v.bin", 8);
  onnx::AttributeProto& body = *nested.mutable_graph()->mutable_node(0)->add_attribute();
  *body.mutable_g()->add_initializer() = one.graph().initializer(0);
  const std::string both = hash(nested);
  EXPECT_NE(both, with);
  EXPECT_EQ(both.size(), 65U);
  std::filesystem::remove(folder.path() / "w.bin");
  EXPECT_THAT(hash(nested), HasSubstr("+absent "));
  // What may not be read is not read.
  std::filesystem::create_directory(folder.path() / "model");
  const std::filesystem::path inner =
      folder.Write("model/model.onnx", ModelWithWeightsAt("../v.bin", 8).SerializeAsString());
  EXPECT_EQ(HashOfExternalData(inner), absent);
}

TEST(ExternalData, OfManyGigabytesIsCheckedWithoutReadingIt) {
  const testing::TemporaryFolder folder;
  constexpr std::int64_t kRows = std::int64_t{1} << 30;                                              // 16 GiB
  std::filesystem::resize_file(folder.Write("w.bin", ""), static_cast<std::uintmax_t>(kRows) * 16);  // sparse
  const std::filesystem::path file = folder.Write("model.onnx", ModelWithWeightsAt("w.bin", kRows).SerializeAsString());
  const long before = PeakKilobytes();
  const Result<ModelGraph> graph = ReadModel(file, {});
  EXPECT_LT(PeakKilobytes() - before, 256 * 1024);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(LayerCalled(*graph, "m").parameters.value, kRows * 16);
}

TEST(EmbeddedWeights, AreNotParsedInALargeFile) {
  onnx::ModelProto model =
      ModelOf("g (float[2, 1024] x) => (float[2, 1024] y) <float[1024, 1024] w> { [m] y = MatMul (x, w) }");
  model.mutable_graph()->clear_value_info();
  model.mutable_graph()->clear_initializer();
  onnx::TensorProto& w = *model.mutable_graph()->add_initializer();
  w.set_name("w");
  w.set_data_type(onnx::TensorProto::FLOAT);
  w.add_dims(1024);
  w.add_dims(1024);
  w.set_raw_data(std::string(std::size_t{4} << 20, 'a'));
  const Result<ModelGraph> graph = TryRead(model);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  EXPECT_EQ(LayerCalled(*graph, "m").parameters.value, 4 << 20);
  w.set_dims(0, 64);  // more bytes than the shape takes cannot be told from another encoding
  w.set_dims(1, 1 << 30);
  EXPECT_THAT(ErrorOf(model), HasSubstr("initializer 'w': has fewer elements than its shape"));
}

}  // namespace
}  // namespace infimum
