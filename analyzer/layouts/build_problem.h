// A graph's layers and regions with the layouts that their candidates state: the question that ChooseLayouts answers,
// and what its numbers mean.
//
//   LayoutGraph question(graph, selection, layers, regions);
//   question.SetTimes(...)                 what the changes of layout cost
//   ChooseLayouts(question.problem())
//
// All tensors that element-wise layers connect share their layouts, since such a layer hands on what it is given. Of
// more than kMostLayouts the ones whose candidates lose most are given up.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/layouts/layout_options.h"
#include "analyzer/layouts/solver.h"
#include "analyzer/rows/measured_rows.h"

namespace infimum {

class LayoutGraph {
 public:
  // `layers` and `regions` as LatencyResolver gives them; they, and the rows behind them, live longer.
  LayoutGraph(const ModelGraph& graph, const Selection& selection, const std::vector<ResolvedLayer>& layers,
              const std::vector<ResolvedRegion>& regions);

  // Whether some candidate that took part reads or writes anything but row-major.
  bool has_layouts() const { return has_layouts_; }
  // No order was given up.
  bool is_complete() const { return is_complete_; }

  // Changes of layout as workloads, none twice.
  const std::vector<KeyedWorkload>& reorders() const { return reorders_; }
  // Which of them a change consists of: one, or two over row-major where the orders are named in different shapes.
  std::span<const std::size_t> ReordersOf(std::size_t tensor, std::size_t from, std::size_t to) const;
  // `times`: one for each of reorders().
  void SetTimes(std::span<const Latency> times);

  const LayoutProblem& problem() const { return problem_; }
  ValueId ValueOf(std::size_t tensor) const { return stated_.values[tensor]; }
  const NamedOrder& OrderOf(std::size_t tensor, std::size_t layout) const {
    return stated_.table[OrderNumber(tensor, layout)];
  }
  // What a choice stands for; its candidate is null where no row is behind the time.
  struct Behind {
    const Candidate* candidate = nullptr;
    bool unstated = false;
  };
  const Behind& BehindOf(const ChosenUnit& chosen) const { return behind_[first_option_[chosen.unit] + chosen.option]; }
  // Which region of `regions` a unit is; nullopt for a layer.
  std::optional<std::size_t> RegionOf(std::size_t unit) const { return region_of_[unit]; }

 private:
  // An order that tensors of one class may have, and what giving it up costs the unit that would miss it most.
  struct ClassOrder {
    std::uint32_t order = 0;
    Latency worth{0};
  };
  // A change of one order into another is the same for all tensors of a type.
  struct Change {
    DataType type = DataType::kNone;
    std::uint32_t from = 0, to = 0;
    friend bool operator==(const Change&, const Change&) = default;
  };
  struct ChangeHash {
    std::size_t operator()(const Change& change) const {
      const auto type = static_cast<std::size_t>(change.type);
      return std::hash<std::size_t>()((std::size_t{change.from} << 32 | change.to) * 31 + type);
    }
  };
  struct ChangeReorders {
    std::array<std::size_t, 2> reorders = {};
    std::size_t count = 0;
  };

  std::uint32_t OrderNumber(std::size_t tensor, std::size_t layout) const {
    return orders_[class_of_[tensor]][layout].order;
  }
  Change ChangeOf(std::size_t tensor, std::size_t from, std::size_t to) const;
  void FindClasses();
  void NumberOrders();
  void NumberTensors();
  void NumberOptions();
  void AddOptions(const StatedUnit& stated, LayoutUnit& unit);
  std::optional<std::uint8_t> LayoutOf(std::size_t tensor, std::uint32_t order) const;
  void FindReorders();
  std::vector<ReorderConfig> MakeReorders(const Change& change) const;

  const ModelGraph& graph_;
  StatedUnits stated_;
  std::vector<std::size_t> class_of_;            // by tensor
  std::vector<std::vector<ClassOrder>> orders_;  // by class, row-major first
  std::vector<Behind> behind_;                   // of all units' options, one unit after the other
  std::vector<std::size_t> first_option_;        // by unit
  std::vector<std::optional<std::size_t>> region_of_;
  LayoutProblem problem_;
  std::vector<KeyedWorkload> reorders_;
  std::unordered_map<Change, ChangeReorders, ChangeHash> changes_;
  bool has_layouts_ = false;
  bool is_complete_ = true;
};

}  // namespace infimum
