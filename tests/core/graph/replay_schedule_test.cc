#include "infimum/graph/replay_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/core/graph/replay_example.h"

namespace infimum {
namespace {

using ::testing::HasSubstr;

TEST(ReplaySchedule, TheExampleIsValid) {
  const Status status = Validate(ExampleSchedule());
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
}

TEST(ReplaySchedule, AStepThatMakesWeightsRunsOnce) {
  const ReplaySchedule schedule = ExampleSchedule();
  EXPECT_TRUE(RunsOnce(schedule, schedule.steps[0]));
  EXPECT_FALSE(RunsOnce(schedule, schedule.steps[1]));
}

TEST(ReplaySchedule, ARegionsOperandsAreItsInputsThenItsWeights) {
  const Result<Workload> region = ParseWorkload(
      "region [matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x2 bias=no weights=const](in0,w0) ; "
      "[pointwise kind=add dtype=f32:f32:f32 in=8,8](%0,in1)");
  ASSERT_TRUE(region.ok()) << region.error().message;
  const std::vector<Operand> operands = OperandsOf(*region);
  ASSERT_EQ(operands.size(), 3U);
  EXPECT_EQ(operands[0].shape, (Shape{{1, 4, 8}}));
  EXPECT_EQ(operands[1].shape, (Shape{{8}}));
  EXPECT_EQ(operands[2].shape, (Shape{{1, 8, 2}}));
  ASSERT_EQ(OutputsOf(*region).size(), 1U);
}

TEST(ReplaySchedule, AStepOfAFactorRunsAtItsLevelAlone) {
  const ReplaySchedule schedule = ExampleWithFactors();
  const Status status = Validate(schedule);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  const auto runs = [&](std::size_t step, const char* levels) { return RunsAt(schedule.steps[step].level, levels); };
  EXPECT_TRUE(runs(1, "01"));
  EXPECT_FALSE(runs(2, "01"));
  EXPECT_TRUE(runs(3, "10"));
  EXPECT_TRUE(runs(4, "10"));
  EXPECT_TRUE(runs(6, "01"));
  EXPECT_FALSE(runs(6, "10"));
}

struct Fault {
  const char* says;
  std::function<void(ReplaySchedule&)> make;
};

TEST(ReplaySchedule, EachFaultIsNamed) {
  const Fault faults[] = {
      {"another has that name", [](ReplaySchedule& s) { s.tensors[1].name = s.tensors[0].name; }},
      {"has no type", [](ReplaySchedule& s) { s.tensors[0].type = DataType::kNone; }},
      {"has no elements", [](ReplaySchedule& s) { s.tensors[0].shape = Shape{{0}}; }},
      {"is tensor 99 of", [](ReplaySchedule& s) { s.steps[1].operands[0] = 99; }},
      {"its workload wants 2", [](ReplaySchedule& s) { s.steps[1].operands.pop_back(); }},
      {"is of type s32", [](ReplaySchedule& s) { s.tensors[0].type = DataType::kS32; }},
      {"its workload wants 1x4x8",
       [](ReplaySchedule& s) {
         s.tensors[0].shape = Shape{{4, 9}};
       }},
      {"is constant, but", [](ReplaySchedule& s) { s.steps[1].operands[1] = 5; }},
      {"is read before it is made", [](ReplaySchedule& s) { std::swap(s.steps[1], s.steps[2]); }},
      {"is made twice", [](ReplaySchedule& s) { s.steps.push_back(s.steps[2]); }},
      {"is made by no step", [](ReplaySchedule& s) { s.steps.pop_back(); }},
      {"is an input and is written",
       [](ReplaySchedule& s) {
         s.tensors[5].shape = s.tensors[4].shape;
         s.steps[2].outputs = {5};
       }},
      {"which is none", [](ReplaySchedule& s) { s.tensors[1].kind = ReplayTensorKind::kInput; }},
      {"values for 0 configurations", [](ReplaySchedule& s) { s.steps[1].values.clear(); }},
      {"tensors of values for 2 configurations", [](ReplaySchedule& s) { s.steps[3].value_tensors.emplace_back(); }},
      {"value 'starts' is tensor 9 of 9", [](ReplaySchedule& s) { s.steps[3].value_tensors[0]["starts"] = 9; }},
      {"which is no weight that is there by then",
       [](ReplaySchedule& s) { s.steps[3].value_tensors[0]["starts"] = 5; }},
      {"which is no weight that is there by then",
       [](ReplaySchedule& s) {
         s.steps[0].value_tensors = {{{"starts", 2}}};
       }},
      {"is given twice",
       [](ReplaySchedule& s) {
         s.steps[3].values[0]["starts"] = {3, 0};
       }},
      {"is filled and no weight", [](ReplaySchedule& s) { s.tensors[5].fill = 0; }},
      {"is filled and made by a step", [](ReplaySchedule& s) { s.tensors[2].fill = 0; }},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.says);
    ReplaySchedule schedule = ExampleSchedule();
    fault.make(schedule);
    const Status status = Validate(schedule);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr(fault.says));
  }
}

TEST(ReplaySchedule, EachFaultOfAFactorIsNamed) {
  const Fault faults[] = {
      {"is of factor 2 of 2", [](ReplaySchedule& s) { s.steps[1].level->factor = 2; }},
      {"is of level 2, not of 0 or 1", [](ReplaySchedule& s) { s.steps[1].level->level = 2; }},
      {"factor 2 ('pool') has no steps",
       [](ReplaySchedule& s) {
         s.factors.push_back("pool");
         for (std::string& levels : s.design) levels += '0';
       }},
      {"has no steps at level 1", [](ReplaySchedule& s) { s.steps.erase(s.steps.begin() + 2, s.steps.begin() + 4); }},
      {"do not begin with level 0", [](ReplaySchedule& s) { s.steps.erase(s.steps.begin() + 1); }},
      {"at level 0 do not come first",
       [](ReplaySchedule& s) {
         std::swap(s.steps[1], s.steps[2]);
         s.steps[1].level->level = 0;
         s.steps[3].level->level = 0;
         s.steps[2].level->level = 1;
       }},
      {"do not follow one another", [](ReplaySchedule& s) { std::swap(s.steps[3], s.steps[4]); }},
      // What one level alone makes is the other's to miss.
      {"is read before it is made",
       [](ReplaySchedule& s) {
         s.steps[5].operands[0] = 3;
         s.steps[6].operands[0] = 3;
       }},
      {"is an output and made at one level alone", [](ReplaySchedule& s) { s.tensors[3].is_output = true; }},
      {"is made twice",
       [](ReplaySchedule& s) {
         s.steps.push_back(s.steps[2]);
         s.steps.back().level.reset();
       }},
      {"it makes a weight",
       [](ReplaySchedule& s) {
         s.steps[0].level = ReplayLevel{0, 0};
       }},
      {"factors or a design, not both", [](ReplaySchedule& s) { s.design.clear(); }},
      {"factors or a design, not both",
       [](ReplaySchedule& s) {
         s = ExampleSchedule();
         s.design = {""};
       }},
      {"inference 1 of its design is '1', not a 0 or 1 for each of 2", [](ReplaySchedule& s) { s.design[1] = "1"; }},
      {"inference 1 of its design is '1x'", [](ReplaySchedule& s) { s.design[1] = "1x"; }},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.says);
    ReplaySchedule schedule = ExampleWithFactors();
    fault.make(schedule);
    const Status status = Validate(schedule);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr(fault.says));
  }
}

}  // namespace
}  // namespace infimum
