#include "analyzer/sides/rank_changes.h"

#include <algorithm>
#include <map>

namespace infimum {
namespace {

// What the faster of two sides loses to the slower one in layers where it is the slower one, by family.
struct Loss {
  std::size_t layers = 0;
  Latency lost{0};
};

class PairOfSides {
 public:
  PairOfSides(const SideComparison& comparison, std::size_t faster, std::size_t slower)
      : comparison_(comparison), faster_(faster), slower_(slower) {}

  std::optional<Difference> Of(const std::vector<SideTime>& times) const {
    return DifferenceOf(times[faster_], times[slower_], comparison_.threshold);
  }
  static bool IsSlower(const std::optional<Difference>& difference) {
    return difference && difference->verdict == Verdict::kSlower;
  }

  // By family, over the whole set, or in one model.
  std::map<std::string, Loss> Losses(std::optional<std::size_t> model) const {
    std::map<std::string, Loss> losses;
    for (const SetLayer& layer : comparison_.layers) {
      const std::size_t uses =
          model ? static_cast<std::size_t>(std::ranges::count(layer.uses, *model, &SetLayer::Use::model))
                : layer.uses.size();
      if (uses == 0 || !layer.is_common || !IsSlower(Of(layer.times))) continue;
      Loss& loss = losses[layer.family];
      loss.layers += uses;
      loss.lost += static_cast<double>(uses) * (*layer.times[faster_].latency - *layer.times[slower_].latency);
    }
    return losses;
  }

 private:
  const SideComparison& comparison_;
  std::size_t faster_, slower_;
};

// Whether the first of two sides is faster in all beyond what matters: their ratios to the baseline, compared with each
// other; of one model directly.
std::optional<double> RatioIfFaster(const SideComparison& comparison, std::size_t a, std::size_t b) {
  if (comparison.models.size() == 1) {
    const std::vector<SideTime>& times = comparison.models.front().times;
    const std::optional<Difference> difference = DifferenceOf(times[a], times[b], comparison.threshold);
    if (!difference || difference->verdict != Verdict::kFaster) return std::nullopt;
    return difference->ratio;
  }
  const Difference self;
  const Difference& first = a == 0 ? self : *comparison.means[a];
  const Difference& second = b == 0 ? self : *comparison.means[b];
  const double ratio = first.ratio / second.ratio;
  if (first.between.high / second.between.low >= 1 / (1 + comparison.threshold)) return std::nullopt;
  return ratio;
}

}  // namespace

std::vector<RankChange> RankChangesOf(const SideComparison& comparison) {
  std::vector<RankChange> changes;
  for (std::size_t i = 0; i < comparison.order.size(); ++i) {
    for (std::size_t j = i + 1; j < comparison.order.size(); ++j) {
      const std::size_t faster = comparison.order[i], slower = comparison.order[j];
      const std::optional<double> overall = RatioIfFaster(comparison, faster, slower);
      if (!overall) continue;
      const PairOfSides pair(comparison, faster, slower);
      RankChange change;
      change.faster = faster;
      change.slower = slower;
      change.overall = *overall;
      for (std::size_t index = 0; index < comparison.models.size() && comparison.models.size() > 1; ++index) {
        const ModelTotal& model = comparison.models[index];
        change.here = pair.Of(model.times);
        if (!PairOfSides::IsSlower(change.here)) continue;
        const std::map<std::string, Loss> losses = pair.Losses(index);
        change.is_model = change.is_whole = true;
        change.name = model.name;
        change.layers = 0;
        change.lost = *model.times[faster].latency - *model.times[slower].latency;
        change.cause.clear();
        Latency most{0};
        for (const auto& [family, loss] : losses) {
          change.layers += loss.layers;
          if (loss.lost <= most) continue;
          most = loss.lost;
          change.cause = family;
        }
        changes.push_back(change);
      }
      change.is_model = false;
      change.cause.clear();
      for (const auto& [family, loss] : pair.Losses(std::nullopt)) {
        const auto total = std::ranges::find(comparison.families, family, &SetTotal::name);
        change.name = family;
        change.here = pair.Of(total->times);
        change.is_whole = PairOfSides::IsSlower(change.here);
        change.layers = loss.layers;
        change.lost = loss.lost;
        changes.push_back(change);
      }
    }
  }
  // Whole models and families first.
  std::ranges::stable_sort(changes, [](const RankChange& a, const RankChange& b) {
    if (a.is_whole != b.is_whole) return a.is_whole;
    return a.lost > b.lost;
  });
  return changes;
}

}  // namespace infimum
