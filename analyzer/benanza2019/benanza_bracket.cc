#include "analyzer/benanza2019/benanza_bracket.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "analyzer/benanza2019/benanza_rules.h"
#include "analyzer/bracket/bracket_parts.h"
#include "analyzer/floor/floor.h"
#include "analyzer/rows/best_time.h"
#include "infimum/base/enum_names.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

// In the order of the enumeration.
constexpr EnumNames<BoundRules::kBenanza2019Fused> kRulesNames = {"bracket", "benanza-2019", "benanza-2019-fused"};

// The workloads whose rows one layer's time is made of.
struct Parts {
  std::vector<Workload> forward;  // the fastest of them counts; none: nothing was ever benchmarked for such a layer
  std::optional<Workload> bias;
};

Workload WrittenOutBias(const ConvolutionConfig& convolution) {
  MovementConfig config;
  config.kind = MovementKind::kExpand;
  config.types = {convolution.types.input, DataType::kNone, convolution.types.output};
  config.outputs = {OutputShape(convolution)};
  Shape bias{std::vector<std::int64_t>(config.outputs[0].rank(), 1)};
  bias.dims[1] = convolution.output_channels;
  config.inputs = {std::move(bias)};
  return LayerConfig(Canonicalize(std::move(config)));
}

Workload WithRelu(const ConvolutionConfig& convolution) {
  using Source = RegionOperand::Source;
  const OperandTypes unary{convolution.types.output, DataType::kNone, convolution.types.output};
  Region region;
  region.members.push_back({convolution, {{Source::kInput, 0}, {Source::kWeight, 0}, {Source::kWeight, 1}}});
  region.members.push_back(
      {Canonicalize(PointwiseConfig{PointwiseKind::kRelu, unary, {OutputShape(convolution)}}), {{Source::kMember, 0}}});
  region.outputs = {1};
  return region;
}

Parts PartsOf(const ConvolutionConfig& convolution, bool fused) {
  if (!convolution.bias) return {{LayerConfig(convolution)}, std::nullopt};
  if (fused && convolution.weights == Constness::kConstant)
    return {{LayerConfig(convolution), WithRelu(convolution)}, std::nullopt};
  if (fused) return {{LayerConfig(convolution)}, std::nullopt};
  ConvolutionConfig alone = convolution;
  alone.bias = false;
  return {{LayerConfig(std::move(alone))}, WrittenOutBias(convolution)};
}

Parts PartsOf(PointwiseConfig pointwise) {
  switch (pointwise.kind) {
    case PointwiseKind::kLeakyRelu:
      pointwise.kind = PointwiseKind::kRelu;
      break;
    case PointwiseKind::kAdd:
    case PointwiseKind::kMultiply:
    case PointwiseKind::kMinimum:
    case PointwiseKind::kMaximum:
      if (pointwise.inputs.size() == 2) pointwise.inputs.assign(2, OutputShape(pointwise));
      break;
    default:
      break;
  }
  return {{LayerConfig(Canonicalize(std::move(pointwise)))}, std::nullopt};
}

Parts PartsOf(MatMulConfig product) {
  const bool many_rows = ElementCount(OutputShape(product)) > product.b.dims.back();
  if (product.bias == MatMulBias::kColumn && many_rows) product.bias = MatMulBias::kFull;
  return {{LayerConfig(std::move(product))}, std::nullopt};
}

Parts PartsOf(const Layer& layer, bool fused) {
  if (IsZeroCostInBenanza(layer.op) || layer.status != LayerStatus::kMeasurable || !layer.workload) return {};
  if (const auto* config = std::get_if<LayerConfig>(&*layer.workload)) {
    if (const auto* convolution = std::get_if<ConvolutionConfig>(config)) return PartsOf(*convolution, fused);
    if (const auto* pointwise = std::get_if<PointwiseConfig>(config)) return PartsOf(*pointwise);
    if (const auto* product = std::get_if<MatMulConfig>(config)) return PartsOf(*product);
  }
  return {{*layer.workload}, std::nullopt};
}

// Folded before the first inference: no layer to the tool of 2019, which listed what is not constant.
bool MakesConstants(const ModelGraph& model, const Layer& layer) {
  return layer.status == LayerStatus::kFree &&
         std::ranges::all_of(layer.outputs, [&](const std::optional<ValueId>& output) {
           return !output || model.value(*output).kind == ValueKind::kWeight;
         });
}

// What is known of one layer: its rows' times, and what of it is shown.
struct TimedLayer {
  std::optional<BestTime> forward, bias;
  std::vector<Term> terms;  // of both
  bool has_bias_row = false;
  ResolvedLayer resolved;
};

class Timer {
 public:
  Timer(const ModelGraph& model, const MeasuredRows& rows, const Selection& selection, const DeviceModel& device)
      : model_(model), rows_(rows), selection_(selection), device_(device) {}

  TimedLayer Time(const Layer& layer, const Parts& parts) const {
    TimedLayer timed;
    LayerLatency& known = timed.resolved.known;
    known.floor = FloorOfLayer(layer, device_);
    if (IsZeroCostInBenanza(layer.op) || MakesConstants(model_, layer)) {
      known.status = LatencyStatus::kFree;
      known.latency = Latency(0);
      if (IsZeroCostInBenanza(layer.op)) known.reason = "zero cost by the rules of 2019";
      return timed;
    }
    for (const Workload& workload : parts.forward) {
      std::optional<Found> found = Find(workload);
      if (!found || (timed.forward && found->time.best >= timed.forward->best)) continue;
      timed.terms = {found->term};
      timed.forward = std::move(found->time);
    }
    timed.has_bias_row = parts.bias.has_value();
    if (parts.bias) {
      if (std::optional<Found> found = Find(*parts.bias)) {
        timed.terms.push_back(found->term);
        timed.bias = std::move(found->time);
      }
    }
    Resolve(layer, parts, timed);
    return timed;
  }

 private:
  // What the rows of one workload say.
  struct Found {
    BestTime time;
    Term term;
  };
  std::optional<Found> Find(const Workload& workload) const {
    const WorkloadRows* rows = rows_.Find(KeyOf(workload));
    if (rows == nullptr) return std::nullopt;
    std::optional<BestTime> time = BestTimeOf(*rows, selection_.threads, rows_.noise());
    if (!time) return std::nullopt;
    // The rules of 2019 count the least that was seen of any algorithm.
    const TimedRow* least = nullptr;
    for (const TimedRow& row : rows->On(selection_.threads)) {
      if (!(row.best_seen >= Latency(0))) continue;
      const bool breaks_tie = least != nullptr && row.best_seen == least->best_seen &&
                              row.row->candidate.name() < least->row->candidate.name();
      if (least == nullptr || row.best_seen < least->best_seen || breaks_tie) least = &row;
    }
    if (least == nullptr) return std::nullopt;
    time->row = least->row;
    time->best = least->best_seen;
    // The number is the same for all layers of one workload, whose errors are the same.
    const Term term{time->estimate, 1, rows->number};
    return Found{*std::move(time), term};
  }

  static void Resolve(const Layer& layer, const Parts& parts, TimedLayer& timed) {
    ResolvedLayer& resolved = timed.resolved;
    LayerLatency& known = resolved.known;
    resolved.flops = static_cast<double>(layer.work.conventional.value);
    if (timed.forward) {
      resolved.times.best = resolved.measured = timed.forward->best;
    }
    if (!timed.forward || (timed.has_bias_row && !timed.bias)) {
      known.status = LatencyStatus::kMissing;
      resolved.missing = known.floor;
      resolved.missing_flops = resolved.flops;
      if (parts.forward.empty()) {
        known.reason = "the rules of 2019 have no benchmark for it";
        if (!layer.reason.empty()) known.reason += " (" + layer.reason + ")";
      } else {
        known.reason =
            timed.forward ? "no row of its bias, " + Format(*parts.bias) : "no row of " + Format(parts.forward.front());
      }
      return;
    }
    if (timed.has_bias_row) {
      known.reason = "convolution " + FormatLatency(timed.forward->best) + ", bias " + FormatLatency(timed.bias->best);
      resolved.times.best = resolved.measured = timed.forward->best + timed.bias->best;
    }
    known.status = LatencyStatus::kMeasured;
    known.latency = resolved.times.best;
    known.interval = IntervalAround(*known.latency, SumOf(timed.terms));
    known.candidate = timed.forward->row->candidate;
  }

  const ModelGraph& model_;
  const MeasuredRows& rows_;
  const Selection& selection_;
  const DeviceModel& device_;
};

BenanzaTotals TotalsOf(const ModelGraph& model, const std::vector<TimedLayer>& timed) {
  const std::vector<std::vector<LayerId>> predecessors = Predecessors(model);
  std::vector<BenanzaLayer> layers(timed.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].op = model.layers[i].op;
    // A tensor stands for all that a layer makes, so that bodies wait for what they capture too.
    for (const LayerId before : predecessors[i]) layers[i].inputs.push_back(std::to_string(before.index()));
    layers[i].outputs = {std::to_string(i)};
    layers[i].has_bias_row = timed[i].has_bias_row;
    if (timed[i].forward) layers[i].forward = timed[i].forward->best;
    if (timed[i].bias) layers[i].bias = timed[i].bias->best;
  }
  return ComputeBenanzaTotals(layers);
}

template <class Layers>
Interval IntervalOver(Latency point, const Layers& layers, const std::vector<TimedLayer>& timed) {
  std::vector<Term> terms;
  for (const std::size_t layer : layers)
    terms.insert(terms.end(), timed[layer].terms.begin(), timed[layer].terms.end());
  return IntervalAround(point, SumOf(terms));
}

void AddBounds(const ModelGraph& model, const std::vector<TimedLayer>& timed, std::vector<std::string> assumptions,
               bool fused, Bracket& bracket) {
  const BenanzaTotals point = TotalsOf(model, timed);
  for (const std::size_t layer : point.path) bracket.layers[layer].on_critical_path = true;
  const bool any_time = std::ranges::any_of(timed, [](const TimedLayer& layer) { return layer.forward.has_value(); });
  if (!any_time) return;

  assumptions.insert(assumptions.end(), {"unfolded-layers", "zero-cost-operators"});
  std::vector<std::string> serial = assumptions, parallel = assumptions;
  if (point.serial_unlisted > Latency(0)) serial.push_back("convolutions-without-their-bias");
  if (!point.parallel) serial.push_back("no-path-from-first-to-last-layer");
  bracket.bounds.push_back(
      {fused ? BoundVariant::kBenanza2019FusedSerial : BoundVariant::kBenanza2019Serial, point.serial,
       IntervalOver(point.serial, std::views::iota(std::size_t{0}, timed.size()), timed), std::move(serial)});
  if (!point.parallel) return;
  parallel.insert(parallel.end(), {"first-to-last-layer", "without-last-layer"});
  bracket.bounds.push_back(
      {fused ? BoundVariant::kBenanza2019FusedParallel : BoundVariant::kBenanza2019Parallel, *point.parallel,
       // The rule leaves out the last layer's own time.
       IntervalOver(*point.parallel, std::span(point.path).first(point.path.empty() ? 0 : point.path.size() - 1),
                    timed),
       std::move(parallel)});
}

}  // namespace

std::string_view Name(BoundRules rules) { return kRulesNames[rules]; }

std::optional<BoundRules> FindBoundRules(std::string_view name) { return kRulesNames.Find(name); }

std::span<const std::string_view> BoundRulesNames() { return kRulesNames.all(); }

Result<Bracket> ApplyBenanzaRules(Bracket bracket, const ModelGraph& model, MeasurementSource& source,
                                  BoundRules rules) {
  INFIMUM_CHECK(rules != BoundRules::kBracket, "a bracket has its bounds by the rules of brackets already");
  const bool fused = rules == BoundRules::kBenanza2019Fused;
  // They know of no context.
  bracket.selection.cache = bracket.selection.cache.value_or(CacheState::kWarm);
  bracket.context.reset();
  std::vector<Parts> parts;
  std::vector<KeyedWorkload> workloads;
  parts.reserve(model.layers.size());
  for (const Layer& layer : model.layers) {
    parts.push_back(PartsOf(layer, fused));
    for (const Workload& workload : parts.back().forward) workloads.push_back(Keyed(workload));
    if (parts.back().bias) workloads.push_back(Keyed(*parts.back().bias));
  }
  INFIMUM_ASSIGN_OR_RETURN(const MeasuredRows rows, MeasuredRows::Fetch(workloads, source, bracket.selection));
  INFIMUM_ASSIGN_OR_RETURN(DeviceModel device, DeviceModel::Make(source, bracket.selection));
  ObserveRows(rows, device);

  const Timer timer(model, rows, bracket.selection, device);
  std::vector<TimedLayer> timed;
  std::vector<ResolvedLayer> resolved;
  timed.reserve(parts.size());
  bracket.layers.clear();
  bracket.bounds.clear();
  // These are of the model as brackets read it.
  bracket.regions.clear();
  bracket.regret.reset();
  bracket.deciders.clear();
  bracket.layouts.reset();
  bracket.roofline = Latency(0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    timed.push_back(timer.Time(model.layers[i], parts[i]));
    timed.back().resolved.known.layer = LayerId(i);
    resolved.push_back(timed.back().resolved);
    bracket.layers.push_back(resolved.back().known);
    bracket.roofline += resolved.back().known.floor;
  }
  SetOrigins(rows, bracket);
  bracket.coverage = CoverageOf(resolved);
  AddBounds(model, timed, CommonAssumptions(bracket, resolved, Latency(0)), fused, bracket);
  return bracket;
}

}  // namespace infimum
