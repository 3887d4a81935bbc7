#include "analyzer/sides/side_comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/types/disjoint_sets.h"
#include "infimum/base/check.h"

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

// Where the order of sides by the whole set is not their order in a part of it: models, and families of layers.
//
// Of every two sides that differ in all. `comparison` has all but its rank changes.
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

// Times of layers on a side, added up with their intervals. Errors of different layers are independent, that of a layer
// used u times counts u times.
//
//   conv 100 (98 .. 102), twice, and relu 10 (9 .. 11)  ->  210, 205.88 .. 214.12
class SideSum {
 public:
  void Add(const SideTime& time, double uses);
  // Nothing known where nothing was added. Without an interval where a part of some weight has none, estimated where
  // a part of some weight is.
  SideTime Total() const;

 private:
  double latency_ = 0, floor_ = 0;
  double inner_ = 0, below_ = 0, above_ = 0;  // squares of what it may be less, and more
  double without_spread_ = 0, estimated_ = 0;
  bool is_empty_ = true;
};

// A sum of which less is estimated, or has no spread, is as good as measured.
constexpr double kNegligible = 0.02;

void SideSum::Add(const SideTime& time, double uses) {
  if (!time.latency) return;
  is_empty_ = false;
  const double latency = uses * time.latency->count();
  latency_ += latency;
  if (time.floor) floor_ += uses * time.floor->count();
  if (time.is_estimated) estimated_ += latency;
  if (!time.interval) {
    without_spread_ += latency;
    inner_ += latency;
    return;
  }
  // Rounding may put a time beside an interval that is no more than the time itself.
  const double low = time.interval->low.count(), high = time.interval->high.count();
  const double inner = std::clamp(time.latency->count(), low, high);
  inner_ += uses * inner;
  below_ += uses * (inner - low) * uses * (inner - low);
  above_ += uses * (high - inner) * uses * (high - inner);
}

SideTime SideSum::Total() const {
  SideTime total;
  if (is_empty_) return total;
  total.latency = Latency(latency_);
  if (floor_ > 0) total.floor = Latency(floor_);
  total.is_estimated = estimated_ > kNegligible * latency_;
  if (without_spread_ <= kNegligible * latency_) {
    total.interval = Interval{Latency(inner_ - std::sqrt(below_)), Latency(inner_ + std::sqrt(above_))};
  }
  return total;
}

bool IsTime(const SideTime& time) {
  return time.latency && time.latency->count() > 0 && std::isfinite(time.latency->count());
}

bool IsSpread(const std::optional<Interval>& interval) { return interval && interval->low.count() > 0; }

// Each side's against the first's.
std::vector<std::optional<Difference>> AgainstBaseline(const std::vector<SideTime>& times, double threshold) {
  std::vector<std::optional<Difference>> differences(times.size());
  for (std::size_t side = 1; side < times.size(); ++side)
    differences[side] = DifferenceOf(times[side], times[0], threshold);
  return differences;
}

// The layers of one model, each with what every side knows of it: matched by name, the nth of a name with the nth.
class LayerTable {
 public:
  struct Row {
    std::string name, family;
    std::vector<std::string> configs;  // by side
    std::vector<SideTime> times;
    bool is_of_model = true;
  };

  explicit LayerTable(const ModelSides& model) {
    for (std::size_t side = 0; side < model.sides.size(); ++side) {
      std::map<std::string, std::size_t> seen;
      for (const SideLayer& layer : model.sides[side].layers) {
        const auto [place, is_new] = places_.try_emplace({layer.name, seen[layer.name]++}, rows_.size());
        if (is_new)
          rows_.push_back({layer.name, layer.family, std::vector<std::string>(model.sides.size()),
                           std::vector<SideTime>(model.sides.size()), layer.is_of_model});
        Row& row = rows_[place->second];
        row.configs[side] = layer.config;
        row.times[side] = layer.time;
      }
    }
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::map<std::pair<std::string, std::size_t>, std::size_t> places_;
  std::vector<Row> rows_;
};

// -1 where a side does not know it.
std::vector<double> MicrosecondsOf(const std::vector<SideTime>& times) {
  std::vector<double> microseconds;
  for (const SideTime& time : times) microseconds.push_back(time.latency ? time.latency->count() : -1);
  return microseconds;
}

void AddLayers(std::span<const ModelSides> models, SideComparison& comparison) {
  // With its times too: of two models rows of other environments may have been chosen.
  std::map<std::pair<std::vector<std::string>, std::vector<double>>, std::size_t> places;
  for (std::size_t index = 0; index < models.size(); ++index) {
    const LayerTable table(models[index]);
    for (const LayerTable::Row& row : table.rows()) {
      const bool has_config = std::ranges::any_of(row.configs, [](const std::string& text) { return !text.empty(); });
      std::size_t place = comparison.layers.size();
      if (has_config) place = places.try_emplace({row.configs, MicrosecondsOf(row.times)}, place).first->second;
      if (place == comparison.layers.size()) {
        SetLayer layer;
        layer.family = row.family;
        layer.is_of_model = row.is_of_model;
        layer.config = row.configs.front();
        layer.times = row.times;
        layer.differences = AgainstBaseline(row.times, comparison.threshold);
        layer.is_common = std::ranges::all_of(row.times, [](const SideTime& time) { return time.latency.has_value(); });
        comparison.layers.push_back(std::move(layer));
      }
      comparison.layers[place].uses.push_back({index, row.name});
    }
  }
}

// What the layer takes over all its uses where it takes longest, or is longest known.
double WeightOf(const SetLayer& layer) {
  const double uses = static_cast<double>(layer.uses.size());
  if (layer.times.front().latency) return uses * layer.times.front().latency->count();
  double most = 0;
  for (const SideTime& time : layer.times)
    if (time.latency) most = std::max(most, uses * time.latency->count());
  return most;
}

std::size_t UsesIn(const SetLayer& layer, std::size_t model) {
  return static_cast<std::size_t>(std::ranges::count(layer.uses, model, &SetLayer::Use::model));
}

void AddModel(const ModelSides& sides, std::size_t index, SideComparison& comparison) {
  ModelTotal total;
  total.name = sides.name;
  std::vector<SideSum> common(comparison.sides), all(comparison.sides);
  total.unknown.assign(comparison.sides, 0);
  for (const SetLayer& layer : comparison.layers) {
    const std::size_t uses = UsesIn(layer, index);
    if (uses == 0) continue;
    total.layers += uses;
    if (layer.is_common) total.common += uses;
    for (std::size_t side = 0; side < comparison.sides; ++side) {
      all[side].Add(layer.times[side], static_cast<double>(uses));
      if (layer.is_common) common[side].Add(layer.times[side], static_cast<double>(uses));
      if (!layer.times[side].latency) total.unknown[side] += uses;
    }
  }
  for (std::size_t side = 0; side < comparison.sides; ++side) {
    const SideModel& model = sides.sides[side];
    const SideTime known = all[side].Total();
    SideTime time = common[side].Total();
    total.shares.push_back(IsTime(known) && time.latency ? *time.latency / *known.latency : 0);
    // A run has a time of its own, which is of more than its layers.
    if (!model.end_to_end.empty()) {
      time = {PointValue(model.end_to_end), TypicalInterval(model.end_to_end)};
    } else if (model.whole) {
      time = *model.whole;
    }
    total.times.push_back(std::move(time));
    total.sequential.push_back(model.sequential);
    total.fused.push_back(model.fused);
  }
  total.differences = AgainstBaseline(total.times, comparison.threshold);
  const std::vector<Repetition>& baseline = sides.sides.front().end_to_end;
  for (std::size_t side = 1; side < comparison.sides; ++side) {
    const std::vector<Repetition>& subject = sides.sides[side].end_to_end;
    const std::optional<RatioInterval> ratio = RatioOf(subject, baseline);
    if (!ratio || !total.differences[side]) continue;
    total.differences[side]->between = *ratio;
    total.differences[side]->is_spread_known = true;
    total.differences[side]->verdict = VerdictOf(*ratio, comparison.threshold);
  }
  comparison.models.push_back(std::move(total));
}

void AddFamilies(SideComparison& comparison) {
  std::map<std::string, std::vector<SideSum>> sums;
  std::map<std::string, SetTotal> totals;
  for (const SetLayer& layer : comparison.layers) {
    SetTotal& total = totals[layer.family];
    total.layers += layer.uses.size();
    if (!layer.is_common) continue;
    total.common += layer.uses.size();
    std::vector<SideSum>& sum = sums[layer.family];
    sum.resize(comparison.sides);
    for (std::size_t side = 0; side < comparison.sides; ++side)
      sum[side].Add(layer.times[side], static_cast<double>(layer.uses.size()));
  }
  for (auto& [name, total] : totals) {
    total.name = name;
    total.times.resize(comparison.sides);
    for (std::size_t side = 0; side < sums[name].size(); ++side) total.times[side] = sums[name][side].Total();
    total.differences = AgainstBaseline(total.times, comparison.threshold);
    comparison.families.push_back(std::move(total));
  }
  std::ranges::stable_sort(comparison.families, std::ranges::greater{}, [](const SetTotal& total) {
    return total.times.front().latency.value_or(Latency(0)).count();
  });
}

// The mean over the models on a logarithmic scale; their errors are independent.
std::optional<Difference> MeanDifference(const SideComparison& comparison, std::size_t side) {
  double mean = 0, center = 0, squares = 0;
  bool is_spread_known = true, is_undecided = false;
  for (const ModelTotal& model : comparison.models) {
    const std::optional<Difference>& difference = model.differences[side];
    if (!difference) return std::nullopt;
    mean += std::log(difference->ratio);
    const double low = std::log(difference->between.low), high = std::log(difference->between.high);
    center += (low + high) / 2;
    squares += (high - low) * (high - low) / 4;
    is_spread_known &= difference->is_spread_known;
    is_undecided |= model.times[side].is_estimated || model.times[0].is_estimated;
  }
  const double count = static_cast<double>(comparison.models.size());
  Difference result;
  result.ratio = std::exp(mean / count);
  const double half = std::sqrt(squares) / count;
  result.between = {std::exp(center / count - half), std::exp(center / count + half)};
  result.is_spread_known = is_spread_known;
  result.verdict = is_undecided ? Verdict::kUndecided : VerdictOf(result.between, comparison.threshold);
  return result;
}

void AddMeans(SideComparison& comparison) {
  comparison.means.resize(comparison.sides);
  std::vector<double> ratios(comparison.sides, 1);
  const bool has_baseline =
      std::ranges::all_of(comparison.models, [](const ModelTotal& model) { return IsTime(model.times.front()); });
  if (has_baseline && !comparison.models.empty()) comparison.order.push_back(0);
  for (std::size_t side = 1; side < comparison.sides; ++side) {
    if (comparison.models.empty()) break;
    if (comparison.models.size() == 1) {
      comparison.means[side] = comparison.models.front().differences[side];
    } else {
      comparison.means[side] = MeanDifference(comparison, side);
    }
    if (!comparison.means[side]) continue;
    ratios[side] = comparison.means[side]->ratio;
    comparison.order.push_back(side);
  }
  std::ranges::stable_sort(comparison.order, {}, [&ratios](std::size_t side) { return ratios[side]; });
}

// Of a layer that takes nothing on one of the two too, which has no ratio.
std::optional<Verdict> VerdictOf(const SetLayer& layer, std::size_t side) {
  const SideTime &subject = layer.times[side], &baseline = layer.times.front();
  if (layer.differences[side]) return layer.differences[side]->verdict;
  if (!subject.latency || !baseline.latency || subject.is_estimated || baseline.is_estimated) return std::nullopt;
  if (!IsTime(baseline) && IsTime(subject)) return Verdict::kSlower;
  if (IsTime(baseline) && !IsTime(subject)) return Verdict::kFaster;
  return std::nullopt;
}

void AddLayerDifferences(SideComparison& comparison) {
  Latency whole{0};
  for (const SetLayer& layer : comparison.layers)
    if (layer.times.front().latency) whole += static_cast<double>(layer.uses.size()) * *layer.times.front().latency;
  for (std::size_t index = 0; index < comparison.layers.size(); ++index) {
    const SetLayer& layer = comparison.layers[index];
    for (std::size_t side = 1; side < comparison.sides; ++side) {
      const std::optional<Verdict> verdict = VerdictOf(layer, side);
      if (!verdict) continue;
      LayerDifference entry{index, side, Latency(0), 0};
      entry.cost = static_cast<double>(layer.uses.size()) * (*layer.times[side].latency - *layer.times.front().latency);
      entry.share = whole.count() > 0 ? entry.cost / whole : 0;
      if (*verdict == Verdict::kSlower) comparison.regressions.push_back(entry);
      if (*verdict == Verdict::kFaster) comparison.gains.push_back(entry);
    }
  }
  std::ranges::stable_sort(comparison.regressions, std::ranges::greater{}, &LayerDifference::cost);
  std::ranges::stable_sort(comparison.gains, {}, &LayerDifference::cost);
}

}  // namespace

std::optional<Difference> DifferenceOf(const SideTime& subject, const SideTime& reference, double threshold) {
  if (!IsTime(subject) || !IsTime(reference)) return std::nullopt;
  Difference difference;
  difference.ratio = *subject.latency / *reference.latency;
  const Interval point{*subject.latency, *subject.latency}, other{*reference.latency, *reference.latency};
  const Interval& a = IsSpread(subject.interval) ? *subject.interval : point;
  const Interval& b = IsSpread(reference.interval) ? *reference.interval : other;
  difference.between = {a.low / b.high, a.high / b.low};
  difference.is_spread_known = IsSpread(subject.interval) && IsSpread(reference.interval);
  difference.verdict =
      subject.is_estimated || reference.is_estimated ? Verdict::kUndecided : VerdictOf(difference.between, threshold);
  return difference;
}

SideComparison CompareSides(std::span<const ModelSides> models, double threshold) {
  SideComparison comparison;
  comparison.threshold = threshold;
  comparison.sides = models.empty() ? 0 : models.front().sides.size();
  for (const ModelSides& model : models)
    INFIMUM_CHECK(model.sides.size() == comparison.sides && comparison.sides > 0, "a model lacks a side");
  AddLayers(models, comparison);
  std::ranges::stable_sort(comparison.layers, std::ranges::greater{}, WeightOf);
  for (std::size_t index = 0; index < models.size(); ++index) AddModel(models[index], index, comparison);
  AddFamilies(comparison);
  AddMeans(comparison);
  AddLayerDifferences(comparison);
  comparison.rank_changes = RankChangesOf(comparison);
  return comparison;
}

std::vector<JointRow> JoinRows(const ModelGraph& graph, std::span<const std::vector<ComparedRow>* const> runs) {
  DisjointSets sets(graph.layers.size());
  for (const std::vector<ComparedRow>* rows : runs)
    for (const ComparedRow& row : *rows)
      for (const LayerId layer : row.layers) sets.Join(row.layers.front().index(), layer.index());
  std::map<std::size_t, JointRow> joint;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (std::size_t index = 0; index < runs[run]->size(); ++index) {
      const ComparedRow& row = (*runs[run])[index];
      if (row.layers.empty()) continue;
      JointRow& group = joint[sets.Find(row.layers.front().index())];
      group.rows.resize(runs.size());
      group.layers.insert(group.layers.end(), row.layers.begin(), row.layers.end());
      if (row.measured) group.rows[run].push_back(index);
    }
  }
  std::vector<JointRow> rows;
  for (auto& [root, group] : joint) {
    std::ranges::sort(group.layers);
    const auto [first, last] = std::ranges::unique(group.layers);
    group.layers.erase(first, last);
    rows.push_back(std::move(group));
  }
  std::ranges::stable_sort(rows, {}, [](const JointRow& row) { return row.layers.front(); });
  return rows;
}

namespace {

constexpr std::size_t kLeastLayers = 8;
// The longest layer against the shortest: where all take as long, an offset is a factor as well.
constexpr double kLeastRange = 4;
constexpr double kAlike = 0.25, kMostAlike = 2.0 / 3;
constexpr double kLeastPart = 0.5;  // of the whole difference

}  // namespace

std::optional<CommonOffset> CommonOffsetOf(const SideComparison& comparison, std::size_t side) {
  std::vector<Latency> differences;
  Latency shortest{1e18}, longest{0}, whole{0};
  std::size_t uses = 0;
  for (const SetLayer& layer : comparison.layers) {
    if (side >= layer.times.size()) continue;
    const SideTime &before = layer.times.front(), &after = layer.times[side];
    if (!before.latency || !after.latency || before.is_estimated || after.is_estimated) continue;
    if (before.latency->count() <= 0 || after.latency->count() <= 0) continue;
    const Latency difference = *after.latency - *before.latency;
    differences.push_back(difference);
    shortest = std::min(shortest, *before.latency);
    longest = std::max(longest, *before.latency);
    whole += static_cast<double>(layer.uses.size()) * difference;
    uses += layer.uses.size();
  }
  if (differences.size() < kLeastLayers || longest < kLeastRange * shortest) return std::nullopt;
  CommonOffset found;
  found.layers = differences.size();
  std::ranges::sort(differences);
  const std::size_t middle = differences.size() / 2;
  found.offset =
      differences.size() % 2 == 1 ? differences[middle] : (differences[middle - 1] + differences[middle]) / 2;
  const double width = kAlike * std::fabs(found.offset.count());
  found.alike = static_cast<std::size_t>(std::ranges::count_if(
      differences, [&](Latency difference) { return std::fabs((difference - found.offset).count()) <= width; }));
  found.over_all_uses = static_cast<double>(uses) * found.offset;
  const bool is_common = static_cast<double>(found.alike) >= kMostAlike * static_cast<double>(found.layers);
  const bool is_much = found.offset.count() != 0 && whole / found.over_all_uses > 0 &&
                       std::fabs(found.over_all_uses.count()) >= kLeastPart * std::fabs(whole.count());
  return is_common && is_much ? std::optional(found) : std::nullopt;
}

}  // namespace infimum
