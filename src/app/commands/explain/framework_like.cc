#include "src/app/commands/explain/framework_like.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "analyzer/alignment/align_run.h"

namespace infimum {
namespace {

constexpr double kMostOfRival = 1.25;

// Of what runs as one: the rows of its workload, its best time, and how the plan runs it.
struct Unit {
  std::vector<LayerId> layers;
  const WorkloadCandidates* known = nullptr;  // null: nothing was measured
  std::optional<Latency> best;
  ReplayCandidate planned;
};

class Chooser {
 public:
  Chooser(const ReplayPlan& plan, const CandidatesOfModel& known, const RunProfile* run) : plan_(plan) {
    for (const WorkloadCandidates& of : known.workloads) known_[of.workload.text] = &of;
    if (run != nullptr) alignment_ = AlignRun(plan.graph, *run);
    row_of_.resize(plan.graph.layers.size());
    for (std::size_t row = 0; alignment_ && row < alignment_->rows.size(); ++row) {
      if (!alignment_->rows[row].measured) continue;
      for (const LayerId layer : alignment_->rows[row].layers) row_of_[layer.index()] = row;
    }
  }

  FrameworkLike Choose() {
    FrameworkLike result;
    result.candidates = plan_.candidates;
    result.regions = Regions();
    const std::vector<Unit> units = UnitsWith(result.regions);
    std::map<std::size_t, Latency> best_of_row;
    for (const Unit& unit : units)
      if (const auto row = RowOf(unit.layers); row && unit.best) best_of_row[*row] += *unit.best;
    for (std::size_t i = 0; i < units.size(); ++i) {
      const ReplayCandidate candidate = CandidateOf(units[i], best_of_row);
      if (i < result.regions.size()) {
        result.regions[i].candidate = candidate;
      } else {
        result.candidates[units[i].layers.front().index()] = candidate;
      }
    }
    return result;
  }

  FrameworkLike Rivals() {
    FrameworkLike result;
    result.candidates = plan_.candidates;
    const std::vector<Unit> units = UnitsWith(plan_.regions);
    for (std::size_t i = 0; i < units.size(); ++i) {
      const Unit& unit = units[i];
      const bool is_region = i < plan_.regions.size();
      const KnownCandidate* const next = NextBest(unit);
      const Latency most = kMostOfRival * unit.best.value_or(Latency(0));
      const Latency apart = is_region ? Unfused(plan_.regions[i].region) : Latency::max();
      if (apart <= most && (next == nullptr || apart < *next->latency)) continue;  // its layers, as they are best
      const ReplayCandidate candidate =
          next != nullptr && *next->latency <= most ? ByName(next->row.candidate) : unit.planned;
      if (is_region) {
        result.regions.push_back({plan_.regions[i].region, candidate});
      } else {
        result.candidates[unit.layers.front().index()] = candidate;
      }
    }
    AddUnplanned(result.regions);
    return result;
  }

 private:
  // Regions that the plan runs apart and that take little longer.
  void AddUnplanned(std::vector<ReplayRegion>& regions) const {
    std::vector<bool> taken(plan_.graph.layers.size(), false);
    for (const ReplayRegion& region : plan_.regions)
      for (const LayerId layer : region.region.layers) taken[layer.index()] = true;
    std::vector<const RegionLatency*> near;
    for (const RegionLatency& region : plan_.bracket.regions)
      if (region.region && !region.has_missing && region.latency <= kMostOfRival * region.unfused)
        near.push_back(&region);
    std::ranges::stable_sort(near, {}, [](const RegionLatency* region) { return region->latency / region->unfused; });
    for (const RegionLatency* region : near) {
      if (std::ranges::any_of(region->layers, [&](LayerId layer) { return taken[layer.index()]; })) continue;
      for (const LayerId layer : region->layers) taken[layer.index()] = true;
      regions.push_back({*region->region, ByName(region->candidate)});
    }
  }

  // Those of regions come first.
  std::vector<Unit> UnitsWith(const std::vector<ReplayRegion>& regions) const {
    std::vector<bool> taken(plan_.graph.layers.size(), false);
    std::vector<Unit> units;
    for (const ReplayRegion& region : regions) {
      for (const LayerId layer : region.region.layers) taken[layer.index()] = true;
      units.push_back({region.region.layers, Known(region.region.workload), TimeOf(region.region), region.candidate});
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const Layer& layer = plan_.graph.layers[i];
      if (taken[i] || !layer.workload || layer.status == LayerStatus::kFree) continue;
      units.push_back({{LayerId(i)}, Known(*layer.workload), plan_.bracket.layers[i].latency, plan_.candidates[i]});
    }
    return units;
  }

  // A framework's own kernel, which was observed, is none that a replay can run.
  static bool CanRun(const KnownCandidate& candidate) {
    return candidate.latency && *candidate.latency > Latency(0) && !candidate.row.candidate.is_observed();
  }

  // The fastest of all but the planned one.
  const KnownCandidate* NextBest(const Unit& unit) const {
    if (unit.known == nullptr) return nullptr;
    for (const KnownCandidate& candidate : unit.known->candidates)
      if (CanRun(candidate) && ByName(candidate.row.candidate) != unit.planned) return &candidate;
    return nullptr;
  }

  Latency Unfused(const FusableRegion& of) const {
    const RegionLatency* const region = Find(of);
    return region != nullptr && !region->has_missing ? region->unfused : Latency::max();
  }

  // The one row that holds all layers which take time.
  std::optional<std::size_t> RowOf(const std::vector<LayerId>& layers) const {
    std::optional<std::size_t> row;
    for (const LayerId layer : layers) {
      if (plan_.graph.layer(layer).status == LayerStatus::kFree) continue;
      const std::optional<std::size_t> own = row_of_[layer.index()];
      if (!own || (row && *row != *own)) return std::nullopt;
      row = own;
    }
    return row;
  }

  bool IsInNoRow(const std::vector<LayerId>& layers) const {
    return std::ranges::none_of(layers, [&](LayerId layer) { return row_of_[layer.index()].has_value(); });
  }

  // What runs as one: of the plan what no row says anything of; of the rest the largest that rows hold whole.
  std::vector<ReplayRegion> Regions() const {
    std::vector<ReplayRegion> regions;
    if (!alignment_) return regions;
    std::vector<bool> taken(plan_.graph.layers.size(), false);
    const auto take = [&](const FusableRegion& region, const ReplayCandidate& candidate) {
      if (std::ranges::any_of(region.layers, [&](LayerId layer) { return taken[layer.index()]; })) return;
      for (const LayerId layer : region.layers) taken[layer.index()] = true;
      regions.push_back({region, candidate});
    };
    for (const ReplayRegion& region : plan_.regions)
      if (IsInNoRow(region.region.layers)) take(region.region, region.candidate);
    std::vector<const RegionLatency*> measured;
    for (const RegionLatency& region : plan_.bracket.regions)
      if (region.region && RowOf(region.layers)) measured.push_back(&region);
    std::ranges::stable_sort(measured, std::ranges::greater(),
                             [](const RegionLatency* region) { return region->layers.size(); });
    for (const RegionLatency* region : measured) take(*region->region, Planned(*region));
    return regions;
  }

  // As the plan runs it, where it does.
  ReplayCandidate Planned(const RegionLatency& region) const {
    for (const ReplayRegion& planned : plan_.regions)
      if (planned.region.layers == region.layers && planned.region.workload == region.region->workload)
        return planned.candidate;
    return ByName(region.candidate);
  }

  const WorkloadCandidates* Known(const Workload& workload) const {
    const auto found = known_.find(KeyOf(workload).text);
    return found == known_.end() ? nullptr : found->second;
  }

  const RegionLatency* Find(const FusableRegion& of) const {
    for (const RegionLatency& region : plan_.bracket.regions)
      if (region.region && region.layers == of.layers && region.region->workload == of.workload) return &region;
    return nullptr;
  }
  std::optional<Latency> TimeOf(const FusableRegion& of) const {
    const RegionLatency* const region = Find(of);
    return region == nullptr ? std::nullopt : std::optional(region->latency);
  }

  ReplayCandidate CandidateOf(const Unit& unit, const std::map<std::size_t, Latency>& best_of_row) const {
    if (unit.known == nullptr || !unit.best) return unit.planned;
    if (!alignment_) {
      return unit.known->choice ? ByName(unit.known->candidates[*unit.known->choice].row.candidate) : unit.planned;
    }
    const std::optional<std::size_t> row = RowOf(unit.layers);
    if (!row) return unit.planned;
    const Latency target = *alignment_->rows[*row].measured * (*unit.best / best_of_row.at(*row));
    if (!(target > Latency(0))) return unit.planned;  // nor where the best takes none: a transpose
    const KnownCandidate* nearest = nullptr;
    double least = 0;
    for (const KnownCandidate& candidate : unit.known->candidates) {
      if (!CanRun(candidate)) continue;
      const double distance = std::fabs(std::log(*candidate.latency / target));
      if (nearest != nullptr && distance >= least) continue;
      nearest = &candidate;
      least = distance;
    }
    return nearest != nullptr ? ByName(nearest->row.candidate) : unit.planned;
  }

  const ReplayPlan& plan_;
  std::map<std::string, const WorkloadCandidates*> known_;
  std::optional<Alignment> alignment_;
  std::vector<std::optional<std::size_t>> row_of_;  // of each layer, among the rows with a time
};

}  // namespace

FrameworkLike FrameworkLikeOf(const ReplayPlan& plan, const CandidatesOfModel& known, const RunProfile* run) {
  return Chooser(plan, known, run).Choose();
}

FrameworkLike RivalsOf(const ReplayPlan& plan, const CandidatesOfModel& known) {
  return Chooser(plan, known, nullptr).Rivals();
}

}  // namespace infimum
