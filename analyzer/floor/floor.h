// F0 and Fc: the least time that any correct program can take, from what it must move and must compute.
//
//   F0 = max(over memory levels l of (B - capacity of the nearer levels)+ / bandwidth_l,  W / peak,  one launch)
//
// B is compulsory_traffic.h's. For F0, W is provable work; for Fc, by convention, the textbook's FLOPs.
//
//   ResNet-50, f32, batch 1, one core: B = 102.2 MB of weights + 0.6 MB in + 4 kB out, less 33 MiB of
//   caches, at 20 GB/s -> 3.4 ms "bandwidth memory"; Fc: 8.2 GFLOP / 110 GFLOP/s -> 74 ms "arithmetic f32"
//
// W of F0 is the provable work of the single layer with most of it, not a sum: layers in a row can be
// merged by algebra (two scalings are one, a second Relu does nothing), so their sum proves nothing.
// W of Fc sums layers by data type, and the slowest type decides: whether the units of two types can work
// side by side (vector and matrix units can) is not known, and the maximum holds in either case.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/types/device_model.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

struct Floor {
  Latency latency{0};
  std::string decided_by;                // "arithmetic f32", "bandwidth memory"
  std::vector<std::string> assumptions;  // "estimated" without a data sheet, "conventional-arithmetic"
};

struct Floors {
  Floor floor;               // F0
  Floor conventional_floor;  // Fc
};

Floors ComputeFloors(const ModelGraph& graph, const DeviceModel& device);

// One layer alone, by convention: max(its compulsory bytes by the memory, its FLOPs / peak).
Latency FloorOfLayer(const Layer& layer, const DeviceModel& device);

// FLOPs by the type that they are done in; a region's by each member's own. `work` is the workload's.
std::map<DataType, double> ConventionalFlopsOf(const Workload& workload, const Work& work);

}  // namespace infimum
