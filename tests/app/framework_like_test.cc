#include "src/app/commands/explain/framework_like.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;

constexpr char kRelu[] = "pointwise kind=relu dtype=f32:-:f32 in=8";
constexpr char kTanh[] = "pointwise kind=tanh dtype=f32:-:f32 in=8";
constexpr char kAdd[] = "pointwise kind=add dtype=f32:f32:f32 in=8,8";

// act -> bend -> sum, of which the plan runs the first two as one.
class FrameworkLikeTest : public ::testing::Test {
 protected:
  FrameworkLikeTest() {
    testing::GraphBuilder model;
    model.Input("x");
    model.Layer("act", {"x"}, {"a"}, kRelu).op = "Relu";
    model.Layer("bend", {"a"}, {"b"}, kTanh).op = "Tanh";
    model.Layer("sum", {"b", "x"}, {"y"}, kAdd).op = "Add";
    model.Output("y");
    FusableRegion region;
    region.layers = {LayerId(0), LayerId(1)};
    region.workload = *ParseWorkload(fused_);
    region.operands = {model.Value("x")};
    region.outputs = {model.Value("b")};
    plan_.graph = std::move(model.graph());
    plan_.regions = {{region, "best/fused"}};
    plan_.candidates = {"best/act", "best/bend", "best/sum"};
    for (std::size_t i = 0; i < 3; ++i) {
      LayerLatency layer;
      layer.layer = LayerId(i);
      layer.status = LatencyStatus::kMeasured;
      layer.latency = Latency(10);
      plan_.bracket.layers.push_back(layer);
    }
    RegionLatency measured;
    measured.layers = region.layers;
    measured.region = region;
    measured.latency = Latency(12);
    measured.candidate = {"best", "fused", "", ""};
    plan_.bracket.regions = {measured};
    Know(kRelu, {{"best/act", 10}, {"slow/act", 30}, {"choice/act", 11}}, 2);
    Know(kTanh, {{"best/bend", 10}, {"slow/bend", 25}, {"choice/bend", 15}}, 2);
    Know(kAdd, {{"best/sum", 10}, {"slow/sum", 20}}, std::nullopt);
    Know(fused_, {{"best/fused", 12}, {"slow/fused", 40}}, std::nullopt);
  }

  void Know(const std::string& workload, const std::vector<std::pair<std::string, double>>& times,
            std::optional<std::size_t> choice) {
    WorkloadCandidates of;
    of.workload = KeyOf(*ParseWorkload(workload));
    for (const auto& [name, time] : times) {
      KnownCandidate candidate;
      const std::size_t slash = name.find('/');
      candidate.row.candidate = {name.substr(0, slash), name.substr(slash + 1), "", ""};
      candidate.latency = Latency(time);
      of.candidates.push_back(candidate);
    }
    of.choice = choice;
    known_.workloads.push_back(of);
  }

  static ProfiledLayer Ran(const std::string& name, const std::vector<std::string>& nodes, double time) {
    ProfiledLayer layer;
    layer.name = name;
    layer.nodes = nodes;
    layer.samples = {Latency(time)};
    return layer;
  }

  // The regions' candidates, then those of the layers.
  std::vector<std::string> Like(const std::vector<ProfiledLayer>& ran, bool has_run = true) const {
    RunProfile run;
    run.framework = "f";
    run.layers = ran;
    const FrameworkLike like = FrameworkLikeOf(plan_, known_, has_run ? &run : nullptr);
    std::vector<std::string> names;
    for (const ReplayRegion& region : like.regions) names.push_back(region.candidate.name);
    for (const ReplayCandidate& candidate : like.candidates) names.push_back(candidate.name);
    return names;
  }

  const std::string fused_ = std::string("region [") + kRelu + "](in0) ; [" + kTanh + "](%0)";
  ReplayPlan plan_;
  CandidatesOfModel known_;
};

TEST_F(FrameworkLikeTest, FusedWhereTheRunFusedByTheCandidateNearestInTime) {
  EXPECT_THAT(Like({Ran("both", {"act", "bend"}, 35), Ran("sum", {"sum"}, 11)}),
              ElementsAre("slow/fused", "best/act", "best/bend", "best/sum"));
}

TEST_F(FrameworkLikeTest, ApartWhereTheRunDidNot) {
  EXPECT_THAT(Like({Ran("act", {"act"}, 11.5), Ran("bend", {"bend"}, 24), Ran("sum", {"sum"}, 15)}),
              ElementsAre("choice/act", "slow/bend", "slow/sum"));
}

TEST_F(FrameworkLikeTest, WhatNoRowCoversRunsAsThePlanHasIt) {
  EXPECT_THAT(Like({Ran("elsewhere", {}, 5)}), ElementsAre("best/fused", "best/act", "best/bend", "best/sum"));
}

TEST_F(FrameworkLikeTest, WithoutARunEachLayerIsItsLibrarysChoice) {
  EXPECT_THAT(Like({}, false), ElementsAre("choice/act", "choice/bend", "best/sum"));
}

}  // namespace
}  // namespace infimum
