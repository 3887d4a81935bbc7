// A run that is built from known causes over a small model whose best times are known: waterfalls and findings have to
// find them again.
//
//   x -> fc1 50 -> relu1 5 -> {left 100, right 100 -> tanh 20} -> add 6 -> fc2 30 -> y      {fc1, relu1} as one: 51
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/findings/finding.h"
#include "analyzer/gap/waterfall.h"
#include "infimum/graph/fusable_regions.h"
#include "tests/analyzer/known_rows.h"
#include "tests/support/graph_builder.h"

namespace infimum::testing {

inline ProfiledLayer Ran(std::string name, std::string op, std::vector<std::string> inputs,
                         std::vector<std::string> outputs, double microseconds) {
  ProfiledLayer layer;
  layer.name = std::move(name);
  layer.op = std::move(op);
  layer.inputs = std::move(inputs);
  layer.outputs = std::move(outputs);
  layer.samples = {Latency(microseconds)};
  return layer;
}

inline std::optional<Finding> Find(const std::vector<Finding>& findings, std::string_view kind) {
  const auto found = std::ranges::find(findings, kind, &Finding::kind);
  return found == findings.end() ? std::nullopt : std::optional<Finding>(*found);
}

inline ModelGraph Branches() {
  GraphBuilder model;
  const ValueId y = model.MatMul("fc1", model.Input("x", {8, 100}), model.Weight("w1", {100, 200}));
  const ValueId z = model.Unary("relu1", PointwiseKind::kRelu, y);
  const ValueId left = model.MatMul("left", z, model.Weight("wl", {200, 300}));
  const ValueId right =
      model.Unary("tanh", PointwiseKind::kTanh, model.MatMul("right", z, model.Weight("wr", {200, 300})));
  const ValueId sum = model.Binary("add", PointwiseKind::kAdd, left, right);
  model.Output(model.MatMul("fc2", sum, model.Weight("w2", {300, 70})));
  return model.Take();
}

constexpr double kBest[] = {50, 5, 100, 100, 20, 6, 30};  // of Branches' layers, one after the other
constexpr double kFused = 51;                             // fc1 with relu1

// None of them gains by a second core.
inline void AddRows(const ModelGraph& graph, std::span<const double> best, KnownRows& source) {
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (graph.layers[i].workload)
      for (const std::int64_t threads : {1, 2}) source.Add(graph.layers[i], "best", {best[i]}, threads);
}
// Of the region of the first two layers.
inline void AddFusedRow(const ModelGraph& graph, double best, KnownRows& source) {
  for (const FusableRegion& region : FindFusableRegions(graph))
    if (region.layers == std::vector<LayerId>{LayerId(0), LayerId(1)})
      for (const std::int64_t threads : {1, 2}) source.Add(region.workload, "fused", {best}, threads);
}

class BuiltRun : public ::testing::Test {
 protected:
  BuiltRun() : graph(Branches()) {
    AddRows(graph, kBest, source);
    AddFusedRow(graph, kFused, source);
    // What the engine does at its best: fc1 and relu1 as one, the rest one by one.
    run.framework = "engine";
    run.layers = {Ran("fc1", "MatMul", {"x"}, {"relu1_out"}, kFused),
                  Ran("left", "MatMul", {"relu1_out"}, {"left_out"}, 100),
                  Ran("right", "MatMul", {"relu1_out"}, {"right_out"}, 100),
                  Ran("tanh", "Tanh", {"right_out"}, {"tanh_out"}, 20),
                  Ran("add", "Add", {"left_out", "tanh_out"}, {"add_out"}, 6),
                  Ran("fc2", "MatMul", {"add_out"}, {"fc2_out"}, 30)};
  }

  // Runs as long as its layers take, and `more`.
  Waterfall Account(double more = 0) {
    if (run.end_to_end.empty()) {
      Latency layers(more);
      for (const ProfiledLayer& layer : run.layers) layers += layer.samples.front();
      run.end_to_end = {{{layers}}};
    }
    bracket = BracketOf(graph, source, TestSelection(2));
    if (demonstrated) AddUpperLimit({"demonstrated", *demonstrated, {*demonstrated, *demonstrated}}, bracket);
    bracket.demonstrated = demonstrated;
    Waterfall waterfall = Against(bracket);
    Latency sum = waterfall.floor;
    for (const GapStep& step : waterfall.steps) {
      sum += step.latency;
      Latency parts{0};
      for (const GapPart& part : step.parts) parts += part.latency;
      EXPECT_NEAR(parts.count(), step.latency.count(), 1e-6) << Name(step.cause);
    }
    EXPECT_NEAR(sum.count(), waterfall.measured.count(), 1e-3 * 1e-3) << "to the nanosecond, and far below";
    return waterfall;
  }

  Waterfall Against(const Bracket& known) const {
    const Alignment alignment = AlignRun(graph, run);
    return MakeWaterfall({graph, known, run, alignment});
  }

  std::vector<Finding> Findings(double more = 0) {
    const Waterfall waterfall = Account(more);
    RunFacts facts{graph, bracket, run, waterfall};
    facts.effects = effects;
    std::vector<Finding> findings = FindingsOf(facts);
    EXPECT_TRUE(std::ranges::is_sorted(findings, [](const Finding& a, const Finding& b) {
      return std::pair(a.known, -a.gain) < std::pair(b.known, -b.gain);
    }));
    return findings;
  }
  std::optional<Finding> FindingOf(std::string_view kind, double more = 0) { return Find(Findings(more), kind); }

  // `left`, 100, beside `right` and `tanh`, 120.
  static constexpr double kSerial = 100;

  ModelGraph graph;
  KnownRows source;
  RunProfile run;
  Bracket bracket;
  std::optional<Latency> demonstrated;
  std::vector<ObservedEffect> effects;
};

}  // namespace infimum::testing
