#include "analyzer/floor/floor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "analyzer/bracket/bracket.h"
#include "analyzer/floor/compulsory_traffic.h"
#include "analyzer/floor/residency.h"
#include "tests/support/graph_builder.h"
#include "tests/support/random_graph.h"

namespace infimum {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::GraphBuilder;
using ::testing::IsEmpty;

DeviceModel Device(const DevicePeaks& peaks = testing::TestPeaks()) {
  Result<DeviceModel> model = DeviceModel::Make(testing::TestDeviceKey(), peaks, 1);
  EXPECT_TRUE(model.ok());
  return *model;
}

Floor FloorIn(GraphBuilder& model, ProgramClass program_class, const DevicePeaks& peaks = testing::TestPeaks()) {
  return FloorOf(ComputeFloors(model.graph(), Device(peaks)), program_class);
}

ValueId KnownIndices(GraphBuilder& model, const std::string& name, const std::vector<std::int64_t>& rows) {
  const Shape shape{{static_cast<std::int64_t>(rows.size())}};
  const ValueId ids = model.Weight(name, shape.dims, DataType::kS64);
  Tensor known{DataType::kS64, shape, std::vector<std::byte>(rows.size() * sizeof rows[0])};
  std::memcpy(known.bytes.data(), rows.data(), known.bytes.size());
  model.graph().value(ids).constant = std::move(known);
  return ids;
}

TEST(CompulsoryTraffic, WeightsAndInputsAreReadAndOutputsWrittenButNoIntermediates) {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 1000}), model.Weight("w", {1000, 10}));
  model.Output(model.Unary("relu", PointwiseKind::kRelu, y));
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(model.graph());
  EXPECT_EQ(traffic.read, 32000 + 40000);
  EXPECT_EQ(traffic.written, 320);
  EXPECT_EQ(traffic.inputs, 32000);
}

TEST(CompulsoryTraffic, AGatherReadsOneRowSinceAllIndicesMayBeOne) {
  GraphBuilder model;
  const ValueId table = model.Weight("table", {30522, 768});
  model.Output(model.Gather("embed", table, model.Input("ids", {128}, DataType::kS64), 128));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 768 * 4 + 128 * 8);
}

TEST(CompulsoryTraffic, AGatherWithKnownIndicesReadsAsManyRowsAsAreDistinct) {
  const std::vector<std::int64_t> rows{7, 3, 7, 7};
  GraphBuilder model;
  const ValueId ids = KnownIndices(model, "ids", rows);
  model.Output(model.Gather("rows", model.Input("x", {100, 64}), ids, 4));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 2 * 64 * 4 + 4 * 8);
}

TEST(CompulsoryTraffic, OfExpertsThatARouterChoosesAsManyCountAsAnyRunReads) {
  for (const std::int64_t indices : {2, 16, 512}) {
    GraphBuilder model;
    model.Output(model.Gather("pick", model.Weight("experts", {8, 64}),
                              model.Input("chosen", {indices}, DataType::kS64), indices));
    const double chosen = static_cast<double>(indices) * 8;
    EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 64 * 4 + chosen);  // any may be one
    model.graph().quantities.push_back({"moe.experts", "pick", std::nullopt, 2, 8});
    EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 2 * 64 * 4 + chosen);
    model.graph().quantities[0].stated = 5;
    EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, (indices < 5 ? 2 : 5) * 64 * 4 + chosen);
  }
}

TEST(CompulsoryTraffic, OfHalfOfWhatExpertsGiveHalfOfThemIsNeeded) {
  GraphBuilder model;
  const ValueId rows =
      model.Gather("pick", model.Weight("experts", {8, 64}), model.Input("chosen", {16}, DataType::kS64), 16);
  MovementConfig half;
  half.kind = MovementKind::kSlice;
  half.inputs = {Shape{{16, 64}}};
  half.outputs = {Shape{{16, 32}}};
  model.Output(model.Measurable("half", "Slice", {rows}, half));
  model.graph().quantities.push_back({"moe.experts", "pick", std::nullopt, 2, 8});
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 64 * 4 + 8 * 8);
}

TEST(CompulsoryTraffic, SlicesThatAProductReadsWhereTheyAreAreNeeded) {
  GraphBuilder model;
  const ValueId w =
      model.Gather("pick", model.Weight("experts", {8, 64}), model.Input("chosen", {2}, DataType::kS64), 2);
  model.Output(model.MatMul("fc", model.Input("x", {4, 2}), w));
  for (Layer& layer : model.graph().layers) {
    if (layer.name == "pick") layer.work.written = {};
    if (layer.name == "fc") layer.work.operand_reads[1] = {};
  }
  model.graph().quantities.push_back({"moe.experts", "pick", std::nullopt, 2, 2});
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 2 * 64 * 4 + 2 * 8 + 4 * 2 * 4);
}

TEST(CompulsoryTraffic, ARowOfAProductNeedsARowAndAllOfTheWeights) {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {16, 1024}), model.Weight("w", {1024, 32}));
  model.Output(model.Gather("last", y, model.Weight("id", {1}, DataType::kS64), 1));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 1024 * 4 + 1024 * 32 * 4 + 8);
}

// 16 of the outputs of 3x3 windows over 3x32x32.
double ReadOfACrop(std::int64_t stride, std::int64_t dilation, std::int64_t padding) {
  GraphBuilder model;
  ConvolutionConfig config;
  config.input = Shape{{1, 3, 32, 32}};
  config.output_channels = 8;
  config.kernel = Shape{{3, 3}};
  config.stride = Shape{{stride, stride}};
  config.dilation = Shape{{dilation, dilation}};
  config.padding = {padding, padding, padding, padding};
  const ValueId y =
      model.Measurable("conv", "Conv", {model.Input("x", {1, 3, 32, 32}), model.Weight("w", {8, 3, 3, 3})}, config);
  MovementConfig crop;
  crop.kind = MovementKind::kSlice;
  crop.inputs = {OutputsOf(LayerConfig(config))[0].shape};
  crop.outputs = {Shape{{1, 8, 4, 4}}};
  model.Output(model.Measurable("crop", "Slice", {y}, crop));
  return FindCompulsoryTraffic(model.graph()).read - 8 * 3 * 9 * 4;
}

TEST(CompulsoryTraffic, ACropOfAConvolutionNeedsNoMoreThanItsWindows) {
  const double pixel = 3 * 4;
  EXPECT_NEAR(ReadOfACrop(1, 1, 1), 16.0 / 9 * pixel, 1e-6);  // none is in more than nine windows
  EXPECT_LE(ReadOfACrop(1, 1, 1), 6.0 * 6 * pixel);           // what a crop in the middle really needs
  EXPECT_NEAR(ReadOfACrop(2, 1, 1), 16.0 / 4 * pixel, 1e-6);  // at most two taps of a row hit a pixel
  // Every second pixel alone is seen, by three windows of a row: the corner needs no others than 6x6.
  EXPECT_LE(ReadOfACrop(2, 2, 2), 16.0 / 9 * pixel + 1e-6);
  EXPECT_NEAR(ReadOfACrop(1, 1, 3), 0, 1e-3);  // windows in the corner see padding alone
}

TEST(CompulsoryTraffic, ATiedWeightCountsOnceByTheLayerThatReadsMostOfIt) {
  GraphBuilder model;
  const ValueId table = model.Weight("table", {100, 64});
  const ValueId rows = model.Gather("embed", table, model.Input("ids", {4}, DataType::kS64), 4);
  const ValueId transposed = model.Free("view", "Transpose", {table}, {64, 100}, DataType::kF32);
  model.Output(model.MatMul("head", rows, transposed));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 100 * 64 * 4 + 4 * 8);
}

TEST(CompulsoryTraffic, AViewIsWalkedThrough) {
  GraphBuilder model;
  const ValueId w = model.Weight("w", {10, 1000});
  const ValueId x = model.View("flat", model.Input("x", {8, 10, 1}), {8, 10});
  model.Output(model.MatMul("fc", x, w));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 320 + 40000);
}

TEST(CompulsoryTraffic, ADequantizedWeightCountsByItsQuantizedBytes) {
  GraphBuilder model;
  const ValueId quantized = model.Weight("w_q", {1000, 10}, DataType::kS8);
  const ValueId w =
      model.Free("w_dq", "DequantizeLinear", {quantized, model.Weight("scale", {1})}, {1000, 10}, DataType::kF32);
  model.graph().value(w).kind = ValueKind::kWeight;
  model.Output(model.MatMul("fc", model.Input("x", {8, 1000}), w));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 32000 + 10000);
}

TEST(CompulsoryTraffic, ScalesAndZeroPointsOfBlocksAreWeights) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 1024});
  const ValueId w = model.Weight("w", {1024, 10}, DataType::kU4), s = model.Weight("s", {32, 10});
  const ValueId z = model.Weight("z", {32, 10}, DataType::kU4);
  MatMulConfig config;
  config.types.weights = DataType::kU4;
  config.a = Shape{{1, 8, 1024}};
  config.b = Shape{{1, 1024, 10}};
  config.scales = {32, 1, DataType::kF32, DataType::kU4};
  model.Output(model.Measurable("fc", "MatMul", {x, w, s, z}, config));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 8 * 1024 * 4 + 5120 + 320 * 4 + 160);
}

TEST(CompulsoryTraffic, AWeightThatIsFilledIsAWeight) {
  GraphBuilder model;
  const ValueId w =
      model.Free("fill", "ConstantOfShape", {model.Weight("shape", {2}, DataType::kS64)}, {1000, 10}, DataType::kF32);
  model.graph().value(w).kind = ValueKind::kWeight;
  model.Output(model.MatMul("fc", model.Input("x", {8, 1000}), w));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 32000 + 40000);
}

TEST(CompulsoryTraffic, WhatOnlyConstantsGoIntoIsComputedOnce) {
  GraphBuilder model;
  const ValueId sum =
      model.Binary("sum", PointwiseKind::kAdd, model.Weight("a", {1000, 10}), model.Weight("b", {1000, 10}));
  model.Output(model.MatMul("fc", model.Input("x", {8, 1000}), sum));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 32000 + 40000);
}

// A weight of one byte an element that is scaled once (Cast, Mul) is no larger for being floating point then.
TEST(CompulsoryTraffic, AFoldedWeightCountsNoMoreThanWhatItWasComputedFrom) {
  for (const char* op : {"Mul", "Expand", "Concat"}) {
    GraphBuilder model;
    const ValueId stored = model.Weight("w_s8", {1000, 10}, DataType::kS8);
    const ValueId w = model.Free("w", op, {stored, model.Weight("scale", {1})}, {1000, 10}, DataType::kF32);
    model.graph().value(w).kind = ValueKind::kWeight;
    model.Output(model.MatMul("fc", model.Input("x", {8, 1000}), w));
    EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 32000 + 10000) << op;
  }
}

// A part of a weight of 4 bits that becomes floating point needs that part of 4 bits.
TEST(CompulsoryTraffic, APartOfAFoldedWeightNeedsThatPartOfWhatIsStored) {
  for (const char* op : {"Slice", "Split", "Gather"}) {
    GraphBuilder model;
    const ValueId stored = model.Weight("w_s4", {1000, 64}, DataType::kS4);
    const ValueId whole =
        model.Free("whole", "DequantizeLinear", {stored, model.Weight("scale", {1000, 2})}, {1000, 64}, DataType::kF32);
    std::vector<ValueId> inputs{whole};
    double share = 0.5;
    if (std::string_view(op) == "Gather") {
      std::vector<std::int64_t> rows(500, 7);
      rows[1] = 3;
      inputs.push_back(KnownIndices(model, "rows", rows));
      share = 2 / 1000.0;
    }
    const ValueId part = model.Free("part", op, inputs, {500, 64}, DataType::kF32);
    const ValueId turned = model.Free("turned", "Transpose", {part}, {64, 500}, DataType::kF32);
    for (const ValueId value : {whole, part, turned}) model.graph().value(value).kind = ValueKind::kWeight;
    model.Output(model.MatMul("fc", model.Input("x", {8, 64}), turned));
    EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 8 * 64 * 4 + 1000 * 64 / 2 * share) << op;
  }
}

// A causal mask, say.
TEST(CompulsoryTraffic, WhatIsMadeFromNothingNeedsNoReading) {
  for (const char* op : {"", "Trilu", "Expand", "Mul"}) {
    GraphBuilder model;
    const ValueId shape = model.Weight("shape", {2}, DataType::kS64);
    ValueId mask = model.Free("fill", "ConstantOfShape", {shape}, {1000, 1000}, DataType::kF32);
    model.graph().value(mask).kind = ValueKind::kWeight;
    if (*op != 0) {
      mask = model.Free("mask", op, {mask, model.Weight("k", {}, DataType::kS64)}, {1000, 1000}, DataType::kF32);
      model.graph().value(mask).kind = ValueKind::kWeight;
    }
    model.Output(model.Binary("masked", PointwiseKind::kAdd, model.Input("x", {1000, 1000}), mask));
    EXPECT_LE(FindCompulsoryTraffic(model.graph()).read, 4e6 + 8) << op;  // x, and what the fill is combined with
  }
  for (const char* op : {"EyeLike", "Range"}) {
    GraphBuilder model;
    const ValueId made = model.Free("made", op, {model.Weight("like", {100, 100})}, {100, 100}, DataType::kF32);
    model.graph().value(made).kind = ValueKind::kWeight;
    model.Output(model.MatMul("fc", model.Input("x", {8, 100}), made));
    EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 3200) << op;
  }
}

TEST(CompulsoryTraffic, LayersThatNoOutputNeedsCountNothing) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 10});
  model.MatMul("dead", x, model.Weight("unused", {10, 1000}));
  model.Output(model.Unary("relu", PointwiseKind::kRelu, x));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 320);
}

TEST(CompulsoryTraffic, AnOutputThatIsAnInputSeenDifferentlyIsNotWritten) {
  GraphBuilder model;
  model.Output(model.View("flat", model.Input("x", {8, 10}), {80}));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).written, 0);
}

TEST(CompulsoryTraffic, OnlyTheRowsThatAreUsedOfAnElementWiseResultCount) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {100, 64});
  const ValueId y = model.Unary("relu", PointwiseKind::kRelu, x);
  model.Output(model.Gather("rows", y, model.Weight("ids", {10}, DataType::kS64), 10));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 64 * 4 + 10 * 8);  // ten indices that may be one
}

LayerConfig Movement(MovementKind kind, std::vector<Shape> inputs, std::vector<Shape> outputs, std::int64_t axis = -1) {
  MovementConfig config;
  config.kind = kind;
  config.inputs = std::move(inputs);
  config.outputs = std::move(outputs);
  config.axis = axis;
  return config;
}

TEST(CompulsoryTraffic, OfASplitOnlyThePartsThatAreReadCount) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1, 1000, 224, 224});
  const ValueId a = model.Measurable("split", "Split", {x},
                                     Movement(MovementKind::kSplit, {Shape{{1, 1000, 224, 224}}},
                                              {Shape{{1, 100, 224, 224}}, Shape{{1, 900, 224, 224}}}, 1));
  model.Output(model.Unary("relu", PointwiseKind::kRelu, a));
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(model.graph());
  EXPECT_NEAR(traffic.read, 100.0 * 224 * 224 * 4, 1);
  EXPECT_NEAR(traffic.written, 100.0 * 224 * 224 * 4, 1);
}

// Queries, keys and values as PyTorch's exporter cuts them from one product.
TEST(CompulsoryTraffic, OfSlicesThoseThatDoNotOverlapCountTogether) {
  // Rows [0, 4), then from here on; where that is not known, the larger one counts.
  for (const auto& [start, rows] : {std::pair(4, 12.0), {-8, 12.0}, {3, 8.0}}) {
    for (const bool is_known : {true, false}) {
      GraphBuilder model;
      const ValueId x = model.Unary("sigmoid", PointwiseKind::kSigmoid, model.Input("x", {12, 64}));
      for (const auto& [begin, length] : {std::pair(0, 4), {start, 8}}) {
        const ValueId part = model.Measurable("slice", "Slice", {x},
                                              Movement(MovementKind::kSlice, {Shape{{12, 64}}}, {Shape{{length, 64}}}));
        if (is_known)
          model.last().attributes = {{"axes", std::vector<std::int64_t>{0}},
                                     {"starts", std::vector<std::int64_t>{begin}}};
        model.Output(model.Unary("relu", PointwiseKind::kRelu, part));
      }
      EXPECT_NEAR(FindCompulsoryTraffic(model.graph()).read, (is_known ? rows : 8) * 64 * 4, 1e-6) << start;
    }
  }
}

// Otherwise two thirds of such a product, and of all before it, would count for nothing.
TEST(Floors, OfAProductThatIsCutInPartsAllIsTextbookArithmetic) {
  for (const auto& [parts, used] : {std::pair(3, 1), {3, 2}, {3, 3}, {6, 6}, {10, 10}}) {
    GraphBuilder model;
    const ValueId x = model.MatMul("before", model.Input("x", {64, 64}), model.Weight("v", {64, 64}));
    const ValueId product = model.MatMul("qkv", x, model.Weight("w", {64, 64 * parts}));
    for (std::int64_t i = 0; i < used; ++i) {
      const ValueId part = model.Measurable(
          "slice", "Slice", {product}, Movement(MovementKind::kSlice, {Shape{{64, 64 * parts}}}, {Shape{{64, 64}}}));
      model.last().attributes = {{"axes", std::vector<std::int64_t>{1}}, {"starts", std::vector<std::int64_t>{64 * i}}};
      model.Output(part);
    }
    const NeededShares needs(model.graph(), UnknownLayers::kReadInputs);
    for (const std::size_t layer : {0, 1}) {
      if (used == parts) {
        EXPECT_EQ(needs.of_work(model.graph(), layer), 1) << parts;
        EXPECT_EQ(needs.of(model.graph(), layer), 1) << parts;
      } else {
        EXPECT_NEAR(needs.of_work(model.graph(), layer), used / 3.0, 1e-9);
      }
    }
  }
}

// The same by indices: gathers of one row each, where their index is known.
TEST(CompulsoryTraffic, OfGathersOfOneRowThoseOfDifferentRowsCountTogether) {
  for (const auto& [second, rows] : {std::pair(1, 2.0), {-1, 2.0}, {0, 1.0}}) {
    GraphBuilder model;
    const ValueId x = model.Unary("sigmoid", PointwiseKind::kSigmoid, model.Input("x", {12, 64}));
    for (const std::int64_t row : {0, second}) {
      const ValueId part = model.Gather("select", x, KnownIndices(model, "index", {row}), 1);
      model.Output(model.Unary("relu", PointwiseKind::kRelu, part));
    }
    EXPECT_NEAR(FindCompulsoryTraffic(model.graph()).read, rows * 64 * 4 + 2 * 8, 1e-6) << second;
  }
}

// The first operand may be all of what is cut off.
TEST(CompulsoryTraffic, APartOfAConcatenationNeedsOfAnOperandWhatTheOthersCannotGive) {
  for (const auto& [rows, read] : {std::pair{10, 0.0}, {15, 5 * 64 * 4.0}, {20, 10 * 64 * 4.0}}) {
    GraphBuilder model;
    const ValueId x = model.Input("x", {10, 64});
    const ValueId s = model.Input("s", {1, 64});
    const ValueId h =
        model.Measurable("expand", "Expand", {s}, Movement(MovementKind::kExpand, {Shape{{1, 64}}}, {Shape{{10, 64}}}));
    const ValueId both = model.Measurable(
        "concat", "Concat",
        {model.Unary("sigmoid", PointwiseKind::kSigmoid, x), model.Unary("relu", PointwiseKind::kRelu, h)},
        Movement(MovementKind::kConcat, {Shape{{10, 64}}, Shape{{10, 64}}}, {Shape{{20, 64}}}, 0));
    model.Output(model.Measurable("slice", "Slice", {both},
                                  Movement(MovementKind::kSlice, {Shape{{20, 64}}}, {Shape{{rows, 64}}})));
    const double of_s = rows <= 10 ? 0 : (rows - 10) / 10.0 * 64 * 4;  // of ten equal rows
    EXPECT_NEAR(FindCompulsoryTraffic(model.graph()).read, read + of_s, 1e-6) << rows;
  }
}

TEST(CompulsoryTraffic, APartOfWhatIsPaddedMayBePadding) {
  GraphBuilder model;
  const ValueId padded = model.Measurable("pad", "Pad", {model.Input("x", {8, 64})},
                                          Movement(MovementKind::kPad, {Shape{{8, 64}}}, {Shape{{16, 64}}}));
  model.Output(model.Measurable("slice", "Slice", {padded},
                                Movement(MovementKind::kSlice, {Shape{{16, 64}}}, {Shape{{8, 64}}})));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 0);
}

// A part of a gather's rows may be the same row again and again.
TEST(CompulsoryTraffic, APartOfAGatherNeedsTheRowsThatAreLeft) {
  const std::vector<std::int64_t> rows{7, 7, 7, 3};
  GraphBuilder model;
  const ValueId ids = KnownIndices(model, "ids", rows);
  const ValueId gathered = model.Gather("rows", model.Input("x", {100, 64}), ids, 4);
  model.Output(model.Measurable("slice", "Slice", {gathered},
                                Movement(MovementKind::kSlice, {Shape{{4, 64}}}, {Shape{{3, 64}}})));
  EXPECT_NEAR(FindCompulsoryTraffic(model.graph()).read, 64 * 4 + 3 * 8, 1e-6);
}

// It may look at the shape alone. Textbook arithmetic supposes that it reads its input.
TEST(CompulsoryTraffic, WhatOnlyAnUnknownLayerReadsCountsForTextbookArithmeticAlone) {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {1024, 1024}), model.Weight("w", {1024, 1024}));
  model.Output(model.Unknown("strange", y));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 0);
  EXPECT_NEAR(FloorIn(model, ProgramClass::kTextbook).latency.count(), 2.0 * 1024 * 1024 * 1024 / 100e9 * 1e6, 1e-6);
}

TEST(CompulsoryTraffic, AShapeNeedsNothingOfWhatItIsTheShapeOf) {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc", model.Input("x", {8, 1000}), model.Weight("w", {1000, 10}));
  model.Output(model.Free("shape", "Shape", {y}, {2}, DataType::kS64));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 0);
}

ModelGraph Branch(const std::string& weight, std::int64_t columns, bool local) {
  GraphBuilder branch;
  const ValueId x = branch.Captured("x", {8, 10});
  const ValueId w = local ? branch.Weight(weight, {10, columns}) : branch.Captured(weight, {10, columns});
  branch.Output(branch.MatMul("fc_" + weight, x, w));
  return branch.Take();
}

TEST(CompulsoryTraffic, OfAnIfTheBranchThatReadsLessCounts) {
  for (bool local : {true, false}) {
    GraphBuilder model;
    model.Input("x", {8, 10});
    model.Weight("large", {10, 1000});
    model.Weight("small", {10, 100});
    const ValueId condition = model.Input("condition", {1}, DataType::kBool);
    model.Output(model.If("if", condition, Branch("large", 1000, local), Branch("small", 100, local)));
    // x is read by both branches, of the weights at least the small one's bytes.
    EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 320 + 10 * 100 * 4) << local;
  }
}

// What one branch alone reads need not be computed when the other one runs.
TEST(CompulsoryTraffic, WhatOneBranchAloneReadsIsNotNeededBeforeTheIf) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 10});
  const ValueId before = model.MatMul("before", x, model.Weight("expensive", {10, 10}));
  model.graph().value(before).name = "seen";
  GraphBuilder one, other;
  one.Output(one.Unary("relu", PointwiseKind::kRelu, one.Captured("seen", {8, 10})));
  other.Output(other.Unary("relu", PointwiseKind::kRelu, other.Captured("x", {8, 10})));
  const ValueId condition = model.Input("condition", {1}, DataType::kBool);
  model.Output(model.If("if", condition, one.Take(), other.Take()));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 0);
}

TEST(CompulsoryTraffic, AWeightOfOneBranchThatIsReadElsewhereIsNotCountedTwice) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 10});
  const ValueId w = model.Weight("w", {10, 100});
  const ValueId condition = model.Input("condition", {1}, DataType::kBool);
  model.Output(model.If("if", condition, Branch("w", 100, false), Branch("w", 100, false)));
  model.Output(model.MatMul("again", x, w));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, 320 + 4000);
}

TEST(CompulsoryTraffic, ALoopReadsItsWeightsOnceAndNothingWhereItNeedNotRun) {
  for (std::int64_t executions : {0, 1, 100}) {
    GraphBuilder model;
    const ValueId x = model.Input("x", {8, 10});
    model.Output(model.Loop("loop", x, Branch("w", 100, true), executions));
    EXPECT_EQ(FindCompulsoryTraffic(model.graph()).read, executions == 0 ? 0 : 320 + 4000) << executions;
  }
}

ValueId Grown(GraphBuilder& model, ValueId past, ValueId row) {
  return model.Measurable(
      "present", "Concat", {past, row},
      Movement(MovementKind::kConcat, {Shape{{32, 8192, 128}}, Shape{{32, 1, 128}}}, {Shape{{32, 8193, 128}}}, 1));
}

// A step of a decoder: the rows of all steps before, and a new one.
TEST(CompulsoryTraffic, OfACacheThatGrowsOnlyTheNewRowMoves) {
  constexpr double kPast = 32.0 * 8192 * 128 * 4, kRow = 32.0 * 128 * 4;
  GraphBuilder model;
  const ValueId past = model.Input("past", {32, 8192, 128}), row = model.Input("row", {32, 1, 128});
  model.Output(model.View("present_view", Grown(model, past, row), {1, 32, 8193, 128}));
  const CompulsoryTraffic grown = FindCompulsoryTraffic(model.graph());
  EXPECT_EQ(grown.read, kRow);
  EXPECT_EQ(grown.written, kRow);
  // What looks at all rows reads them; the present is no less written in place.
  const ValueId seen = *model.graph().layers[0].outputs[0];
  model.Output(model.Unary("look", PointwiseKind::kRelu, seen));
  const CompulsoryTraffic looked = FindCompulsoryTraffic(model.graph());
  EXPECT_EQ(looked.read, kPast + kRow);
  EXPECT_EQ(looked.written, kRow + kPast + kRow);
}

TEST(CompulsoryTraffic, AConcatenationOfWhatWasComputedIsWrittenWhole) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {1000});
  const ValueId a = model.Unary("a", PointwiseKind::kRelu, x), b = model.Unary("b", PointwiseKind::kExponential, x);
  model.Output(model.Measurable("both", "Concat", {a, b},
                                Movement(MovementKind::kConcat, {Shape{{1000}}, Shape{{1000}}}, {Shape{{2000}}}, 0)));
  EXPECT_EQ(FindCompulsoryTraffic(model.graph()).written, 8000);
}

TEST(CompulsoryTraffic, AScatterIntoAnInputWritesItsUpdates) {
  GraphBuilder model;
  MovementConfig scatter;
  scatter.kind = MovementKind::kScatter;
  scatter.types.weights = DataType::kS64;
  scatter.inputs = {Shape{{1000, 8}}, Shape{{10, 8}}};
  scatter.outputs = {Shape{{1000, 8}}};
  scatter.axis = 0;
  scatter.indices = 10;
  const ValueId data = model.Input("data", {1000, 8}), updates = model.Input("updates", {10, 8});
  const ValueId rows = model.Input("rows", {10}, DataType::kS64);
  model.Output(model.Measurable("scatter", "ScatterND", {data, updates, rows}, scatter));
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(model.graph());
  EXPECT_EQ(traffic.read, 10 * 8 * 4 + 10 * 8);
  EXPECT_EQ(traffic.written, 10 * 8 * 4);
}

TEST(Floors, AModelThatFitsIntoNoCacheIsBoundByMemory) {
  GraphBuilder model;
  model.Output(model.MatMul("fc", model.Input("x", {1, 8192}), model.Weight("w", {8192, 8192})));
  const Floor floor = FloorIn(model, ProgramClass::kDenseRead);
  const double bytes = 8192.0 * 8192 * 4 + 2 * 8192 * 4;
  EXPECT_EQ(floor.decided_by, "bandwidth memory");
  EXPECT_NEAR(floor.latency.count(), bytes / 20e9 * 1e6, 1.0);
  EXPECT_THAT(floor.assumptions, Contains("estimated"));
  EXPECT_THAT(floor.assumptions, Contains("coarse-tau"));
}

TEST(Floors, AreOfNoProgramsThenOfNarrowerAndNarrowerClasses) {
  GraphBuilder model;
  ConvolutionConfig config;
  config.input = Shape{{1, 64, 56, 56}};
  config.output_channels = 64;
  config.kernel = Shape{{3, 3}};
  config.stride = config.dilation = Shape{{1, 1}};
  config.padding = {1, 1, 1, 1};
  model.Output(
      model.Measurable("conv", "Conv", {model.Input("x", {1, 64, 56, 56}), model.Weight("w", {64, 64, 3, 3})}, config));
  DevicePeaks peaks = testing::TestPeaks();
  peaks.rates.push_back({PeakRate::Kind::kLaunch, Bytes{}, DataType::kF32, 1, 200e3, "measured"});
  const std::vector<Floor> floors = ComputeFloors(model.graph(), Device(peaks));
  std::vector<std::string_view> names;
  for (const Floor& floor : floors) names.push_back(Name(floor.program_class));
  EXPECT_THAT(names, ::testing::ElementsAre("any-program", "launched", "dense-read", "winograd", "textbook"));
  EXPECT_EQ(floors[0].latency, Latency(0));
  EXPECT_NEAR(floors[1].latency.count(), 5, 1e-9);
  EXPECT_EQ(floors[4].decided_by, "arithmetic f32");
  EXPECT_NEAR(floors[4].latency / floors[3].latency, 4, 1e-9);
}

TEST(Floors, OnlyTheTextbooksCountsTheWorkOfProducts) {
  GraphBuilder model;
  model.Output(model.MatMul("fc", model.Input("x", {1024, 1024}), model.Weight("w", {1024, 1024})));
  const Floor textbook = FloorIn(model, ProgramClass::kTextbook);
  EXPECT_EQ(textbook.decided_by, "arithmetic f32");
  EXPECT_NEAR(textbook.latency.count(), 2.0 * 1024 * 1024 * 1024 / 100e9 * 1e6, 1e-6);
  EXPECT_LT(FloorIn(model, ProgramClass::kDenseRead).latency, textbook.latency / 10);
  // No layer is a convolution over windows.
  EXPECT_EQ(FloorIn(model, ProgramClass::kWinograd).program_class, ProgramClass::kAny);
}

// One element, repeated a million times and then looked at.
TEST(Floors, RepeatedElementsAreReadOnce) {
  GraphBuilder model;
  const ValueId repeated = model.View("expand", model.Input("x", {1}), {1 << 20, 1});
  const ValueId relu = model.Unary("relu", PointwiseKind::kRelu, repeated);
  const ValueId table = model.Gather("row", relu, model.Input("i", {1}, DataType::kS64), 1);
  model.Output(table);
  EXPECT_LT(FloorIn(model, ProgramClass::kDenseRead).latency, Latency(0.1));
}

TEST(Floors, AnElementWiseModelBetweenTwoWorkingSetsComesCloseToItsCopyTime) {
  // 8 MiB stay near, at 40 GB/s; the others come at 16 GB/s.
  const auto copy_us = [](double mib) { return (8 / 40e9 + (mib - 8) / 16e9) * 1048576 * 1e6; };
  DevicePeaks peaks;
  for (const std::int64_t mib : {12, 24, 48, 96, 192})
    peaks.rates.push_back({PeakRate::Kind::kCopy, Bytes{mib << 20}, DataType::kNone, 1,
                           static_cast<double>(mib << 20) / copy_us(static_cast<double>(mib)) * 1e6, "measured"});
  GraphBuilder model;
  const std::int64_t elements = std::int64_t{8} * 8 * 1048576 / 4 / 2;  // half read, half written
  model.Output(model.Unary("relu", PointwiseKind::kRelu, model.Input("x", {elements})));
  const double floor_us = FloorIn(model, ProgramClass::kDenseRead, peaks).latency.count();
  EXPECT_LE(floor_us, copy_us(64) * (1 + 1e-9));
  EXPECT_GT(floor_us, 0.99 * copy_us(64));
}

TEST(Floors, WithADataSheetOfMemoryAndArithmeticTheyAreNoEstimates) {
  DevicePeaks peaks = testing::TestPeaks();
  for (PeakRate& rate : peaks.rates) rate.source = "data sheet: a test";
  GraphBuilder model;
  model.Output(model.Unary("relu", PointwiseKind::kRelu, model.Input("x", {1024})));
  for (const Floor& floor : ComputeFloors(model.graph(), Device(peaks)))
    EXPECT_TRUE(floor.assumptions.empty()) << Name(floor.program_class);
}

TEST(Floors, UnknownLayersAreOmittedAndSaidToBe) {
  GraphBuilder model;
  model.Output(model.Unknown("strange", model.Input("x", {1024})));
  EXPECT_THAT(FloorIn(model, ProgramClass::kDenseRead).assumptions, Contains("unknown-layers-omitted"));
  EXPECT_THAT(FloorIn(model, ProgramClass::kTextbook).assumptions, Contains("unknown-layers-omitted"));
}

TEST(Floors, AreTaggedWhereTheStoredWeightsAreSparseOrCompressible) {
  GraphBuilder model;
  model.Output(model.MatMul("fc", model.Input("x", {8, 1000}), model.Weight("w", {1000, 10})));
  const auto tags = [&](ProgramClass program_class) {
    std::vector<std::string> of_weights = FloorIn(model, program_class).assumptions;
    std::erase_if(of_weights, [](const std::string& tag) { return !tag.ends_with("-weights"); });
    return of_weights;
  };
  EXPECT_THAT(tags(ProgramClass::kTextbook), IsEmpty());  // nothing is known
  model.graph().weights = WeightSample{Bytes{40000}, 0.29, 0.76};
  EXPECT_THAT(tags(ProgramClass::kTextbook), IsEmpty());
  model.graph().weights = WeightSample{Bytes{40000}, 0.3, 0.75};
  for (const ProgramClass program_class : {ProgramClass::kDenseRead, ProgramClass::kTextbook})
    EXPECT_THAT(tags(program_class), ElementsAre("sparse-weights", "compressible-weights"));
  EXPECT_THAT(tags(ProgramClass::kAny), IsEmpty());
}

TEST(Floors, OfAnIfTheCheaperBranchCounts) {
  GraphBuilder model;
  model.Input("x", {8, 10});
  const ValueId condition = model.Input("condition", {1}, DataType::kBool);
  model.Output(model.If("if", condition, Branch("small", 100, true), Branch("large", 100000, true)));
  GraphBuilder alone;
  alone.Output(alone.MatMul("fc", alone.Input("x", {8, 10}), alone.Weight("w", {10, 100})));
  for (const ProgramClass one : {ProgramClass::kDenseRead, ProgramClass::kTextbook})
    EXPECT_LE(FloorIn(model, one).latency, FloorIn(alone, one).latency * 1.01);
}

TEST(Floors, AscendOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    testing::RandomGraphOptions options;
    options.layers = 1 + random() % 40;
    options.unknown_share = 0.05;
    const std::vector<Floor> floors = ComputeFloors(testing::MakeRandomGraph(random, options), Device());
    ASSERT_EQ(floors.front().program_class, ProgramClass::kAny) << seed;
    for (std::size_t i = 1; i < floors.size(); ++i) {
      ASSERT_LT(floors[i - 1].program_class, floors[i].program_class) << seed;
      ASSERT_LE(floors[i - 1].latency, floors[i].latency) << seed;
    }
  }
}

TEST(Floors, AreNeverAboveTheRoofline) {
  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), testing::TestPeaks());
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    testing::RandomGraphOptions options;
    options.layers = 1 + random() % 40;
    options.unknown_share = 0.05;
    options.weight_share = 0.8;  // tied weights are read once by the model, and by each of their layers
    Selection selection = testing::TestSelection(1);
    if (seed % 2 == 0) selection.cache = CacheState::kWarm;
    const Result<Bracket> bracket = ComputeBracket(testing::MakeRandomGraph(random, options), source, selection);
    ASSERT_TRUE(bracket.ok()) << bracket.error().message;
    ASSERT_LE(bracket->textbook().latency, bracket->roofline) << seed;
  }
}

// A kernel may stay on the device from one inference to the next: one launch is no floor of every program.
TEST(Floors, OneLaunchStandsApart) {
  DevicePeaks peaks = testing::TestPeaks();
  peaks.rates.push_back({PeakRate::Kind::kLaunch, Bytes{}, DataType::kF32, 1, 200e3, "measured"});
  // So few bytes that the caches hold them all take no time to move.
  GraphBuilder small;
  small.Output(small.MatMul("fc", small.Input("x", {8, 1000}), small.Weight("w", {1000, 10})));
  EXPECT_LT(FloorIn(small, ProgramClass::kDenseRead, peaks).latency, Latency(5));
  EXPECT_NEAR(FloorIn(small, ProgramClass::kLaunched, peaks).latency.count(), 5, 1e-9);
  GraphBuilder views;
  views.Output(views.View("flat", views.Input("x", {8, 1000}), {8000}));
  EXPECT_EQ(FloorIn(views, ProgramClass::kLaunched, peaks).program_class, ProgramClass::kAny);
}

// A kernel for each layer, which takes its start at least; whatever says what a roofline is.
TEST(Rooflines, HaveTheStartOfEachKernelWhereItIsKnown) {
  GraphBuilder model;
  const ValueId wide = model.MatMul("wide", model.Input("x", {4096, 4096}), model.Weight("w", {4096, 4096}));
  const ValueId flat = model.View("flat", model.MatMul("thin", wide, model.Weight("v", {4096, 1})), {4096});
  model.Output(model.Unary("small", PointwiseKind::kRelu, flat));
  DevicePeaks peaks = testing::TestPeaks();
  const DeviceModel without = Device(peaks);
  peaks.rates.push_back({PeakRate::Kind::kLaunch, Bytes{}, DataType::kF32, 1, 200e3, "measured"});
  const DeviceModel with = Device(peaks);
  const Latency small = FloorOfLayer(model.graph().layers.back(), without);
  ASSERT_LT(small, Latency(5));
  const Roofline plain = RooflineOf(model.graph(), without, Latency(0)),
                 whole = RooflineOf(model.graph(), with, Latency(0));
  EXPECT_EQ(plain.launches, Latency(0));
  EXPECT_NEAR((whole.latency - plain.latency).count(), whole.launches.count(), 1e-6);
  // `thin` reads 64 MB, a view is no kernel.
  EXPECT_NEAR(whole.launches.count(), (Latency(5) - small).count(), 1e-6);
  MemorySource source;
  source.SetPeaks(testing::TestDeviceKey(), peaks);
  WhatIf faster;
  faster.name = "peak:launch=2x";
  faster.peaks = {{"launch", 2}};
  const Result<Bracket> bracket = ComputeBracket(model.graph(), source, testing::TestSelection(1),
                                                 {.takes = {}, .observed = {}, .what_ifs = {faster}});
  ASSERT_TRUE(bracket.ok()) << bracket.error().message;
  EXPECT_NEAR(bracket->launches.count(), whole.launches.count(), 1e-6);
  EXPECT_NEAR(bracket->roofline.count(), whole.latency.count(), 1e-6);
  ASSERT_EQ(bracket->what_ifs.size(), 1u);
  EXPECT_NEAR(bracket->what_ifs[0].floors.back().gain.count(), 2.5, 1e-6);  // of `small`, which takes less
}

ConvolutionConfig ConvolutionOf(std::int64_t taps, std::int64_t stride) {
  ConvolutionConfig config;
  config.input = Shape{{1, 8, 64, 64}};
  config.kernel = Shape{{taps, taps}};
  config.stride = Shape{{stride, stride}};
  config.dilation = Shape{{1, 1}};
  config.padding = {0, 0, 0, 0};
  return config;
}

TEST(WinogradSaving, IsThatOfMinimalFiltering) {
  EXPECT_DOUBLE_EQ(WinogradSaving(ConvolutionOf(1, 1)), 1);
  EXPECT_DOUBLE_EQ(WinogradSaving(ConvolutionOf(3, 1)), 4);               // F(4x4, 3x3): 36 products in place of 144
  EXPECT_DOUBLE_EQ(WinogradSaving(ConvolutionOf(5, 1)), 25.0 * 16 / 64);  // F(4x4, 5x5): 64 in place of 400
  // Phases of two taps and of one: (5 + 4) / 4 products an output and dimension in place of 3.
  EXPECT_DOUBLE_EQ(WinogradSaving(ConvolutionOf(3, 2)), 16.0 / 9);
  EXPECT_DOUBLE_EQ(WinogradSaving(ConvolutionOf(2, 2)), 1);  // every tap is a phase of its own
  EXPECT_DOUBLE_EQ(WinogradSaving(ConvolutionOf(2, 3)), 1);
  ConvolutionConfig integers = ConvolutionOf(3, 1);
  integers.types = {DataType::kS8, DataType::kS8, DataType::kS8};
  EXPECT_DOUBLE_EQ(WinogradSaving(integers), 1);
}

}  // namespace
}  // namespace infimum
