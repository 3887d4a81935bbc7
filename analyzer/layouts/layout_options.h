// The layers and regions of a graph with the orders that their candidates state: which tensors each reads and writes,
// and of the rows that read and write alike the fastest, as one way to run it.
//
//   conv_1   rows abcd -> abcd 12 us, abcd -> abcd 11 us, acdb -> acdb 10 us   ways 11 us {0, 0}, 10 us {1, 1}
//   relu_1   rows plain -> plain 3 us, 4 us                                    way 3 us, keeps the order that it reads
//
// Tensors are values up to views.
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

#include "analyzer/bounds/latency_resolution.h"
#include "infimum/layer/element_order.h"

namespace infimum {

// The orders of memory that candidates name, each once, by numbers that are quick to compare.
//
//   NumberOf("abcd", 1x64x8x8)   0: row-major by every name
//   NumberOf("acdb", 1x64x8x8)   1
//   NumberOf("nhwc", 1x64x8x8)   2, which IsSame as 1
//   NumberOf("any", 1x64x8x8)    nullopt: it says nothing
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

struct StatedWay {
  const Candidate* candidate = nullptr;  // null where no row is behind the time
  Latency cost{0};
  bool unstated = false;  // an order counts as row-major for want of a name that can be read
};

struct StatedUnit {
  std::vector<std::size_t> layers;         // that take part, ascending
  std::vector<std::size_t> reads, writes;  // tensors, none twice among the reads
  bool keeps_order = false;                // element-wise: any order does that all its tensors have
  std::optional<std::size_t> region;       // which of the resolved regions it is; nullopt for a layer
  // Where its ways, at least one, and their orders begin among all.
  std::size_t first_way = 0, way_count = 0, first_order = 0;

  std::size_t width() const { return reads.size() + writes.size(); }
  std::size_t TensorAt(std::size_t place) const {
    return place < reads.size() ? reads[place] : writes[place - reads.size()];
  }
};

struct StatedUnits {
  std::vector<StatedUnit> units;  // of layers in the graph's order, then of regions
  std::vector<StatedWay> ways;    // of one unit after the other
  // Numbers in the table, for each way of what it reads and then of what it writes.
  std::vector<std::uint32_t> orders;
  OrderTable table;
  std::vector<ValueId> values;                        // by tensor
  std::vector<ValueId> roots;                         // of each value what it is a view of
  std::vector<std::optional<std::size_t>> tensor_of;  // by value, of roots

  std::span<const StatedWay> WaysOf(const StatedUnit& unit) const {
    return std::span(ways).subspan(unit.first_way, unit.way_count);
  }
  std::span<const std::uint32_t> OrdersOf(const StatedUnit& unit, std::size_t way) const {
    return std::span(orders).subspan(unit.first_order + way * unit.width(), unit.width());
  }
  std::optional<std::size_t> TensorOf(ValueId value) const { return tensor_of[roots[value.index()].index()]; }
};

// `layers` and `regions` as LatencyResolver gives them; they, and the rows behind them, live longer. Rows on `threads`
// threads count.
StatedUnits FindStatedUnits(const ModelGraph& graph, std::int64_t threads, const std::vector<ResolvedLayer>& layers,
                            const std::vector<ResolvedRegion>& regions);

}  // namespace infimum
