#include "analyzer/sides/common_offset.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace infimum {
namespace {

constexpr std::size_t kLeastLayers = 8;
// The longest layer against the shortest: where all take as long, an offset is a factor as well.
constexpr double kLeastRange = 4;
constexpr double kAlike = 0.25, kMostAlike = 2.0 / 3;
constexpr double kLeastPart = 0.5;  // of the whole difference

}  // namespace

std::optional<CommonOffset> CommonOffsetOf(const SideComparison& comparison, std::size_t side) {
  std::vector<Latency> differences;
  Latency shortest{1e18}, longest{0}, whole{0};
  std::size_t uses = 0;
  for (const SetLayer& layer : comparison.layers) {
    if (side >= layer.times.size()) continue;
    const SideTime &before = layer.times.front(), &after = layer.times[side];
    if (!before.latency || !after.latency || before.is_estimated || after.is_estimated) continue;
    if (before.latency->count() <= 0 || after.latency->count() <= 0) continue;
    const Latency difference = *after.latency - *before.latency;
    differences.push_back(difference);
    shortest = std::min(shortest, *before.latency);
    longest = std::max(longest, *before.latency);
    whole += static_cast<double>(layer.uses.size()) * difference;
    uses += layer.uses.size();
  }
  if (differences.size() < kLeastLayers || longest < kLeastRange * shortest) return std::nullopt;
  CommonOffset found;
  found.layers = differences.size();
  std::ranges::sort(differences);
  const std::size_t middle = differences.size() / 2;
  found.offset =
      differences.size() % 2 == 1 ? differences[middle] : (differences[middle - 1] + differences[middle]) / 2;
  const double width = kAlike * std::fabs(found.offset.count());
  found.alike = static_cast<std::size_t>(std::ranges::count_if(
      differences, [&](Latency difference) { return std::fabs((difference - found.offset).count()) <= width; }));
  found.over_all_uses = static_cast<double>(uses) * found.offset;
  const bool is_common = static_cast<double>(found.alike) >= kMostAlike * static_cast<double>(found.layers);
  const bool is_much = found.offset.count() != 0 && whole / found.over_all_uses > 0 &&
                       std::fabs(found.over_all_uses.count()) >= kLeastPart * std::fabs(whole.count());
  return is_common && is_much ? std::optional(found) : std::nullopt;
}

}  // namespace infimum
