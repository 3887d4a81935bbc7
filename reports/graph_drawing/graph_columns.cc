#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/graph_drawing/graph_steps.h"

namespace infimum {
namespace {

constexpr std::size_t kMostColumns = 64;
// What a cut edge costs, and a cut joint, in shares of a column's height.
constexpr double kLaneCost = 0.02;
constexpr double kJointCost = 0.2;
// A column may end so far from where it should, in shares of its height.
constexpr double kSlack = 0.3;
// So much larger must more columns make the picture, for each edge that is led around.
constexpr double kLeastGain = 1.15;
constexpr double kGainPerLane = 0.01;

struct Cut {
  std::vector<std::size_t> starts;
  double scale = 0;  // of the picture in a space of height 1
  std::size_t lanes = 0;
};

// Ends each column near its share of what is left, where that costs least.
std::vector<std::size_t> StartsOf(const std::vector<ColumnRank>& ranks, const std::vector<double>& tops,
                                  std::size_t columns) {
  std::vector<std::size_t> starts = {0};
  while (starts.size() < columns) {
    const double top = tops[starts.back()];
    const double height = (tops.back() - top) / static_cast<double>(columns - starts.size() + 1);
    double least = std::numeric_limits<double>::infinity();
    std::size_t best = ranks.size();
    const auto from = std::ranges::lower_bound(tops, top + height * (1 - kSlack));
    for (auto next = static_cast<std::size_t>(from - tops.begin()); next < ranks.size(); ++next) {
      if (next <= starts.back()) continue;
      const double off = std::abs(tops[next] - top - height) / height;
      if (off > kSlack) break;
      const double cost = off * off + kLaneCost * static_cast<double>(ranks[next - 1].lanes) +
                          kJointCost * static_cast<double>(ranks[next - 1].joints);
      if (cost >= least) continue;
      least = cost;
      best = next;
    }
    if (best == ranks.size()) break;
    starts.push_back(best);
  }
  return starts;
}

Cut CutInto(const std::vector<ColumnRank>& ranks, const std::vector<double>& tops, std::size_t columns, double aspect) {
  Cut cut;
  cut.starts = StartsOf(ranks, tops, columns);
  double width = 0, height = 0;
  for (std::size_t i = 0; i < cut.starts.size(); ++i) {
    const std::size_t end = i + 1 < cut.starts.size() ? cut.starts[i + 1] : ranks.size();
    double left = std::numeric_limits<double>::infinity(), right = -left;
    for (std::size_t rank = cut.starts[i]; rank < end; ++rank) {
      left = std::min(left, ranks[rank].left);
      right = std::max(right, ranks[rank].right);
    }
    width += right - left;
    double column = tops[end] - tops[cut.starts[i]];
    if (end < ranks.size()) {
      const double lanes = kLane * static_cast<double>(ranks[end - 1].lanes);
      width += kGutter + lanes;
      column += 2 * (kMargin + lanes);
      cut.lanes += ranks[end - 1].lanes;
    }
    height = std::max(height, column);
  }
  cut.scale = std::min(aspect / std::max(width, 1.0), 1 / std::max(height, 1.0));
  return cut;
}

}  // namespace

std::vector<std::size_t> ColumnStarts(const std::vector<ColumnRank>& ranks, double aspect) {
  if (ranks.empty()) return {0};
  std::vector<double> tops = {0};
  for (const ColumnRank& rank : ranks) tops.push_back(tops.back() + rank.height);
  Cut best = CutInto(ranks, tops, 1, aspect);
  const double alone = best.scale;
  double most = 1;
  for (std::size_t columns = 2; columns <= std::min(kMostColumns, ranks.size()); ++columns) {
    Cut cut = CutInto(ranks, tops, columns, aspect);
    const double gain = cut.scale / alone;
    const double worth = gain / (1 + kGainPerLane * static_cast<double>(cut.lanes));
    if (worth <= most || gain < kLeastGain) continue;
    most = worth;
    best = std::move(cut);
  }
  return best.starts;
}

}  // namespace infimum
