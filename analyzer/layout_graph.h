// A graph's layers and regions with the layouts that their candidates state: the question that ChooseLayouts answers,
// and what its numbers mean.
//
//   LayoutGraph question(graph, selection, layers, regions);
//   question.SetTimes(...)                 what the changes of layout cost
//   ChooseLayouts(question.problem())
//
// Tensors are values up to views. All tensors that element-wise layers connect share their layouts, since such a layer
// hands on what it is given. Of more than kMostLayouts the ones whose candidates lose most are given up.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/latency_resolution.h"
#include "infimum/analyzer/layout_choice.h"
#include "infimum/layer/element_order.h"

namespace infimum {

struct NamedOrder {
  ElementOrder order;
  std::string name;  // in letters, of `shape`; of row-major empty: it is in every shape
  Shape shape;
  std::size_t same_as = 0;  // the first of OrderTable that is this order, maybe by another name
};

// Every order that some candidate names in some shape, once; number 0 is row-major.
class OrderTable {
 public:
  OrderTable() : orders_(1) {}
  // 0 for row-major by every name; nullopt for a name that says nothing.
  std::optional<std::uint32_t> NumberOf(std::string_view name, const Shape& shape);
  const NamedOrder& operator[](std::uint32_t number) const { return orders_[number]; }
  bool IsSame(std::uint32_t a, std::uint32_t b) const { return orders_[a].same_as == orders_[b].same_as; }

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::deque<NamedOrder> orders_;
  // By name and extents.
  std::unordered_map<std::string, std::optional<std::uint32_t>, TextHash, std::equal_to<>> numbers_;
  std::map<std::pair<std::vector<std::int64_t>, std::string>, std::size_t> first_;  // by runs, and what is padded
  std::string key_;
};

class LayoutGraph {
 public:
  // `layers` and `regions` as LatencyResolver gives them; they, and the rows behind them, live longer.
  LayoutGraph(const ModelGraph& graph, const Selection& selection, const std::vector<ResolvedLayer>& layers,
              const std::vector<ResolvedRegion>& regions);

  // Whether some candidate that took part reads or writes anything but row-major.
  bool has_layouts() const { return has_layouts_; }
  // No order was given up.
  bool is_complete() const { return is_complete_; }

  // Changes of layout as workloads.
  struct Reorder {
    Workload workload;
    WorkloadKey key;
  };
  const std::vector<Reorder>& reorders() const { return reorders_; }
  // Which of them a change consists of: one, or two over row-major where the orders are named in different shapes.
  std::span<const std::size_t> ReordersOf(std::size_t tensor, std::size_t from, std::size_t to) const;
  // `times`: one for each of reorders().
  void SetTimes(std::span<const Latency> times);

  const LayoutProblem& problem() const { return problem_; }
  ValueId ValueOf(std::size_t tensor) const { return values_[tensor]; }
  const NamedOrder& OrderOf(std::size_t tensor, std::size_t layout) const {
    return table_[orders_[class_of_[tensor]][layout]];
  }
  // What a choice stands for; its candidate is null where no row is behind the time.
  struct Behind {
    const Candidate* candidate = nullptr;
    bool unstated = false;
  };
  const Behind& BehindOf(const ChosenUnit& chosen) const { return behind_[chosen.unit][chosen.option]; }
  // Which region of `regions` a unit is; nullopt for a layer.
  std::optional<std::size_t> RegionOf(std::size_t unit) const { return region_of_[unit]; }

 private:
  struct Access {
    std::size_t tensor;
    Shape shape;  // in which the workload sees it
  };
  // Orders before they have numbers.
  struct Way {
    const Candidate* candidate = nullptr;  // null where no row is behind the time
    Latency cost{0};
    std::vector<std::uint32_t> reads, writes;  // orders
    bool unstated = false;                     // an order counts as row-major for want of a name that can be read
  };
  struct Unit {
    std::vector<std::size_t> layers;
    std::vector<Access> reads, writes;
    std::vector<Way> ways;
    bool keeps_order = false;
  };

  bool TakesPart(const Layer& layer) const;
  void AddCaptured(const SubGraph& body, std::set<std::size_t>& known, Unit& unit);
  void AddLayer(std::size_t layer, const ResolvedLayer& resolved);
  void AddRegion(std::size_t place, const ResolvedRegion& resolved);
  void AddWays(const WorkloadRows* rows, const std::vector<bool>& is_read, Unit& unit);
  bool ReadLayouts(const Candidate& candidate, const std::vector<bool>& is_read, const Unit& unit, Way& way);
  std::optional<std::size_t> TensorOf(ValueId value);
  void NumberOrders();
  void NumberOptions();
  void FindReorders();
  std::vector<ReorderConfig> MakeReorders(std::size_t tensor, std::size_t from, std::size_t to) const;

  const ModelGraph& graph_;
  const Selection& selection_;
  std::vector<ValueId> roots_;
  std::unordered_map<std::string_view, ValueId> named_;  // where layers have bodies
  std::vector<std::optional<std::size_t>> tensor_of_;    // by value
  std::vector<ValueId> values_;                          // by tensor
  std::vector<Unit> units_;
  std::vector<std::size_t> class_of_;  // by tensor
  OrderTable table_;
  std::vector<std::vector<std::uint32_t>> orders_;  // by class, row-major first
  std::vector<std::vector<Behind>> behind_;         // by unit and option
  std::vector<std::optional<std::size_t>> region_of_;
  LayoutProblem problem_;
  std::vector<Reorder> reorders_;
  std::vector<std::vector<std::vector<std::size_t>>> reorders_of_;  // by tensor, then from x layouts + to
  bool has_layouts_ = false;
  bool is_complete_ = true;
};

}  // namespace infimum
