#include "src/app/models/anonymizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/support/graph_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using testing::GraphBuilder;

ModelGraph SecretModel() {
  GraphBuilder model;
  const ValueId y = model.MatMul("secret/fc", model.Input("secret_x", {8, 100}), model.Weight("secret_w", {100, 10}));
  model.Output(model.Unary("secret/relu", PointwiseKind::kRelu, y));
  ModelGraph graph = model.Take();
  graph.name = "secret";
  graph.sha256 = "5ec4e7";
  graph.passes.push_back({"drop-identity", "what returns its input", {"secret/a", "secret/b"}});
  graph.layers[1].op = "secret.domain.Blend";
  graph.layers[1].origins = {"secret/relu", "secret/bias"};
  graph.layers[1].attributes["secret"] = std::string("secret");
  return graph;
}

TEST(Anonymizer, AModelKeepsItsShapesAndOperators) {
  ModelGraph graph = SecretModel();
  const ModelGraph same = SecretModel();
  Anonymizer().Rename(graph);
  EXPECT_EQ(graph.layers[0].op, same.layers[0].op);
  EXPECT_EQ(graph.layers[0].name, same.layers[0].op + "-1");
  EXPECT_EQ(graph.layers[0].workload, same.layers[0].workload);
  EXPECT_EQ(graph.layers[1].op, "custom-1");
  EXPECT_EQ(graph.layers[1].name, "custom-1-2");
  EXPECT_TRUE(graph.layers[1].attributes.empty());
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "input-1");
  EXPECT_EQ(graph.value(graph.inputs[0]).shape, same.value(same.inputs[0]).shape);
  EXPECT_THAT(graph.passes[0].rewrites, ElementsAre("rewrite 1", "rewrite 2"));
  EXPECT_EQ(graph.sha256, "");
  EXPECT_TRUE(Validate(graph).ok());
  for (const Layer& layer : graph.layers) EXPECT_EQ(layer.name.find("secret"), std::string::npos);
  for (const Value& value : graph.values) EXPECT_EQ(value.name.find("secret"), std::string::npos);
}

// What a contract adds stands between, and what several models call alike is not one layer.
TEST(Anonymizer, ALayerKeepsItsNameInEveryGraphOfItsModel) {
  const auto made = [](bool has_more) {
    GraphBuilder model;
    ValueId y = model.Input("x", {8, 10});
    if (has_more) y = model.Unary("secret/more", PointwiseKind::kRelu, y);
    for (const char* name : {"secret/first", "secret/second"}) y = model.Unary(name, PointwiseKind::kRelu, y);
    model.Output(y);
    return model.Take();
  };
  ModelGraph one = made(false), more = made(true), other = made(true);
  Anonymizer anonymizer;
  anonymizer.Rename(one, "model-1");
  anonymizer.Rename(more, "model-1");
  anonymizer.Rename(other, "model-2");
  const std::string op = one.layers[0].op;
  EXPECT_EQ(one.layers[0].name, op + "-1");
  EXPECT_EQ(one.layers[1].name, op + "-2");
  EXPECT_EQ(more.layers[0].name, op + "-3");
  EXPECT_EQ(more.layers[1].name, op + "-1");
  EXPECT_EQ(more.layers[2].name, op + "-2");
  EXPECT_EQ(other.layers[0].name, op + "-1");
  EXPECT_EQ(other.name, "model-2");
}

// A body captures values of the graph around it by their names.
TEST(Anonymizer, WhatABodyCapturesIsStillWhatItCaptured) {
  GraphBuilder outer, inner;
  const ValueId x = outer.Input("secret_x", {8, 10});
  outer.Output(outer.Unary("secret/if", PointwiseKind::kRelu, x));
  ModelGraph graph = outer.Take();
  inner.Output(inner.Unary("secret/inner", PointwiseKind::kRelu, inner.Input("secret_x", {8, 10})));
  auto body = std::make_unique<ModelGraph>(inner.Take());
  body->inputs.clear();
  graph.layers[0].bodies.push_back({"secret_branch", std::move(body), 1});
  Anonymizer().Rename(graph);
  const SubGraph& renamed = graph.layers[0].bodies[0];
  EXPECT_EQ(renamed.name, "body");
  const auto captured = [&](const Value& value) { return value.name == graph.value(graph.inputs[0]).name; };
  EXPECT_TRUE(std::ranges::any_of(renamed.graph->values, captured));
  EXPECT_EQ(renamed.graph->layers[0].name.find("secret"), std::string::npos);
}

TEST(Anonymizer, ARunKeepsWhatRulesReadAndNothingElse) {
  ModelGraph graph = SecretModel();
  RunProfile run;
  run.framework = "secretrt";
  run.framework_version = "7.1";
  run.dims = {{"secret_batch", 8}};
  run.settings = {{"secret", "1"}, {"graph_optimization_level", "secret"}, {"execution_mode", "parallel"}};
  run.warnings = {"secret"};
  ProfiledLayer layer;
  layer.name = "secret/fc_nchwc";
  layer.op = "FusedGemm";
  layer.nodes = {"secret/fc"};
  layer.inputs = {"secret_x", "InsertedCast_secret"};
  layer.algorithm = "sm80_xmma_gemm_f16f16";
  layer.samples = {Latency(3)};
  run.layers = {layer, layer};
  run.layers[1].op = "SecretGemm";
  run.layers[1].algorithm = "secret_gemm";
  RunProfile other = run;
  other.framework = "onnxruntime";
  other.framework_version = "1.31.1+secret";
  Anonymizer anonymizer;
  anonymizer.Rename(graph);
  anonymizer.Rename(run);
  anonymizer.Rename(other);
  EXPECT_EQ(run.framework, "engine");
  EXPECT_EQ(run.framework_version, "");
  EXPECT_EQ(other.framework + " " + other.framework_version, "onnxruntime 1.31.1");
  EXPECT_EQ(run.dims, (std::map<std::string, std::int64_t>{{"dim-1", 8}}));
  EXPECT_EQ(run.settings, (std::map<std::string, std::string>{{"execution_mode", "parallel"}}));
  EXPECT_TRUE(run.warnings.empty());
  EXPECT_EQ(run.layers[0].name, "engine-1_nchwc");
  EXPECT_EQ(run.layers[1].name, run.layers[0].name) << "one name stays one";
  EXPECT_EQ(run.layers[0].op, "FusedGemm");
  EXPECT_EQ(run.layers[1].op, "matmul");
  EXPECT_EQ(run.layers[0].algorithm, "sm80_xmma_gemm_f16f16");
  EXPECT_EQ(run.layers[1].algorithm, "");
  EXPECT_EQ(run.layers[0].inputs[0], "input-1");
  EXPECT_TRUE(run.layers[0].inputs[1].starts_with("InsertedCast_value-"));
  EXPECT_EQ(run.layers[0].nodes, other.layers[0].nodes) << "of the same model";
  EXPECT_EQ(run.layers[0].samples, layer.samples);
}

TEST(Anonymizer, ABracketsRunsAndCandidatesKeepOnlyKnownNames) {
  Bracket bracket;
  bracket.layers.resize(2);
  bracket.layers[0].candidate = Candidate{"onednn", "gemm:jit", "", "", false};
  bracket.layers[1].candidate = Candidate{"secretlib", "secret", "", "", false};
  bracket.observed = {{{LayerId(2)}, Latency(1), {}, {"observed", "onnxruntime-1.31.1+secret", "", "", false}}};
  bracket.upper = {
      {"onnxruntime 1.31.1+secret", Latency(1), {}}, {"secretrt 2", Latency(1), {}}, {"demonstrated", {}, {}}};
  bracket.what_ifs = {{"free:secret/fc", 1, {}}, {"contract:bf16", 1, {}}};
  Anonymizer().Rename(bracket);
  EXPECT_EQ(bracket.layers[0].candidate->name(), "onednn/gemm:jit");
  EXPECT_EQ(bracket.layers[1].candidate->name(), "other/candidate-1");
  EXPECT_EQ(bracket.observed[0].candidate.name(), "observed/onnxruntime-1.31.1");
  EXPECT_EQ(bracket.upper[0].name, "onnxruntime 1.31.1");
  EXPECT_EQ(bracket.upper[1].name, "engine");
  EXPECT_EQ(bracket.upper[2].name, "demonstrated");
  EXPECT_EQ(bracket.what_ifs[0].name, "what-if-1");
  EXPECT_EQ(bracket.what_ifs[1].name, "contract:bf16");
}

}  // namespace
}  // namespace infimum
