// Canonical forms keep what an operator does to memory: the same elements, in row-major order, meet in the
// same places. Each law below walks over the elements of random configurations before and after.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "infimum/layer/layer_config.h"
#include "tests/support/random_layer.h"

namespace infimum {
namespace {

using Elements = std::vector<std::int64_t>;

std::vector<std::int64_t> IndexOf(const Shape& shape, std::int64_t element) {
  std::vector<std::int64_t> index(shape.rank());
  for (std::size_t d = shape.rank(); d-- > 0; element /= shape.dims[d]) index[d] = element % shape.dims[d];
  return index;
}

// The row-major element of an operand, at an index of a shape that it broadcasts to.
std::int64_t BroadcastElement(const Shape& operand, const std::vector<std::int64_t>& index) {
  std::int64_t element = 0;
  const std::size_t missing = index.size() - operand.rank();
  for (std::size_t d = 0; d < operand.rank(); ++d)
    element = element * operand.dims[d] + (operand.dims[d] == 1 ? 0 : index[missing + d]);
  return element;
}

Elements PointwiseReads(const PointwiseConfig& config) {
  Elements reads;
  const Shape output = OutputShape(config);
  for (std::int64_t i = 0; i < ElementCount(output); ++i)
    for (const Shape& input : config.inputs) reads.push_back(BroadcastElement(input, IndexOf(output, i)));
  return reads;
}

Elements TransposeReads(const MovementConfig& config) {
  Elements reads;
  const Shape& in = config.inputs[0];
  const Shape& out = config.outputs[0];
  for (std::int64_t i = 0; i < ElementCount(out); ++i) {
    if (config.kind == MovementKind::kCopy) {
      reads.push_back(i);
      continue;
    }
    const std::vector<std::int64_t> index = IndexOf(out, i);
    std::vector<std::int64_t> source(index.size());
    for (std::size_t d = 0; d < index.size(); ++d) source[static_cast<std::size_t>(config.permutation[d])] = index[d];
    reads.push_back(BroadcastElement(in, source));
  }
  return reads;
}

// For each element of the whole: which piece it lies in, and where.
Elements PieceElements(const MovementConfig& config) {
  Elements elements;
  const bool concat = config.kind == MovementKind::kConcat;
  const Shape& whole = concat ? config.outputs[0] : config.inputs[0];
  const std::vector<Shape>& pieces = concat ? config.inputs : config.outputs;
  const auto axis = static_cast<std::size_t>(config.axis);
  for (std::int64_t i = 0; i < ElementCount(whole); ++i) {
    std::vector<std::int64_t> index = IndexOf(whole, i);
    std::size_t piece = 0;
    while (index[axis] >= pieces[piece].dims[axis]) index[axis] -= pieces[piece++].dims[axis];
    elements.push_back(static_cast<std::int64_t>(piece));
    std::int64_t element = 0;
    for (std::size_t d = 0; d < index.size(); ++d) element = element * pieces[piece].dims[d] + index[d];
    elements.push_back(element);
  }
  return elements;
}

// Elements of a and b that meet in each product of the result.
Elements MatMulReads(const MatMulConfig& config) {
  Elements reads;
  const Shape output = OutputShape(config);
  const std::size_t rank = output.rank();
  for (std::int64_t i = 0; i < ElementCount(output); ++i)
    for (std::int64_t k = 0; k < config.a.dims.back(); ++k) {
      std::vector<std::int64_t> a = IndexOf(output, i), b = a;
      a[rank - 1] = k;
      b[rank - 2] = k;
      reads.push_back(BroadcastElement(config.a, a));
      reads.push_back(BroadcastElement(config.b, b));
    }
  return reads;
}

std::string ShapesText(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ",") + Format(shape);
  return text;
}

std::string CanonicalPointwise(const std::vector<Shape>& inputs) {
  return ShapesText(Canonicalize(PointwiseConfig{PointwiseKind::kAdd, {}, inputs}).inputs);
}

TEST(CanonicalPointwise, MergesWhatEveryOperandHasOrBroadcastsTogether) {
  EXPECT_EQ(CanonicalPointwise({{{1, 64, 112, 112}}}), "802816");
  EXPECT_EQ(CanonicalPointwise({{{1, 128, 768}}, {{768}}}), "128x768,768");
  EXPECT_EQ(CanonicalPointwise({{{8, 64, 7, 7}}, {{1, 64, 1, 1}}}), "8x64x49,64x1");
  EXPECT_EQ(CanonicalPointwise({{{12, 128, 128}}, {}}), "196608,1");
  EXPECT_EQ(CanonicalPointwise({{{2, 3, 1}}, {{5}}}), "6x1,5");
  EXPECT_EQ(CanonicalPointwise({{}, {{1, 1}}}), "1,1");
}

TEST(CanonicalPointwise, ReadsTheSameElementsForEachOutput) {
  testing::RandomLayers random(41, 6);
  for (int i = 0; i < 3000; ++i) {
    const PointwiseConfig config = random.Pointwise();
    if (ElementCount(OutputShape(config)) > 2000) continue;
    const PointwiseConfig canonical = Canonicalize(config);
    SCOPED_TRACE(Format(LayerConfig(config)));
    ASSERT_TRUE(Validate(canonical).ok());
    ASSERT_EQ(PointwiseReads(canonical), PointwiseReads(config));
    ASSERT_EQ(WorkOf(canonical), WorkOf(config));
    ASSERT_EQ(Canonicalize(canonical), canonical);
  }
}

TEST(CanonicalTranspose, MergesWhatStaysTogether) {
  MovementConfig config{MovementKind::kTranspose, {}, {{{1, 128, 12, 64}}}, {{{1, 12, 128, 64}}}, -1, {0, 2, 1, 3}, 0};
  EXPECT_EQ(Format(LayerConfig(Canonicalize(config))),
            "movement kind=transpose dtype=f32:-:f32 in=128x12x64 out=12x128x64 perm=1,0,2");
  config = {MovementKind::kTranspose, {}, {{{1, 64, 56, 56}}}, {{{1, 56, 56, 64}}}, -1, {0, 2, 3, 1}, 0};
  EXPECT_EQ(Format(LayerConfig(Canonicalize(config))),
            "movement kind=transpose dtype=f32:-:f32 in=64x3136 out=3136x64 perm=1,0");
  config = {MovementKind::kTranspose, {}, {{{1, 64, 5}}}, {{{64, 1, 5}}}, -1, {1, 0, 2}, 0};
  EXPECT_EQ(Format(LayerConfig(Canonicalize(config))), "movement kind=copy dtype=f32:-:f32 in=320 out=320");
}

TEST(CanonicalMovement, MovesTheSameElementsToTheSamePlaces) {
  testing::RandomLayers random(42, 7);
  int transposes = 0, pieces = 0;
  for (int i = 0; i < 20000; ++i) {
    const MovementConfig config = random.Movement();
    const MovementConfig canonical = Canonicalize(config);
    SCOPED_TRACE(Format(LayerConfig(config)) + " -> " + Format(LayerConfig(canonical)));
    ASSERT_TRUE(Validate(canonical).ok()) << Validate(canonical).error().message;
    ASSERT_EQ(Canonicalize(canonical), canonical);
    ASSERT_EQ(WorkOf(canonical), WorkOf(config));
    if (ElementCount(config.outputs[0]) > 3000) continue;
    if (config.kind == MovementKind::kTranspose) {
      ASSERT_EQ(TransposeReads(canonical), TransposeReads(config));
      ++transposes;
    }
    if (config.kind == MovementKind::kConcat || config.kind == MovementKind::kSplit) {
      ASSERT_EQ(PieceElements(canonical), PieceElements(config));
      ++pieces;
    }
    if (config.kind == MovementKind::kExpand) {
      const auto reads = [](const MovementConfig& expand) {
        Elements elements;
        for (std::int64_t e = 0; e < ElementCount(expand.outputs[0]); ++e)
          elements.push_back(BroadcastElement(expand.inputs[0], IndexOf(expand.outputs[0], e)));
        return elements;
      };
      ASSERT_EQ(reads(canonical), reads(config));
    }
  }
  EXPECT_GT(transposes, 500);
  EXPECT_GT(pieces, 500);
}

TEST(CanonicalMovement, AGatherOfSlicesHasAtMostThreeDimensions) {
  const MovementConfig rows{MovementKind::kGather,
                            {DataType::kF32, DataType::kS64, DataType::kF32},
                            {{{30522, 768}}},
                            {{{1, 128, 768}}},
                            0,
                            {},
                            128};
  EXPECT_EQ(Format(LayerConfig(Canonicalize(rows))),
            "movement kind=gather dtype=f32:s64:f32 in=30522x768 out=128x768 axis=0 indices=128");
  MovementConfig elements = rows;  // one index for each element that is picked
  elements.outputs = {Shape{{4, 768}}};
  elements.indices = 4 * 768;
  EXPECT_EQ(Canonicalize(elements), elements);
}

TEST(MakeMatMul, MergesTheBatchIntoRowsWhereBHasNone) {
  const auto text = [](const Shape& a, const Shape& b) {
    const Result<MatMulConfig> config =
        MakeMatMul({DataType::kF32, DataType::kF32, DataType::kF32}, a, b, MatMulBias::kNone, Constness::kConstant);
    return config.ok() ? Format(config->a) + " " + Format(config->b) : config.error().message;
  };
  EXPECT_EQ(text({{8, 128, 768}}, {{768, 3072}}), "1x1024x768 1x768x3072");
  EXPECT_EQ(text({{128, 768}}, {{768, 3072}}), "1x128x768 1x768x3072");
  EXPECT_EQ(text({{2, 12, 128, 64}}, {{2, 12, 64, 128}}), "24x128x64 24x64x128");
  EXPECT_EQ(text({{2, 12, 128, 64}}, {{1, 12, 64, 128}}), "2x12x128x64 1x12x64x128");
  EXPECT_EQ(text({{5, 4, 8}}, {{3, 1, 8, 2}}), "1x20x8 3x8x2");
  EXPECT_EQ(text({{768}}, {{768}}), "1x1x768 1x768x1");
  EXPECT_EQ(text({{4, 3}}, {{4, 3}}), "a=1x4x3 and b=1x4x3 do not multiply: a has 3 columns, b 4 rows");
  EXPECT_EQ(text({{2, 4, 3}}, {{5, 3, 4}}), "a=2x4x3 and b=5x3x4 do not broadcast in batch dimension 0");
  EXPECT_EQ(text({}, {{4, 3}}), "a matrix product takes no scalar, multiply element by element instead");
}

TEST(MakeMatMul, MultipliesTheSameElements) {
  testing::RandomLayers random(43, 4);
  for (int i = 0; i < 3000; ++i) {
    MatMulConfig config = random.MatMul();
    if (ElementCount(OutputShape(config)) > 2000) continue;
    config.scales = {};
    config.sparsity = Sparsity::kNone;
    SCOPED_TRACE(Format(LayerConfig(config)));
    const Result<MatMulConfig> made = MakeMatMul(config.types, config.a, config.b, config.bias, config.weights);
    ASSERT_TRUE(made.ok()) << made.error().message;
    ASSERT_EQ(MatMulReads(*made), MatMulReads(config));
    ASSERT_EQ(WorkOf(*made), WorkOf(config));
    ASSERT_EQ(*MakeMatMul(made->types, made->a, made->b, made->bias, made->weights), *made);
  }
}

TEST(MakeReduction, MergesNeighboursThatAreReducedOrKeptTogether) {
  const auto text = [](const Shape& shape, const std::vector<std::int64_t>& axes) {
    const ReductionConfig config = MakeReduction(ReductionKind::kMean, {}, shape, axes);
    std::string result = Format(config.input);
    for (const std::int64_t axis : config.axes) result += " " + std::to_string(axis);
    return result;
  };
  EXPECT_EQ(text({{1, 1280, 7, 7}}, {2, 3}), "1280x49 1");
  EXPECT_EQ(text({{8, 16, 32}}, {0, 2}), "8x16x32 0 2");
  EXPECT_EQ(text({{8, 16, 1}}, {0, 1, 2}), "128 0");
  EXPECT_EQ(text({{8, 1, 16}}, {1}), "128x1 1");
  EXPECT_EQ(text({{1}}, {0}), "1 0");
  EXPECT_FALSE(Validate(MakeReduction(ReductionKind::kSum, {}, Shape{{8}}, {1})).ok());
  EXPECT_FALSE(Validate(MakeReduction(ReductionKind::kSum, {}, Shape{{8}}, {-1})).ok());
}

TEST(MakeReduction, KeepsCountsAndIsStable) {
  testing::RandomLayers random(44);
  for (int i = 0; i < 5000; ++i) {
    const ReductionConfig config = random.Reduction();
    const ReductionConfig made = MakeReduction(config.kind, config.types, config.input, config.axes);
    SCOPED_TRACE(Format(LayerConfig(config)));
    ASSERT_TRUE(Validate(made).ok());
    ASSERT_EQ(WorkOf(made), WorkOf(config));
    ASSERT_EQ(MakeReduction(made.kind, made.types, made.input, made.axes), made);
  }
}

TEST(MakeSoftmax, IsOuterAxisInner) {
  EXPECT_EQ(MakeSoftmax(SoftmaxKind::kSoftmax, {}, Shape{{1, 12, 128, 128}}, 3).input, (Shape{{1536, 128, 1}}));
  EXPECT_EQ(MakeSoftmax(SoftmaxKind::kSoftmax, {}, Shape{{2, 21, 4, 5}}, 1).input, (Shape{{2, 21, 20}}));
  EXPECT_FALSE(Validate(MakeSoftmax(SoftmaxKind::kSoftmax, {}, Shape{{8}}, 1)).ok());
}

}  // namespace
}  // namespace infimum
