// A replay of a small network (tests/support/replay_network.h) against plain loops, on whatever layouts the candidates
// of its convolutions like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <span>
#include <vector>

#include "microbench/cpu/onednn_backend.h"
#include "microbench/cpu/step_offer.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "tests/support/replay_network.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFirst = testing::ReplayNetwork::kFirst;
constexpr const char* kSecond = testing::ReplayNetwork::kSecond;

ReplaySchedule Network(const std::string& first = "", const std::string& second = "") {
  return testing::ReplayNetwork::Schedule(first, second);
}
ReplayStep Step(const std::string& name, const std::string& workload, const std::string& candidate,
                std::vector<std::size_t> operands, std::vector<std::size_t> outputs, ReplayValues values = {}) {
  return testing::ReplayNetwork::Step(name, workload, candidate, std::move(operands), std::move(outputs),
                                      std::move(values));
}

class Replay : public ::testing::Test {
 protected:
  Result<std::unique_ptr<PreparedReplay>> Prepared(const ReplaySchedule& schedule) {
    INFIMUM_ASSIGN_OR_RETURN(const TensorFolder folder, TensorFolder::Open(network_.folder()));
    return backend_.PrepareReplay(schedule, &folder);
  }

  ReplayResult Checked(const ReplaySchedule& schedule) {
    Result<std::unique_ptr<PreparedReplay>> replay = Prepared(schedule);
    EXPECT_TRUE(replay.ok()) << (replay.ok() ? "" : replay.error().message);
    if (!replay.ok()) return {};
    Result<ReplayResult> result = (*replay)->Check();
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? *result : ReplayResult();
  }

  std::vector<std::string> CandidatesOf(const char* text) {
    std::vector<std::string> names;
    const auto candidates =
        backend_.Candidates(*ParseWorkload(text), NumericContract::kStrictF32, CandidateTier::kEngine);
    EXPECT_TRUE(candidates.ok());
    for (const Candidate& candidate : *candidates) names.push_back(candidate.name());
    return names;
  }

  OneDnnBackend backend_{BackendOptions{}};
  testing::ReplayNetwork network_;
};

TEST_F(Replay, IsRightWithEveryPairOfCandidatesAndTheirLayouts) {
  std::size_t most_reorders = 0, least_reorders = 100;
  for (const std::string& first : CandidatesOf(kFirst)) {
    for (const std::string& second : CandidatesOf(kSecond)) {
      SCOPED_TRACE(first + " then " + second);
      const ReplayResult result = Checked(Network(first, second));
      EXPECT_EQ(result.FirstFault().value_or(""), "");
      std::size_t reorders = 0;
      for (const ReplayPart& part : result.parts) reorders += part.is_reorder ? 1 : 0;
      EXPECT_EQ(result.parts.size(), 7 + reorders);
      EXPECT_THAT(result.parts[reorders > 0 && result.parts[0].is_reorder ? 1 : 0].candidate, first);
      most_reorders = std::max(most_reorders, reorders);
      least_reorders = std::min(least_reorders, reorders);
    }
  }
  // Where both like the same layout nothing lies between them; somewhere they do not.
  EXPECT_LT(least_reorders, most_reorders);
}

TEST_F(Replay, IsRightWhereARegionRunsAsAPartitionOfOneDnnGraph) {
  const std::string first =
      std::string("region [") + kFirst + "](in0,w0,w1) ; [pointwise kind=relu dtype=f32:-:f32 " + "in=576](%0)";
  for (const char* candidate : {"onednn/graph/partition", "onednn/graph/partition/nhwc"}) {
    for (const char* second : {"onednn/jit:avx2/nhwc", "onednn/jit:avx2/nchw", ""}) {
      SCOPED_TRACE(std::string(candidate) + " then " + second);
      ReplaySchedule schedule = Network("", second);
      // In place of the relu; what conv1 wrote is then read by nobody.
      schedule.steps[1] = Step("conv1 + relu", first, candidate, {0, 1, 2}, {5});
      schedule.steps[1].values.resize(2);
      const ReplayResult result = Checked(schedule);
      EXPECT_EQ(result.FirstFault().value_or(""), "");
      const auto runs = [&](const ReplayPart& part) { return !part.is_reorder && part.candidate == candidate; };
      EXPECT_EQ(std::count_if(result.parts.begin(), result.parts.end(), runs), 1);
    }
  }
}

// Conv1 + relu as one or apart, conv2 by two candidates, the residual likewise: every pair of layouts meets at both
// ends of each factor.
ReplaySchedule WithChoices(const std::string& fused, const std::string& first, const std::string& second,
                           const std::string& other) {
  ReplaySchedule schedule = Network(first, second);
  const std::string text =
      std::string("region [") + kFirst + "](in0,w0,w1) ; [pointwise kind=relu dtype=f32:-:f32 " + "in=576](%0)";
  ReplayStep region = Step("conv1 + relu", text, fused, {0, 1, 2}, {5});
  region.values.resize(2);
  schedule.factors = {"conv1", "conv2"};
  schedule.design = {"00", "01", "10", "11"};
  region.level = ReplayLevel{0, 0};
  schedule.steps[0].level = schedule.steps[1].level = ReplayLevel{0, 1};
  schedule.steps[2].level = ReplayLevel{1, 0};
  ReplayStep again = schedule.steps[2];
  again.candidate = {other};
  again.level = ReplayLevel{1, 1};
  schedule.steps.insert(schedule.steps.begin() + 3, again);
  schedule.steps.insert(schedule.steps.begin(), region);
  return schedule;
}

TEST_F(Replay, IsRightAtBothLevelsOfEachFactorWhateverTheirLayouts) {
  std::size_t reorders = 0;
  const std::string first = CandidatesOf(kFirst).front();
  const std::vector<std::string> candidates = CandidatesOf(kSecond);
  // Each candidate once at either level.
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string& second = candidates[i];
    const std::string& other = candidates[(i + 1) % candidates.size()];
    const char* const fused = i % 2 == 0 ? "onednn/graph/partition" : "onednn/graph/partition/nhwc";
    SCOPED_TRACE(std::string(fused) + ", " + second + " or " + other);
    const ReplaySchedule schedule = WithChoices(fused, first, second, other);
    const ReplayResult result = Checked(schedule);
    EXPECT_EQ(result.FirstFault().value_or(""), "");
    EXPECT_EQ(result.outputs.size(), 2U);
    for (const ReplayPart& part : result.parts) {
      if (part.is_reorder && schedule.steps[part.step].level) ++reorders;
      EXPECT_TRUE(part.is_reorder || part.error.has_value()) << part.name;
    }
  }
  EXPECT_GT(reorders, 0U);
}

// What conv2 reads, turned and turned back.
ReplaySchedule TurnedTwice(ReplaySchedule schedule, const std::string& back) {
  const auto is_second = [](const ReplayStep& step) { return step.name == "conv2"; };
  auto second = std::ranges::find_if(schedule.steps, is_second);
  const std::size_t a = second->operands[0], turned = schedule.tensors.size();
  for (auto step = second; step != schedule.steps.end(); ++step)
    if (is_second(*step)) step->operands[0] = turned + 1;
  schedule.tensors.push_back({"turned", ReplayTensorKind::kIntermediate, DataType::kF32, Shape{{36, 16}}});
  schedule.tensors.push_back({"back", ReplayTensorKind::kIntermediate, DataType::kF32, Shape{{1, 16, 6, 6}}});
  const std::string text = "movement kind=transpose dtype=f32:-:f32 in=";
  second = schedule.steps.insert(second, Step("back", text + "36x16 out=16x36 perm=1,0", back, {turned}, {turned + 1}));
  schedule.steps.insert(second,
                        Step("turn", text + "16x36 out=36x16 perm=1,0", std::string(kViewCandidate), {a}, {turned}));
  return schedule;
}

TEST_F(Replay, IsRightWhereTransposesAreViewsOfAnyLayout) {
  const std::string view(kViewCandidate);
  std::size_t trial = 0;
  for (const std::string& first : CandidatesOf(kFirst)) {
    for (const std::string& second : CandidatesOf(kSecond)) {
      const std::string back = ++trial % 2 == 0 ? view : "infimum/transpose";
      SCOPED_TRACE(first + ", " + back + ", " + second);
      const ReplayResult result = Checked(TurnedTwice(Network(first, second), back));
      EXPECT_EQ(result.FirstFault().value_or(""), "");
      std::vector<std::string> steps;
      for (const ReplayPart& part : result.parts)
        if (!part.is_reorder) steps.push_back(part.name);
      EXPECT_THAT(steps, Not(Contains("turn")));
      EXPECT_EQ(std::ranges::count(steps, "back"), back == view ? 0 : 1);
      if (trial % 3 != 0) continue;
      const ReplayResult of_levels =
          Checked(TurnedTwice(WithChoices("onednn/graph/partition", first, second, ""), view));
      EXPECT_EQ(of_levels.FirstFault().value_or(""), "");
    }
  }
}

// The concatenation of b and a copy of x, as a view where that can be: its result in this layout.
ReplaySchedule Joined(ReplaySchedule schedule, const std::string& layout) {
  const std::size_t copy = schedule.tensors.size();
  schedule.tensors.push_back({"copy", ReplayTensorKind::kIntermediate, DataType::kF32, Shape{{1, 16, 6, 6}}});
  for (ReplayStep& step : schedule.steps) {
    if (step.name != "concat") continue;
    step.operands[1] = copy;
    step.candidate = ReplayCandidate(std::string(kViewCandidate), "", layout);
  }
  schedule.steps.insert(schedule.steps.begin(),
                        Step("copy", "movement kind=copy dtype=f32:-:f32 in=576 out=576", "", {0}, {copy}));
  return schedule;
}

TEST_F(Replay, IsRightWhereAConcatenationsOperandsAreWrittenInItsResult) {
  for (const auto& [layout, is_view] : {std::pair("plain", true), {"4x8x36:acb", true}, {"32x36:ba", false}}) {
    const std::vector<std::string> candidates = CandidatesOf(kSecond);
    for (const std::string& second : {candidates.front(), candidates.back()}) {
      SCOPED_TRACE(std::string(layout) + ", " + second);
      const ReplayResult result = Checked(Joined(Network("", second), layout));
      EXPECT_EQ(result.FirstFault().value_or(""), "");
      const auto is_concat = [](const ReplayPart& part) { return !part.is_reorder && part.name == "concat"; };
      EXPECT_EQ(std::ranges::count_if(result.parts, is_concat), is_view ? 0 : 1);
      const std::string first = CandidatesOf(kFirst).front();
      const ReplayResult of_levels =
          Checked(Joined(WithChoices("onednn/graph/partition", first, second, candidates[1]), layout));
      EXPECT_EQ(of_levels.FirstFault().value_or(""), "");
    }
  }
}

// Layouts without names: any two have a reorder, or only those from and to row-major.
class NumberedOrders : public cpu::ReplayOrders {
 public:
  explicit NumberedOrders(bool direct) : direct_(direct) {}
  bool IsDense(cpu::OrderId order) const override { return order != 2; }
  bool HasReorder(cpu::OrderId from, cpu::OrderId to) const override {
    return direct_ || from == cpu::kRowMajorOrder || to == cpu::kRowMajorOrder;
  }

 private:
  bool direct_;
};

TEST_F(Replay, IsRightWhereASplitsResultsArePartsOfItsOperand) {
  using Kind = ReplayTensorKind;
  ReplaySchedule schedule;
  const Shape half{{1, 16, 6, 6}}, whole{{1, 32, 6, 6}};
  schedule.tensors = {{"x", Kind::kInput, DataType::kF32, whole, false},
                      {"a", Kind::kIntermediate, DataType::kF32, whole, false},
                      {"first", Kind::kIntermediate, DataType::kF32, half, false},
                      {"second", Kind::kIntermediate, DataType::kF32, half, false},
                      {"y", Kind::kIntermediate, DataType::kF32, half, true}};
  for (const char* const candidate : {"infimum/view", "infimum/split"}) {
    schedule.steps = {
        Step("relu", "pointwise kind=relu dtype=f32:-:f32 in=1152", "", {0}, {1}),
        Step("split", "movement kind=split dtype=f32:-:f32 in=32x36 out=16x36,16x36 axis=0", candidate, {1}, {2, 3}),
        Step("minus", "pointwise kind=subtract dtype=f32:f32:f32 in=576,576", "", {2, 3}, {4})};
    const auto replay = backend_.PrepareReplay(schedule, nullptr);
    ASSERT_TRUE(replay.ok()) << replay.error().message;
    const Result<ReplayResult> result = (*replay)->Check();
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->FirstFault().value_or(""), "");
    EXPECT_EQ(result->parts.size(), std::string(candidate) == kViewCandidate ? 2U : 3U);
  }
}

// As if it were a transpose: all orders but one have another one in the same memory.
std::vector<cpu::StepOrders::Part> Turned(cpu::OrderId order) {
  if (order == 3) return {};
  return {{(order + 2) % 4, 0}};
}

// A factor reads a, the next one what may be a view of it: y = b(a) + c(turn(a)).
ReplaySchedule ViewBetweenChoices() {
  using Kind = ReplayTensorKind;
  ReplaySchedule schedule = WithChoices("", "", "", "");
  schedule.tensors.clear();
  for (const char* name : {"x", "a", "b", "turned", "c", "y"})
    schedule.tensors.push_back({name, *name == 'x' ? Kind::kInput : Kind::kIntermediate, DataType::kF32, Shape{{576}}});
  schedule.tensors.back().is_output = true;
  const auto step = [](const char* name, std::vector<std::size_t> reads, std::size_t writes,
                       std::optional<ReplayLevel> level = std::nullopt) {
    ReplayStep made = Step(name, "pointwise kind=relu dtype=f32:-:f32 in=576", "", std::move(reads), {writes});
    made.level = level;
    return made;
  };
  schedule.steps = {step("a", {0}, 1),    step("b", {1}, 2, ReplayLevel{0, 0}), step("b", {1}, 2, ReplayLevel{0, 1}),
                    step("turn", {1}, 3), step("c", {3}, 4, ReplayLevel{1, 0}), step("c", {3}, 4, ReplayLevel{1, 1}),
                    step("y", {2, 4}, 5)};
  return schedule;
}

TEST(ReplayLayout, EachCombinationOfLevelsReadsOnlyWhatItsOwnPartsMade) {
  const ReplaySchedule schedules[] = {WithChoices("", "", "", ""), ViewBetweenChoices()};
  std::mt19937 random(11);
  for (int trial = 0; trial < 4000; ++trial) {
    const ReplaySchedule& schedule = schedules[trial % 2];
    const NumberedOrders known(random() % 2 == 0);
    const bool has_view = random() % 2 == 0;
    std::vector<cpu::StepOrders> orders;
    for (const ReplayStep& step : schedule.steps) {
      cpu::StepOrders wanted{random() % 4 == 0 && step.name == "relu", {}, {}};
      for (const std::size_t operand : step.operands) {
        const bool is_weight = schedule.tensors[operand].kind == ReplayTensorKind::kWeight;
        wanted.reads.push_back(is_weight ? cpu::kRowMajorOrder : random() % 4);
      }
      for (std::size_t i = 0; i < step.outputs.size(); ++i) wanted.writes.push_back(random() % 4);
      if (has_view && step.operands.size() == 1 && !wanted.any_order) wanted.view = Turned;
      orders.push_back(std::move(wanted));
    }
    const Result<cpu::ReplayLayout> layout = cpu::LayOut(schedule, orders, known);
    ASSERT_TRUE(layout.ok()) << layout.error().message;
    for (const char* const levels : {"00", "01", "10", "11"}) {
      SCOPED_TRACE(levels);
      std::vector<bool> is_there(layout->buffers.size());
      for (std::size_t i = 0; i < is_there.size(); ++i) is_there[i] = layout->IsGiven(schedule, i);
      for (const cpu::ReplayOperation& operation : layout->operations) {
        const ReplayStep& step = schedule.steps[operation.step];
        if (!RunsAt(step.level, levels)) continue;
        for (const std::size_t buffer : operation.reads) EXPECT_TRUE(is_there[layout->MemoryOf(buffer)]) << step.name;
        for (const std::size_t buffer : operation.writes) {
          EXPECT_EQ(layout->MemoryOf(buffer), buffer);
          is_there[buffer] = true;
        }
        if (operation.is_reorder) {
          EXPECT_EQ(layout->buffers[operation.reads[0]].tensor, layout->buffers[operation.writes[0]].tensor);
          continue;
        }
        for (std::size_t i = 0; i < step.operands.size(); ++i) {
          EXPECT_EQ(layout->buffers[operation.reads[i]].tensor, step.operands[i]);
          if (!orders[operation.step].any_order) {
            EXPECT_EQ(layout->buffers[operation.reads[i]].order, orders[operation.step].reads[i]);
          }
        }
      }
      for (const std::size_t output : layout->outputs) EXPECT_TRUE(is_there[layout->MemoryOf(output)]);
    }
  }
}

// a is made of x, b may be a view of a, c is both, d of c, f may be a view of d, e is c and f, g and h are
// parts of e, y of a, g and h.
ReplaySchedule NestedConcatenations() {
  ReplaySchedule schedule = ViewBetweenChoices();
  schedule.tensors.clear();
  const std::pair<const char*, std::int64_t> tensors[] = {{"x", 3}, {"a", 3},  {"b", 3}, {"c", 6}, {"d", 4},
                                                          {"f", 4}, {"e", 10}, {"g", 2}, {"h", 8}, {"y", 3}};
  for (const auto& [name, count] : tensors)
    schedule.tensors.push_back({name, *name == 'x' ? ReplayTensorKind::kInput : ReplayTensorKind::kIntermediate,
                                DataType::kF32, Shape{{count}}});
  schedule.tensors.back().is_output = true;
  const ReplayStep like = schedule.steps.front();
  const auto step = [&](const char* name, std::vector<std::size_t> reads, std::size_t writes,
                        std::optional<ReplayLevel> level = std::nullopt) {
    ReplayStep made = like;
    made.name = name;
    made.operands = std::move(reads);
    made.outputs = {writes};
    made.level = level;
    return made;
  };
  schedule.steps = {step("a", {0}, 1, ReplayLevel{0, 0}),
                    step("a", {0}, 1, ReplayLevel{0, 1}),
                    step("turn", {1}, 2),
                    step("join", {1, 2}, 3),
                    step("d", {3}, 4, ReplayLevel{1, 0}),
                    step("d", {3}, 4, ReplayLevel{1, 1}),
                    step("turn", {4}, 5),
                    step("join", {3, 5}, 6),
                    step("cut", {6}, 7),
                    step("y", {1, 7, 8}, 9)};
  schedule.steps[8].outputs = {7, 8};
  return schedule;
}

// Every element is followed from where it is written to where it is read.
TEST(ReplayLayout, WhatLiesInAConcatenationIsThereAtEveryLevel) {
  const ReplaySchedule schedule = NestedConcatenations();
  // The elements of a tensor, whichever its layout.
  std::vector<std::vector<int>> elements(schedule.tensors.size());
  for (std::size_t i = 0; i < elements.size(); ++i)
    for (int k = 0; k < schedule.tensors[i].shape.dims[0]; ++k) elements[i].push_back(100 * static_cast<int>(i) + k);
  elements[2] = elements[1];
  elements[5] = elements[4];
  for (const auto& [whole, first, second] : {std::array<std::size_t, 3>{3, 1, 2}, {6, 3, 5}}) {
    elements[whole] = elements[first];
    elements[whole].insert(elements[whole].end(), elements[second].begin(), elements[second].end());
  }
  elements[7].assign(elements[6].begin(), elements[6].begin() + 2);
  elements[8].assign(elements[6].begin() + 2, elements[6].end());
  std::mt19937 random(12);
  int joins = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const NumberedOrders known(random() % 2 == 0);
    std::vector<cpu::StepOrders> orders;
    for (const ReplayStep& step : schedule.steps) {
      cpu::StepOrders wanted;
      for (std::size_t i = 0; i < step.operands.size(); ++i) wanted.reads.push_back(random() % 4);
      for (std::size_t i = 0; i < step.outputs.size(); ++i) wanted.writes.push_back(random() % 4);
      if (step.name == "join" && random() % 4 != 0) {
        const auto offset = static_cast<std::int64_t>(elements[step.operands[0]].size());
        wanted.joined = cpu::StepOrders::Joined{random() % 4, {{random() % 4, 0}, {random() % 4, offset}}};
      }
      if (step.name == "turn" && random() % 2 == 0) wanted.view = Turned;
      if (step.name == "cut" && random() % 2 == 0) {
        wanted.view = [](cpu::OrderId order) {
          return order == 3 ? std::vector<cpu::StepOrders::Part>()
                            : std::vector<cpu::StepOrders::Part>{{order, 0}, {0, 2}};
        };
      }
      orders.push_back(std::move(wanted));
    }
    const Result<cpu::ReplayLayout> layout = cpu::LayOut(schedule, orders, known);
    ASSERT_TRUE(layout.ok()) << layout.error().message;
    for (const cpu::ReplayBuffer& buffer : layout->buffers) joins += buffer.offset > 0 ? 1 : 0;
    const std::vector<BufferLife> lives = cpu::LivesOf(*layout, std::vector<std::size_t>(layout->buffers.size(), 64));
    for (const char* const levels : {"00", "01", "10", "11"}) {
      SCOPED_TRACE(levels);
      std::vector<std::vector<int>> memory;
      for (const cpu::ReplayBuffer& buffer : layout->buffers) memory.emplace_back(elements[buffer.tensor].size(), -1);
      const auto at = [&](std::size_t buffer) {
        return memory[layout->MemoryOf(buffer)].begin() + layout->OffsetOf(buffer);
      };
      const auto is_there = [&](std::size_t buffer) {
        return std::ranges::equal(
            elements[layout->buffers[buffer].tensor],
            std::span(at(buffer),
                      at(buffer) + static_cast<std::ptrdiff_t>(elements[layout->buffers[buffer].tensor].size())));
      };
      memory[0] = elements[0];
      for (std::size_t i = 0; i < layout->operations.size(); ++i) {
        const cpu::ReplayOperation& operation = layout->operations[i];
        if (!RunsAt(schedule.steps[operation.step].level, levels)) continue;
        for (const std::size_t buffer : operation.reads) {
          EXPECT_TRUE(is_there(buffer)) << schedule.tensors[layout->buffers[buffer].tensor].name;
          EXPECT_LE(lives[layout->MemoryOf(buffer)].first, i);
          EXPECT_GE(lives[layout->MemoryOf(buffer)].last, i);
        }
        for (const std::size_t buffer : operation.writes)
          std::ranges::copy(elements[layout->buffers[buffer].tensor], at(buffer));
      }
      EXPECT_TRUE(is_there(layout->outputs[0]));
    }
  }
  EXPECT_GT(joins, 750);
}

// x -> a (a view) -> b -> y (a view): what a view looks at is needed as long as the view.
TEST(ReplayLayout, AViewOfAnInputAndOneThatIsAnOutputKeepTheirMemory) {
  ReplaySchedule schedule = ViewBetweenChoices();
  const ReplayStep step = schedule.steps.front();
  schedule.factors.clear();
  schedule.steps.assign(3, step);
  std::vector<cpu::StepOrders> orders(3, cpu::StepOrders{false, {cpu::kRowMajorOrder}, {cpu::kRowMajorOrder}});
  const std::size_t path[] = {0, 1, 2, 5};
  for (std::size_t i = 0; i < 3; ++i) {
    schedule.steps[i].operands = {path[i]};
    schedule.steps[i].outputs = {path[i + 1]};
    if (i != 1) orders[i].view = [](cpu::OrderId order) { return std::vector<cpu::StepOrders::Part>{{order, 0}}; };
  }
  const Result<cpu::ReplayLayout> layout = cpu::LayOut(schedule, orders, NumberedOrders(true));
  ASSERT_TRUE(layout.ok()) << layout.error().message;
  ASSERT_EQ(layout->operations.size(), 1U);
  const cpu::ReplayOperation& only = layout->operations[0];
  EXPECT_TRUE(layout->IsGiven(schedule, layout->MemoryOf(only.reads[0])));
  ASSERT_EQ(layout->outputs.size(), 1U);
  EXPECT_EQ(layout->MemoryOf(layout->outputs[0]), only.writes[0]);
  const std::vector<BufferLife> lives = cpu::LivesOf(*layout, std::vector<std::size_t>(layout->buffers.size(), 64));
  EXPECT_EQ(lives[only.writes[0]].last, layout->operations.size());
  EXPECT_EQ(lives[layout->outputs[0]].bytes, 0U);
}

// Steps that run once make a scale, which a step behind them has as a number.
TEST_F(Replay, AScaleMayBeWhatAStepMakesThatRunsOnce) {
  using enum ReplayTensorKind;
  ReplaySchedule schedule;
  schedule.model = "scales";
  const auto add = [&](const std::string& name, ReplayTensorKind kind, DataType type, Shape shape) -> ReplayTensor& {
    ReplayTensor tensor;
    tensor.name = name, tensor.kind = kind, tensor.type = type, tensor.shape = std::move(shape);
    return schedule.tensors.emplace_back(std::move(tensor));
  };
  add("x", kInput, DataType::kF32, Shape{{64}});
  add("half", kWeight, DataType::kF32, Shape{{1}}).fill = 0.5;
  add("scale", kWeight, DataType::kF32, Shape{{1}});
  add("q", kIntermediate, DataType::kS8, Shape{{64}});
  add("y", kIntermediate, DataType::kF32, Shape{{64}}).is_output = true;
  schedule.steps = {Step("square", "pointwise kind=multiply dtype=f32:f32:f32 in=1,1", "", {1, 1}, {2}),
                    Step("quantize", "pointwise kind=quantize dtype=f32:-:s8 in=64", "", {0}, {3}),
                    Step("dequantize", "pointwise kind=dequantize dtype=s8:-:f32 in=64", "", {3}, {4})};
  schedule.steps[1].value_tensors = {{{"out_scale", 2}}};
  schedule.steps[2].value_tensors = {{{"in0_scale", 2}}};
  ASSERT_TRUE(Validate(schedule).ok());
  const auto replay = backend_.PrepareReplay(schedule, nullptr);
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  const Result<ReplayResult> result = (*replay)->Check();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->FirstFault().value_or(""), "");
}

TEST_F(Replay, RunsAgainWithTheSameResult) {
  Result<std::unique_ptr<PreparedReplay>> replay = Prepared(Network());
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  for (int inference = 0; inference < 3; ++inference) {
    for (std::size_t part = 0; part < (*replay)->parts().size(); ++part) {
      // Each part twice: none may overwrite what it reads.
      ASSERT_TRUE((*replay)->Run(part).ok());
      ASSERT_TRUE((*replay)->Run(part).ok());
    }
  }
  const Result<ReplayResult> result = (*replay)->Check();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->FirstFault().value_or(""), "");
  EXPECT_GT((*replay)->weights().value, 16 * 16 * 9 * 4);
  // All intermediates at once would need more.
  EXPECT_LT((*replay)->arena().value, 9 * 4096 + 4096);
}

TEST_F(Replay, WithoutTensorsTheSecondInferenceIsHeldAgainstTheFirst) {
  const auto replay = backend_.PrepareReplay(Network(), nullptr);
  ASSERT_TRUE(replay.ok()) << replay.error().message;
  const Result<ReplayResult> result = (*replay)->Check();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->FirstFault().value_or(""), "");
  ASSERT_EQ(result->outputs.size(), 1u);
  EXPECT_EQ(result->outputs[0].error, 0);
}

TEST_F(Replay, NoticesAWrongEpsilon) {
  ReplaySchedule schedule = Network();
  schedule.steps[6].values[0]["epsilon"] = {1e-5};
  EXPECT_THAT(Checked(schedule).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(Replay, NoticesAWrongStart) {
  ReplaySchedule schedule = Network();
  schedule.steps[5].values[0]["starts"] = {7, 0};
  EXPECT_THAT(Checked(schedule).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(Replay, NoticesSwappedOperands) {
  ReplaySchedule schedule = Network();
  schedule.steps[4].operands = {0, 7};
  EXPECT_THAT(Checked(schedule).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(Replay, NoticesOneCorruptedWeight) {
  network_.given()["w1"][1000] += 0.25F;
  network_.WriteTensors();
  EXPECT_THAT(Checked(Network()).FirstFault().value_or(""), HasSubstr("output 'y'"));
}

TEST_F(Replay, ACandidateThatNobodyKnowsIsReplacedByOneThatRuns) {
  const ReplayResult result = Checked(Network("onednn/quantum:annealed"));
  EXPECT_EQ(result.FirstFault().value_or(""), "");
  for (const ReplayPart& part : result.parts) EXPECT_THAT(part.candidate, ::testing::Not(HasSubstr("quantum")));
}

TEST_F(Replay, ALayerThatNoKernelRunsWithItsValuesIsRunByTheReference) {
  // Bounds that the kernels of ours have not compiled in, in a type that the library has not.
  ReplayStep step =
      Step("clip", "pointwise kind=clip dtype=f64:-:f64 in=4", "", {0}, {1}, {{"clip_low", {-1}}, {"clip_high", {1}}});
  const Result<cpu::StepOffer> offer = cpu::FindStepOffer(step);
  ASSERT_TRUE(offer.ok()) << offer.error().message;
  EXPECT_EQ(offer->candidate, "infimum/reference");
  Result<cpu::HostTensor> from = cpu::HostTensor::Make(Shape{{4}}, DataType::kF64);
  Result<cpu::HostTensor> to = cpu::HostTensor::Make(Shape{{4}}, DataType::kF64);
  ASSERT_TRUE(from.ok() && to.ok());
  for (std::int64_t i = 0; i < 4; ++i) from->Set(i, static_cast<double>(i) * 1.5 - 2);
  const auto program = offer->make({&*from}, {&*to});
  ASSERT_TRUE(program.ok());
  ASSERT_TRUE((*program)->Run().ok());
  EXPECT_EQ(to->Get(0), -1);
  EXPECT_EQ(to->Get(1), -0.5);
  EXPECT_EQ(to->Get(3), 1);
}

TEST_F(Replay, ValuesThatAreUnknownOrLeadOutsideAreRefused) {
  for (const ReplayValues& values : {ReplayValues{{"colour", {1}}}, ReplayValues{{"epsilon", {1, 2}}},
                                     ReplayValues{{"starts", {8, 0}}}, ReplayValues{{"nearest_shift", {99}}}}) {
    ReplaySchedule schedule = Network();
    schedule.steps[6].values[0] = values;
    EXPECT_FALSE(Prepared(schedule).ok());
  }
  ReplaySchedule schedule = Network();
  schedule.steps[5].values[0]["starts"] = {17, 0};
  const auto replay = Prepared(schedule);
  ASSERT_FALSE(replay.ok());
  EXPECT_THAT(replay.error().message, HasSubstr("leads out of"));
}

TEST_F(Replay, AMissingTensorIsNamed) {
  fs::remove(network_.folder() / "w2.bin");
  const auto replay = Prepared(Network());
  ASSERT_FALSE(replay.ok());
  EXPECT_THAT(replay.error().message, HasSubstr("w2.bin"));
}

TEST(MemoryOrder, IsTheSameInWhateverShapeATensorIsSeen) {
  using cpu::ChannelsLastDesc, cpu::MemoryOrder, cpu::PlainDesc;
  const Shape image{{1, 64, 7, 7}};
  const MemoryOrder last(PlainDesc(image, DataType::kF32), ChannelsLastDesc(image, DataType::kF32));
  // 49 rows of 64, of which row-major memory holds the transpose.
  const dnnl::memory::desc rows({49, 64}, dnnl::memory::data_type::f32, dnnl::memory::dims{1, 49});
  const MemoryOrder product(rows, PlainDesc(Shape{{49, 64}}, DataType::kF32));
  EXPECT_TRUE(last == product);
  EXPECT_FALSE(last.row_major());
  EXPECT_TRUE(MemoryOrder(PlainDesc(image, DataType::kF32), PlainDesc(image, DataType::kF32)).row_major());
  // One pixel: the channels are last and first.
  const Shape pixel{{1, 64, 1, 1}};
  EXPECT_TRUE(MemoryOrder(PlainDesc(pixel, DataType::kF32), ChannelsLastDesc(pixel, DataType::kF32)).row_major());
  const dnnl::memory::desc blocked(image.dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nChw16c);
  EXPECT_FALSE(last == MemoryOrder(PlainDesc(image, DataType::kF32), blocked));
  const Shape odd{{1, 60, 7, 7}};
  const dnnl::memory::desc padded(odd.dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nChw16c);
  EXPECT_FALSE(MemoryOrder(PlainDesc(odd, DataType::kF32), padded).dense());
}

}  // namespace
}  // namespace infimum
