// What cuDNN has for a layer's graph on a GPU: engines with their knobs, and one of them ready to run.
//
//   LayerGraph graph(layer, form, target);
//   for (const Plan& plan : graph.Heuristic()) ...   // {"eng62_k2=5_k13=1", 62, {...}}, ...
//   graph.Choose("eng62_k2=5_k13=1");                // compiles it where it is compiled at run time
//   graph.Run(pointers, workspace);
//
// Errors are std::runtime_error with cuDNN's words; they begin with "unsupported: " where cuDNN refuses.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "microbench/libraries/cudnn/calls/cudnn_operations.h"
#include "microbench/libraries/cudnn/calls/cudnn_plan.h"

namespace cudnn {

using Knobs = std::unordered_map<fe::KnobType_t, std::int64_t>;

// The GPU that plans are asked for: the one of a handle, or one that need not be here, by its properties.
struct Target {
  cudnnHandle_t handle = nullptr;
  std::shared_ptr<fe::DeviceProperties> properties{};
  std::int32_t sm_version = 0;  // 90; else attention asks the driver, which may be of another device or none
};

// In one line.
std::string MessageOf(fe::error_t error);

// The engine in a plan's name; nullopt where it names none.
std::optional<std::int64_t> EngineOf(const std::string& plan);

class LayerGraph : public fe::graph::Graph {
 public:
  LayerGraph(const OperationGraph& layer, const Form& form, Target target);

  const Arguments& arguments() const { return arguments_; }

  // Each list holds the one before it.
  // In cuDNN's order of preference, of which the first is its choice, the first 16 with Tensor Cores and without.
  std::vector<Plan> Heuristic();
  // Also of each further engine its first plan in that order, or its own setting where the order leaves it out.
  std::vector<Plan> BestOfEngines();
  // Also every other setting of every engine that cuDNN takes, at most `most`.
  std::vector<Plan> Exhaustive(std::size_t most);
  // nullopt where the engine does not take the graph on this GPU.
  std::optional<Notes> NotesOf(std::int64_t engine);

  // Makes the plan of this name ready to run: of `compiled`, what Compiled() gave where it was chosen before, or by
  // compiling it where that is empty or cuDNN does not take it. Whether it took it.
  bool Choose(const std::string& plan, const std::string& compiled = "");
  // The chosen plan with its code, for a graph of the same layer, form, cuDNN and GPU in any process; empty where cuDNN
  // does not write it.
  std::string Compiled() const;
  std::int64_t workspace() const { return workspace_; }  // the chosen plan's, in bytes
  // In the handle's stream; pointers by the tensors' uids.
  void Run(std::unordered_map<std::int64_t, void*>& pointers, void* workspace);

 private:
  // nullopt where this engine does not take the graph in this setting.
  std::optional<Plan> Create(std::int64_t engine, const Knobs& knobs);
  std::optional<Plan> PlanAt(std::int64_t index);
  std::int64_t EngineCount();
  // Gives `add` each setting of the knobs from `at` on; false once it wants no more.
  template <class Add>
  bool EachSetting(std::int64_t engine, const std::vector<fe::Knob>& knobs, std::size_t at, Knobs& setting,
                   const Add& add);

  // All in cuDNN's order of preference: mode A, then what the fallback list adds.
  std::vector<Plan> Suggested();

  Target target_;
  Arguments arguments_;
  std::map<std::int64_t, std::optional<Notes>> notes_;  // by engine
  std::int64_t chosen_ = -1, workspace_ = 0;
};

}  // namespace cudnn
