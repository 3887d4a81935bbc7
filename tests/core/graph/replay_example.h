// A small schedule with all that a schedule can have: a weight made of another, a product, a branch that joins again.
//
//   y = relu(x w^T) + b[3:7], with w stored 2x8 and the slice's start in a weight
#pragma once

#include "infimum/base/check.h"
#include "infimum/graph/replay_schedule.h"

namespace infimum {

inline ReplayStep ExampleStep(const std::string& name, const std::string& workload, std::vector<std::size_t> operands,
                              std::vector<std::size_t> outputs, ReplayValues values = {}) {
  Result<Workload> parsed = ParseWorkload(workload);
  INFIMUM_CHECK(parsed.ok(), "the test's workload parses");
  return {name, {name}, *std::move(parsed), "", std::move(operands), std::move(outputs), {std::move(values)}};
}

inline ReplaySchedule ExampleSchedule() {
  using Kind = ReplayTensorKind;
  ReplaySchedule schedule;
  schedule.model = "example";
  schedule.tensors = {{"x", Kind::kInput, DataType::kF32, Shape{{4, 8}}, false},
                      {"w", Kind::kWeight, DataType::kF32, Shape{{2, 8}}, false},
                      {"w transposed", Kind::kWeight, DataType::kF32, Shape{{8, 2}}, false},
                      {"product", Kind::kIntermediate, DataType::kF32, Shape{{4, 2}}, false},
                      {"relu", Kind::kIntermediate, DataType::kF32, Shape{{4, 2}}, false},
                      {"b", Kind::kInput, DataType::kF32, Shape{{8, 2}}, false},
                      {"half", Kind::kIntermediate, DataType::kF32, Shape{{4, 2}}, false},
                      {"y", Kind::kIntermediate, DataType::kF32, Shape{{4, 2}}, true},
                      {"starts", Kind::kWeight, DataType::kS64, Shape{{2}}, false}};
  schedule.steps = {ExampleStep("turn", "movement kind=transpose dtype=f32:-:f32 in=2x8 out=8x2 perm=1,0", {1}, {2}),
                    ExampleStep("fc", "matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x2 bias=no weights=const", {0, 2}, {3}),
                    ExampleStep("act", "pointwise kind=relu dtype=f32:-:f32 in=8", {3}, {4}),
                    ExampleStep("cut", "movement kind=slice dtype=f32:-:f32 in=8x2 out=4x2", {5}, {6}),
                    ExampleStep("sum", "pointwise kind=add dtype=f32:f32:f32 in=8,8", {4, 6}, {7})};
  schedule.steps[3].value_tensors = {{{"starts", 8}}};
  return schedule;
}

// The same with two choices: product and relu as one or apart, and the sum by either of two candidates.
inline ReplaySchedule ExampleWithFactors() {
  ReplaySchedule schedule = ExampleSchedule();
  schedule.factors = {"fc", "sum"};
  schedule.design = {"00", "11", "01", "10"};
  ReplayStep region = ExampleStep("fc + act",
                                  "region [matmul dtype=f32:f32:f32 a=1x4x8 b=1x8x2 bias=no weights=const](in0,w0) ; "
                                  "[pointwise kind=relu dtype=f32:-:f32 in=8](%0)",
                                  {0, 2}, {4});
  region.values.resize(2);
  region.level = ReplayLevel{0, 0};
  schedule.steps.insert(schedule.steps.begin() + 1, region);
  schedule.steps[2].level = schedule.steps[3].level = ReplayLevel{0, 1};
  schedule.steps.push_back(schedule.steps.back());
  schedule.steps[5].level = ReplayLevel{1, 0};
  schedule.steps[6].level = ReplayLevel{1, 1};
  schedule.steps[6].candidate = {"infimum/pointwise"};
  return schedule;
}

}  // namespace infimum
