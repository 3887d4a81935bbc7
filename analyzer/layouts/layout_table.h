// The orders of memory that candidates name, each once, by numbers that are quick to compare.
//
//   NumberOf("abcd", 1x64x8x8)   0: row-major by every name
//   NumberOf("acdb", 1x64x8x8)   1
//   NumberOf("nhwc", 1x64x8x8)   2, which IsSame as 1
//   NumberOf("any", 1x64x8x8)    nullopt: it says nothing
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
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
  std::optional<std::uint32_t> Add(std::string_view name, const Shape& shape);

  struct Asked {
    std::string name;
    Shape shape;
  };
  struct AskedView {
    AskedView(const Asked& asked) : name(asked.name), extents(asked.shape.dims) {}
    AskedView(std::string_view asked, const Shape& shape) : name(asked), extents(shape.dims) {}
    std::string_view name;
    std::span<const std::int64_t> extents;
  };
  struct AskedHash {
    using is_transparent = void;
    std::size_t operator()(AskedView asked) const;
  };
  struct SameAsked {
    using is_transparent = void;
    bool operator()(AskedView a, AskedView b) const {
      return a.name == b.name && std::ranges::equal(a.extents, b.extents);
    }
  };

  std::deque<NamedOrder> orders_;
  std::unordered_map<Asked, std::optional<std::uint32_t>, AskedHash, SameAsked> numbers_;
  std::map<std::pair<std::vector<std::int64_t>, std::string>, std::size_t> first_;  // by runs, and what is padded
};

}  // namespace infimum
