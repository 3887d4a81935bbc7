#include "microbench/libraries/cudnn/cudnn_graph.h"

#include <array>
#include <charconv>
#include <map>
#include <set>

#include "infimum/base/text.h"
#include "microbench/libraries/cudnn/cudnn_operations.h"

namespace infimum::cuda {
namespace {

namespace fe = cudnn_frontend;

// Its words, in one line.
std::string Line(fe::error_t error) {
  std::string message = error.get_message();
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  return message;
}

Error Refused(const char* step, fe::error_t error) {
  return Error{"unsupported: cuDNN refuses the graph (" + std::string(step) + "): " + Line(error)};
}

// "eng62_k2=5_k13=1": engine 62, knobs by cuDNN's own numbers.
bool ParseName(const std::string& name, std::int64_t& engine, std::unordered_map<fe::KnobType_t, std::int64_t>& knobs) {
  const char* at = name.data();
  const char* const end = at + name.size();
  const auto number = [&](std::string_view before, std::int64_t& value) {
    if (!std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(before)) return false;
    const auto [stop, error] = std::from_chars(at + before.size(), end, value);
    if (error != std::errc()) return false;
    at = stop;
    return true;
  };
  if (!number("eng", engine)) return false;
  while (at != end) {
    std::int64_t knob = 0, value = 0;
    if (!number("_k", knob) || !number("=", value)) return false;
    knobs[fe::convert_from_backend_knob_type(static_cast<cudnnBackendKnobType_t>(knob))] = value;
  }
  return true;
}

}  // namespace

// Reaches what the frontend keeps for its own nodes: the descriptors of the graph, by which engines are asked.
class OpenGraph : public fe::graph::Graph {
 public:
  cudnnBackendDescriptor_t descriptor() const { return get_operation_graph()->get_raw_desc(); }
};

std::string Format(const CudnnNotes& notes) {
  std::string text;
  const auto add = [&](bool is_so, const char* name) {
    if (is_so) text += (text.empty() ? "" : " ") + std::string(name);
  };
  add(notes.tensor_core, "tensor-core");
  add(notes.down_converts_inputs, "down-converts-inputs");
  add(notes.reduced_precision_sums, "reduced-precision-sums");
  add(notes.winograd, "winograd");
  add(notes.fft, "fft");
  add(notes.nondeterministic, "nondeterministic");
  add(notes.compiles_at_run_time, "compiled-at-run-time");
  return text;
}

class CudnnGraph::Impl {
 public:
  static Result<std::unique_ptr<Impl>> Build(const cpu::ValuedRegion& problem, const CudnnForm& form,
                                             const GpuProperties& gpu) {
    auto impl = std::make_unique<Impl>();
    OpenGraph& graph = impl->graph_;
    impl->properties_ = std::make_shared<fe::DeviceProperties>();
    const std::vector<std::uint8_t> json(gpu.json().begin(), gpu.json().end());
    auto status = impl->properties_->deserialize(json);
    if (status.is_bad()) return Error{gpu.name() + ": cuDNN does not take its properties: " + status.get_message()};
    graph.set_device_properties(impl->properties_);
    // Else attention asks the driver, which may be of another device or none.
    graph.set_sm_version(static_cast<std::int32_t>(gpu.compute_capability() / 10));
    // Without a handle: the device is the one whose properties it was given.
    INFIMUM_RETURN_IF_ERROR(impl->Build(problem, form));
    return impl;
  }

  static Result<std::unique_ptr<Impl>> Build(const cpu::ValuedRegion& problem, const CudnnForm& form,
                                             const CudnnHandle& handle) {
    auto impl = std::make_unique<Impl>();
    impl->handle_ = static_cast<cudnnHandle_t>(handle.get());
    INFIMUM_RETURN_IF_ERROR(impl->Build(problem, form));
    return impl;
  }

  const std::vector<CudnnTensor>& tensors() const { return tensors_; }

  Status Choose(const std::string& name) {
    std::int64_t engine = 0;
    std::unordered_map<fe::KnobType_t, std::int64_t> knobs;
    if (!ParseName(name, engine, knobs)) return Error{"unsupported: " + Quoted(name) + " names no plan of cuDNN's"};
    const std::optional<std::int64_t> found = FindPlan(name, engine, knobs);
    if (!found) return Error{"unsupported: cuDNN has no plan " + Quoted(name) + " for this graph here"};
    const std::int64_t index = *found;
    auto status = graph_.build_plan_at_index(index);
    if (status.is_bad()) return Refused("compile", status);
    std::int64_t workspace = 0;
    status = graph_.get_workspace_size_plan_at_index(index, workspace);
    if (status.is_bad()) return Refused("workspace", status);
    chosen_ = index;
    workspace_ = Bytes{workspace};
    return {};
  }

  Bytes workspace() const { return workspace_; }

  Status Enqueue(std::unordered_map<std::int64_t, void*>& tensors, void* workspace) {
    const auto status = graph_.execute_plan_at_index(handle_, tensors, workspace, chosen_);
    return status.is_bad() ? Status(Error{"cuDNN: " + Line(status)}) : Status();
  }

 private:
  Status Build(const cpu::ValuedRegion& problem, const CudnnForm& form) {
    graph_.set_io_data_type(fe::DataType_t::FLOAT)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    INFIMUM_ASSIGN_OR_RETURN(tensors_, AddOperations(problem, form, graph_));
    auto status = graph_.validate();
    if (status.is_bad()) return Refused("validate", status);
    status = handle_ != nullptr ? graph_.build_operation_graph(handle_) : graph_.build_operation_graph();
    if (status.is_bad()) return Refused("build", status);
    return {};
  }

 public:
  Result<std::vector<CudnnPlan>> Heuristic() {
    std::set<std::string> known;
    std::vector<CudnnPlan> plans;
    // Apart, since one list may be empty where the other is not.
    for (const fe::HeurMode_t mode : {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}) {
      const std::int64_t before = graph_.get_execution_plan_count();
      // An empty list is an error here; whether any engine takes the graph is Engines' to say.
      if (graph_.create_execution_plans({mode}).is_bad()) continue;
      for (std::int64_t i = before; i < graph_.get_execution_plan_count(); ++i)
        if (std::optional<CudnnPlan> plan = Describe(i); plan && known.insert(plan->name).second)
          plans.push_back(*std::move(plan));
    }
    return plans;
  }

  Result<std::vector<CudnnPlan>> Engines() {
    std::vector<CudnnPlan> plans;
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t count, EngineCount());
    for (std::int64_t engine = 0; engine < count; ++engine)
      if (std::optional<CudnnPlan> plan = Create(engine, {})) plans.push_back(*std::move(plan));
    return plans;
  }

  Result<std::vector<CudnnPlan>> Exhaustive(std::size_t most) {
    std::vector<CudnnPlan> plans;
    std::set<std::string> known;
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t count, EngineCount());
    const auto add = [&](std::optional<CudnnPlan> plan) {
      if (plan && plans.size() < most && known.insert(plan->name).second) plans.push_back(*std::move(plan));
    };
    for (std::int64_t engine = 0; engine < count && plans.size() < most; ++engine) {
      if (!NotesOf(engine)) continue;
      add(Create(engine, {}));
      std::vector<fe::Knob> knobs;
      if (graph_.get_knobs_for_engine(engine, knobs).is_bad()) continue;
      std::unordered_map<fe::KnobType_t, std::int64_t> choice;
      EachSetting(engine, knobs, 0, choice, most, plans, add);
    }
    return plans;
  }

 private:
  // The place of a plan, which is made by its settings, as the engine has it by itself, or as cuDNN's heuristics have
  // it: settings of older kinds are in names, but the frontend has no words for them.
  std::optional<std::int64_t> FindPlan(const std::string& name, std::int64_t engine,
                                       const std::unordered_map<fe::KnobType_t, std::int64_t>& knobs) {
    const auto is_at = [&](std::int64_t index) {
      std::string other;
      return graph_.get_plan_name_at_index(index, other).is_good() && other == name;
    };
    for (const auto& settings : {knobs, std::unordered_map<fe::KnobType_t, std::int64_t>()}) {
      const std::int64_t index = graph_.get_execution_plan_count();
      if (graph_.create_execution_plan(engine, settings).is_good() && is_at(index)) return index;
    }
    for (const fe::HeurMode_t mode : {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}) {
      const std::int64_t before = graph_.get_execution_plan_count();
      if (graph_.create_execution_plans({mode}).is_bad()) continue;
      for (std::int64_t i = before; i < graph_.get_execution_plan_count(); ++i)
        if (is_at(i)) return i;
    }
    return std::nullopt;
  }

  Result<std::int64_t> EngineCount() {
    std::int64_t count = 0;
    auto status = graph_.get_engine_count(count);
    if (status.is_bad()) return Refused("engines", status);
    return count;
  }

  template <class Add>
  void EachSetting(std::int64_t engine, const std::vector<fe::Knob>& knobs, std::size_t at,
                   std::unordered_map<fe::KnobType_t, std::int64_t>& choice, std::size_t most,
                   const std::vector<CudnnPlan>& plans, const Add& add) {
    if (plans.size() >= most) return;
    if (at == knobs.size()) {
      add(Create(engine, choice));
      return;
    }
    const std::int64_t stride = std::max<std::int64_t>(knobs[at].stride, 1);
    for (std::int64_t value = knobs[at].minValue; value <= knobs[at].maxValue; value += stride) {
      choice[knobs[at].type] = value;
      EachSetting(engine, knobs, at + 1, choice, most, plans, add);
    }
  }

  // nullopt where this engine does not take the graph.
  std::optional<CudnnPlan> Create(std::int64_t engine, const std::unordered_map<fe::KnobType_t, std::int64_t>& knobs) {
    const std::int64_t before = graph_.get_execution_plan_count();
    if (graph_.create_execution_plan(engine, knobs).is_bad()) return std::nullopt;
    return Describe(before);
  }

  std::optional<CudnnPlan> Describe(std::int64_t index) {
    CudnnPlan plan;
    std::unordered_map<fe::KnobType_t, std::int64_t> knobs;
    if (graph_.get_plan_name_at_index(index, plan.name).is_bad()) return std::nullopt;
    if (graph_.get_engine_and_knobs_at_index(index, plan.engine, knobs).is_bad()) return std::nullopt;
    const std::optional<CudnnNotes> notes = NotesOf(plan.engine);
    if (!notes) return std::nullopt;
    plan.notes = *notes;
    return plan;
  }

  // nullopt where the engine does not take the graph on this device.
  std::optional<CudnnNotes> NotesOf(std::int64_t engine) {
    const auto [entry, is_new] = notes_.try_emplace(engine);
    if (!is_new) return entry->second;
    fe::detail::backend_descriptor descriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    if (descriptor.get_status() != CUDNN_STATUS_SUCCESS) return std::nullopt;
    if (fe::detail::create_engine(descriptor, engine, graph_.descriptor(), properties_).is_bad()) return std::nullopt;
    CudnnNotes notes;
    std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> numerical{};
    std::int64_t count = 0;
    if (fe::detail::get_attribute(descriptor.get_ptr(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                  static_cast<std::int64_t>(numerical.size()), &count,
                                  numerical.data()) != CUDNN_STATUS_SUCCESS)
      return std::nullopt;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) && i < numerical.size(); ++i) Note(numerical[i], notes);
    std::array<cudnnBackendBehaviorNote_t, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT> behavior{};
    if (fe::detail::get_attribute(descriptor.get_ptr(), CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                  static_cast<std::int64_t>(behavior.size()), &count,
                                  behavior.data()) != CUDNN_STATUS_SUCCESS)
      return std::nullopt;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) && i < behavior.size(); ++i)
      notes.compiles_at_run_time |= behavior[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
    entry->second = notes;
    return notes;
  }

  static void Note(cudnnBackendNumericalNote_t note, CudnnNotes& notes) {
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

  OpenGraph graph_;
  std::shared_ptr<fe::DeviceProperties> properties_;  // of a device that is asked about
  cudnnHandle_t handle_ = nullptr;                    // on the device that is here
  std::vector<CudnnTensor> tensors_;
  std::int64_t chosen_ = -1;
  Bytes workspace_;
  std::map<std::int64_t, std::optional<CudnnNotes>> notes_;  // by engine
};

CudnnGraph::CudnnGraph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CudnnGraph::CudnnGraph(CudnnGraph&&) noexcept = default;
CudnnGraph& CudnnGraph::operator=(CudnnGraph&&) noexcept = default;
CudnnGraph::~CudnnGraph() = default;

Result<CudnnGraph> CudnnGraph::Build(const cpu::ValuedRegion& problem, const CudnnForm& form,
                                     const GpuProperties& gpu) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Impl::Build(problem, form, gpu));
  return CudnnGraph(std::move(impl));
}

Result<CudnnGraph> CudnnGraph::Build(const cpu::ValuedRegion& problem, const CudnnForm& form,
                                     const CudnnHandle& handle) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Impl::Build(problem, form, handle));
  return CudnnGraph(std::move(impl));
}

const std::vector<CudnnTensor>& CudnnGraph::tensors() const { return impl_->tensors(); }
Status CudnnGraph::Choose(const std::string& plan) { return impl_->Choose(plan); }
Bytes CudnnGraph::workspace() const { return impl_->workspace(); }
Status CudnnGraph::Enqueue(std::unordered_map<std::int64_t, void*>& tensors, void* workspace) {
  return impl_->Enqueue(tensors, workspace);
}
Result<std::vector<CudnnPlan>> CudnnGraph::Heuristic() { return impl_->Heuristic(); }
Result<std::vector<CudnnPlan>> CudnnGraph::Engines() { return impl_->Engines(); }
Result<std::vector<CudnnPlan>> CudnnGraph::Exhaustive(std::size_t most) { return impl_->Exhaustive(most); }

Result<std::shared_ptr<CudnnHandle>> CudnnHandle::Create() {
  cudnnHandle_t handle = nullptr;
  if (const cudnnStatus_t status = fe::detail::create_handle(&handle); status != CUDNN_STATUS_SUCCESS)
    return Error{"cuDNN cannot be used on this device: " + std::string(fe::detail::get_error_string(status))};
  return std::shared_ptr<CudnnHandle>(new CudnnHandle(handle));
}

CudnnHandle::~CudnnHandle() { static_cast<void>(fe::detail::destroy_handle(static_cast<cudnnHandle_t>(handle_))); }

Status CudnnHandle::Use(Gpu::Stream stream) {
  if (stream == stream_) return {};
  const cudnnStatus_t status =
      fe::detail::set_stream(static_cast<cudnnHandle_t>(handle_), static_cast<cudaStream_t>(stream));
  if (status != CUDNN_STATUS_SUCCESS)
    return Error{"cuDNN does not take the stream: " + std::string(fe::detail::get_error_string(status))};
  stream_ = stream;
  return {};
}

Result<std::string> PropertiesOfDevice(int device) {
  fe::DeviceProperties properties;
  auto status = properties.set_device_id(device).build();
  if (status.is_bad()) return Error{"cuDNN does not tell the device's properties: " + Line(status)};
  std::vector<std::uint8_t> json;
  status = properties.serialize(json);
  if (status.is_bad()) return Error{"cuDNN does not tell the device's properties: " + Line(status)};
  return std::string(json.begin(), json.end());
}

}  // namespace infimum::cuda
