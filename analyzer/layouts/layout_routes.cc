#include "analyzer/layouts/layout_routes.h"

#include <algorithm>
#include <utility>

namespace infimum {
namespace {

constexpr std::size_t kMasks = std::size_t{1} << kMostLayouts;

// By what exists already.
constexpr std::array<LayoutRoute, kMasks> kNothingToDo = [] {
  std::array<LayoutRoute, kMasks> routes;
  for (std::size_t mask = 0; mask < kMasks; ++mask) routes[mask].mask = static_cast<std::uint8_t>(mask);
  return routes;
}();

}  // namespace

// Every simple path to `layout` from what exists, made backwards: `so_far` starts at the order that is to be reached.
void LayoutRoutes::Find(const LayoutTensor& tensor, std::size_t layout, const LayoutRoute& so_far) {
  for (std::size_t from = 0; from < tensor.layouts; ++from) {
    if (from == layout) continue;
    const bool is_on_way = std::ranges::any_of(so_far.changes(), [&](const auto& change) { return change[1] == from; });
    if (is_on_way) continue;
    LayoutRoute route = so_far;
    route.list[route.length++] = {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(layout)};
    route.cost += ChangeCost(tensor, from, layout);
    if ((so_far.mask >> from & 1) == 0) {
      Find(tensor, from, route);
      continue;
    }
    LayoutRoute forwards{route.mask, 0, {}, route.cost};
    for (std::size_t i = route.length; i-- > 0;) {
      forwards.list[forwards.length++] = route.list[i];
      forwards.mask = static_cast<std::uint8_t>(forwards.mask | 1u << route.list[i][1]);
    }
    found_.push_back(forwards);
  }
}

// Without those that cost no less than one that ends with all that they have.
std::vector<LayoutRoute> LayoutRoutes::Search(const LayoutTensor& tensor, std::size_t layout, std::uint8_t mask) {
  LayoutRoute start;
  start.mask = mask;
  found_.clear();
  Find(tensor, layout, start);
  std::ranges::stable_sort(found_, {}, &LayoutRoute::cost);
  std::vector<LayoutRoute> kept;
  for (const LayoutRoute& route : found_) {
    const auto has_all = [&](const LayoutRoute& cheaper) { return (route.mask & ~cheaper.mask) == 0; };
    if (std::ranges::none_of(kept, has_all)) kept.push_back(route);
  }
  return kept;
}

std::span<const LayoutRoute> LayoutRoutes::To(std::size_t tensor, std::size_t layout, std::uint8_t mask) {
  if (mask == 0) return {};
  if ((mask >> layout & 1) != 0) return std::span(&kNothingToDo[mask], 1);
  const LayoutTensor& described = problem_.tensors[tensor];
  if (described.layouts == 2) {
    // Which is what nearly all tensors have: there is one way.
    LayoutRoute& route = pairs_[2 * tensor + layout];
    if (route.length == 0) {
      const auto from = static_cast<std::uint8_t>(1 - layout);
      route = {std::uint8_t{3}, 1, {}, ChangeCost(described, from, layout)};
      route.list[0] = {from, static_cast<std::uint8_t>(layout)};
    }
    return std::span(&route, 1);
  }
  const auto [entry, is_new] = searched_.try_emplace((tensor * kMostLayouts + layout) * kMasks + mask);
  if (is_new) entry->second = Search(described, layout, mask);
  return entry->second;
}

}  // namespace infimum
