#include "analyzer/layouts/layout_table.h"

#include <algorithm>

namespace infimum {

std::size_t OrderTable::AskedHash::operator()(AskedView asked) const {
  std::size_t hash = std::hash<std::string_view>()(asked.name);
  // By 2^64 over the golden ratio, whose products spread over all bits.
  for (const std::int64_t extent : asked.extents) hash = (hash ^ static_cast<std::size_t>(extent)) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

std::optional<std::uint32_t> OrderTable::NumberOf(std::string_view name, const Shape& shape) {
  if (const auto known = numbers_.find(AskedView(name, shape)); known != numbers_.end()) return known->second;
  return numbers_.emplace(Asked{std::string(name), shape}, Add(name, shape)).first->second;
}

std::optional<std::uint32_t> OrderTable::Add(std::string_view name, const Shape& shape) {
  std::optional<ElementOrder> order = ParseLayout(name, shape);
  if (!order) return std::nullopt;
  if (order->is_row_major()) return 0;
  const auto number = static_cast<std::uint32_t>(orders_.size());
  std::vector<std::int64_t> runs;
  for (const ElementRun& run : order->runs) runs.insert(runs.end(), {run.extent, run.logical, run.physical});
  const std::size_t first = first_.try_emplace({std::move(runs), order->padded}, number).first->second;
  LayoutView view = ViewOf(name, shape);
  orders_.push_back({*std::move(order), std::move(view.letters), std::move(view.shape), first});
  return number;
}

}  // namespace infimum
