// What cuDNN has for a layer's graph on a GPU: engines with their knobs, and what it says of their arithmetic.
//
//   LayerGraph graph(layer, form, target);
//   for (const Plan& plan : graph.Heuristic()) ...   {"eng62_k2=5_k13=1", 62, {...}}, ...
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "cudnn_candidates.h"

namespace cudnn {

using Knobs = std::unordered_map<fe::KnobType_t, std::int64_t>;

// Throw with cuDNN's words.
void Check(fe::error_t error, const char* step);
void Check(cudnnStatus_t status, const char* what);

// Where plans are asked for: this GPU, by a handle, or one whose properties are given.
class Target {
 public:
  // `properties_file`: as cuDNN writes them; empty: this GPU.
  explicit Target(const std::string& properties_file);
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target();

  cudnnHandle_t handle() const { return handle_; }
  std::shared_ptr<const fe::DeviceProperties> properties() const { return properties_; }
  // To a graph that is to be asked for a GPU that is not there.
  void Describe(fe::graph::Graph& graph) const;
  // What is missing of every list, and why: empty where nothing is.
  const std::string& without() const { return without_; }

 private:
  cudnnHandle_t handle_ = nullptr;
  std::shared_ptr<fe::DeviceProperties> properties_;
  std::int32_t sm_version_ = 0;
  std::string without_;
};

// What cuDNN says of an engine's arithmetic.
struct Notes {
  bool tensor_core = false, down_converts_inputs = false, reduced_precision_sums = false;
};

struct Plan {
  std::string name;  // "eng62_k2=5_k13=1"
  std::int64_t engine = 0;
  Knobs knobs;
};

// A plan from its name; nullopt where it is none.
std::optional<Plan> ParsePlan(const std::string& name);

// A layer's graph in one form, and the plans that cuDNN has for it.
class LayerGraph : public fe::graph::Graph {
 public:
  // Throws where cuDNN refuses the graph.
  LayerGraph(const Layer& layer, const Form& form, const Target& target);

  const Arguments& arguments() const { return arguments_; }

  // The place of a plan among the graph's, which is made by its settings, as the engine has it by itself, or as the
  // heuristics have it: settings of older kinds are in names, but the frontend has no words for them.
  std::int64_t Make(const Plan& plan);

  // What cuDNN would choose, and its next best; then what its fallback list adds.
  std::vector<Plan> Heuristic();
  // Of each engine its best setting, as cuDNN's order has it, or its own where that leaves the engine out.
  std::vector<Plan> BestOfEngines();
  // Every setting of every engine that cuDNN takes, at most `most`.
  std::vector<Plan> Exhaustive(std::size_t most);

  // nullopt where the engine does not take the graph on this GPU.
  std::optional<Notes> NotesOf(std::int64_t engine);

 private:
  std::int64_t EngineCount();
  std::optional<Plan> PlanAt(std::int64_t index);
  // nullopt where this engine does not take the graph in this setting.
  std::optional<Plan> Create(std::int64_t engine, const Knobs& knobs);
  // Gives `add` each setting of the knobs from `at` on; false once it wants no more.
  template <class Add>
  bool EachSetting(std::int64_t engine, const std::vector<fe::Knob>& knobs, std::size_t at, Knobs& setting,
                   const Add& add);

  std::shared_ptr<const fe::DeviceProperties> properties_;
  Arguments arguments_;
  std::map<std::int64_t, std::optional<Notes>> notes_;  // by engine
};

}  // namespace cudnn
