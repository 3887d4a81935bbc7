// A framework's run of a model, measured now: by the script of that framework in the user's Python, or by trtexec.
//
//   FrameworkOptions options{.framework = "onnxruntime", .dims = {{"batch", 8}}};
//   Result<RunProfile> run = MeasureFramework(installation, "resnet50.onnx", options, log);
//
// Each level's time is from the run with the least overhead that shows it: end to end from processes without a
// profiler, the layers from one more with it, which also says what an inference took under it (RunProfile::profiled).
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"
#include "infimum/graph/run_profile.h"
#include "infimum/layer/shape.h"
#include "infimum/measurement/contract.h"
#include "infimum/measurement/device.h"
#include "src/app/processes/progress_log.h"
#include "src/app/runners/installation.h"

namespace infimum {

// An input of the model with every dimension bound.
struct InputShape {
  std::string name;
  Shape shape;
};
std::vector<InputShape> InputShapesOf(const ModelGraph& graph);

// Why there is no run, where that is known.
enum class FrameworkFailure { kNone, kTimeout, kOutOfMemory, kUnsupported };

struct FrameworkOptions {
  std::string framework = "onnxruntime";  // or "openvino", "pytorch", "tensorrt"
  std::string python = {};                // the user's own build; empty: Installation::Python
  std::string module = {};                // of PyTorch: "models.py:resnet50", or a file of torch.export or torch.jit
  std::string mode = {};                  // "compiled", "cuda-graph"; empty: as a program without further ado gets it
  std::map<std::string, std::int64_t> dims = {};
  std::filesystem::path inputs = {};          // .npz, by name; of the others and where empty, seeded ones
  std::vector<InputShape> input_shapes = {};  // for TensorRT, where `dims` has any
  std::int64_t threads = 1;
  std::int64_t repetitions = 3;
  std::chrono::milliseconds sampling{4000};                // of each process
  bool layers = true;                                      // one more process, under its profiler
  std::optional<std::chrono::seconds> budget = {};         // for all of it: what is stuck behind it is ended
  std::optional<std::chrono::seconds> most = {};           // likewise: whatever is not done then is ended
  std::optional<Bytes> memory = {};                        // that its process may take
  std::map<std::string, std::string> options = {};         // of its script: CheckFramework knows which
  NumericContract contract = NumericContract::kStrictF32;  // that the model's own types ask for
  std::optional<NumericContract> converted = {};           // that the framework shall keep instead
  DeviceKind device = DeviceKind::kCpu;
  std::string device_name = {};         // of a GPU: where the framework says another, the run is refused
  std::filesystem::path profile = {};   // where the framework's own profile is kept: a file, of TensorRT a folder
  FrameworkFailure* failure = nullptr;  // set where there is no run, if it is wished

  NumericContract kept_contract() const { return converted.value_or(contract); }
};

// Whether there is such a framework with such a mode and options, be it on another device.
Status CheckFrameworkChoice(const FrameworkOptions& options);
// The frameworks of these names, on a processor: "all" are those that run the file itself, and pytorch where `shared`
// has a module; "none" is none. Module and mode are of those that take them; everything else is of each.
//
//   ChooseFrameworks({"onnxruntime", "openvino"}, {.python = "venv/bin/python"})   // two
Result<std::vector<FrameworkOptions>> ChooseFrameworks(const std::vector<std::string>& names,
                                                       const FrameworkOptions& shared);
// Why these options make no run, before anything is measured.
Status CheckFramework(const FrameworkOptions& options);

// The error says what the framework said, in one line.
Result<RunProfile> MeasureFramework(const Installation& installation, const std::filesystem::path& model,
                                    const FrameworkOptions& options, ProgressLog& log);

// Several models end to end, in ONNX Runtime or OpenVINO: each process goes through all of them, so that starting it
// costs once. In their order, each a run or why there is none.
Result<std::vector<Result<RunProfile>>> MeasureInTurn(const Installation& installation,
                                                      const std::vector<std::filesystem::path>& models,
                                                      const FrameworkOptions& options, ProgressLog& log);

// One of the scripts of FrameworkScript.
struct ScriptRun {
  std::string framework;
  std::string task = "measure";
  std::string python;                               // as in FrameworkOptions
  std::vector<std::string> arguments;               // "--output" is added
  std::optional<std::chrono::seconds> budget = {};  // likewise
  std::string what;                                 // "measuring onnxruntime", for its progress
  std::optional<std::chrono::seconds> most = {};
  FrameworkFailure* failure = nullptr;
};

// What it wrote to its --output, which lies in `folder`. The error is what it said last, in one line.
Result<std::string> RunScript(const Installation& installation, const ScriptRun& script,
                              const std::filesystem::path& folder, ProgressLog& log);

}  // namespace infimum
