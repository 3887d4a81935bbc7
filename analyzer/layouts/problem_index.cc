#include "analyzer/layouts/problem_index.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "analyzer/types/disjoint_sets.h"
#include "infimum/base/check.h"

namespace infimum {
namespace {

Latency LargestReorder(const LayoutTensor& tensor) {
  return tensor.reorder.empty() ? Latency(0) : *std::ranges::max_element(tensor.reorder);
}

// Which layers read each tensor, in one list.
class ReadersByTensor {
 public:
  explicit ReadersByTensor(std::size_t tensors) : first_(tensors + 1, 0) {}

  void Add(std::size_t tensor, std::size_t layer) { uses_.emplace_back(tensor, layer); }
  void Sort() {
    for (const auto& [tensor, layer] : uses_) ++first_[tensor + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::ranges::stable_sort(uses_, {}, &Use::first);
  }
  std::span<const std::pair<std::size_t, std::size_t>> Of(std::size_t tensor) const {
    return std::span(uses_).subspan(first_[tensor], first_[tensor + 1] - first_[tensor]);
  }

 private:
  using Use = std::pair<std::size_t, std::size_t>;
  std::vector<std::size_t> first_;  // by tensor
  std::vector<Use> uses_;
};

}  // namespace

Latency BestCost(const LayoutNode& node) {
  Latency best = node.options.front().cost;
  for (const LayoutOption& option : node.options) best = std::min(best, option.cost);
  return best;
}

void ProblemIndex::NoteUse(std::size_t node) {
  for (const auto* tensors : {&problem.nodes[node].reads, &problem.nodes[node].writes})
    for (std::size_t tensor : *tensors) last_use[tensor] = std::max(last_use[tensor], runs_after[node]);
}

ProblemIndex::ProblemIndex(const LayoutProblem& given)
    : problem(given),
      single(given.layers, ProblemIndex::kNone),
      runs_after(given.nodes.size(), 0),
      last_use(given.tensors.size(), 0) {
  const std::vector<LayoutNode>& nodes = problem.nodes;
  std::vector<std::size_t> writer(problem.tensors.size(), ProblemIndex::kNone);
  ReadersByTensor readers(problem.tensors.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    INFIMUM_CHECK(!nodes[i].layers.empty() && !nodes[i].options.empty(), "a node has layers and an option to run");
    if (nodes[i].layers.size() > 1 || single[nodes[i].layers[0]] != ProblemIndex::kNone) continue;
    const std::size_t layer = nodes[i].layers[0];
    single[layer] = i;
    for (std::size_t tensor : nodes[i].writes) writer[tensor] = layer;
    for (std::size_t tensor : nodes[i].reads) readers.Add(tensor, layer);
  }
  readers.Sort();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::vector<std::size_t>& layers = nodes[i].layers;
    const bool is_region = single[layers[0]] != i;
    const auto is_member = [&](std::size_t layer) { return std::ranges::binary_search(layers, layer); };
    // A region runs when the last of its members that reads from outside has its turn.
    runs_after[i] = layers[0];
    for (std::size_t layer : layers) {
      INFIMUM_CHECK(single[layer] != ProblemIndex::kNone, "a region is made of layers that can run alone");
      for (std::size_t tensor : nodes[single[layer]].reads)
        if (writer[tensor] == ProblemIndex::kNone || !is_member(writer[tensor]))
          runs_after[i] = std::max(runs_after[i], layer);
    }
    if (!is_region) {
      NoteUse(i);
      continue;
    }
    Latency alone{0}, reorders{0};
    const auto add_reorders = [&](const LayoutNode& node) {
      for (std::size_t tensor : node.reads) reorders += LargestReorder(problem.tensors[tensor]);
      for (std::size_t tensor : node.writes) reorders += LargestReorder(problem.tensors[tensor]);
    };
    for (std::size_t layer : layers) {
      alone += BestCost(nodes[single[layer]]);
      add_reorders(nodes[single[layer]]);
    }
    add_reorders(nodes[i]);
    if (!(BestCost(nodes[i]) < alone + reorders)) continue;
    bool is_early = false;
    for (std::size_t tensor : nodes[i].writes)
      for (const auto& [read, reader] : readers.Of(tensor)) is_early |= !is_member(reader) && reader < runs_after[i];
    if (is_early) {
      exact = false;
      continue;
    }
    regions.push_back(i);
    NoteUse(i);
  }
  for (std::size_t i = 0; i < problem.tensors.size(); ++i)
    if (problem.tensors[i].is_output) last_use[i] = problem.layers;
  std::ranges::stable_sort(regions, {}, [&](std::size_t region) { return nodes[region].layers[0]; });
}

std::vector<LayoutComponent> SplitLayouts(const ProblemIndex& index) {
  const LayoutProblem& problem = index.problem;
  DisjointSets joined(problem.layers + problem.tensors.size());
  const auto join_tensors = [&](const LayoutNode& node) {
    for (const auto* tensors : {&node.reads, &node.writes})
      for (std::size_t tensor : *tensors)
        if (problem.tensors[tensor].layouts > 1) joined.Join(node.layers[0], problem.layers + tensor);
  };
  for (std::size_t layer = 0; layer < problem.layers; ++layer)
    if (index.single[layer] != ProblemIndex::kNone) join_tensors(problem.nodes[index.single[layer]]);
  for (std::size_t region : index.regions) {
    const LayoutNode& node = problem.nodes[region];
    for (std::size_t layer : node.layers) joined.Join(node.layers[0], layer);
    join_tensors(node);
  }
  std::vector<std::size_t> place(problem.layers + problem.tensors.size(), ProblemIndex::kNone);
  std::vector<LayoutComponent> components;
  const auto of = [&](std::size_t item) -> LayoutComponent& {
    std::size_t& number = place[joined.Find(item)];
    if (number == ProblemIndex::kNone) {
      number = components.size();
      components.emplace_back();
    }
    return components[number];
  };
  for (std::size_t layer = 0; layer < problem.layers; ++layer)
    if (index.single[layer] != ProblemIndex::kNone) of(layer).layers.push_back(layer);
  for (std::size_t region : index.regions) of(problem.nodes[region].layers[0]).regions.push_back(region);
  for (std::size_t i = 0; i < problem.tensors.size(); ++i)
    if (problem.tensors[i].layouts > 1) of(problem.layers + i).tensors.push_back(i);
  return components;
}

}  // namespace infimum
