// A framework's run of a model, measured: end-to-end samples without a profiler, and the layers' times
// from a separate run with one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/units.h"

namespace infimum {

// A tensor that an engine's layer reads or writes, as far as the engine tells.
struct ProfiledTensor {
  std::string dtype;               // "f16"; empty: not told, or of no type we know
  std::vector<std::int64_t> dims;  // logical, without padding
  std::string layout;              // the engine's words: "NHWC8, channel padding"; empty: not told

  friend bool operator==(const ProfiledTensor&, const ProfiledTensor&) = default;
};

// One layer as the engine executed it; its engine may have fused several nodes into it.
struct ProfiledLayer {
  std::string name;                 // as the engine calls it
  std::string op;                   // the engine's operator
  std::string provider;             // "CPUExecutionProvider"
  std::vector<std::string> nodes;   // the model's nodes it covers, where the engine tells
  std::vector<std::string> inputs;  // names of its input values, where the engine tells
  std::vector<std::string> outputs;
  std::vector<Latency> samples;                    // one for each profiled inference
  std::vector<ProfiledTensor> input_tensors = {};  // as `inputs`, or empty
  std::vector<ProfiledTensor> output_tensors = {};
  std::string algorithm = {};  // the engine's name of the kernel or tactic that it chose: "sm80_xmma_fprop_..."
  std::string serves = {};     // of a layer of the engine's own, which covers no node: the layer it was added for
};

// One process: its samples belong together.
struct RunRepetition {
  std::vector<Latency> samples;
};

struct RunProfile {
  std::string framework;  // "onnxruntime"
  std::string framework_version;
  std::string model_name;
  std::string model_sha256;
  std::map<std::string, std::int64_t> dims;  // how symbolic dimensions were bound
  std::int64_t threads = 1;
  std::string contract;                         // "strict-f32"
  std::string device;                           // DeviceId text, of where it ran
  std::map<std::string, std::string> settings;  // "graph_optimization_level": "all"
  std::vector<RunRepetition> end_to_end;
  std::vector<ProfiledLayer> layers;
  std::vector<std::string> warnings;
};

}  // namespace infimum
