#include "microbench/libraries/cudnn/calls/cudnn_plans.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace cudnn {
namespace {

void CheckAccepted(const char* step, fe::error_t error) {
  if (error.is_bad())
    throw std::runtime_error("unsupported: cuDNN refuses the graph (" + std::string(step) + "): " + MessageOf(error));
}

// Whether a plan of a list is none of the first 16 of its arithmetic, with Tensor Cores or without: frameworks that try
// several try as many (PyTorch's benchmark mode 10).
struct BehindTheFirst {
  bool operator()(const Plan& plan) { return ++counts[CutsOperands(plan.notes) ? 1 : 0] > 16; }
  std::array<int, 2> counts{};
};

struct PlanName {
  std::int64_t engine = 0;
  Knobs knobs;
};

// "eng62_k2=5_k13=1": engine 62, knobs by cuDNN's own numbers.
std::optional<PlanName> ParsePlan(std::string_view left) {
  const auto number = [&](std::string_view before, std::int64_t& value) {
    if (left.substr(0, before.size()) != before) return false;
    left.remove_prefix(before.size());
    const auto [stop, error] = std::from_chars(left.data(), left.data() + left.size(), value);
    if (error != std::errc()) return false;
    left.remove_prefix(static_cast<std::size_t>(stop - left.data()));
    return true;
  };
  PlanName plan;
  if (!number("eng", plan.engine)) return std::nullopt;
  while (!left.empty()) {
    std::int64_t knob = 0, value = 0;
    if (!number("_k", knob) || !number("=", value)) return std::nullopt;
    plan.knobs[fe::convert_from_backend_knob_type(static_cast<cudnnBackendKnobType_t>(knob))] = value;
  }
  return plan;
}

void Note(cudnnBackendNumericalNote_t note, Notes& notes) {
  switch (note) {
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
      notes.tensor_core = true;
      break;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      notes.down_converts_inputs = true;
      break;
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      notes.reduced_precision_sums = true;
      break;
    case CUDNN_NUMERICAL_NOTE_FFT:
      notes.fft = true;
      break;
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      notes.nondeterministic = true;
      break;
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
      notes.winograd = true;
      break;
    default:
      break;
  }
}

// All notes of one kind; nullopt where cuDNN does not answer.
template <class Kind, std::size_t kMost>
std::optional<std::vector<Kind>> ReadNotes(const fe::detail::backend_descriptor& engine,
                                           cudnnBackendAttributeName_t attribute, cudnnBackendAttributeType_t type) {
  std::array<Kind, kMost> found{};
  std::int64_t count = 0;
  if (fe::detail::get_attribute(engine.get_ptr(), attribute, type, static_cast<std::int64_t>(kMost), &count,
                                found.data()) != CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  return std::vector<Kind>(found.begin(), found.begin() + std::min<std::int64_t>(count, kMost));
}

}  // namespace

std::string MessageOf(fe::error_t error) {
  std::string message = error.get_message();
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  return message;
}

std::optional<std::int64_t> EngineOf(const std::string& plan) {
  const std::optional<PlanName> parsed = ParsePlan(plan);
  return parsed ? std::optional(parsed->engine) : std::nullopt;
}

LayerGraph::LayerGraph(const OperationGraph& layer, const Form& form, Target target) : target_(std::move(target)) {
  if (target_.properties != nullptr) set_device_properties(target_.properties);
  if (target_.sm_version > 0) set_sm_version(target_.sm_version);
  set_io_data_type(fe::DataType_t::FLOAT)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  arguments_ = AddOperations(layer, form, *this);
  CheckAccepted("validate", validate());
  CheckAccepted("build", target_.handle != nullptr ? build_operation_graph(target_.handle) : build_operation_graph());
}

std::vector<Plan> LayerGraph::Suggested() {
  std::set<std::string> known;
  std::vector<Plan> list;
  // One at a time, since one list may be empty where the other is not.
  for (const fe::HeurMode_t mode : {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}) {
    const std::int64_t before = get_execution_plan_count();
    // An empty list is an error here; the other lists still say whether any engine takes the graph.
    if (create_execution_plans({mode}).is_bad()) continue;
    for (std::int64_t i = before; i < get_execution_plan_count(); ++i)
      if (std::optional<Plan> plan = PlanAt(i); plan && known.insert(plan->name).second)
        list.push_back(*std::move(plan));
  }
  return list;
}

std::vector<Plan> LayerGraph::Heuristic() {
  std::vector<Plan> list = Suggested();
  std::erase_if(list, BehindTheFirst());
  return list;
}

std::vector<Plan> LayerGraph::BestOfEngines() {
  std::vector<Plan> list;
  std::set<std::int64_t> known;
  BehindTheFirst is_behind;
  for (Plan& plan : Suggested())
    if (const bool is_first = !is_behind(plan); known.insert(plan.engine).second || is_first)
      list.push_back(std::move(plan));
  for (std::int64_t engine = 0, count = EngineCount(); engine < count; ++engine) {
    std::optional<Plan> plan = Create(engine, {});
    if (plan && known.insert(plan->engine).second) list.push_back(*std::move(plan));
  }
  return list;
}

template <class Add>
bool LayerGraph::EachSetting(std::int64_t engine, const std::vector<fe::Knob>& knobs, std::size_t at, Knobs& setting,
                             const Add& add) {
  if (at == knobs.size()) return add(Create(engine, setting));
  const std::int64_t stride = std::max<std::int64_t>(knobs[at].stride, 1);
  for (std::int64_t value = knobs[at].minValue; value <= knobs[at].maxValue; value += stride) {
    setting[knobs[at].type] = value;
    if (!EachSetting(engine, knobs, at + 1, setting, add)) return false;
  }
  return true;
}

std::vector<Plan> LayerGraph::Exhaustive(std::size_t most) {
  std::vector<Plan> list;
  std::set<std::string> known;
  const auto add = [&](std::optional<Plan> plan) {
    if (plan && list.size() < most && known.insert(plan->name).second) list.push_back(*std::move(plan));
    return list.size() < most;
  };
  for (Plan& plan : BestOfEngines()) add(std::move(plan));
  for (Plan& plan : Suggested()) add(std::move(plan));
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
  // The frontend keeps the operations' descriptor, by which engines are asked, to its own nodes.
  const cudnnBackendDescriptor_t descriptors = get_operation_graph()->get_raw_desc();
  if (fe::detail::create_engine(descriptor, engine, descriptors, target_.properties).is_bad()) return std::nullopt;
  const auto numerical = ReadNotes<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT>(
      descriptor, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
  const auto behavior = ReadNotes<cudnnBackendBehaviorNote_t, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT>(
      descriptor, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
  if (!numerical || !behavior) return std::nullopt;
  Notes notes;
  for (const cudnnBackendNumericalNote_t note : *numerical) Note(note, notes);
  for (const cudnnBackendBehaviorNote_t note : *behavior)
    notes.compiles_at_run_time |= note == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
  entry->second = notes;
  return notes;
}

bool LayerGraph::Choose(const std::string& plan, const std::string& compiled) {
  const std::optional<PlanName> parsed = ParsePlan(plan);
  if (!parsed) throw std::runtime_error("unsupported: '" + plan + "' names no plan of cuDNN's");
  const auto is_at = [&](std::int64_t index) {
    std::string name;
    return get_plan_name_at_index(index, name).is_good() && name == plan;
  };
  // By its settings, as the engine has it by itself, or as the heuristics have it: settings of older kinds are in
  // names, but the frontend has no words for them.
  const auto find = [&]() -> std::optional<std::int64_t> {
    for (const Knobs& knobs : {parsed->knobs, Knobs()}) {
      const std::int64_t index = get_execution_plan_count();
      if (create_execution_plan(parsed->engine, knobs).is_good() && is_at(index)) return index;
    }
    for (const fe::HeurMode_t mode : {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}) {
      const std::int64_t before = get_execution_plan_count();
      if (create_execution_plans({mode}).is_bad()) continue;
      for (std::int64_t i = before; i < get_execution_plan_count(); ++i)
        if (is_at(i)) return i;
    }
    return std::nullopt;
  };
  const std::optional<std::int64_t> index = find();
  if (!index) throw std::runtime_error("unsupported: cuDNN has no plan '" + plan + "' for this graph here");
  // The frontend compiles what is not there yet.
  std::shared_ptr<fe::ExecutionPlan>& made = plans.execution_plans[static_cast<std::size_t>(*index)];
  if (!compiled.empty()) {
    const fe::error_t read = target_.handle != nullptr
                                 ? fe::detail::create_cudnn_execution_plan(made, compiled, target_.handle)
                                 : fe::detail::create_cudnn_execution_plan(made, compiled, target_.properties);
    if (read.is_bad()) made.reset();
  }
  const bool is_read = made != nullptr;
  CheckAccepted("compile", build_plan_at_index(*index));
  CheckAccepted("workspace", get_workspace_size_plan_at_index(*index, workspace_));
  chosen_ = *index;
  return is_read;
}

std::string LayerGraph::Compiled() const {
  try {
    return chosen_ < 0 ? "" : plans.execution_plans[static_cast<std::size_t>(chosen_)]->getJsonRepresentation();
  } catch (const fe::cudnnException&) {
    return "";
  }
}

void LayerGraph::Run(std::unordered_map<std::int64_t, void*>& pointers, void* workspace) {
  const fe::error_t error = execute_plan_at_index(target_.handle, pointers, workspace, chosen_);
  if (error.is_bad()) throw std::runtime_error("cuDNN: " + MessageOf(error));
}

std::optional<Plan> LayerGraph::Create(std::int64_t engine, const Knobs& knobs) {
  const std::int64_t before = get_execution_plan_count();
  if (create_execution_plan(engine, knobs).is_bad()) return std::nullopt;
  return PlanAt(before);
}

std::optional<Plan> LayerGraph::PlanAt(std::int64_t index) {
  Plan plan;
  Knobs knobs;
  if (get_plan_name_at_index(index, plan.name).is_bad()) return std::nullopt;
  if (get_engine_and_knobs_at_index(index, plan.engine, knobs).is_bad()) return std::nullopt;
  const std::optional<Notes> notes = NotesOf(plan.engine);
  if (!notes) return std::nullopt;
  plan.notes = *notes;
  return plan;
}

std::int64_t LayerGraph::EngineCount() {
  std::int64_t count = 0;
  CheckAccepted("engines", get_engine_count(count));
  return count;
}

}  // namespace cudnn
