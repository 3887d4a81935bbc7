#include "analyzer/sweep/sweep.h"

#include <algorithm>

#include "infimum/base/text.h"

namespace infimum {

std::vector<SweepAxis> AxesOf(std::span<const SweepCell> cells) {
  std::map<std::string, std::vector<std::string>> values;
  for (const SweepCell& cell : cells) {
    for (const auto& [field, value] : cell.fields) {
      std::vector<std::string>& known = values[field];
      if (std::ranges::find(known, value) == known.end()) known.push_back(value);
    }
  }
  std::vector<SweepAxis> axes;
  for (auto& [field, known] : values) {
    if (known.size() < 2) continue;
    SweepAxis axis{field, std::move(known), true};
    for (const std::string& value : axis.values) axis.is_numeric = axis.is_numeric && ParseNumber(value).has_value();
    std::ranges::sort(axis.values, [&](const std::string& one, const std::string& other) {
      return axis.is_numeric ? *ParseNumber(one) < *ParseNumber(other) : one < other;
    });
    axes.push_back(std::move(axis));
  }
  return axes;
}

}  // namespace infimum
