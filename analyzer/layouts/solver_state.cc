#include "analyzer/layouts/solver_state.h"

#include <algorithm>

namespace infimum {

void PendingRegions::Clear() {
  numbers_.clear();
  sets_.clear();
  scratch_.clear();
  NumberOfScratch();
}

std::uint32_t PendingRegions::With(std::uint32_t number, std::size_t region) {
  scratch_ = *sets_[number];
  scratch_.insert(std::ranges::upper_bound(scratch_, region), region);
  return NumberOfScratch();
}

std::uint32_t PendingRegions::Without(std::uint32_t number, std::size_t region) {
  scratch_ = *sets_[number];
  std::erase(scratch_, region);
  return NumberOfScratch();
}

std::uint32_t PendingRegions::NumberOfScratch() {
  const auto [entry, is_new] = numbers_.try_emplace(scratch_, static_cast<std::uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(&entry->first);
  return entry->second;
}

std::uint32_t PendingRegions::Keep(std::uint32_t number) {
  if (kept_.empty()) {
    kept_.assign(sets_.size(), kForgotten);
    kept_[0] = 0;
    kept_count_ = 1;
  }
  if (kept_[number] == kForgotten) kept_[number] = kept_count_++;
  return kept_[number];
}

void PendingRegions::ForgetOthers() {
  Keep(0);
  sets_.resize(kept_count_);
  for (auto entry = numbers_.begin(); entry != numbers_.end();) {
    entry->second = kept_[entry->second];
    if (entry->second == kForgotten) {
      entry = numbers_.erase(entry);
    } else {
      sets_[entry->second] = &entry->first;
      ++entry;
    }
  }
  kept_.clear();
}

LayoutSlots::LayoutSlots(const ProblemIndex& index)
    : index_(index),
      made_(index.problem.tensors.size(), ProblemIndex::kNone),
      slot_of_(index.problem.tensors.size(), ProblemIndex::kNone) {}

void LayoutSlots::Assign(const LayoutComponent& component) {
  const LayoutProblem& problem = index_.problem;
  for (std::size_t tensor : component.tensors)
    made_[tensor] = problem.tensors[tensor].is_given ? 0 : ProblemIndex::kNone;
  const auto note = [&](const LayoutNode& node) {
    for (std::size_t tensor : node.writes) made_[tensor] = std::min(made_[tensor], node.layers[0]);
  };
  for (std::size_t layer : component.layers) note(problem.nodes[index_.single[layer]]);
  for (std::size_t region : component.regions) note(problem.nodes[region]);
  by_making_ = component.tensors;
  std::ranges::sort(by_making_, {}, [&](std::size_t tensor) { return made_[tensor]; });
  next_made_ = next_end_ = 0;
  ends_.clear();
  std::vector<std::size_t> free_after;  // of each slot the last read of its tensor
  for (std::size_t tensor : by_making_) {
    const std::size_t end = index_.last_use[tensor];
    const auto found = std::ranges::find_if(free_after, [&](std::size_t after) { return after < made_[tensor]; });
    slot_of_[tensor] = static_cast<std::size_t>(found - free_after.begin());
    if (found == free_after.end()) {
      free_after.push_back(end);
    } else {
      *found = end;
    }
    ends_.push_back({end, slot_of_[tensor]});
  }
  std::ranges::stable_sort(ends_, {}, &Turn::layer);
  tensor_in_.assign(free_after.size(), ProblemIndex::kNone);
}

void LayoutSlots::Enter(std::size_t layer) {
  for (; next_made_ < by_making_.size() && made_[by_making_[next_made_]] <= layer; ++next_made_)
    tensor_in_[slot_of_[by_making_[next_made_]]] = by_making_[next_made_];
}

std::span<const LayoutSlots::Turn> LayoutSlots::Leave(std::size_t layer) {
  while (next_end_ < ends_.size() && ends_[next_end_].layer < layer) ++next_end_;
  const std::size_t begin = next_end_;
  while (next_end_ < ends_.size() && ends_[next_end_].layer == layer) ++next_end_;
  return std::span(ends_).subspan(begin, next_end_ - begin);
}

}  // namespace infimum
