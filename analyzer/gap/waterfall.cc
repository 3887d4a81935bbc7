#include "analyzer/gap/waterfall.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/gap/precision.h"
#include "analyzer/gap/run_latency.h"
#include "analyzer/types/disjoint_sets.h"
#include "infimum/base/enum_names.h"
#include "infimum/measurement/statistics.h"

namespace infimum {
namespace {

constexpr EnumNames<GapCause::kAboveFloor> kCauseNames = {"host-gaps",      "algorithm-regret",   "missed-fusion",
                                                          "layout-changes", "missed-parallelism", "precision",
                                                          "unexplained",    "composition",        "above-floor"};
constexpr EnumNames<MeasuredBy::kLayers> kMeasuredByNames = {"end-to-end", "profiled", "layers"};

// Microseconds: what sums of some thousand times differ by.
constexpr double kLeastStep = 1e-7;

// The step of each cause while it is filled.
class Steps {
 public:
  void Add(GapCause cause, std::string name, Latency latency, std::vector<std::size_t> rows = {}) {
    if (std::fabs(latency.count()) < kLeastStep) return;
    steps_[cause].push_back({std::move(name), latency, std::move(rows)});
  }
  std::vector<GapStep> Take() {
    std::vector<GapStep> steps;
    for (std::size_t cause = 0; cause < kCauseNames.all().size(); ++cause) {
      GapStep step{static_cast<GapCause>(cause), Latency(0), std::move(steps_[static_cast<GapCause>(cause)])};
      for (const GapPart& part : step.parts) step.latency += part.latency;
      std::stable_sort(step.parts.begin(), step.parts.end(), [](const GapPart& a, const GapPart& b) {
        return std::fabs(a.latency.count()) > std::fabs(b.latency.count());
      });
      if (!step.parts.empty() || step.cause == GapCause::kUnexplained) steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  std::map<GapCause, std::vector<GapPart>> steps_;
};

class Maker {
 public:
  explicit Maker(const WaterfallInput& input) : in_(input) {}

  Waterfall Make() {
    waterfall_.rows = CompareRows(in_.graph, in_.bracket, in_.alignment);
    for (const ComparedRow& row : waterfall_.rows) layers_time_ += row.measured.value_or(Latency(0));
    TakeBounds();
    AddHost();
    AddRows();
    AddFusion();
    AddLevels();
    waterfall_.steps = steps_.Take();
    return std::move(waterfall_);
  }

 private:
  const Layer& MainOf(const ComparedRow& row) const { return in_.graph.layer(MainLayer(in_.graph, row.layers)); }
  std::string NameOf(const ComparedRow& row) const {
    return row.layers.empty() ? in_.run.layers[row.engine_layers.front()].name : MainOf(row).name;
  }

  void TakeBounds() {
    const Bracket& bracket = in_.bracket;
    const auto first_of = [&bracket](BoundVariant one, BoundVariant other) {
      const Bound* bound = bracket.Find(one);
      return bound != nullptr ? bound : bracket.Find(other);
    };
    waterfall_.floor = bracket.dense_read().latency;
    const Bound* in_turn = first_of(BoundVariant::kFusedSequential, BoundVariant::kSequential);
    const Bound* at_once = first_of(BoundVariant::kFusedParallel, BoundVariant::kParallel);
    // Estimates of what moves bytes alone say nothing about where the time of the others goes.
    if (in_turn == nullptr || bracket.coverage.measured <= 0) return;
    if (at_once == nullptr) at_once = in_turn;
    // Of what is hardly measured the sum is no bound: it may be below the floor.
    if (at_once->latency < waterfall_.floor) return;
    in_turn_ = in_turn->latency;
    at_once_ = at_once->latency;
    waterfall_.bound = at_once_;
    waterfall_.variant = at_once->variant;
    const Bound* with_layouts = bracket.Find(BoundVariant::kWithLayouts);
    with_layouts_ = with_layouts != nullptr ? std::max(with_layouts->latency, in_turn_) : in_turn_;
    if (!bracket.demonstrated || with_layouts_.count() <= 0) return;
    waterfall_.demonstrated = bracket.demonstrated;
    waterfall_.in_context = *bracket.demonstrated / with_layouts_;
  }

  // What was measured, and what of it no layer accounts for.
  void AddHost() {
    const std::optional<Latency> end_to_end = EndToEndOf(in_.run);
    std::optional<Latency> profiled;
    if (!in_.run.profiled.empty()) profiled = Quantile(in_.run.profiled, 0.5);
    waterfall_.idle = in_.run.idle;
    if (in_.run.idle && end_to_end) waterfall_.idle = IdleWithin(*end_to_end - layers_time_, *in_.run.idle);
    const std::optional<DeviceIdle>& idle = waterfall_.idle;
    const Latency shown = idle ? layers_time_ + idle->total() - idle->overlapped : layers_time_;
    if (end_to_end) {
      waterfall_.measured = *end_to_end;
    } else if (profiled) {
      waterfall_.measured = *profiled;
      waterfall_.measured_by = MeasuredBy::kProfiled;
    } else {
      waterfall_.measured = shown;
      waterfall_.measured_by = MeasuredBy::kLayers;
    }
    const Latency rest = waterfall_.measured - shown;
    if (idle) {
      steps_.Add(GapCause::kHostGaps, "the host had not launched work yet", idle->host);
      steps_.Add(GapCause::kHostGaps, "launched, not started", idle->launch);
      steps_.Add(GapCause::kHostGaps, "between work that was queued", idle->queued);
      steps_.Add(GapCause::kMissedParallelism, "layers that ran at once", -idle->overlapped);
      steps_.Add(GapCause::kUnexplained,
                 end_to_end ? "the run without a profiler against its layers' medians"
                            : "the median inference against the medians of its layers",
                 rest);
      waterfall_.scatter = rest;
      return;
    }
    if (std::ranges::any_of(in_.run.layers, [](const ProfiledLayer& layer) { return layer.samples.empty(); })) {
      steps_.Add(GapCause::kUnexplained, "layers without a time, and what passes between layers", rest);
      return;
    }
    // The framework's own time between the layers. A profiler that writes between them adds to its run's, so that what
    // the run without it has is the better figure, as far as the run with it shows so much.
    Latency host = std::max(rest, Latency(0));
    if (profiled) host = std::min(host, OutsideOfLayers(*profiled));
    steps_.Add(GapCause::kHostGaps, "outside the layers", host);
    waterfall_.scatter = rest - host;
    steps_.Add(GapCause::kUnexplained,
               end_to_end ? "the run without a profiler against its layers' medians"
                          : "the median inference against the medians of its layers",
               waterfall_.scatter);
  }

  // `idle` in a run that is `rest` longer than its layers: what a profiler added went to the host's part of it.
  static DeviceIdle IdleWithin(Latency rest, DeviceIdle idle) {
    const Latency fits = std::max(rest + idle.overlapped, Latency(0));
    const Latency by_host = idle.host + idle.launch;
    const Latency excess = std::min(std::max(idle.total() - fits, Latency(0)), by_host);
    if (excess.count() <= 0) return idle;
    idle.host -= excess * (idle.host / by_host);
    idle.launch = by_host - excess - idle.host;
    return idle;
  }

  // Of an inference under the profiler what no layer's time holds. Where each layer has a sample of each inference, the
  // median of that difference: work of others that held up a layer is in that layer's sample then.
  Latency OutsideOfLayers(Latency profiled) const {
    const std::size_t count = in_.run.profiled.size();
    std::vector<Latency> outside = in_.run.profiled;
    for (const ComparedRow& row : waterfall_.rows) {
      for (const std::size_t layer : row.engine_layers) {
        const std::vector<Latency>& samples = in_.run.layers[layer].samples;
        if (samples.size() != count) return std::max(profiled - layers_time_, Latency(0));
        for (std::size_t i = 0; i < count; ++i) outside[i] -= samples[i];
      }
    }
    return std::max(Quantile(outside, 0.5), Latency(0));
  }

  // Whether most of what a row takes at best was not measured but estimated from its bytes.
  bool IsMostlyEstimated(const ComparedRow& row) const {
    Latency estimated{0};
    for (const LayerId layer : row.layers) {
      const LayerLatency& latency = in_.bracket.layers[layer.index()];
      if (latency.status == LatencyStatus::kEstimated) estimated += latency.latency.value_or(Latency(0));
    }
    return estimated > 0.5 * *row.best;
  }

  // Row by row what the engine takes above the best that is known for the same layers.
  void AddRows() {
    const double in_context = waterfall_.in_context;
    std::vector<std::optional<Latency>> as_run(waterfall_.rows.size());
    if (in_.as_run != nullptr) as_run = BestTimes(waterfall_.rows, *in_.as_run);
    for (std::size_t r = 0; r < waterfall_.rows.size(); ++r) {
      const ComparedRow& row = waterfall_.rows[r];
      waterfall_.is_wider.push_back(!row.layers.empty() && row.measured &&
                                    ComputesWider(in_.run, row.engine_layers, MainOf(row), in_.bracket.contract));
      if (row.layers.empty()) {
        steps_.Add(row.is_own() ? GapCause::kLayoutChanges : GapCause::kUnexplained,
                   row.is_own() ? NameOf(row) : "matched with no layer: " + NameOf(row),
                   row.measured.value_or(Latency(0)), {r});
      } else if (!waterfall_.bound) {
        matched_ += row.measured.value_or(Latency(0));
      } else if (!row.best) {
        steps_.Add(GapCause::kUnexplained, "without a bound: " + NameOf(row), row.measured.value_or(Latency(0)), {r});
      } else if (row.measured && IsMostlyEstimated(row)) {
        // An estimate by bytes shows no kernel that would be faster.
        steps_.Add(GapCause::kUnexplained, "no kernel was measured for: " + NameOf(row),
                   *row.measured - in_context * *row.best, {r});
      } else if (!row.measured) {
        steps_.Add(GapCause::kUnexplained, "not in the profile: " + NameOf(row), -in_context * *row.best, {r});
      } else if (!waterfall_.is_wider[r]) {
        steps_.Add(GapCause::kAlgorithmRegret, NameOf(row), *row.measured - in_context * *row.best, {r});
      } else if (as_run[r]) {
        steps_.Add(GapCause::kAlgorithmRegret, NameOf(row), *row.measured - in_context * *as_run[r], {r});
        steps_.Add(GapCause::kPrecision, NameOf(row), in_context * (*as_run[r] - *row.best), {r});
      } else {
        steps_.Add(GapCause::kPrecision, NameOf(row), *row.measured - in_context * *row.best, {r});
      }
    }
  }

  // The rows at their best against the best selection of regions over all rows: groups of rows that a chosen region
  // brings together.
  void AddFusion() {
    if (!waterfall_.bound) return;
    const std::size_t count = in_.graph.layers.size();
    std::vector<std::size_t> row_of(count, waterfall_.rows.size());
    for (std::size_t r = 0; r < waterfall_.rows.size(); ++r)
      for (const LayerId layer : waterfall_.rows[r].layers) row_of[layer.index()] = r;
    DisjointSets groups(waterfall_.rows.size() + 1);
    std::vector<bool> in_region(count, false);
    for (const RegionLatency& region : in_.bracket.regions) {
      if (!region.is_chosen) continue;
      for (const LayerId layer : region.layers) {
        in_region[layer.index()] = true;
        if (row_of[layer.index()] < waterfall_.rows.size())
          groups.Join(row_of[region.layers.front().index()], row_of[layer.index()]);
      }
    }
    // Of each group: its rows at their best less what the selection takes for its layers.
    std::map<std::size_t, GapPart> parts;
    Latency selected{0};
    for (std::size_t r = 0; r < waterfall_.rows.size(); ++r) {
      const ComparedRow& row = waterfall_.rows[r];
      if (row.layers.empty() || !row.best) continue;
      GapPart& part = parts[groups.Find(r)];
      part.latency += *row.best;
      part.rows.push_back(r);
    }
    const auto take = [&](std::size_t layer, Latency latency) {
      selected += latency;
      if (row_of[layer] < waterfall_.rows.size()) parts[groups.Find(row_of[layer])].latency -= latency;
    };
    for (const RegionLatency& region : in_.bracket.regions)
      if (region.is_chosen) take(region.layers.front().index(), region.latency);
    for (std::size_t i = 0; i < count; ++i)
      if (!in_region[i] && in_.bracket.layers[i].latency) take(i, *in_.bracket.layers[i].latency);
    Latency sum{0};
    for (auto& [group, part] : parts) {
      part.latency *= waterfall_.in_context;
      sum += part.latency;
      // Rows that no region brings together are at their best as they are; what is left is rounding.
      if (part.rows.size() < 2) {
        rounding_ += part.latency;
        continue;
      }
      part.name = NameOf(waterfall_.rows[part.rows.front()]);
      for (std::size_t i = 1; i < part.rows.size() && i < 3; ++i)
        part.name += " + " + NameOf(waterfall_.rows[part.rows[i]]);
      if (part.rows.size() > 3) part.name += " + ...";
      steps_.Add(GapCause::kMissedFusion, part.name, part.latency, part.rows);
    }
    // A relaxed bound is below what any selection that was found takes.
    steps_.Add(GapCause::kUnexplained, "a bound below the selection that was found",
               waterfall_.in_context * (selected - in_turn_) + rounding_);
  }

  // Of the model's layers, by their floors, what the run does not show.
  double UnseenShare() const {
    Latency all{0}, unseen{0};
    for (const ComparedRow& row : waterfall_.rows) {
      for (const LayerId layer : row.layers) {
        all += in_.bracket.layers[layer.index()].floor;
        if (!row.measured) unseen += in_.bracket.layers[layer.index()].floor;
      }
    }
    return all.count() > 0 ? unseen / all : 0;
  }

  // Whole levels against each other.
  void AddLevels() {
    const double in_context = waterfall_.in_context;
    if (!waterfall_.bound) {
      const Latency unseen = waterfall_.floor * UnseenShare();
      steps_.Add(GapCause::kUnexplained, "not in the profile, at the floor", -unseen);
      steps_.Add(GapCause::kAboveFloor, "not divided: no bound", matched_ - (waterfall_.floor - unseen));
      return;
    }
    steps_.Add(GapCause::kMissedParallelism, "independent layers, one after the other",
               in_context * (in_turn_ - at_once_));
    if (waterfall_.demonstrated) {
      steps_.Add(GapCause::kLayoutChanges, "reorders that the demonstrated run needs too",
                 -in_context * (with_layouts_ - in_turn_));
      steps_.Add(GapCause::kComposition, "the demonstrated run against its parts",
                 *waterfall_.demonstrated - in_context * (in_turn_ - at_once_) - at_once_);
    }
    steps_.Add(GapCause::kAboveFloor, "the bound against the floor", at_once_ - waterfall_.floor);
  }

  const WaterfallInput& in_;
  Waterfall waterfall_;
  Steps steps_;
  Latency layers_time_{0}, matched_{0}, rounding_{0};
  Latency in_turn_{0}, at_once_{0}, with_layouts_{0};
};

}  // namespace

std::string_view Name(GapCause cause) { return kCauseNames[cause]; }
std::string_view Name(MeasuredBy by) { return kMeasuredByNames[by]; }

bool Waterfall::DisagreesWithItself() const {
  constexpr double kMost = 0.1;
  return std::fabs(scatter.count()) > kMost * measured.count();
}

const GapStep* Waterfall::Find(GapCause cause) const {
  const auto step = std::ranges::find(steps, cause, &GapStep::cause);
  return step == steps.end() ? nullptr : &*step;
}

Latency Waterfall::Of(GapCause cause) const {
  const GapStep* step = Find(cause);
  return step == nullptr ? Latency(0) : step->latency;
}

Waterfall MakeWaterfall(const WaterfallInput& input) { return Maker(input).Make(); }

}  // namespace infimum
