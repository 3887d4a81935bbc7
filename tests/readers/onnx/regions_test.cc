// Fusable regions in the nodes of exporters' forms: a few nodes of ONNX's text over inputs and constants of one header.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "infimum/graph/fusable_regions.h"
#include "tests/readers/onnx/model_text.h"
#include "tests/support/text_cases.h"

namespace infimum {
namespace {

constexpr std::string_view kHeader =
    "g (float[2,4,8,16] q, float[2,4,12,16] k, float[2,4,12,16] v, float[2,4,16,12] vt, float[2,2,12,16] k2, "
    "float[2,2,12,16] v2, float[2,4,16,12] kt, float[8,8,16] q8, float[8,16,12] k8, float[8,12,16] v8, "
    "float[2,4,1,16] q1, float[2,4,8,16] other, float[8,12] mask, float[1,4,8,12] bias, float[2,1,8,12] batches, "
    "float[2,4,8,12] all, "
    "float[2,1,1,12] keys, float[8,1] queries, bool[2,1,8,12] seen, float[2,6,32] x, float16[2,6,32] h, float[1,32] r, "
    "float[2,4,16,8] state, float[2,4,16,8] grown, float16[2,4,16,8] kept, float16[2,4,1,16] row16, float[2,4,1,1] "
    "decay, float[2,4,16,1] key, float[2,4,1,8] value, "
    "float8e4m3fn[2,4,8,16] qf, float8e4m3fn[2,4,12,16] kf, float8e4m3fn[2,4,12,16] vf, "
    "float[2,4,16,1] query, float[2,4,1,16] row, float[2,6,4] past, float[2,6,1] step) "
    "=> (y) <float[32] w, float16[32] w16, float[4,1,1] head, float[1,4,1,1] sink, float[16,12] wt, float[1] c = "
    "{0.25}, float[1] two = {2}, float[1] one = {1}, float[1] zero = {0}, float[1] low = {-1e9}, float small = {1e-6}, "
    "float under = {-0.5}, "
    "int64[1] axis = {2}, int64[5] fives = {2,2,2,12,16}, int64[4] fours = {2,4,12,16}, int64[4] column = {2,4,8,1}, "
    "int64[1] last = {-1}, int64[1] from = {0}, int64[1] to = {12}, int64[1] after = {1}, int64[1] beyond = {13}, "
    "int64[3] rows = {2,6,32}, int64[1] half = {8}, int64[1] end = {16}, int64[1] four = {4}, int64[1] eight = {8}, "
    "int64[1] queue = {2}, float[8,16] cosines, float[8,16] sines, "
    "float[32,24] w1, float[32,16] w2, float[24] b1, float[16] b2, float[6,1,4] taps, float[6] shift> ";

// Those whose layers one line of text can hold.
const std::set<std::string_view> kRules = {"attention", "causal-convolution", "linear-attention", "normalization",
                                           "rotary",    "shared-input"};

std::vector<std::string> RegionsIn(const std::string& nodes) {
  const ModelGraph graph = ReadText(std::string(kHeader) + "{ " + nodes + " }", {}, 23);
  std::vector<std::string> found;
  for (const FusableRegion& region : FindFusableRegions(graph)) {
    if (!kRules.contains(region.rule)) continue;
    std::string values;
    for (const auto& [name, numbers] : region.values.at(0))
      values += fmt::format("{}{}={:.4g}", values.empty() ? "" : " ", name, numbers.at(0));
    const auto runs = [&](LayerId layer) { return graph.layer(layer).status == LayerStatus::kMeasurable; };
    const auto layers = std::ranges::count_if(region.layers, runs);
    found.push_back(fmt::format("{} of {} {{{}}}", Format(region.workload), layers, values));
  }
  return found.empty() ? std::vector<std::string>{"none"} : found;
}

class Regions : public ::testing::TestWithParam<testing::TextSection> {};

TEST_P(Regions, AreThoseOfTheirTable) {
  for (const auto& [where, nodes, expected] : GetParam().cases) {
    SCOPED_TRACE(where);
    EXPECT_EQ(RegionsIn(nodes), expected) << nodes;
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, Regions, ::testing::ValuesIn(testing::ReadTextCases("tests/readers/onnx/regions.txt")),
                         testing::kSectionName);

}  // namespace
}  // namespace infimum
