// The layers of an engine as `trtexec --exportLayerInfo` lists them, without times.
//
//   {"Layers": ["Conv_0 + Relu_1", ...], "Bindings": ["x", "y"]}       names alone (layer_names_only)
//   {"Layers": [{"Name": "Conv_0 + Relu_1", "LayerType": "CaskConvolution", "TacticName": "sm80_xmma_...",
//                "Inputs": [{"Name": "x", "Dimensions": [8,3,224,224], "Format/Datatype": "Row major linear FP32"}],
//                "Outputs": [...], "Metadata": "[ONNX Layer: Conv_0]..."}, ...]}      --profilingVerbosity=detailed
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum::ingest {

struct TensorRtLayers {
  std::vector<ProfiledLayer> layers;  // in the engine's order
  std::vector<int> profiles;          // of each: the optimization profile that it belongs to
  std::vector<std::string> bindings;  // names of the engine's inputs and outputs
  std::vector<std::string> regions;   // names of layers whose nodes are only the ends of what they cover
};

Result<TensorRtLayers> ReadTensorRtLayers(std::istream& input, std::string_view origin);

// A layer of which the name alone is known, with the nodes that it tells.
ProfiledLayer NamedTensorRtLayer(std::string name, std::string_view metadata = "", bool* is_region = nullptr);

}  // namespace infimum::ingest
