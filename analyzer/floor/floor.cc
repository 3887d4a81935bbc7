#include "analyzer/floor/floor.h"

#include <algorithm>
#include <limits>

#include "analyzer/floor/compulsory_traffic.h"

namespace infimum {
namespace {

using FlopsByType = std::map<DataType, double>;

DataType TypeOf(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return TypesOf(*config).input;
  const Region& region = std::get<Region>(workload);
  return region.members.empty() ? DataType::kF32 : TypesOf(region.members.front().config).input;
}

// By type the most provable work that one layer has.
FlopsByType MostProvable(const ModelGraph& graph, const NeededShares& needs) {
  FlopsByType most;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const double needed = needs.of(graph, i);
    if (needed <= 0) continue;
    for (const SubGraph& body : layer.bodies) {
      // Of an If either branch may run; what an iteration computes need not be computed by each.
      if (body.graph == nullptr || layer.bodies.size() > 1 || body.least_executions <= 0) continue;
      for (const auto& [type, flops] : MostProvable(*body.graph, needs)) most[type] = std::max(most[type], flops);
    }
    if (layer.status != LayerStatus::kMeasurable || !layer.workload) continue;
    double& entry = most[TypeOf(*layer.workload)];
    entry = std::max(entry, needed * static_cast<double>(layer.work.provable.value));
  }
  return most;
}

// A layer's operands may repeat a few elements (an Expand, padding), over which algebra takes short cuts: no more
// work is provable than there are distinct elements to work on.
FlopsByType Capped(FlopsByType most, const CompulsoryTraffic& traffic) {
  for (auto& [type, flops] : most)
    flops = std::min(flops, 8 * (traffic.read + traffic.written) / std::max(BitsPerElement(type), 1));
  return most;
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

FlopsByType FlopsOf(const Layer& layer) {
  if (layer.status != LayerStatus::kMeasurable || !layer.workload) return {};
  return ConventionalFlopsOf(*layer.workload, layer.work);
}

FlopsByType SumConventional(const ModelGraph& graph, const NeededShares& needs, const DeviceModel& device) {
  FlopsByType sum;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    if (needs.of(graph, i) <= 0) continue;
    if (!layer.bodies.empty()) {
      std::optional<FlopsByType> cheapest;
      for (const SubGraph& body : layer.bodies) {
        FlopsByType flops;
        const double executions =
            layer.bodies.size() > 1 ? 1.0 : static_cast<double>(std::max<std::int64_t>(body.least_executions, 0));
        if (body.graph != nullptr && executions > 0) flops = SumConventional(*body.graph, needs, device);
        for (auto& [type, count] : flops) count *= executions;
        if (!cheapest || TimeOf(flops, device, nullptr) < TimeOf(*cheapest, device, nullptr)) cheapest = flops;
      }
      for (const auto& [type, count] : *cheapest) sum[type] += count;
    }
    for (const auto& [type, count] : FlopsOf(layer)) sum[type] += count;
  }
  return sum;
}

bool AnyUnknown(const ModelGraph& graph) {
  return std::any_of(graph.layers.begin(), graph.layers.end(), [](const Layer& layer) {
    if (layer.status == LayerStatus::kUnknown && layer.bodies.empty()) return true;
    return std::any_of(layer.bodies.begin(), layer.bodies.end(),
                       [](const SubGraph& body) { return body.graph == nullptr || AnyUnknown(*body.graph); });
  });
}

// `runs`: whether there is anything to launch.
Floor Decide(const MemoryFloor& memory, const FlopsByType& flops, bool runs, const DeviceModel& device) {
  Floor floor;
  floor.latency = memory.latency;
  floor.decided_by = "bandwidth " + memory.level;
  DataType slowest = DataType::kF32;
  const Latency arithmetic = TimeOf(flops, device, &slowest);
  if (arithmetic > floor.latency) {
    floor.latency = arithmetic;
    floor.decided_by = "arithmetic " + std::string(Name(slowest));
  }
  if (runs && device.launch() > floor.latency) {
    floor.latency = device.launch();
    floor.decided_by = "one launch";
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

std::map<DataType, double> ConventionalFlopsOf(const Workload& workload, const Work& work) {
  FlopsByType flops;
  if (const auto* region = std::get_if<Region>(&workload)) {
    for (const RegionMember& member : region->members)
      flops[TypesOf(member.config).input] += static_cast<double>(WorkOf(member.config).conventional.value);
    return flops;
  }
  flops[TypeOf(workload)] += static_cast<double>(work.conventional.value);
  return flops;
}

Latency FloorOfLayer(const Layer& layer, const DeviceModel& device) {
  if (layer.status == LayerStatus::kFree) return Latency(0);
  const MemoryFloor memory =
      device.Memory(static_cast<double>(layer.work.read().value), static_cast<double>(layer.work.written.value));
  return std::max(memory.latency, TimeOf(FlopsOf(layer), device, nullptr));
}

Floors ComputeFloors(const ModelGraph& graph, const DeviceModel& device) {
  const NeededShares needs(graph, UnknownLayers::kReadNothing), textbook(graph, UnknownLayers::kReadInputs);
  const CompulsoryTraffic traffic = FindCompulsoryTraffic(graph, needs);
  const MemoryFloor memory = device.Memory(traffic.read, traffic.written);
  // A model of views alone needs no kernel at all.
  const bool runs = std::any_of(graph.layers.begin(), graph.layers.end(),
                                [](const Layer& layer) { return layer.status == LayerStatus::kMeasurable; });
  Floors floors{Decide(memory, Capped(MostProvable(graph, needs), traffic), runs, device),
                Decide(memory, SumConventional(graph, textbook, device), runs, device)};
  // Both hold for either choice of W, so the larger provable work never makes F0 exceed Fc.
  if (floors.conventional_floor.latency < floors.floor.latency) {
    floors.conventional_floor.latency = floors.floor.latency;
    floors.conventional_floor.decided_by = floors.floor.decided_by;
  }
  floors.conventional_floor.assumptions.insert(floors.conventional_floor.assumptions.begin(),
                                               "conventional-arithmetic");
  if (AnyUnknown(graph)) {
    floors.floor.assumptions.push_back("unknown-layers-omitted");
    floors.conventional_floor.assumptions.push_back("unknown-layers-omitted");
  }
  return floors;
}

}  // namespace infimum
