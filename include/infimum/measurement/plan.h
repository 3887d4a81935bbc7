// What is to be measured: versioned text, one workload a line, largest expected share first.
//
//   # infimum plan 1
//   # model resnet50 sha256=...
//   uses=3 share=0.041 contract=strict-f32 convolution dtype=f32:f32:f32 in=...
//
// Empty lines and lines that start with '#' are comments (the first is required). `uses` is how often
// the models run the workload, `share` its expected part of their time; the runner needs neither. All
// three fields may be left out, so that a plan can be written by hand: uses=1, share=0, the workload's
// native contract.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/layer/workload.h"
#include "infimum/measurement/contract.h"

namespace infimum {

inline constexpr int kPlanVersion = 1;

struct PlanEntry {
  Workload workload;
  NumericContract contract = NumericContract::kStrictF32;
  std::int64_t uses = 1;
  double share = 0;  // expected part of the time, 0 to 1

  friend bool operator==(const PlanEntry&, const PlanEntry&) = default;
};

struct Plan {
  std::vector<std::string> comments;  // without '#', after the version line
  std::vector<PlanEntry> entries;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// Control characters in comments (a model's name may hold any) become spaces.
std::string Format(const Plan& plan);

// `origin` is named in errors, then line and column from 1: "plan.txt:17:24: unknown field 'strid' ...".
// Comments come back without '#' and the space after it. A plan of a newer version is refused, an older
// one is read.
Result<Plan> ParsePlan(std::string_view text, std::string_view origin);

// A plan's file; "-" is standard input.
Result<Plan> ReadPlan(const std::string& file);

// One part of `count`, for as many machines: Shard{0, 4} is the first of four, "0/4".
struct Shard {
  std::int64_t index = 0, count = 1;
};

Result<Shard> ParseShard(std::string_view text);

// Each workload once, the largest share first; of these every count-th, so that each part has as much of what is large.
Plan PartOf(const Plan& plan, Shard shard = {});

}  // namespace infimum
