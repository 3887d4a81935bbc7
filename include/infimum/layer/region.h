// Several layer configurations that run as one: what a library's post-ops, fused graphs and epilogues
// are measured for.
//
//   region [convolution dtype=f32:f32:f32 ...](in0,w0) ; [pointwise kind=add ...](%0,in1) ; [pointwise kind=relu
//   ...](%1)
//
// Members are in topological order. An operand is `in<i>` (an activation from outside), `w<i>` (a
// constant) or `%<i>` (the output of member i). Numbers of in and w count up from 0 in order of first
// use. The last member's output is the region's; `out=%1,%2` at the end names them where there are more.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/layer/layer_config.h"

namespace infimum {

struct RegionOperand {
  enum class Source { kInput, kWeight, kMember };
  Source source = Source::kInput;
  std::int64_t index = 0;

  friend auto operator<=>(const RegionOperand&, const RegionOperand&) = default;
};

struct RegionMember {
  LayerConfig config;
  std::vector<RegionOperand> operands;

  friend bool operator==(const RegionMember&, const RegionMember&) = default;
};

struct Region {
  std::vector<RegionMember> members;
  std::vector<std::int64_t> outputs;  // member indices, ascending; the last member is always one

  friend bool operator==(const Region&, const Region&) = default;
};

std::string Format(const Region& region);
Result<Region> ParseRegion(std::string_view text);
Status Validate(const Region& region);

// For each operand from outside, in the order of first use, its place among in0, in1 ..., w0, w1 ...
std::vector<std::size_t> PlacesByFirstUse(const Region& region);

// Work of all members; bytes only of what comes from outside and of the outputs.
Work WorkOf(const Region& region);

}  // namespace infimum
