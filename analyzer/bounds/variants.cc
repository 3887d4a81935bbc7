#include "analyzer/bounds/variants.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>

#include "analyzer/bounds/latency_resolution.h"
#include "analyzer/types/device_model.h"
#include "infimum/graph/model_graph.h"

namespace infimum {
namespace {

bool MovesWithinATensor(const MovementConfig& movement) {
  switch (movement.kind) {
    case MovementKind::kCopy:
    case MovementKind::kTranspose:
    case MovementKind::kConcat:
    case MovementKind::kSplit:
    case MovementKind::kSlice:
    case MovementKind::kPad:
    case MovementKind::kExpand:
    case MovementKind::kTile:
    case MovementKind::kDepthToSpace:
    case MovementKind::kReverse:
      return true;
    default:
      return false;
  }
}

bool IsAbsorbed(const Layer& layer) {
  if (layer.status == LayerStatus::kFree) return layer.bodies.empty();
  if (layer.status != LayerStatus::kMeasurable || !layer.workload || !layer.bodies.empty()) return false;
  if (const auto* region = std::get_if<Region>(&*layer.workload)) {
    return std::ranges::all_of(region->members, [](const RegionMember& member) {
      return std::holds_alternative<PointwiseConfig>(member.config);
    });
  }
  const LayerConfig& config = std::get<LayerConfig>(*layer.workload);
  const auto* movement = std::get_if<MovementConfig>(&config);
  return std::holds_alternative<PointwiseConfig>(config) || std::holds_alternative<ReorderConfig>(config) ||
         (movement != nullptr && MovesWithinATensor(*movement));
}

double StoredBytesOf(const Value& value) {
  if (!value.shape || value.type == DataType::kNone) return 0;
  return static_cast<double>(SizeOf(value.type, ElementCount(*value.shape)).value);
}

class FusedGroups {
 public:
  explicit FusedGroups(const ModelGraph& graph)
      : graph_(graph),
        parent_(graph.layers.size()),
        has_anchor_(graph.layers.size(), false),
        writer_(graph.values.size(), kNone) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      has_anchor_[i] = !IsAbsorbed(graph.layers[i]);
      if (has_anchor_[i]) {
        Adopt(i);
      } else {
        JoinWriter(i);
      }
      for (const std::optional<ValueId>& output : graph.layers[i].outputs)
        if (output) writer_[output->index()] = i;
    }
  }

  std::size_t Find(std::size_t layer) {
    while (parent_[layer] != layer) layer = parent_[layer] = parent_[parent_[layer]];
    return layer;
  }
  bool HasAnchor(std::size_t group) const { return has_anchor_[group]; }
  std::size_t WriterOf(ValueId value) const { return writer_[value.index()]; }
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 private:
  void JoinWriter(std::size_t layer) {
    double most = -1;
    std::size_t writer = kNone;
    for (const std::optional<ValueId>& input : graph_.layers[layer].inputs) {
      if (!input || writer_[input->index()] == kNone) continue;
      const double bytes = StoredBytesOf(graph_.value(*input));
      if (bytes <= most) continue;
      most = bytes;
      writer = writer_[input->index()];
    }
    if (writer != kNone) parent_[layer] = Find(writer);
    if (HasAnchor(Find(layer))) Adopt(layer);
  }
  // FusedGroups without an anchor that this layer reads become part of its own.
  void Adopt(std::size_t layer) {
    for (const std::optional<ValueId>& input : graph_.layers[layer].inputs) {
      if (!input || writer_[input->index()] == kNone) continue;
      const std::size_t other = Find(writer_[input->index()]);
      if (!has_anchor_[other]) parent_[other] = Find(layer);
    }
  }

  const ModelGraph& graph_;
  std::vector<std::size_t> parent_;
  std::vector<bool> has_anchor_;  // of the group's root
  std::vector<std::size_t> writer_;
};

// What fusion could win at most, whatever a library can fuse today: element-wise layers and layers that only move
// elements within a tensor cost nothing of their own, and what they are fused into reads and writes their bytes.
//
//   conv 100 us -> add(residual) 20 us -> relu 15 us -> transpose 18 us -> matmul 50 us
//   group {conv, add, relu, transpose}: max(100, bytes of conv's input, weights, residual and the result / bandwidth)
//   ideal: 100 + 50 = 150 us
//
// Each such layer joins the group of the layer that writes its largest operand; one whose operands come from no group
// waits for the first group that reads it. A group without another layer (its anchor) pays for its bytes alone. An
// estimate from below under its assumption `ideal-fusion`: no library is promised to do it.
//
// `times`: one for each layer of the graph, 0 where free or missing.
Latency IdealFusion(const ModelGraph& graph, std::span<const Latency> times, const DeviceModel& device) {
  FusedGroups fused(graph);
  struct Traffic {
    double read = 0, written = 0;
    Latency anchors{0};
    std::map<ValueId, double> inputs;  // from outside: what the member that reads most of it reads
  };
  std::map<std::size_t, Traffic> traffic;
  std::vector<bool> is_read_outside(graph.values.size(), false);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const std::size_t group = fused.Find(i);
    Traffic& own = traffic[group];
    if (!IsAbsorbed(layer)) own.anchors += times[i];
    if (layer.status != LayerStatus::kMeasurable || !layer.workload) continue;
    for (std::size_t operand = 0; operand < layer.operand_inputs.size(); ++operand) {
      const std::size_t place = layer.operand_inputs[operand];
      if (place >= layer.inputs.size() || !layer.inputs[place] || operand >= layer.work.operand_reads.size()) continue;
      const ValueId value = *layer.inputs[place];
      const std::size_t writer = fused.WriterOf(value);
      if (writer != FusedGroups::kNone && fused.Find(writer) == group) continue;
      is_read_outside[value.index()] = true;
      double& bytes = own.inputs[value];
      bytes = std::max(bytes, static_cast<double>(layer.work.operand_reads[operand].value));
    }
  }
  for (ValueId output : graph.outputs) is_read_outside[output.index()] = true;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const std::size_t writer = fused.WriterOf(ValueId(i));
    if (writer != FusedGroups::kNone && is_read_outside[i])
      traffic[fused.Find(writer)].written += StoredBytesOf(graph.values[i]);
  }
  Latency sum{0};
  for (auto& [group, own] : traffic) {
    for (const auto& [value, bytes] : own.inputs) own.read += bytes;
    sum += std::max(own.anchors, device.Memory(own.read, own.written).latency);
  }
  return sum;
}

std::vector<std::string> With(std::vector<std::string> tags, std::initializer_list<std::string> more) {
  for (const std::string& tag : more)
    if (!tag.empty()) tags.push_back(tag);
  return tags;
}

// Of what decides: the layers of the longest path, or of the busiest resource each layer's share of its own time.
Interval IntervalOfParallel(const BoundsProblem& problem, const CombinedBounds& combined) {
  std::vector<Term> terms;
  const auto resource = std::ranges::find(problem.resources, combined.parallel.decided_by);
  if (resource == problem.resources.end()) {
    for (std::size_t layer : combined.longest_path.layers) terms.push_back(problem.layers[layer].term);
    return IntervalAround(combined.parallel.latency, SumOf(terms));
  }
  const auto k = static_cast<std::size_t>(resource - problem.resources.begin());
  for (const NodeTimes& layer : problem.layers) {
    Term term = layer.term;
    term.weight = layer.best > Latency(0) ? std::min(layer.occupancy[k] / layer.best, 1.0) : 0;
    terms.push_back(term);
  }
  return IntervalAround(combined.parallel.latency, SumOf(terms));
}

// Which regions and layers decide a relaxation or an ideal is not known by name: they get the relative interval of the
// fused bound, which is made of the same times.
Interval LikeFused(Latency latency, const Bound& fused) {
  return IntervalAround(latency, {fused.latency, fused.interval});
}

std::string RelaxedTag(const VariantInput& input, const CombinedBound& bound) {
  // The selection in a body may be a relaxation too.
  const bool exact_bodies = std::ranges::all_of(input.layers, &ResolvedLayer::is_exact);
  return bound.exact && exact_bodies ? "" : "relaxed-selection";
}

std::string UnfusedTag(const VariantInput& input) { return input.problem.regions.empty() ? "no-measured-regions" : ""; }

// A variant's solver takes the bounds of the variants before it. Each leaves `variant` to the table.
using Solve = std::optional<Bound> (*)(const VariantInput& input, const std::vector<Bound>& before);

const Bound& FusedSequentialOf(const std::vector<Bound>& bounds) {
  return *std::ranges::find(bounds, BoundVariant::kFusedSequential, &Bound::variant);
}

std::optional<Bound> Sequential(const VariantInput& input, const std::vector<Bound>&) {
  const Latency latency = input.combined.sequential.latency;
  return Bound{{}, latency, IntervalAround(latency, SumOf(TermsOfSelection(input.problem, {}))), input.assumptions};
}

std::optional<Bound> Parallel(const VariantInput& input, const std::vector<Bound>&) {
  const CombinedBound& parallel = input.combined.parallel;
  return Bound{{},
               parallel.latency,
               IntervalOfParallel(input.problem, input.combined),
               With(input.assumptions, {parallel.decided_by + "-decides"})};
}

std::optional<Bound> FusedSequential(const VariantInput& input, const std::vector<Bound>&) {
  const CombinedBound& fused = input.combined.fused_sequential;
  return Bound{{},
               fused.latency,
               IntervalAround(fused.latency, SumOf(TermsOfSelection(input.problem, input.combined.chosen))),
               With(input.assumptions, {UnfusedTag(input), RelaxedTag(input, fused)})};
}

std::optional<Bound> FusedParallel(const VariantInput& input, const std::vector<Bound>& before) {
  const CombinedBound& fused = input.combined.fused_parallel;
  return Bound{{},
               fused.latency,
               LikeFused(fused.latency, FusedSequentialOf(before)),
               With(input.assumptions, {fused.decided_by + "-decides", UnfusedTag(input), RelaxedTag(input, fused)})};
}

// Where the best assignment was not found for certain, no more than the fused bound is known to be below it.
std::optional<Bound> WithLayouts(const VariantInput& input, const std::vector<Bound>& before) {
  if (!input.layouts) return std::nullopt;
  const LayoutPlan& plan = *input.layouts;
  std::vector<std::string> assumptions = input.assumptions;
  std::erase(assumptions, "free-layouts");
  const bool all_measured = std::ranges::all_of(plan.reorders, &PlannedReorder::is_measured);
  const Bound& fused = FusedSequentialOf(before);
  const Latency latency = plan.is_exact ? plan.latency : fused.latency;
  return Bound{{},
               latency,
               LikeFused(latency, fused),
               With(std::move(assumptions),
                    {"changes-of-layout-paid", all_measured ? "" : "estimated-changes-of-layout",
                     plan.undeclared > 0 ? "row-major-where-unstated" : "", plan.is_exact ? "" : "relaxed-selection"})};
}

std::optional<Bound> Ideal(const VariantInput& input, const std::vector<Bound>& before) {
  std::vector<Latency> times;
  for (const ResolvedLayer& layer : input.layers) times.push_back(layer.fused.best);
  const Bound& fused = FusedSequentialOf(before);
  const Latency ideal = std::min(IdealFusion(input.graph, times, input.device), fused.latency);
  return Bound{{}, ideal, LikeFused(ideal, fused), With(input.assumptions, {"element-wise-layers-cost-their-bytes"})};
}

std::optional<Bound> Heuristic(const VariantInput& input, const std::vector<Bound>&) {
  if (!input.regret) return std::nullopt;
  Latency sum{0};
  std::size_t measured = 0;
  std::vector<Term> terms;
  for (const ResolvedLayer& layer : input.layers) {
    sum += layer.heuristic;
    measured += layer.known.status == LatencyStatus::kMeasured;
    terms.push_back(layer.heuristic_term);
  }
  return Bound{
      {},
      sum,
      IntervalAround(sum, SumOf(terms)),
      With(input.assumptions, {input.regret->layers == measured ? "" : "best-candidate-where-no-library-chooses"})};
}

struct Variant {
  BoundVariant variant;
  std::string_view name;
  Solve solve = nullptr;                              // null: another rule set has it
  CombinedBound CombinedBounds::*combined = nullptr;  // where combining the layers' times is all
  bool is_contradicted = true;                        // by a faster run
};

// In the order of the enumeration.
constexpr std::array kVariants = {
    Variant{BoundVariant::kSequential, "sequential", Sequential, &CombinedBounds::sequential},
    Variant{BoundVariant::kParallel, "parallel", Parallel, &CombinedBounds::parallel},
    Variant{BoundVariant::kFusedSequential, "fused-sequential", FusedSequential, &CombinedBounds::fused_sequential},
    Variant{BoundVariant::kFusedParallel, "fused-parallel", FusedParallel, &CombinedBounds::fused_parallel},
    Variant{BoundVariant::kWithLayouts, "with-layouts", WithLayouts},
    Variant{BoundVariant::kIdealFusion, "ideal-fusion", Ideal},
    Variant{BoundVariant::kHeuristic, "heuristic", Heuristic, nullptr, false},
    Variant{BoundVariant::kBenanza2019Serial, "benanza-2019-serial"},
    Variant{BoundVariant::kBenanza2019Parallel, "benanza-2019-parallel"},
    Variant{BoundVariant::kBenanza2019FusedSerial, "benanza-2019-fused-serial"},
    Variant{BoundVariant::kBenanza2019FusedParallel, "benanza-2019-fused-parallel"},
};

constexpr bool IsInOrder() {
  for (std::size_t i = 0; i < kVariants.size(); ++i)
    if (static_cast<std::size_t>(kVariants[i].variant) != i) return false;
  return kVariants.back().variant == BoundVariant::kBenanza2019FusedParallel;
}
static_assert(IsInOrder());

const Variant& RowOf(BoundVariant variant) { return kVariants[static_cast<std::size_t>(variant)]; }

}  // namespace

std::string_view Name(BoundVariant variant) { return RowOf(variant).name; }

bool IsContradictedByFasterRun(BoundVariant variant) { return RowOf(variant).is_contradicted; }

const CombinedBound& CombinedOf(BoundVariant variant, const CombinedBounds& combined) {
  return combined.*RowOf(variant).combined;
}

std::vector<BoundVariant> CombinedVariants() {
  std::vector<BoundVariant> variants;
  for (const Variant& row : kVariants)
    if (row.combined != nullptr) variants.push_back(row.variant);
  return variants;
}

std::vector<Bound> SolveVariants(const VariantInput& input) {
  std::vector<Bound> bounds;
  for (const Variant& row : kVariants) {
    if (row.solve == nullptr) continue;
    std::optional<Bound> bound = row.solve(input, bounds);
    if (!bound) continue;
    bound->variant = row.variant;
    bounds.push_back(*std::move(bound));
  }
  return bounds;
}

}  // namespace infimum
