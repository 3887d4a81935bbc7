#include "analyzer/order_table.h"

#include <algorithm>

namespace infimum {

std::optional<std::uint32_t> OrderTable::NumberOf(std::string_view name, const Shape& shape) {
  const auto is_asked = [&](const Answer& answer) { return answer.name == name && answer.shape == shape; };
  if (const auto known = std::ranges::find_if(recent_, is_asked); known != recent_.end()) return known->number;
  Answer& answer = recent_[oldest_];
  oldest_ = (oldest_ + 1) % recent_.size();
  answer.name = name;
  answer.shape = shape;
  answer.number = Find(name, shape);
  return answer.number;
}

std::optional<std::uint32_t> OrderTable::Find(std::string_view name, const Shape& shape) {
  key_ = name;
  for (std::int64_t extent : shape.dims) key_.append(reinterpret_cast<const char*>(&extent), sizeof extent);
  if (const auto known = numbers_.find(std::string_view(key_)); known != numbers_.end()) return known->second;
  return numbers_.emplace(key_, Add(name, shape)).first->second;
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
