// A candidate reads and writes its tensors in the layouts that it states: held against where its primitive really wants
// them, for all layers and regions of layers/*.txt.
#include "microbench/libraries/onednn/program/declared_layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <fstream>

#include "infimum/graph/replay_schedule.h"
#include "infimum/layer/element_order.h"
#include "microbench/cpu/onednn_backend.h"
#include "microbench/cpu/step_offer.h"
#include "tests/microbench/cpu/layer_texts.h"

namespace infimum::cpu::declared_layouts_test {
namespace {

std::vector<std::string> Split(const std::string& names) {
  std::vector<std::string> list(1);
  for (const char c : names) {
    if (c == ',') {
      list.emplace_back();
    } else {
      list.back() += c;
    }
  }
  return list;
}

ReplayStep StepOf(const Workload& workload, const Candidate& candidate) {
  ReplayStep step;
  step.workload = workload;
  step.candidate = candidate.name();
  const auto* region = std::get_if<Region>(&workload);
  step.values.resize(region == nullptr ? 1 : region->members.size());
  return step;
}

// Whether memory as `order` wants it is memory as the name says; null is row-major.
void ExpectNamed(const std::string& name, const Shape& shape, const MemoryOrder* order) {
  const bool row_major = order == nullptr || order->row_major();
  if (name == "opaque") {
    EXPECT_FALSE(row_major);
    return;
  }
  const std::optional<ElementOrder> stated = ParseLayout(name, shape);
  if (row_major) {
    EXPECT_TRUE(name.empty() || !stated || stated->is_row_major()) << name;
    return;
  }
  ASSERT_TRUE(stated.has_value()) << name;
  EXPECT_EQ(stated->is_dense(), order->dense()) << name;
  if (order->dense()) {
    EXPECT_EQ(stated->runs, order->runs) << name;
  }
}

class StatedLayouts : public ::testing::TestWithParam<std::string> {};

TEST_P(StatedLayouts, AreWhereTensorsLie) {
  OneDnnBackend backend{BackendOptions{}};
  int with_layouts = 0;
  for (const std::string& text : testing::LayerTexts(GetParam())) {
    SCOPED_TRACE(text);
    const Workload workload = *ParseWorkload(text);
    std::deque<HostTensor> tensors;
    Operands operands;
    Outputs outputs;
    for (const Operand& operand : OperandsOf(workload))
      operands.push_back(&tensors.emplace_back(*HostTensor::Make(operand.shape, operand.type)));
    for (const Operand& output : OutputsOf(workload))
      outputs.push_back(&tensors.emplace_back(*HostTensor::Make(output.shape, output.type)));
    std::size_t inputs = 0;  // operands of a region that are no weights
    if (const auto* region = std::get_if<Region>(&workload))
      for (const RegionMember& member : region->members)
        for (const RegionOperand& operand : member.operands)
          if (operand.source == RegionOperand::Source::kInput)
            inputs = std::max(inputs, static_cast<std::size_t>(operand.index) + 1);
    const Result<std::vector<Candidate>> candidates =
        backend.Candidates(workload, NativeContract(workload), CandidateTier::kExhaustive);
    ASSERT_TRUE(candidates.ok());
    for (const Candidate& candidate : *candidates) {
      SCOPED_TRACE(candidate.name());
      const Result<StepOffer> offer = FindStepOffer(StepOf(workload, candidate));
      ASSERT_TRUE(offer.ok());
      if (offer->any_order || offer->candidate != candidate.name()) continue;
      const Result<std::vector<Placement>> placements = offer->place(operands, outputs);
      ASSERT_TRUE(placements.ok()) << placements.error().message;
      const auto order_of = [&](const HostTensor* tensor) -> const MemoryOrder* {
        for (const Placement& placement : *placements)
          if (placement.tensor == tensor) return placement.order.get();
        return nullptr;
      };
      const std::vector<std::string> names = Split(candidate.input_layout);
      const std::vector<Operand> described = OperandsOf(workload);
      std::size_t place = 0;
      for (std::size_t i = 0; i < described.size(); ++i) {
        const bool varies = inputs > 0 ? i < inputs : !described[i].constant;
        if (!varies) continue;
        ExpectNamed(place < names.size() ? names[place] : "", described[i].shape, order_of(operands[i]));
        ++place;
      }
      const std::vector<std::string> results = Split(candidate.output_layout);
      for (std::size_t i = 0; i < outputs.size(); ++i)
        ExpectNamed(i < results.size() ? results[i] : "", outputs[i]->shape(), order_of(outputs[i]));
      with_layouts += !placements->empty();
    }
  }
  if (GetParam() == "convolution" || GetParam() == "region") {
    EXPECT_GT(with_layouts, 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, StatedLayouts,
                         ::testing::Values("attention", "convolution", "matmul", "movement", "normalization", "pooling",
                                           "pointwise_binary", "reduction", "region", "resample"),
                         [](const auto& family) { return family.param; });

TEST(StatedLayouts, OfAResidualSumNameBothOperands) {
  OneDnnBackend backend{BackendOptions{}};
  const Workload workload = *ParseWorkload(
      "region [convolution dtype=f32:f32:f32 in=1x64x14x14 out_channels=64 kernel=1x1 stride=1x1 dilation=1x1 "
      "pad=0,0,0,0 groups=1 bias=no weights=const](in0,w0) ; [pointwise kind=add dtype=f32:f32:f32 "
      "in=12544,12544](%0,in1)");
  const Result<std::vector<Candidate>> candidates =
      backend.Candidates(workload, NativeContract(workload), CandidateTier::kEngine);
  ASSERT_TRUE(candidates.ok());
  bool any_last = false;
  for (const Candidate& candidate : *candidates)
    any_last |= candidate.input_layout == "acdb,64x196:ba" && candidate.output_layout == "64x196:ba";
  EXPECT_TRUE(any_last);
}

}  // namespace
}  // namespace infimum::cpu::declared_layouts_test
