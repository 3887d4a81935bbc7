// Reads trtexec's files about a TensorRT engine (versions 8 to 10) into one profile of a run.
//
//   trtexec --loadEngine=resnet.engine --profilingVerbosity=detailed --separateProfileRun
//           --exportLayerInfo=graph.json --exportProfile=profile.json --exportTimes=timing.json
//
//   graph.json    {"Layers": [{"Name": "Conv_0 + Relu_1", "LayerType": "CaskConvolution", "Inputs": [...], ...}, ...]}
//   profile.json  [{"count": 10}, {"name": "Conv_0 + Relu_1", "averageMs": 0.23, "medianMs": 0.229, ...}, ...]
//   timing.json   [{"startComputeMs": 201.3, "computeMs": 4.02, "latencyMs": 4.13, ...}, ...]
//     ->  a layer "Conv_0 + Relu_1" with nodes Conv_0 and Relu_1, one sample of 229 us, its tensors and its tactic;
//         and the compute times as samples of the whole engine
//
// Any of the three is enough, except that there must be layers or times of inferences in them; each may be compressed
// with gzip. How a layer's name maps to the model's nodes is in README.md.
#pragma once

#include <filesystem>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

namespace ingest {

enum class TensorRtKind { kNone, kLayerInfo, kProfile, kTimes, kMetadata };
std::string_view Name(TensorRtKind kind);  // "TensorRT layer information"
// By the first 64 KiB of a file, unpacked.
TensorRtKind TensorRtKindOf(std::string_view start);

}  // namespace ingest

struct TensorRtFiles {
  std::optional<std::filesystem::path> layer_info;  // --exportLayerInfo
  std::optional<std::filesystem::path> profile;     // --exportProfile
  std::optional<std::filesystem::path> times;       // --exportTimes
  // What TREx's process_engine.py writes beside them, in any order: device, options of trtexec, its summary.
  std::vector<std::filesystem::path> metadata;
};

// Puts each file into its place by what is in it, not by its name. An error names a file of no such kind, and two of
// one kind.
Result<TensorRtFiles> SortTensorRtFiles(std::span<const std::filesystem::path> files);

// Layers are in the engine's order.
// - A layer's sample is its median over the profiled inferences, in files of older versions its mean. One that
//   runs several times in an inference, in the body of a loop, has the sum; one that the profile does not name has no
//   sample. What only one of the two files names is in the warnings.
// - `end_to_end` is one repetition of GPU compute times, without those that began during the warm-up, as trtexec leaves
//   them out of its own summary. `settings` has the medians of the host's times.
// - `device` is empty, since no file contains all of a device's identity: `settings` has "device_name" and what else is
//   known.
// - Layer information without times gives a profile without samples.
Result<RunProfile> ReadTensorRtEngine(const TensorRtFiles& files);

// The same from streams, which must be able to go back to their start; `origin` is named in errors.
struct TensorRtStream {
  std::istream* input = nullptr;  // none: there is no such file
  std::string origin;
};
struct TensorRtStreams {
  TensorRtStream layer_info, profile, times;
  std::vector<TensorRtStream> metadata;
};
Result<RunProfile> ReadTensorRtEngine(const TensorRtStreams& streams);

}  // namespace infimum
