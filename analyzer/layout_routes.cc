#include "analyzer/layout_routes.h"

#include <algorithm>

namespace infimum {

LayoutRoutes::LayoutRoutes(const LayoutTensor& tensor)
    : tensor_(tensor), ranges_((std::size_t{1} << tensor.layouts) * tensor.layouts) {}

// Every simple path to `layout` from what exists, made backwards: `so_far` starts at the order that is to be reached.
void LayoutRoutes::Find(std::size_t layout, const LayoutRoute& so_far, std::vector<LayoutRoute>& found) const {
  for (std::size_t from = 0; from < tensor_.layouts; ++from) {
    if (from == layout) continue;
    const bool is_on_way = std::ranges::any_of(so_far.changes(), [&](const auto& change) { return change[1] == from; });
    if (is_on_way) continue;
    LayoutRoute route = so_far;
    route.list[route.length++] = {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(layout)};
    route.cost += ChangeCost(tensor_, from, layout);
    if ((so_far.mask >> from & 1) == 0) {
      Find(from, route, found);
      continue;
    }
    LayoutRoute forwards{route.mask, 0, {}, route.cost};
    for (std::size_t i = route.length; i-- > 0;) {
      forwards.list[forwards.length++] = route.list[i];
      forwards.mask = static_cast<std::uint8_t>(forwards.mask | 1u << route.list[i][1]);
    }
    found.push_back(forwards);
  }
}

std::span<const LayoutRoute> LayoutRoutes::To(std::size_t layout, std::uint8_t mask) {
  Range& range = ranges_[mask * tensor_.layouts + layout];
  if (!range.is_known) {
    range.is_known = true;
    range.begin = static_cast<std::uint32_t>(routes_.size());
    LayoutRoute nothing;
    nothing.mask = mask;
    std::vector<LayoutRoute> found;
    if ((mask >> layout & 1) != 0) {
      routes_.push_back(nothing);
    } else if (mask != 0) {
      Find(layout, nothing, found);
    }
    std::ranges::stable_sort(found, {}, &LayoutRoute::cost);
    for (const LayoutRoute& route : found) {
      const bool is_beaten = std::any_of(routes_.begin() + range.begin, routes_.end(),
                                         [&](const LayoutRoute& cheaper) { return (route.mask & ~cheaper.mask) == 0; });
      if (!is_beaten) routes_.push_back(route);
    }
    range.end = static_cast<std::uint32_t>(routes_.size());
  }
  return std::span(routes_).subspan(range.begin, range.end - range.begin);
}

}  // namespace infimum
