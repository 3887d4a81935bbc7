#include "src/core/graph/views.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace infimum {
namespace {

using testing::GraphBuilder;

TEST(Views, LookAtWhatMadeTheirElements) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 1000});
  const ValueId y = model.MatMul("fc", x, model.Weight("w", {1000, 10}));
  const ValueId flat = model.View("flat", y, {80});
  const ValueId again = model.View("again", flat, {4, 20});
  const ValueId z = model.Unary("relu", PointwiseKind::kRelu, again);
  const std::vector<ValueId> roots = RootsOfViews(model.graph());
  EXPECT_EQ(roots[again.index()], y);
  EXPECT_EQ(roots[flat.index()], y);
  for (ValueId itself : {x, y, z}) EXPECT_EQ(roots[itself.index()], itself);
}

TEST(Views, OfAnInputAreTheInput) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 10});
  const ValueId flat = model.View("flat", x, {80});
  EXPECT_EQ(RootsOfViews(model.graph())[flat.index()], x);
}

TEST(Views, HaveTheirElementsTypeAndNumber) {
  GraphBuilder model;
  const ValueId x = model.Input("x", {8, 10});
  const ValueId cast = model.Free("cast", "Cast", {x}, {8, 10}, DataType::kS64);
  const ValueId part = model.Free("part", "Slice", {x}, {8, 5}, DataType::kF32);
  const std::vector<ValueId> roots = RootsOfViews(model.graph());
  EXPECT_EQ(roots[cast.index()], cast);
  EXPECT_EQ(roots[part.index()], part);
}

}  // namespace
}  // namespace infimum
