#include "analyzer/layouts/pending_regions.h"

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

}  // namespace infimum
