#include "tests/support/random_graph.h"

#include <set>
#include <string>

#include "infimum/graph/fusable_regions.h"

namespace infimum::testing {
namespace {

constexpr std::int64_t kElements = 4096;

ValueId AddValue(ModelGraph& graph, std::string name, ValueKind kind) {
  Value value;
  value.name = std::move(name);
  value.kind = kind;
  value.type = DataType::kF32;
  value.shape = Shape{{kElements}};
  graph.values.push_back(std::move(value));
  return ValueId(graph.values.size() - 1);
}

PointwiseKind KindFor(std::mt19937_64& random, std::size_t inputs) {
  if (inputs == 1) {
    constexpr PointwiseKind kUnary[] = {PointwiseKind::kRelu, PointwiseKind::kTanh, PointwiseKind::kSigmoid,
                                        PointwiseKind::kAbsolute, PointwiseKind::kExponential};
    return kUnary[random() % std::size(kUnary)];
  }
  constexpr PointwiseKind kVariadic[] = {PointwiseKind::kMaximum, PointwiseKind::kMinimum, PointwiseKind::kMean};
  return kVariadic[random() % std::size(kVariadic)];
}

}  // namespace

ModelGraph MakeRandomGraph(std::mt19937_64& random, const RandomGraphOptions& options) {
  ModelGraph graph;
  graph.name = "random";
  graph.inputs.push_back(AddValue(graph, "input", ValueKind::kGraphInput));
  std::vector<ValueId> made{graph.inputs[0]};
  std::vector<ValueId> weights;
  std::uniform_real_distribution<double> share(0, 1);
  std::set<std::uint32_t> read;
  for (std::size_t i = 0; i < options.layers; ++i) {
    Layer layer;
    layer.name = "layer_" + std::to_string(i);
    layer.op = "Op";
    const std::size_t reach = options.reach == 0 ? made.size() : std::min(options.reach, made.size());
    const std::size_t inputs = 1 + random() % options.most_inputs;
    std::set<std::size_t> chosen;
    for (std::size_t k = 0; k < inputs; ++k) chosen.insert(made.size() - 1 - random() % reach);
    for (std::size_t source : chosen) layer.inputs.push_back(made[source]);
    if (share(random) < options.weight_share) {
      if (weights.empty() || share(random) < 0.7)
        weights.push_back(AddValue(graph, "weight_" + std::to_string(weights.size()), ValueKind::kWeight));
      layer.inputs.push_back(weights[random() % weights.size()]);
    }
    const double status = share(random);
    if (status < options.free_share) {
      layer.status = LayerStatus::kFree;
      layer.reason = "a view";
      layer.inputs.resize(1);
    } else if (status < options.free_share + options.unknown_share) {
      layer.status = LayerStatus::kUnknown;
      layer.reason = "an operator of a test";
    } else {
      PointwiseConfig config;
      config.kind = KindFor(random, layer.inputs.size());
      config.types.weights = layer.inputs.size() > 1 ? DataType::kF32 : DataType::kNone;
      for (std::size_t k = 0; k < layer.inputs.size(); ++k) {
        config.inputs.push_back(Shape{{kElements}});
        layer.operand_inputs.push_back(k);
      }
      layer.status = LayerStatus::kMeasurable;
      layer.work = WorkOf(config);
      layer.workload = LayerConfig(config);
    }
    for (const std::optional<ValueId>& input : layer.inputs) read.insert(static_cast<std::uint32_t>(input->index()));
    const ValueId output = AddValue(graph, "value_" + std::to_string(i), ValueKind::kIntermediate);
    layer.outputs.push_back(output);
    made.push_back(output);
    graph.layers.push_back(std::move(layer));
  }
  for (ValueId value : made) {
    if (value == graph.inputs[0] || read.count(static_cast<std::uint32_t>(value.index())) > 0) continue;
    graph.outputs.push_back(value);
    graph.value(value).is_graph_output = true;
  }
  return graph;
}

std::vector<WorkloadKey> WorkloadKeys(const ModelGraph& graph) {
  std::vector<WorkloadKey> keys;
  std::set<WorkloadKey> seen;
  for (const Layer& layer : graph.layers) {
    if (!layer.workload) continue;
    WorkloadKey key = KeyOf(*layer.workload);
    if (seen.insert(key).second) keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<WorkloadKey> RegionKeys(const ModelGraph& graph) {
  std::set<WorkloadKey> keys;
  for (const FusableRegion& region : FindFusableRegions(graph)) keys.insert(KeyOf(region.workload));
  return {keys.begin(), keys.end()};
}

DeviceKey TestDeviceKey() { return {"cpu/Test/family=1/l1=32K/l2=512K/l3=8M/cores=4"}; }

Environment TestEnvironment(std::int64_t threads) {
  Environment environment;
  environment.threads = threads;
  environment.libraries["test"] = "1.0";
  return environment;
}

DevicePeaks TestPeaks() {
  const auto rate = [](PeakRate::Kind kind, std::int64_t working_set, double per_second) {
    PeakRate peak;
    peak.kind = kind;
    peak.working_set = {working_set};
    peak.per_second = per_second;
    peak.source = "measured";
    return peak;
  };
  constexpr std::int64_t kMiB = 1 << 20;
  DevicePeaks peaks;
  peaks.rates = {rate(PeakRate::Kind::kRead, 16 << 10, 200e9),  rate(PeakRate::Kind::kCopy, 16 << 10, 160e9),
                 rate(PeakRate::Kind::kRead, kMiB, 60e9),       rate(PeakRate::Kind::kCopy, kMiB, 40e9),
                 rate(PeakRate::Kind::kRead, 128 * kMiB, 20e9), rate(PeakRate::Kind::kCopy, 128 * kMiB, 16e9),
                 rate(PeakRate::Kind::kArithmetic, 0, 100e9)};
  return peaks;
}

Measurement MeasuredRow(const WorkloadKey& workload, const std::string& algorithm, std::vector<Latency> medians) {
  Measurement row;
  row.workload = workload;
  row.candidate.library = "test";
  row.candidate.algorithm = algorithm;
  row.device = TestDeviceKey();
  row.measured_at = "2026-11-21T10:00:00Z";
  for (Latency median : medians) row.repetitions.push_back({9, median * 0.99, median, median * 1.05, {median}});
  return row;
}

void AddRandomRows(std::mt19937_64& random, std::span<const WorkloadKey> keys, std::int64_t threads,
                   MemorySource& source, Repetitions repetitions) {
  std::uniform_real_distribution<double> time(1, 1000);
  for (const WorkloadKey& key : keys) {
    const std::size_t candidates = 1 + random() % 3;
    for (std::size_t i = 0; i < candidates; ++i) {
      std::vector<Latency> medians;
      for (int repetition = 0; repetition < 3; ++repetition) medians.emplace_back(time(random));
      if (repetitions == Repetitions::kAlike) medians.assign(3, medians.front());
      Measurement row = MeasuredRow(key, "candidate_" + std::to_string(i), std::move(medians));
      row.candidate.library_choice = i == 1;
      source.Add(std::move(row), TestEnvironment(threads));
    }
  }
}

Selection TestSelection(std::int64_t threads) {
  Selection selection;
  selection.device = TestDeviceKey();
  selection.threads = threads;
  return selection;
}

}  // namespace infimum::testing
