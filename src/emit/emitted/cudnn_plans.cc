#include "cudnn_plans.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

// The frontend looks up cuDNN, the runtime and the driver by itself (NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING), so that
// this program starts, and says what is missing, where there is no driver.
namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace cudnn {
namespace {

// Under the very names that this program is linked to, so that both are the same libraries.
void OpenLibraries() {
  const std::string runtime = "libcudart.so." + std::to_string(CUDART_VERSION / 1000);
  setenv("CUDNN_FRONTEND_CUDART_LIB_NAME", runtime.c_str(), 0);
  const std::string name = "libcudnn.so." + std::to_string(CUDNN_MAJOR);
  fe::cudnn_dlhandle = dlopen(name.c_str(), RTLD_NOW);
  if (fe::cudnn_dlhandle == nullptr) throw std::runtime_error(std::string("cuDNN: ") + dlerror());
}

// cuDNN offers engines that it compiles at run time only where it finds a driver, also for a GPU that is described: the
// CUDA toolkit's stub, which can do nothing, is one. A library that is loaded under that name answers for it, so it may
// be there only where nothing is run.
bool OpenDriverOrStub() {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
#ifdef CUDA_STUBS
  if (dlopen(CUDA_STUBS "/libcuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
#endif
  for (const char* folder : {"/usr/local/cuda/lib64/stubs", "/opt/cuda/lib64/stubs"})
    if (dlopen((std::string(folder) + "/libcuda.so").c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  return false;
}

}  // namespace

void Check(fe::error_t error, const char* step) {
  if (error.is_good()) return;
  std::string message = error.get_message();
  std::replace_if(
      message.begin(), message.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  throw std::runtime_error(std::string("cuDNN: ") + step + ": " + message);
}

void Check(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuDNN: ") + what + ": " + cudnnGetErrorString(status));
}

Target::Target(const std::string& properties_file) {
  OpenLibraries();
  if (properties_file.empty()) {
    Check(cudnnCreate(&handle_), "cudnnCreate");
    return;
  }
  if (!OpenDriverOrStub())
    without_ =
        "engines that are compiled at run time are missing: there is neither a driver nor the CUDA toolkit's stub";
  std::ifstream file(properties_file, std::ios::binary);
  const std::string json(std::istreambuf_iterator<char>(file), {});
  if (json.empty()) throw std::runtime_error(properties_file + ": cannot be read");
  const std::string key = "\"deviceVer\"";  // 900: compute capability 9.0
  const std::size_t at = json.find(key), colon = at == std::string::npos ? at : json.find(':', at);
  if (colon == std::string::npos) throw std::runtime_error(properties_file + ": it has no " + key);
  sm_version_ = static_cast<std::int32_t>(std::strtol(json.c_str() + colon + 1, nullptr, 10) / 10);
  properties_ = std::make_shared<fe::DeviceProperties>();
  Check(properties_->deserialize({json.begin(), json.end()}), properties_file.c_str());
}

Target::~Target() {
  if (handle_ != nullptr) (void)cudnnDestroy(handle_);
}

void Target::Describe(fe::graph::Graph& graph) const {
  if (properties_ == nullptr) return;
  graph.set_device_properties(properties_);
  graph.set_sm_version(sm_version_);
}

std::optional<Plan> ParsePlan(const std::string& name) {
  Plan plan{name, 0, {}};
  const char* rest = name.c_str();
  const auto skip = [&](const std::string& word) {
    if (std::string(rest).rfind(word, 0) != 0) return false;
    rest += word.size();
    return true;
  };
  const auto number = [&]() -> std::optional<std::int64_t> {
    char* end = nullptr;
    const std::int64_t value = std::strtoll(rest, &end, 10);
    if (end == rest) return std::nullopt;
    rest = end;
    return value;
  };
  if (!skip("eng")) return std::nullopt;
  const std::optional<std::int64_t> engine = number();
  if (!engine) return std::nullopt;
  plan.engine = *engine;
  while (*rest != '\0') {
    if (!skip("_k")) return std::nullopt;
    const std::optional<std::int64_t> knob = number();
    if (!knob || !skip("=")) return std::nullopt;
    const std::optional<std::int64_t> value = number();
    if (!value) return std::nullopt;
    plan.knobs[fe::convert_from_backend_knob_type(static_cast<cudnnBackendKnobType_t>(*knob))] = *value;
  }
  return plan;
}

LayerGraph::LayerGraph(const Layer& layer, const Form& form, const Target& target) : properties_(target.properties()) {
  set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  target.Describe(*this);
  arguments_ = layer.build(*this, form);
  Check(validate(), "the graph is refused");
  Check(properties_ == nullptr ? build_operation_graph(target.handle()) : build_operation_graph(),
        "the graph is refused");
}

std::vector<Plan> LayerGraph::Heuristic() {
  std::vector<Plan> list;
  std::set<std::string> known;
  // Apart, since one list may be empty where the other is not.
  for (const fe::HeurMode_t mode : {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}) {
    const std::int64_t before = get_execution_plan_count();
    if (create_execution_plans({mode}).is_bad()) continue;
    for (std::int64_t i = before; i < get_execution_plan_count(); ++i)
      if (std::optional<Plan> plan = PlanAt(i); plan && known.insert(plan->name).second)
        list.push_back(*std::move(plan));
  }
  return list;
}

std::vector<Plan> LayerGraph::BestOfEngines() {
  std::set<std::int64_t> known;
  std::vector<Plan> list;
  for (Plan& plan : Heuristic())
    if (known.insert(plan.engine).second) list.push_back(std::move(plan));
  for (std::int64_t engine = 0, count = EngineCount(); engine < count; ++engine) {
    if (known.count(engine) > 0) continue;
    if (std::optional<Plan> plan = Create(engine, {})) list.push_back(*std::move(plan));
  }
  return list;
}

template <class Add>
bool LayerGraph::EachSetting(std::int64_t engine, const std::vector<fe::Knob>& knobs, std::size_t at, Knobs& setting,
                             const Add& add) {
  if (at == knobs.size()) return add(Create(engine, setting));
  const std::int64_t step = std::max<std::int64_t>(knobs[at].stride, 1);
  for (std::int64_t value = knobs[at].minValue; value <= knobs[at].maxValue; value += step) {
    setting[knobs[at].type] = value;
    if (!EachSetting(engine, knobs, at + 1, setting, add)) return false;
  }
  return true;
}

std::vector<Plan> LayerGraph::Exhaustive(std::size_t most) {
  std::vector<Plan> list;
  std::set<std::string> known;
  const auto add = [&](std::optional<Plan> plan) {
    if (plan && known.insert(plan->name).second) list.push_back(*std::move(plan));
    return list.size() < most;
  };
  for (std::int64_t engine = 0, count = EngineCount(); engine < count && list.size() < most; ++engine) {
    if (!NotesOf(engine)) continue;
    std::vector<fe::Knob> knobs;
    if (!add(Create(engine, {})) || get_knobs_for_engine(engine, knobs).is_bad()) continue;
    Knobs setting;
    EachSetting(engine, knobs, 0, setting, add);
  }
  return list;
}

std::optional<Notes> LayerGraph::NotesOf(std::int64_t engine) {
  const auto [entry, is_new] = notes_.try_emplace(engine);
  if (!is_new) return entry->second;
  fe::detail::backend_descriptor descriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  if (descriptor.get_status() != CUDNN_STATUS_SUCCESS) return std::nullopt;
  if (fe::detail::create_engine(descriptor, engine, get_operation_graph()->get_raw_desc(), properties_).is_bad())
    return std::nullopt;
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> found{};
  std::int64_t count = 0;
  if (fe::detail::get_attribute(descriptor.get_ptr(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                static_cast<std::int64_t>(found.size()), &count, found.data()) != CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  Notes notes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count) && i < found.size(); ++i) {
    notes.tensor_core |= found[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    notes.down_converts_inputs |= found[i] == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    notes.reduced_precision_sums |= found[i] == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
  }
  entry->second = notes;
  return notes;
}

std::int64_t LayerGraph::EngineCount() {
  std::int64_t count = 0;
  Check(get_engine_count(count), "no number of engines");
  return count;
}

std::optional<Plan> LayerGraph::PlanAt(std::int64_t index) {
  Plan plan;
  if (get_plan_name_at_index(index, plan.name).is_bad()) return std::nullopt;
  if (get_engine_and_knobs_at_index(index, plan.engine, plan.knobs).is_bad()) return std::nullopt;
  if (!NotesOf(plan.engine)) return std::nullopt;
  return plan;
}

std::int64_t LayerGraph::Make(const Plan& plan) {
  const auto is_at = [&](std::int64_t index) {
    std::string name;
    return get_plan_name_at_index(index, name).is_good() && name == plan.name;
  };
  for (const Knobs& knobs : {plan.knobs, Knobs()}) {
    const std::int64_t index = get_execution_plan_count();
    if (create_execution_plan(plan.engine, knobs).is_good() && is_at(index)) return index;
  }
  for (const fe::HeurMode_t mode : {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}) {
    const std::int64_t before = get_execution_plan_count();
    if (create_execution_plans({mode}).is_bad()) continue;
    for (std::int64_t i = before; i < get_execution_plan_count(); ++i)
      if (is_at(i)) return i;
  }
  throw std::runtime_error("the plan is refused: cuDNN has none of this name for the graph here");
}

std::optional<Plan> LayerGraph::Create(std::int64_t engine, const Knobs& knobs) {
  const std::int64_t before = get_execution_plan_count();
  if (create_execution_plan(engine, knobs).is_bad()) return std::nullopt;
  return PlanAt(before);
}

}  // namespace cudnn
