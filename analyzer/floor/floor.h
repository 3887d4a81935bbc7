// Floors: the least time that a program of a named class can take, from what it must move and must compute.
//
//   any program        no floor: it may skip zeros, or store weights by their information
//   launched           one start of a kernel, where its time is known: programs that the host starts for each inference
//   dense-read         tau(B): every stored weight element and graph input that is needed is read once, as it is stored
//   winograd           max(dense-read, FLOPs that minimal filtering F(4x4) leaves / peak)
//   textbook           max(dense-read, FLOPs of the textbook's sums / peak)
//
// Each holds for all weights of the stored types and the input that takes longest. dense-read, winograd and textbook
// narrow the class step by step, so their floors ascend; `launched` is a condition of another kind and stands apart.
//
//   ResNet-50, f32, batch 1, one core: B = 102.2 MB of weights + 0.6 MB in + 4 kB out at 20 GB/s -> 3.4 ms dense-read,
//   "bandwidth memory"; textbook: 8.2 GFLOP / 110 GFLOP/s -> 74 ms, "arithmetic f32"
//
// B is compulsory_traffic.h's. Arithmetic is summed by data type, and the slowest type decides: whether the units of
// two types can work side by side (vector and matrix units can) is not known, and the maximum holds in either case.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/types/device_model.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

enum class ProgramClass { kAny, kLaunched, kDenseRead, kWinograd, kTextbook };
std::string_view Name(ProgramClass program_class);  // "any-program", "launched", "dense-read", ...

struct Floor {
  ProgramClass program_class = ProgramClass::kAny;
  Latency latency{0};
  std::string decided_by;                // "arithmetic f32", "bandwidth memory"; empty where nothing is known
  std::vector<std::string> assumptions;  // "estimated" without a data sheet, "unknown-layers-omitted"
};

// One for each class of which something is said, in the order of the classes. `winograd` is left out where it says the
// same as `textbook`: no layer is a convolution over windows.
std::vector<Floor> ComputeFloors(const ModelGraph& graph, const DeviceModel& device);

// Tags of the numbers that only a run decides: "assumed-moe.experts=2" as stated, "least-moe.experts" where not all
// layers have one: they count what any run does.
std::set<std::string> TagsOfQuantities(const ModelGraph& graph);

// A floor of 0 where the class has none.
const Floor& FloorOf(std::span<const Floor> floors, ProgramClass program_class);

struct LayerBytes {
  double read = 0, written = 0;
  double far = 0;  // of `read` what comes from where the caches are of no use
};
LayerBytes BytesOfLayer(const Layer& layer);  // as if it ran alone, again and again

// One layer's roofline: max(its bytes by the memory, of them the far ones from there, its FLOPs / peak). What other
// layers leave in the caches residency.h tells.
// `decided_by`: as a Floor has it.
Latency FloorOfLayer(const Layer& layer, const DeviceModel& device, const LayerBytes& bytes,
                     std::string* decided_by = nullptr);
inline Latency FloorOfLayer(const Layer& layer, const DeviceModel& device) {
  return FloorOfLayer(layer, device, BytesOfLayer(layer));
}

// FLOPs by the type that they are done in; a region's by each member's own. `work` is the workload's.
std::map<DataType, double> ConventionalFlopsOf(const Workload& workload, const Work& work);

// By how much minimal filtering with tiles of at most 4 outputs a dimension lessens the multiplications of a
// convolution (Winograd 1980; Lavin and Gray, arXiv 1509.09308): a dimension of r taps needs (m + r - 1) / m products
// an output in place of r. Strides split the taps into phases. 1 for integers, which it does not compute exactly.
//   3x3, stride 1, 56x56 outputs: 4      3x3, stride 2: 1.78      1x1: 1
double WinogradSaving(const ConvolutionConfig& config);

}  // namespace infimum
