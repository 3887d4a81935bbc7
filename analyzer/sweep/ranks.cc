#include "analyzer/sweep/ranks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "infimum/base/enum_names.h"

namespace infimum {
namespace {

std::vector<double> RanksOf(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return ranks;
}

// Pearson's; nothing of a constant.
std::optional<double> CorrelationOf(const std::vector<double>& a, const std::vector<double>& b) {
  const double count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? std::optional(ab / std::sqrt(aa * bb)) : std::nullopt;
}

// How many of the numbers so far are below one: Fenwick's tree over their sorted values.
class CountBelow {
 public:
  explicit CountBelow(std::vector<double> values) : values_(std::move(values)) {
    std::ranges::sort(values_);
    counts_.resize(values_.size() + 1);
  }
  void Add(double value) {
    for (std::size_t i = PlaceOf(value) + 1; i < counts_.size(); i += i & (~i + 1)) ++counts_[i];
  }
  std::size_t Below(double value) const {
    std::size_t count = 0;
    for (std::size_t i = PlaceOf(value); i > 0; i -= i & (~i + 1)) count += counts_[i];
    return count;
  }

 private:
  std::size_t PlaceOf(double value) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(values_, value) - values_.begin());
  }
  std::vector<double> values_;
  std::vector<std::size_t> counts_;
};

}  // namespace

std::string_view Name(SweepSize size) {
  constexpr EnumNames<SweepSize::kFloor> kNames = {"parameters", "FLOPs", "bytes", "floor"};
  return kNames[size];
}

std::optional<double> SizeOf(const SweepCell& cell, SweepSize size) {
  const CellFacts& facts = cell.facts;
  switch (size) {
    case SweepSize::kParameters:
      return facts.parameters ? std::optional(static_cast<double>(*facts.parameters)) : std::nullopt;
    case SweepSize::kFlops:
      return facts.flops ? std::optional(static_cast<double>(facts.flops->value)) : std::nullopt;
    case SweepSize::kBytes:
      return facts.bytes ? std::optional(static_cast<double>(facts.bytes->value)) : std::nullopt;
    case SweepSize::kFloor:
      break;
  }
  return facts.floor ? std::optional(facts.floor->count()) : std::nullopt;
}

std::vector<std::size_t> ParetoOf(std::span<const SweepCell> cells, SweepSize size) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (QuantityOf(cells[i], SweepQuantity::kTime) && SizeOf(cells[i], size)) order.push_back(i);
  std::ranges::stable_sort(order, [&](std::size_t one, std::size_t other) {
    if (*cells[one].time != *cells[other].time) return *cells[one].time < *cells[other].time;
    return *SizeOf(cells[one], size) > *SizeOf(cells[other], size);
  });
  std::vector<std::size_t> front;
  for (const std::size_t i : order)
    if (front.empty() || *SizeOf(cells[i], size) > *SizeOf(cells[front.back()], size)) front.push_back(i);
  return front;
}

std::optional<RankCorrelation> RankCorrelationOf(std::span<const SweepCell> cells, SweepSize size) {
  std::vector<double> sizes, times;
  for (const SweepCell& cell : cells) {
    const std::optional<double> known = SizeOf(cell, size);
    if (!known || !QuantityOf(cell, SweepQuantity::kTime)) continue;
    sizes.push_back(*known);
    times.push_back(cell.time->count());
  }
  if (sizes.size() < 3) return std::nullopt;
  const std::optional<double> rho = CorrelationOf(RanksOf(sizes), RanksOf(times));
  return rho ? std::optional(RankCorrelation{size, sizes.size(), *rho}) : std::nullopt;
}

RankInversions InversionsOf(std::span<const SweepCell> cells, std::size_t most) {
  std::vector<std::size_t> order;
  std::vector<double> highs;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!QuantityOf(cells[i], SweepQuantity::kTime) || !QuantityOf(cells[i], SweepQuantity::kFloor)) continue;
    order.push_back(i);
    highs.push_back(cells[i].between.high.count());
  }
  // The highest floor first: what is behind a cell are those that should take longer.
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return *cells[i].facts.floor; });
  CountBelow seen(std::move(highs));
  RankInversions result;
  std::optional<std::size_t> fastest;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && cells[order[end]].facts.floor == cells[order[begin]].facts.floor) ++end;
    for (std::size_t at = begin; at < end; ++at) {
      const SweepCell& slow = cells[order[at]];
      result.pairs += seen.Below(slow.between.low.count());
      if (!fastest || !(cells[*fastest].between.high < slow.between.low)) continue;
      result.worst.push_back({order[at], *fastest, slow.between.low / cells[*fastest].between.high});
    }
    for (std::size_t at = begin; at < end; ++at) {
      seen.Add(cells[order[at]].between.high.count());
      if (!fastest || cells[order[at]].between.high < cells[*fastest].between.high) fastest = order[at];
    }
  }
  std::ranges::stable_sort(result.worst, std::ranges::greater{}, &RankInversion::times);
  if (result.worst.size() > most) result.worst.resize(most);
  return result;
}

}  // namespace infimum
