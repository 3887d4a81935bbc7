// A file of trtexec as JSON. Two things in it are not JSON: control
// characters in names (TensorRT 8.6), and numbers that are none.
//
//   "Metadata": "[ONNX Layer: a]<0x1e>[ONNX Layer: b]"   ->  kNameSeparator between the two
//   "percentage" : -nan                                  ->  "??", a text, which no field of numbers takes
//
// Every byte stays in its place, so that errors name the byte of the file.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"
#include "infimum/graph/run_profile.h"
#include "src/core/results/json_struct.h"

namespace infimum::ingest {

// Stands for every control character in a text; JSON allows it.
inline constexpr char kNameSeparator = '\x7f';

// The stream may be compressed; it must be at its start.
Result<Json> ParseTensorRtText(std::istream& input, std::string_view origin);

// A text of the document with kNameSeparator in place of control characters, also of those that were escaped.
std::string WithSeparators(std::string text);

// The two files of times that trtexec writes: of each layer, and of each inference.

//   [{"count": 10}, {"name": "Conv_0", "timeMs": 2.31, "averageMs": 0.231, "medianMs": 0.229, "percentage": 5.4}, ...]
//     ->  inferences 10, layers {{"Conv_0", 229 us}}
// The median where there is one, which older versions did not write, else the average, else the sum over the count.
struct TensorRtProfile {
  struct Layer {
    std::string name;
    Latency time;
  };
  std::optional<std::int64_t> inferences;
  std::vector<Layer> layers;  // in the file's order, which is that of execution
};
Result<TensorRtProfile> ReadTensorRtProfile(std::istream& input, std::string_view origin);

//   [{"startEnqMs": 0.5, "endEnqMs": 0.6, "startComputeMs": 0.7, "endComputeMs": 4.8, "computeMs": 4.1,
//     "latencyMs": 4.1}, ...]
// In files of older versions the inferences of the warm-up come first; newer ones leave them out. Both count from the
// start of the warm-up.
struct TensorRtInference {
  std::optional<Latency> start;    // of its computation, since the warm-up began
  Latency compute;                 // on the GPU
  std::optional<Latency> enqueue;  // on the host
  std::optional<Latency> latency;  // with the copies between host and device
};
Result<std::vector<TensorRtInference>> ReadTensorRtTimes(std::istream& input, std::string_view origin);

// Metadata beside an engine's files: the device, the options of trtexec and its own summary, as TREx's
// process_engine.py collects them into three files that are distinguished by their content.
//
//   engine.metadata.json          [{"Name": "NVIDIA A100 80GB PCIe", "ComputeCapability": [8, 0], ...}]
//   engine.profile.metadata.json  {"performance_summary": {...}, "inference_options": {...}, "device_information":
//   {...}} engine.build.metadata.json    {"model_options": {...}, "build_options": {...}}
//     ->  settings "device_name", "compute_capability", "multiprocessors", "clock_mhz", "precision", "cuda_graph", ...

// Adds to the settings and the model name of `run`; a device or an option that contradicts what another
// file is a warning, and the first stays. Of a model's path only the file's name is kept.
Status AddTensorRtMetadata(std::istream& input, std::string_view origin, RunProfile& run);

// The layers of an engine as `trtexec --exportLayerInfo` lists them, without times.
//
//   {"Layers": ["Conv_0 + Relu_1", ...], "Bindings": ["x", "y"]}       names alone (layer_names_only)
//   {"Layers": [{"Name": "Conv_0 + Relu_1", "LayerType": "CaskConvolution", "TacticName": "sm80_xmma_...",
//                "Inputs": [{"Name": "x", "Dimensions": [8,3,224,224], "Format/Datatype": "Row major linear FP32"}],
//                "Outputs": [...], "Metadata": "[ONNX Layer: Conv_0]..."}, ...]}      --profilingVerbosity=detailed

struct TensorRtLayers {
  std::vector<ProfiledLayer> layers;  // in the engine's order
  std::vector<int> profiles;          // of each: the optimization profile that it belongs to
  std::vector<std::string> bindings;  // names of the engine's inputs and outputs
  std::vector<std::string> regions;   // names of layers whose nodes are only the ends of what they cover
};

Result<TensorRtLayers> ReadTensorRtLayers(std::istream& input, std::string_view origin);

// A layer of which only the name is known, with the nodes in it.
ProfiledLayer NamedTensorRtLayer(std::string name, std::string_view metadata = "", bool* is_region = nullptr);

}  // namespace infimum::ingest
