// Families of models: what can be chosen of each, and the model of a choice.
//
//   const Family* family = FindFamily("fc");
//   Point point = DefaultsOf(*family);
//   point["nodes"] = 512;
//   Result<Net> net = MakeNet(*family, point, Blocks::kUnrolled);
//   NameOf(*family, point)       // "fc_layers-4_nodes-512_inputs-2000_outputs-1000_batch-1_type-f32"
//
// A parameter is a number, or one of some words, of which a point has the place.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/synth/net.h"

namespace infimum::synth {

struct Parameter {
  std::string_view name;  // "layers"; an option of the command line
  std::string_view what;
  std::int64_t usual = 1;
  std::int64_t least = 1;
  std::int64_t most = std::int64_t{1} << 31;
  std::vector<std::string_view> words = {};  // in place of numbers
};

using Point = std::map<std::string_view, std::int64_t>;

struct Family {
  std::string_view name;  // "fc"
  std::string_view what;  // one line
  std::vector<Parameter> parameters;
  // What does not fit together is an error of the net.
  void (*build)(const Point& point, Net& net) = nullptr;
};

std::span<const Family> Families();
const Family* FindFamily(std::string_view name);  // null where there is none
Point DefaultsOf(const Family& family);

// "layers-4_nodes-512": all parameters, in the family's order.
std::string NameOf(const Family& family, const Point& point);
std::string TextOf(const Parameter& parameter, std::int64_t value);

// An error says what does not fit: "hidden 100 is not divisible by 12 heads".
Result<Net> MakeNet(const Family& family, const Point& point, Blocks blocks);

// All points of the values that are given for some parameters, the last parameter varying first; the others have their
// usual ones. An error where a value is none of a parameter's, or the points are more than `most`.
//
//   "4..64*2"   4, 8, 16, 32, 64      "1..9+4"   1, 5, 9      "64,96,128"      "f32,f16"
Result<std::vector<std::int64_t>> ParseValues(const Parameter& parameter, std::string_view text);
Result<std::vector<Point>> PointsOf(const Family& family, const std::map<std::string, std::string>& values,
                                    std::size_t most);

}  // namespace infimum::synth
