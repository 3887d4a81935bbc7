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
    Know(kRelu, {{"best/act", 10}, {"choice/act", 11}, {"slow/act", 30}}, 1);
    Know(kTanh, {{"best/bend", 10}, {"choice/bend", 15}, {"slow/bend", 25}}, 1);
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
    return Names(FrameworkLikeOf(plan_, known_, has_run ? &run : nullptr));
  }

  static std::vector<std::string> Names(const FrameworkLike& like) {
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

class RivalsTest : public FrameworkLikeTest {
 protected:
  std::vector<std::string> Rivals() const { return Names(RivalsOf(plan_, known_)); }
};

TEST_F(RivalsTest, AreTheNextBestOfEachUnitIfTheyTakeLittleLonger) {
  plan_.bracket.regions[0].unfused = Latency(20);
  plan_.candidates[2] = "slow/sum";
  EXPECT_THAT(Rivals(), ElementsAre("best/fused", "best/act", "best/bend", "best/sum"));
  known_.workloads.back().candidates[1].latency = Latency(14);
  EXPECT_THAT(Rivals(), ElementsAre("slow/fused", "best/act", "best/bend", "best/sum"));
  known_.workloads[2].candidates[0].latency = Latency(13);
  EXPECT_THAT(Rivals(), ElementsAre("slow/fused", "best/act", "best/bend", "slow/sum")) << "13 is more than 12.5";
}

TEST_F(RivalsTest, AFrameworksOwnKernelIsNone) {
  plan_.bracket.regions[0].unfused = Latency(20);
  known_.workloads[0].candidates[1].row.candidate = {"observed", "onnxruntime-1", "", ""};
  known_.workloads[2].candidates[1] = known_.workloads[0].candidates[1];
  EXPECT_THAT(Rivals(), ElementsAre("best/fused", "best/act", "best/bend", "best/sum"));
}

TEST_F(RivalsTest, ARegionsLayersRunApartWhereThatTakesLittleLonger) {
  plan_.bracket.regions[0].unfused = Latency(14);
  EXPECT_THAT(Rivals(), ElementsAre("best/act", "best/bend", "best/sum"));
  known_.workloads.back().candidates[1].latency = Latency(13);
  EXPECT_THAT(Rivals(), ElementsAre("slow/fused", "best/act", "best/bend", "best/sum"));
}

TEST_F(RivalsTest, ARegionThatThePlanRunsApartIsOneWhereThatTakesLittleLonger) {
  plan_.regions.clear();
  plan_.bracket.regions[0].unfused = Latency(10);
  EXPECT_THAT(Rivals(), ElementsAre("best/fused", "choice/act", "best/bend", "best/sum"));
  plan_.bracket.regions[0].latency = Latency(13);
  EXPECT_THAT(Rivals(), ElementsAre("choice/act", "best/bend", "best/sum"));
}

}  // namespace
}  // namespace infimum
