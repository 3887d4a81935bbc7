#include "analyzer/floor/floor.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "analyzer/floor/compulsory_traffic.h"
#include "analyzer/floor/needed_shares.h"
#include "infimum/base/enum_names.h"
#include "infimum/base/text.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum {
namespace {

// The type in which a product's operands are exact, where that is narrower than the one that the model says.
//
//   x, w in f32, both made by DequantizeLinear of s8 -> Transpose -> MatMul      s8
//   q, k in f32, both made by Cast of f16                                        f16
//
// A program may multiply in it and lose nothing: products of such numbers are exact in the wider sums of its units. A
// value is followed back through what changes no number but its place, its sign or its being there (views, transposes,
// slices, Relu, MaxPool), to a DequantizeLinear or a Cast.

// Of two operands: integers of 8 bits and fewer are exact in s8, these and floats in f16, where one of them is not
// wider.
DataType TypeOfBoth(DataType a, DataType b) {
  const auto is_small = [](DataType type) { return IsInteger(type) && BitsPerElement(type) <= 8; };
  if (is_small(a) && is_small(b)) return DataType::kS8;
  if (a == b) return a;
  const auto is_in_half = [&](DataType type) {
    return is_small(type) || type == DataType::kF16 || type == DataType::kF8E4M3 || type == DataType::kF8E5M2 ||
           type == DataType::kF4E2M1;
  };
  return is_in_half(a) && is_in_half(b) ? DataType::kF16 : DataType::kNone;
}

// For each layer of a graph, not of its bodies; kNone where it is none of a product, or of its own types.
std::vector<DataType> FindExactTypes(const ModelGraph& graph) {
  constexpr std::string_view kSame[] = {"Dropout", "Expand", "Flatten", "Gather",  "Identity",  "MaxPool",  "Relu",
                                        "Reshape", "Slice",  "Split",   "Squeeze", "Transpose", "Unsqueeze"};
  constexpr std::string_view kConversions[] = {"Cast", "DequantizeLinear", "com.microsoft.DequantizeLinear"};
  // Of each value the type in which its numbers are exact; layers are in topological order.
  std::vector<DataType> exact(graph.values.size());
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = graph.values[i].type;
  std::vector<DataType> types(graph.layers.size(), DataType::kNone);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const auto type_of = [&](std::size_t input) {
      return input < layer.inputs.size() && layer.inputs[input] ? exact[layer.inputs[input]->index()] : DataType::kNone;
    };
    const bool is_conversion = IsOneOf(layer.op, kConversions);
    if (is_conversion || IsOneOf(layer.op, kSame)) {
      for (const std::optional<ValueId>& output : layer.outputs) {
        if (!output) continue;
        const DataType from = type_of(0), to = graph.value(*output).type;
        // A Cast to fewer bits rounds.
        if (!is_conversion || BitsPerElement(from) < BitsPerElement(to)) exact[output->index()] = from;
      }
    }
    if (ConfigOf<MatMulConfig>(layer) == nullptr && ConfigOf<ConvolutionConfig>(layer) == nullptr &&
        ConfigOf<AttentionConfig>(layer) == nullptr)
      continue;
    if (layer.operand_inputs.size() < 2) continue;
    const DataType both = TypeOfBoth(type_of(layer.operand_inputs[0]), type_of(layer.operand_inputs[1]));
    if (BitsPerElement(both) < BitsPerElement(graph.value(*layer.outputs[0]).type)) types[i] = both;
  }
  return types;
}

// In the order of the enumeration.
constexpr EnumNames<ProgramClass::kTextbook> kClassNames = {"any-program", "launched", "dense-read", "winograd",
                                                            "textbook"};

constexpr std::int64_t kWinogradTile = 4;  // outputs a dimension; larger tiles lose too many digits of f32

// From which share of zeros on, and up to which share of information, weights count as redundant. By this measure
// trained weights of f32 and f16 need 0.82 to 0.86 of their bits, of bf16 0.65 to 0.69: README.md.
constexpr double kSparse = 0.3, kCompressible = 0.75;

using FlopsByType = std::map<DataType, double>;

// That the arithmetic may be done in: a product whose model allows its activations to be rounded is as fast as in
// these.
DataType TypeOf(const LayerConfig& config) {
  const auto* product = std::get_if<MatMulConfig>(&config);
  return product != nullptr && product->activations != DataType::kNone ? product->activations : TypesOf(config).input;
}

Latency TimeOf(const FlopsByType& flops, const DeviceModel& device, DataType* slowest) {
  Latency longest{0};
  for (const auto& [type, count] : flops) {
    const std::optional<FlopsPerSecond> peak = device.Arithmetic(type);
    if (!peak || !(count > 0)) continue;
    const Latency time = std::chrono::duration<double>(count / peak->value);
    if (time <= longest) continue;
    longest = time;
    if (slowest != nullptr) *slowest = type;
  }
  return longest;
}

// The FLOPs of one layer by a class that does arithmetic.
using FlopsOfConfig = double (*)(const LayerConfig&, const Work&);

double TextbookFlops(const LayerConfig&, const Work& work) { return static_cast<double>(work.conventional.value); }

double WinogradFlops(const LayerConfig& config, const Work& work) {
  const auto* convolution = std::get_if<ConvolutionConfig>(&config);
  return TextbookFlops(config, work) / (convolution != nullptr ? WinogradSaving(*convolution) : 1);
}

FlopsByType FlopsOf(const Workload& workload, const Work& work, FlopsOfConfig flops_of) {
  FlopsByType flops;
  if (const auto* config = std::get_if<LayerConfig>(&workload)) {
    flops[TypeOf(*config)] += flops_of(*config, work);
  } else {
    for (const RegionMember& member : std::get<Region>(workload).members)
      flops[TypeOf(member.config)] += flops_of(member.config, WorkOf(member.config));
  }
  return flops;
}

FlopsByType FlopsOf(const Layer& layer, FlopsOfConfig flops_of) {
  const std::optional<Workload>& workload = layer.workload ? layer.workload : layer.least;
  return workload ? FlopsOf(*workload, layer.work, flops_of) : FlopsByType();
}

bool IsFaster(DataType type, DataType than, const DeviceModel& device) {
  const std::optional<FlopsPerSecond> peak = device.Arithmetic(type), other = device.Arithmetic(than);
  return peak && (!other || peak->value > other->value);
}

FlopsByType SumFlops(const ModelGraph& graph, const NeededShares& needs, const DeviceModel& device,
                     FlopsOfConfig flops_of) {
  FlopsByType sum;
  const std::vector<DataType> exact = FindExactTypes(graph);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    if (needs.of(graph, i) <= 0) continue;
    if (!layer.bodies.empty()) {
      std::optional<FlopsByType> cheapest;
      for (const SubGraph& body : layer.bodies) {
        FlopsByType flops;
        const double executions =
            layer.bodies.size() > 1 ? 1.0 : static_cast<double>(std::max<std::int64_t>(body.least_executions, 0));
        if (body.graph != nullptr && executions > 0) flops = SumFlops(*body.graph, needs, device, flops_of);
        for (auto& [type, count] : flops) count *= executions;
        if (!cheapest || TimeOf(flops, device, nullptr) < TimeOf(*cheapest, device, nullptr)) cheapest = flops;
      }
      for (const auto& [type, count] : *cheapest) sum[type] += count;
    }
    const double share = needs.of_work(graph, i);
    // An attention's probabilities are made in its own type, and weighted with the values in it.
    const double in_exact = layer.workload && FamilyOf(*layer.workload) == AttentionConfig::kName ? 0.5 : 1;
    for (const auto& [type, count] : FlopsOf(layer, flops_of)) {
      const bool is_faster = exact[i] != DataType::kNone && IsFaster(exact[i], type, device);
      sum[type] += share * count * (is_faster ? 1 - in_exact : 1);
      if (is_faster) sum[exact[i]] += share * count * in_exact;
    }
  }
  return sum;
}

bool AnyUnknown(const ModelGraph& graph) {
  return std::any_of(graph.layers.begin(), graph.layers.end(), [](const Layer& layer) {
    if (layer.status == LayerStatus::kUnknown && layer.bodies.empty() && !layer.least) return true;
    return std::any_of(layer.bodies.begin(), layer.bodies.end(),
                       [](const SubGraph& body) { return body.graph == nullptr || AnyUnknown(*body.graph); });
  });
}

Floor Decide(ProgramClass program_class, const MemoryFloor& memory, const FlopsByType& flops,
             const DeviceModel& device) {
  Floor floor{program_class, memory.latency, "bandwidth " + memory.level, {}};
  DataType slowest = DataType::kF32;
  const Latency arithmetic = TimeOf(flops, device, &slowest);
  if (arithmetic > floor.latency) {
    floor.latency = arithmetic;
    floor.decided_by = "arithmetic " + std::string(Name(slowest));
  }
  for (const auto& [type, count] : flops)
    if (count > 0 && !device.HasArithmetic(type))
      floor.assumptions.push_back((device.Arithmetic(type) ? "borrowed-peak-" : "unknown-peak-") +
                                  std::string(Name(type)));
  const bool any_work = std::any_of(flops.begin(), flops.end(), [](const auto& entry) { return entry.second > 0; });
  if (!device.memory_data_sheet() || (any_work && !device.arithmetic_data_sheet()))
    floor.assumptions.push_back("estimated");
  if (device.coarse_memory()) floor.assumptions.push_back("coarse-tau");
  return floor;
}

}  // namespace

std::string_view Name(ProgramClass program_class) { return kClassNames[program_class]; }

std::map<DataType, double> ConventionalFlopsOf(const Workload& workload, const Work& work) {
  return FlopsOf(workload, work, TextbookFlops);
}

LayerBytes BytesOfLayer(const Layer& layer) {
  return {static_cast<double>(layer.work.read().value), static_cast<double>(layer.work.written.value), 0};
}

Latency FloorOfLayer(const Layer& layer, const DeviceModel& device, const LayerBytes& bytes, std::string* decided_by) {
  if (layer.status == LayerStatus::kFree) return Latency(0);
  const MemoryFloor near = device.Memory(bytes.read, bytes.written);
  const Latency far = device.FarTime(bytes.far);
  DataType slowest = DataType::kF32;
  const Latency arithmetic = TimeOf(FlopsOf(layer, TextbookFlops), device, &slowest);
  const Latency floor = std::max({near.latency, far, arithmetic});
  if (decided_by != nullptr && floor > Latency(0)) {
    *decided_by = arithmetic == floor ? "arithmetic " + std::string(Name(slowest))
                                      : "bandwidth " + (near.latency == floor ? near.level : std::string("memory"));
  }
  return floor;
}

double WinogradSaving(const ConvolutionConfig& config) {
  if (!IsFloatingPoint(config.types.input)) return 1;
  double saving = 1;
  for (std::size_t d = 0; d < config.kernel.rank(); ++d) {
    const std::int64_t taps = config.kernel.dims[d], stride = std::max<std::int64_t>(config.stride.dims[d], 1);
    double products = 0;  // of an output
    for (std::int64_t phase = 0; phase < std::min(stride, taps); ++phase) {
      const double of_phase = static_cast<double>((taps - phase + stride - 1) / stride);
      products += (kWinogradTile + of_phase - 1) / kWinogradTile;
    }
    saving *= static_cast<double>(taps) / products;
  }
  return saving;
}

std::set<std::string> TagsOfQuantities(const ModelGraph& graph) {
  std::set<std::string> tags;
  VisitQuantities(graph, [&](const RunTimeQuantity& quantity) {
    if (quantity.stated)
      tags.insert("assumed-" + quantity.name + "=" + std::to_string(*quantity.stated));
    else if (quantity.least < quantity.most)
      tags.insert("least-" + quantity.name);
  });
  return tags;
}

const Floor& FloorOf(std::span<const Floor> floors, ProgramClass program_class) {
  static const Floor kNone;
  const auto found = std::ranges::find(floors, program_class, &Floor::program_class);
  return found == floors.end() ? kNone : *found;
}

std::vector<Floor> ComputeFloors(const ModelGraph& graph, const DeviceModel& device) {
  const NeededShares needs(graph, UnknownLayers::kReadNothing), textbook(graph, UnknownLayers::kReadInputs);
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(graph, needs);
  const MemoryFloor memory = device.Memory(traffic.read, traffic.written);
  const FlopsByType direct = SumFlops(graph, textbook, device, TextbookFlops);
  const FlopsByType filtered = SumFlops(graph, textbook, device, WinogradFlops);
  // A model of views alone needs no kernel at all.
  const bool runs = std::any_of(graph.layers.begin(), graph.layers.end(),
                                [](const Layer& layer) { return layer.status == LayerStatus::kMeasurable; });
  std::vector<Floor> floors = {Floor{}};
  if (runs && device.launch() > Latency(0))
    floors.push_back({ProgramClass::kLaunched, device.launch(), "one launch", {}});
  floors.push_back(Decide(ProgramClass::kDenseRead, memory, {}, device));
  if (filtered != direct) floors.push_back(Decide(ProgramClass::kWinograd, memory, filtered, device));
  floors.push_back(Decide(ProgramClass::kTextbook, memory, direct, device));
  std::vector<std::string> of_all;  // that read weights
  if (AnyUnknown(graph)) of_all.push_back("unknown-layers-omitted");
  std::ranges::copy(TagsOfQuantities(graph), std::back_inserter(of_all));
  if (graph.weights && graph.weights->zero_share >= kSparse) of_all.push_back("sparse-weights");
  if (graph.weights && graph.weights->information_share <= kCompressible) of_all.push_back("compressible-weights");
  for (Floor& floor : floors)
    if (floor.program_class >= ProgramClass::kDenseRead)
      floor.assumptions.insert(floor.assumptions.end(), of_all.begin(), of_all.end());
  return floors;
}

}  // namespace infimum
