// What stands beside an engine's files: the device, the options of trtexec and its own summary, as TREx's
// process_engine.py collects them into three files that are told apart by what is in them.
//
//   engine.metadata.json          [{"Name": "NVIDIA A100 80GB PCIe", "ComputeCapability": [8, 0], ...}]
//   engine.profile.metadata.json  {"performance_summary": {...}, "inference_options": {...}, "device_information":
//   {...}} engine.build.metadata.json    {"model_options": {...}, "build_options": {...}}
//     ->  settings "device_name", "compute_capability", "multiprocessors", "clock_mhz", "precision", "cuda_graph", ...
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"

namespace infimum::ingest {

// Adds to the settings and the model name of `run`; a device or an option that contradicts what another
// file said is a warning, and the first stays. Of a model's path only the file's name is kept.
Status AddTensorRtMetadata(std::istream& input, std::string_view origin, RunProfile& run);

}  // namespace infimum::ingest
