// Cuts of graphs, and the files of bricks against onnx's checker and our own reader.
#include "src/synth/bricks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <set>

#include "src/readers/onnx/read_model.h"
#include "src/synth/brick_file.h"
#include "tests/support/marker.h"
#include "tests/support/temporary_folder.h"

namespace infimum::synth::bricks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two branches of convolutions, one of them with a folded normalization, an Identity and a residual.
constexpr const char* kResidual = R"(
    <ir_version: 3, opset_import: ["" : 13], domain: "org.example">
    net (float[N, 8, 16, 16] x) => (float[N, 8, 16, 16] y, float[N, 2048] z)
      <float[8, 8, 3, 3] w1, float[8, 8, 3, 3] w2, float[8] scale, float[8] shift, float[8] mean, float[8] variance,
       int64[2] flat = {0, -1}> {
      [conv_1] a = Conv <pads = [1, 1, 1, 1]> (x, w1)
      [relu_1] b = Relu (a)
      [same] c = Identity (b)
      [conv_2] d = Conv <pads = [1, 1, 1, 1]> (c, w2)
      [norm_2] e = BatchNormalization (d, scale, shift, mean, variance)
      [add] f = Add (e, b)
      [relu_2] y = Relu (f)
      [reshape] g = Reshape (y, flat)
      [relu_3] z = Relu (g)
    })";

// What the text declares without values.
void AddInitializers(onnx::GraphProto& graph) {
  for (const onnx::ValueInfoProto& info : graph.value_info()) {
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(info.name());
    tensor.set_data_type(info.type().tensor_type().elem_type());
    int elements = 1;
    for (const auto& dim : info.type().tensor_type().shape().dim()) {
      tensor.add_dims(dim.dim_value());
      elements *= static_cast<int>(dim.dim_value());
    }
    if (tensor.data_type() == onnx::TensorProto::FLOAT)
      tensor.mutable_float_data()->Resize(elements, 0.125F);
    else
      tensor.mutable_int32_data()->Resize(elements, 3);
  }
  graph.clear_value_info();
  for (onnx::NodeProto& node : *graph.mutable_node())
    for (onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) AddInitializers(*attribute.mutable_g());
}

class Bricks : public ::testing::Test {
 protected:
  std::string Write(const std::string& text, const std::string& name = "net.onnx") const {
    onnx::ModelProto model;
    const auto parsed = onnx::OnnxParser::Parse(model, text.c_str());
    EXPECT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
    AddInitializers(*model.mutable_graph());
    return folder_.Write(name, model.SerializeAsString());
  }

  std::vector<Brick> Collect(const std::vector<std::string>& paths, const Cut& cut, const BrickOptions& options = {},
                             const std::map<std::string, std::int64_t>& dims = {}) const {
    std::vector<BrickSource> models;
    for (const std::string& path : paths) {
      Result<BrickSource> model = BrickSource::Open(path, dims);
      EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
      models.push_back(std::move(*model));
    }
    Result<std::vector<Brick>> bricks = CollectBricks(models, cut, options);
    EXPECT_TRUE(bricks.ok()) << (bricks.ok() ? "" : bricks.error().message);
    for (const Brick& brick : *bricks)
      if (brick.left_out.empty()) Check(brick);
    return std::move(*bricks);
  }

  static onnx::ModelProto Parsed(const Brick& brick) {
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(brick.file)) << brick.text;
    return model;
  }

  // The checker accepts it, and the reader finds the same work in it.
  void Check(const Brick& brick) const {
    const std::string path = folder_.Write("brick.onnx", brick.file);
    EXPECT_NO_THROW(onnx::checker::check_model(path, true)) << brick.text;
    const Result<ModelGraph> graph = ReadModel(path, {});
    ASSERT_TRUE(graph.ok()) << brick.text << ": " << graph.error().message;
    Flops flops;
    VisitLayers(*graph, [&](const Layer& layer, std::int64_t) { flops += layer.work.direct; });
    EXPECT_GE(flops.value, brick.flops.value) << brick.text;
  }

  static std::vector<std::string> Operators(const Brick& brick) {
    std::vector<std::string> ops;
    const onnx::ModelProto model = Parsed(brick);
    for (const onnx::NodeProto& node : model.graph().node())
      if (node.op_type() != "ConstantOfShape") ops.push_back(node.op_type());
    return ops;
  }
  template <class Values>
  static std::vector<std::string> Names(const Values& values) {
    std::vector<std::string> names;
    for (const auto& value : values) names.push_back(value.name());
    return names;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(Bricks, OfLayersAreUniqueAndSayWhereTheyOccur) {
  const std::string path = Write(kResidual), other = Write(kResidual, "other.onnx");
  const std::vector<Brick> bricks = Collect({path, other}, {}, {}, {{"N", 2}});
  ASSERT_EQ(bricks.size(), 4U);
  EXPECT_THAT(bricks[0].text, HasSubstr("convolution dtype=f32:f32:f32 in=2x8x16x16 out_channels=8"));
  EXPECT_EQ(bricks[1].text, "pointwise kind=relu dtype=f32:-:f32 in=4096");
  EXPECT_EQ(bricks[1].count(), 6);
  ASSERT_EQ(bricks[1].uses.size(), 2U);
  EXPECT_EQ(bricks[1].uses[1].count, 3);
  EXPECT_THAT(bricks[1].uses[0].layers, ElementsAre("relu_1"));
  const onnx::ModelProto model = Parsed(bricks[1]);
  EXPECT_EQ(model.domain(), "org.example");
  EXPECT_EQ(model.opset_import(0).version(), 13);
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(0).dim_value(), 2);
}

TEST_F(Bricks, HaveTheNodesThatRewritesMadeAPartOfTheirLayers) {
  const std::vector<Brick> bricks = Collect({Write(kResidual)}, {.layer = "norm_2"}, {}, {{"N", 1}});
  ASSERT_EQ(bricks.size(), 1U);
  EXPECT_THAT(Operators(bricks[0]), ElementsAre("Identity", "Conv", "BatchNormalization"));
  const onnx::ModelProto model = Parsed(bricks[0]);
  EXPECT_THAT(Names(model.graph().input()), ElementsAre("b"));
  EXPECT_THAT(Names(model.graph().output()), ElementsAre("e"));
}

TEST_F(Bricks, OfFusedRegionsKeepActivationsAndAdditions) {
  const std::vector<Brick> bricks = Collect({Write(kResidual)}, {.into = CutInto::kFused}, {}, {{"N", 1}});
  std::vector<std::vector<std::string>> ops;
  for (const Brick& brick : bricks) ops.push_back(Operators(brick));
  EXPECT_THAT(ops,
              ElementsAre(ElementsAre("Conv", "Relu"),
                          ElementsAre("Identity", "Conv", "BatchNormalization", "Add", "Relu"), ElementsAre("Relu")));
  EXPECT_THAT(Names(Parsed(bricks[1]).graph().output()), ElementsAre("y"));
}

TEST_F(Bricks, OfSuccessiveLayersHaveTheViewsBetweenThem) {
  const std::vector<Brick> bricks =
      Collect({Write(kResidual)}, {.into = CutInto::kBlocks, .block_layers = 3}, {}, {{"N", 1}});
  ASSERT_EQ(bricks.size(), 2U);
  EXPECT_THAT(Operators(bricks[0]), ElementsAre("Conv", "Relu", "Identity", "Conv", "BatchNormalization"));
  EXPECT_THAT(Names(Parsed(bricks[0]).graph().output()), ElementsAre("b", "e"));
  EXPECT_THAT(Operators(bricks[1]), ElementsAre("Add", "Relu", "Reshape", "Relu"));
  EXPECT_THAT(Names(Parsed(bricks[1]).graph().output()), ElementsAre("y", "z"));
}

TEST_F(Bricks, OfTheSameLayersJoinedOtherwiseAreOthers) {
  const auto net = [&](const std::string& nodes, const std::string& name) {
    return Write(
        R"(<ir_version: 8, opset_import: ["" : 17]> net (float[64] x, float[64] z) => (float[64] y) {)" + nodes + "}",
        name);
  };
  const std::vector<std::string> paths = {net("a = Relu (x) b = Relu (a) y = Add (b, z)", "chain.onnx"),
                                          net("a = Relu (x) b = Relu (z) y = Add (a, b)", "parallel.onnx"),
                                          net("a = Relu (x) b = Relu (a) y = Add (b, a)", "residual.onnx"),
                                          net("c = Relu (z) d = Relu (c) y = Add (d, x)", "renamed.onnx")};
  const std::vector<Brick> bricks = Collect(paths, {.into = CutInto::kBlocks, .block_layers = 3});
  ASSERT_EQ(bricks.size(), 3U);
  EXPECT_EQ(bricks[0].count(), 2);
  EXPECT_THAT(bricks[0].text, HasSubstr("] (#1 %1)"));
  EXPECT_THAT(bricks[1].text, HasSubstr("in=64] (%1) ["));
  EXPECT_THAT(bricks[2].text, HasSubstr("] (#1 #0)"));
  // A view of what comes from outside, which only the next block reads, is an output too.
  const auto with = [&](const std::string& view, const std::string& read) {
    return Write(R"(<ir_version: 8, opset_import: ["" : 17]> net (float[64] x) => (float[1, 64] y)
                      <int64[2] flat = {1, 64}> { a = Relu (x) )" +
                     view + "b = Relu (a) y = " + read + "}",
                 read + ".onnx");
  };
  const std::vector<Brick> views =
      Collect({with("v = Reshape (x, flat) ", "Add (b, v)"), with("", "Reshape (b, flat)")},
              {.into = CutInto::kBlocks, .block_layers = 2});
  ASSERT_EQ(views.size(), 3U);
  EXPECT_THAT(views[0].text, HasSubstr(" -> (#1 %0')"));
  EXPECT_THAT(views[2].text, HasSubstr(" -> (#1')"));
  // What is read behind a block is an output of it.
  const std::vector<Brick> parts = Collect({paths[0], paths[2]}, {.into = CutInto::kBlocks, .block_layers = 2});
  ASSERT_EQ(parts.size(), 3U);  // both end with the same addition
  EXPECT_THAT(parts[2].text, HasSubstr(" -> (#0 #1)"));
}

TEST_F(Bricks, HaveMadeWeightsSeededOnesOrTheModels) {
  const std::string path = Write(kResidual);
  const auto first = [&](const BrickOptions& options, const Cut& cut = {}) {
    return Parsed(Collect({path}, cut, options, {{"N", 1}})[0]).graph();
  };
  const onnx::GraphProto made = first({});
  EXPECT_EQ(made.node(0).op_type(), "ConstantOfShape");
  const onnx::TensorProto& value = made.node(0).attribute(0).t();
  EXPECT_EQ(*reinterpret_cast<const float*>(value.raw_data().data()), 1.0F / 72);
  const onnx::GraphProto own = first({.own_weights = true});
  ASSERT_EQ(own.initializer_size(), 1);
  EXPECT_EQ(own.initializer(0).float_data(5), 0.125F);
  // Alike in every brick that has it, and by every seed another.
  const onnx::GraphProto seeded = first({.seed = 1});
  EXPECT_EQ(seeded.initializer(0).raw_data().size(), 8U * 8 * 9 * 4);
  const onnx::GraphProto whole = first({.seed = 1}, {.into = CutInto::kBlocks, .block_layers = 100});
  EXPECT_EQ(whole.node_size(), 9);
  const auto weight = std::ranges::find(whole.initializer(), "w1", [](const auto& tensor) { return tensor.name(); });
  EXPECT_EQ(weight->raw_data(), seeded.initializer(0).raw_data());
  EXPECT_NE(first({.seed = 2}).initializer(0).raw_data(), seeded.initializer(0).raw_data());
}

TEST_F(Bricks, OfLargeFilesAndExternalDataHaveTheModelsWeights) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 9, opset_import: ["" : 17]>
      net (float[4, 1024] x) => (float[4, 512] z) { y = MatMul (x, w) z = MatMul (y, v) })")
                  .IsOK());
  std::string elements;
  for (int i = 0; i < 512 * 1024; ++i) {
    const auto value = static_cast<float>(i);
    elements.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  for (const char* name : {"w", "v"}) {
    onnx::TensorProto& weight = *model.mutable_graph()->add_initializer();
    weight.set_name(name);
    weight.set_data_type(onnx::TensorProto::FLOAT);
    weight.add_dims(*name == 'w' ? 1024 : 512);
    weight.add_dims(512);
  }
  // One as numbers in the file, which is large enough to be read without them, one beside it.
  for (int i = 0; i < 512 * 1024; ++i)
    model.mutable_graph()->mutable_initializer(0)->add_float_data(static_cast<float>(i));
  onnx::TensorProto& beside = *model.mutable_graph()->mutable_initializer(1);
  beside.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& location = *beside.add_external_data();
  location.set_key("location");
  location.set_value("weights.bin");
  folder_.Write("weights.bin", elements.substr(0, 512 * 512 * 4));
  const std::string path = folder_.Write("large.onnx", model.SerializeAsString());
  const std::vector<Brick> bricks = Collect({path}, {}, {.own_weights = true});
  ASSERT_EQ(bricks.size(), 2U);
  const onnx::ModelProto in_file = Parsed(bricks[0]), from_beside = Parsed(bricks[1]);
  ASSERT_EQ(in_file.graph().initializer(0).float_data_size(), 512 * 1024);
  EXPECT_EQ(in_file.graph().initializer(0).float_data(99'999), 99'999.0F);
  EXPECT_EQ(from_beside.graph().initializer(0).raw_data(), elements.substr(0, 512 * 512 * 4));
  std::filesystem::resize_file(folder_.File("weights.bin"), 100);
  EXPECT_FALSE(BrickSource::Open(path, {}).ok());
}

TEST_F(Bricks, OfBodiesHaveThemWholeWithWhatTheyTakeFromOutside) {
  const std::string path = Write(R"(<ir_version: 8, opset_import: ["" : 16]>
      net (bool c, float[2, 64] x) => (float[2, 64] z) <float[64, 64] w, float[2, 64] v> {
        [before] h = Relu (x)
        [decide] y = If (c) <then_branch = t () => (float[2, 64] a) { [inner] a = MatMul (h, w) },
                             else_branch = e () => (float[2, 64] b) <float[64, 64] own> { [other] b = MatMul (h, own) }>
        [after] z = Mul (y, v)
      })");
  const std::vector<Brick> bricks = Collect({path}, {}, {.anonymize = true});
  ASSERT_EQ(bricks.size(), 3U);
  EXPECT_THAT(bricks[1].text, HasSubstr("If(bool scalar, f32 2x64"));
  const onnx::GraphProto graph = Parsed(bricks[1]).graph();
  EXPECT_EQ(graph.input_size(), 2);
  EXPECT_EQ(graph.output_size(), 1);
  EXPECT_EQ(graph.node(graph.node_size() - 1).op_type(), "If");
  for (const char* name : {"before", "decide", "inner", "other", "own"})
    EXPECT_EQ(bricks[1].file.find(name), std::string::npos) << name;
}

TEST_F(Bricks, QuantizedKeepTheNodesAroundThemAndHaveZeroPointsAndScales) {
  const std::string path = Write(R"(<ir_version: 8, opset_import: ["" : 13]>
      net (int8[1, 16, 8, 8] q) => (int8[1, 32, 8, 8] r)
        <float s = {0.02}, int8 zero = {0}, int8[32, 16, 1, 1] w, float[32] ws, int8[32] wz> {
        x = DequantizeLinear (q, s, zero)
        f = DequantizeLinear <axis = 0> (w, ws, wz)
        y = Conv (x, f)
        r = QuantizeLinear (y, s, zero)
      })");
  const std::vector<Brick> bricks = Collect({path}, {});
  ASSERT_EQ(bricks.size(), 1U);
  EXPECT_THAT(bricks[0].text, HasSubstr("dtype=s8:s8:s8"));
  EXPECT_THAT(Operators(bricks[0]), ElementsAre("DequantizeLinear", "DequantizeLinear", "Conv", "QuantizeLinear"));
  std::map<std::string, std::string> made;
  const onnx::ModelProto model = Parsed(bricks[0]);
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (node.op_type() != "ConstantOfShape") continue;
    made[node.output(0)] = node.attribute(0).t().raw_data();
  }
  EXPECT_EQ(made["wz"], std::string(1, '\0'));
  EXPECT_EQ(made["w"], "\x01");
  ASSERT_EQ(made["ws"].size(), sizeof(float));
  EXPECT_EQ(*reinterpret_cast<const float*>(made["ws"].data()), 1.0F / 128);
}

TEST_F(Bricks, ThatCannotStandAloneSayWhy) {
  const std::string path = Write(R"(<ir_version: 8, opset_import: ["" : 16, "org.example" : 1]>
      net (float[2, 64] x) => (float[2, 64] z) {
        [own] y = org.example.Blend (x)
        [after] z = Relu (y)
      })");
  const std::vector<Brick> bricks = Collect({path}, {});
  ASSERT_EQ(bricks.size(), 2U);
  EXPECT_EQ(bricks[0].left_out, "'Blend' is neither ONNX's nor ONNX Runtime's");
  EXPECT_THAT(bricks[1].left_out, HasSubstr("'y' has no known type"));
  for (const Brick& brick : Collect({path}, {}, {.anonymize = true})) {
    EXPECT_THAT(brick.left_out, ::testing::Not(HasSubstr("Blend")));
    EXPECT_THAT(brick.name + brick.text, ::testing::Not(HasSubstr("Blend")));
  }
  std::vector<BrickSource> models;
  models.push_back(std::move(*BrickSource::Open(path, {})));
  const Result<std::vector<Brick>> none = CollectBricks(models, {.layer = "aftr"}, {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "net: there is no layer 'aftr', did you mean 'after'?");
}

TEST_F(Bricks, AnonymousHaveNoNameOfTheModel) {
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(
      <ir_version: 9, opset_import: ["" : 17, "xyzzyplugh.ops" : 1], producer_name: "Xyzzyplugh", domain: "xyzzyplugh",
       producer_version: "Xyzzyplugh", doc_string: "Xyzzyplugh", metadata_props: ["Xyzzyplugh": "Xyzzyplugh"]>
      Xyzzyplugh (float[Xyzzyplugh_n, 16] Xyzzyplugh_x, bool Xyzzyplugh_c) => (float[Xyzzyplugh_n, 16] Xyzzyplugh_y)
        <float[16, 16] Xyzzyplugh_w, int64[2] Xyzzyplugh_s = {0, 16}> {
        [Xyzzyplugh_1] Xyzzyplugh_a = xyzzyplugh.ops.XyzzyplughBlock (Xyzzyplugh_x, Xyzzyplugh_w)
        [Xyzzyplugh_2] Xyzzyplugh_b = Reshape (Xyzzyplugh_a, Xyzzyplugh_s)
        [Xyzzyplugh_3] Xyzzyplugh_y = If (Xyzzyplugh_c) <
            then_branch = Xyzzyplugh_t () => (float[Xyzzyplugh_n, 16] Xyzzyplugh_d) { [Xyzzyplugh_4] Xyzzyplugh_d = Relu (Xyzzyplugh_b) },
            else_branch = Xyzzyplugh_e () => (float[Xyzzyplugh_n, 16] Xyzzyplugh_f) { [Xyzzyplugh_5] Xyzzyplugh_f = Tanh (Xyzzyplugh_b) }>
      }
      <domain: "xyzzyplugh.ops", opset_import: ["" : 17]>
      XyzzyplughBlock (Xyzzyplugh_p, Xyzzyplugh_q) => (Xyzzyplugh_r) {
        [Xyzzyplugh_6] Xyzzyplugh_m = MatMul (Xyzzyplugh_p, Xyzzyplugh_q)
        [Xyzzyplugh_7] Xyzzyplugh_r = Relu (Xyzzyplugh_m)
      })")
                  .IsOK());
  AddInitializers(*model.mutable_graph());
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) tensor.set_doc_string("Xyzzyplugh");
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
    node.set_doc_string("Xyzzyplugh");
    node.add_metadata_props()->set_value("Xyzzyplugh");
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) attribute.set_doc_string("Xyzzyplugh");
  }
  const std::string path = folder_.Write("Xyzzyplugh.onnx", model.SerializeAsString());
  for (const CutInto into : {CutInto::kLayers, CutInto::kBlocks, CutInto::kFused}) {
    for (const bool own_weights : {false, true}) {
      const std::vector<Brick> bricks = Collect({path}, {.into = into, .block_layers = 9},
                                                {.own_weights = own_weights, .anonymize = true}, {{"Xyzzyplugh_n", 2}});
      for (const Brick& brick : bricks) {
        EXPECT_EQ(brick.left_out, "");
        EXPECT_THAT(testing::TracesOfTheMarker(brick.file + brick.name + brick.text), IsEmpty());
      }
      EXPECT_EQ(bricks.size(), into == CutInto::kLayers ? 3U : into == CutInto::kFused ? 2U : 1U);
    }
  }
}

}  // namespace
}  // namespace infimum::synth::bricks_test
