// The layers and regions of a graph with the layouts that their candidates declare: which tensors each reads and
// writes, and of the rows that read and write alike the fastest, as one option to run it.
//
//   conv_1   rows abcd -> abcd 12 us, abcd -> abcd 11 us, acdb -> acdb 10 us   options 11 us {0, 0}, 10 us {1, 1}
//   relu_1   rows plain -> plain 3 us, 4 us                                    option 3 us, keeps the layout that it
//   reads
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
#include "infimum/layer/layer_config.h"

namespace infimum {

// The layouts of memory that candidates name, each once, by numbers that are quick to compare.
//
//   NumberOf("abcd", 1x64x8x8)   0: row-major by every name
//   NumberOf("acdb", 1x64x8x8)   1
//   NumberOf("nhwc", 1x64x8x8)   2, which IsSame as 1
//   NumberOf("any", 1x64x8x8)    nullopt: it says nothing
struct NamedLayout {
  ElementOrder order;
  std::string name;  // in letters, of `shape`; of row-major empty: it is in every shape
  Shape shape;
  std::size_t same_as = 0;  // the first of LayoutTable that is this layout, maybe by another name
};

class LayoutTable {
 public:
  LayoutTable() : layouts_(1) {}

  std::optional<std::uint32_t> NumberOf(std::string_view name, const Shape& shape);
  const NamedLayout& operator[](std::uint32_t number) const { return layouts_[number]; }
  bool IsSame(std::uint32_t a, std::uint32_t b) const { return a == b || layouts_[a].same_as == layouts_[b].same_as; }

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

  std::deque<NamedLayout> layouts_;
  std::unordered_map<Asked, std::optional<std::uint32_t>, AskedHash, SameAsked> numbers_;
  std::map<std::pair<std::vector<std::int64_t>, std::string>, std::size_t> first_;  // by runs, and what is padded
};

struct DeclaredOption {
  const Candidate* candidate = nullptr;  // null where no row is behind the time
  Latency cost{0};
  bool undeclared = false;  // an layout counts as row-major for want of a name that can be read
};

struct DeclaredNode {
  std::vector<std::size_t> layers;           // that take part, ascending
  std::vector<std::size_t> reads, writes;    // tensors, none twice among the reads
  bool keeps_layout = false;                 // element-wise: any layout does that all its tensors have
  const MovementConfig* movement = nullptr;  // that may move nothing (InPlace): of what it reads into what it writes
  std::optional<std::size_t> region;         // which of the resolved regions it is; nullopt for a layer
  // Where its options, at least one, and their layouts begin among all.
  std::size_t first_option = 0, option_count = 0, first_layout = 0;

  std::size_t width() const { return reads.size() + writes.size(); }
  std::size_t TensorAt(std::size_t place) const {
    return place < reads.size() ? reads[place] : writes[place - reads.size()];
  }
};

struct DeclaredNodes {
  std::vector<DeclaredNode> nodes;      // of layers in the graph's layout, then of regions
  std::vector<DeclaredOption> options;  // of one node after the other
  // Numbers in the table, for each option of what it reads and then of what it writes.
  std::vector<std::uint32_t> layouts;
  LayoutTable table;
  std::deque<Candidate> shown;                        // of no row: what a run was seen to use
  std::vector<ValueId> values;                        // by tensor
  std::vector<ValueId> roots;                         // of each value what it is a view of
  std::vector<std::optional<std::size_t>> tensor_of;  // by value, of roots

  std::span<const DeclaredOption> OptionsOf(const DeclaredNode& node) const {
    return std::span(options).subspan(node.first_option, node.option_count);
  }
  std::span<const std::uint32_t> LayoutsOf(const DeclaredNode& node, std::size_t option) const {
    return std::span(layouts).subspan(node.first_layout + option * node.width(), node.width());
  }
  std::optional<std::size_t> TensorOf(ValueId value) const { return tensor_of[roots[value.index()].index()]; }
};

// `layers` and `regions` as LatencyResolver gives them; they, and the rows behind them, live longer. Rows on `threads`
// threads count.
DeclaredNodes FindDeclaredNodes(const ModelGraph& graph, std::int64_t threads, const std::vector<ResolvedLayer>& layers,
                                const std::vector<ResolvedRegion>& regions);

}  // namespace infimum
