// A framework's run of a model, measured: end-to-end samples without a profiler, and the layers' times
// from a separate run with one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/beat.h"
#include "infimum/base/units.h"

namespace infimum {

// A tensor that an engine's layer reads or writes, as far as the engine reports it.
struct ProfiledTensor {
  std::string dtype;               // "f16"; empty: not known, or of no type we know
  std::vector<std::int64_t> dims;  // logical, without padding
  std::string layout;              // the engine's words: "NHWC8, channel padding"; empty: not known

  friend bool operator==(const ProfiledTensor&, const ProfiledTensor&) = default;
};

// One layer as the engine executed it; its engine may have fused several nodes into it.
struct ProfiledLayer {
  std::string name;                 // as the engine calls it
  std::string op;                   // the engine's operator
  std::string provider;             // "CPUExecutionProvider"
  std::vector<std::string> nodes;   // the model's nodes it covers, where the engine reports them
  std::vector<std::string> inputs;  // names of its input values, where the engine reports them
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
  std::optional<Beat> beat = std::nullopt;  // around and between them, in the mean

  friend bool operator==(const RunRepetition&, const RunRepetition&) = default;
};

// What an accelerator did beside running layers, of one inference of the profiled run (medians over the inferences).
struct DeviceIdle {
  Latency host{0};        // idle: the host had not asked for anything yet
  Latency launch{0};      // idle: asked, and not begun
  Latency queued{0};      // idle: asked before it fell idle, and waiting for something else
  Latency overlapped{0};  // of the layers' time what ran at once with other layers: their sum less the busy time

  Latency total() const { return host + launch + queued; }
  friend bool operator==(const DeviceIdle&, const DeviceIdle&) = default;
};

// A profile that lacks more of its time than this is reported as incomplete, and no gate judges it.
inline constexpr double kMostSkipped = 0.05;

struct RunProfile {
  std::string framework;  // "onnxruntime"
  std::string framework_version;
  std::string model_name;
  std::string model_sha256;
  std::map<std::string, std::int64_t> dims;     // how symbolic dimensions were bound, as far as known
  std::optional<std::int64_t> threads;          // of a processor; absent: not known
  std::string contract;                         // "strict-f32"; empty: not known
  std::string device;                           // DeviceId text, of where it ran
  std::map<std::string, std::string> settings;  // "graph_optimization_level": "all"
  std::vector<RunRepetition> end_to_end;
  // Why `end_to_end` is no time of the program, as where other programs ran on its cores; empty: it is one.
  std::string noisy = {};
  std::vector<ProfiledLayer> layers;
  // End-to-end times of the profiled run that the layers' times come from, one sample for each inference. Its
  // distance from `end_to_end` is what the profiler costs. Empty where it is not known.
  std::vector<Latency> profiled = {};
  bool shapes_vary = false;             // the run mixes input shapes, so its times are of no single workload
  double skipped_share = 0;             // of the layers' time: of events that could not be read, about
  std::optional<DeviceIdle> idle = {};  // of an accelerator, where the profile is a timeline
  std::vector<std::string> warnings;
};

}  // namespace infimum
