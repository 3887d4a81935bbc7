// The orders of memory that candidates name, each once, by numbers that are quick to compare.
//
//   NumberOf("abcd", 1x64x8x8)   0: row-major by every name
//   NumberOf("acdb", 1x64x8x8)   1
//   NumberOf("nhwc", 1x64x8x8)   2, which IsSame as 1
//   NumberOf("any", 1x64x8x8)    nullopt: it says nothing
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "infimum/layer/element_order.h"

namespace infimum {

struct NamedOrder {
  ElementOrder order;
  std::string name;  // in letters, of `shape`; of row-major empty: it is in every shape
  Shape shape;
  std::size_t same_as = 0;  // the first of OrderTable that is this order, maybe by another name
};

class OrderTable {
 public:
  OrderTable() : orders_(1) {}

  std::optional<std::uint32_t> NumberOf(std::string_view name, const Shape& shape);
  const NamedOrder& operator[](std::uint32_t number) const { return orders_[number]; }
  bool IsSame(std::uint32_t a, std::uint32_t b) const { return a == b || orders_[a].same_as == orders_[b].same_as; }

 private:
  std::optional<std::uint32_t> Find(std::string_view name, const Shape& shape);
  std::optional<std::uint32_t> Add(std::string_view name, const Shape& shape);

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  // The last answers: the candidates of one unit, and of its neighbours, mostly name the same orders of few shapes.
  struct Answer {
    std::string name;
    Shape shape;
    std::optional<std::uint32_t> number;
  };

  std::deque<NamedOrder> orders_;
  // By name and extents.
  std::unordered_map<std::string, std::optional<std::uint32_t>, TextHash, std::equal_to<>> numbers_;
  std::map<std::pair<std::vector<std::int64_t>, std::string>, std::size_t> first_;  // by runs, and what is padded
  std::string key_;
  std::array<Answer, 4> recent_;
  std::size_t oldest_ = 0;
};

}  // namespace infimum
