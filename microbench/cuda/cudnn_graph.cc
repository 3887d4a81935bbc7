#include "microbench/cuda/cudnn_graph.h"

#include <array>
#include <map>
#include <set>

#include "infimum/base/text.h"
#include "microbench/cuda/cudnn_operations.h"

namespace infimum::cuda {
namespace {

namespace fe = cudnn_frontend;

Error Refused(const char* step, fe::error_t error) {
  std::string message = error.get_message();
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  return Error{"unsupported: cuDNN refuses the graph (" + std::string(step) + "): " + message};
}

// Reaches what the frontend keeps for its own nodes: the descriptors of the graph, by which engines are asked.
class OpenGraph : public fe::graph::Graph {
 public:
  cudnnBackendDescriptor_t descriptor() const { return get_operation_graph()->get_raw_desc(); }
};

}  // namespace

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
  static Result<std::unique_ptr<Impl>> Build(const Workload& workload, const CudnnForm& form,
                                             const GpuProperties& gpu) {
    auto impl = std::make_unique<Impl>();
    OpenGraph& graph = impl->graph_;
    graph.set_io_data_type(fe::DataType_t::FLOAT)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    impl->properties_ = std::make_shared<fe::DeviceProperties>();
    const std::vector<std::uint8_t> json(gpu.json().begin(), gpu.json().end());
    auto status = impl->properties_->deserialize(json);
    if (status.is_bad()) return Error{gpu.name() + ": cuDNN does not take its properties: " + status.get_message()};
    graph.set_device_properties(impl->properties_);
    // Else attention asks the driver, which may be of another device or none.
    graph.set_sm_version(static_cast<std::int32_t>(gpu.compute_capability() / 10));
    INFIMUM_RETURN_IF_ERROR(AddOperations(workload, form, graph));
    status = graph.validate();
    if (status.is_bad()) return Refused("validate", status);
    // Without a handle: the device is the one whose properties it was given.
    status = graph.build_operation_graph();
    if (status.is_bad()) return Refused("build", status);
    return impl;
  }

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
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE: notes.tensor_core = true; break;
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS: notes.down_converts_inputs = true; break;
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION: notes.reduced_precision_sums = true; break;
      case CUDNN_NUMERICAL_NOTE_FFT: notes.fft = true; break;
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC: notes.nondeterministic = true; break;
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13: notes.winograd = true; break;
      default: break;
    }
  }

  OpenGraph graph_;
  std::shared_ptr<fe::DeviceProperties> properties_;
  std::map<std::int64_t, std::optional<CudnnNotes>> notes_;  // by engine
};

CudnnGraph::CudnnGraph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CudnnGraph::CudnnGraph(CudnnGraph&&) noexcept = default;
CudnnGraph& CudnnGraph::operator=(CudnnGraph&&) noexcept = default;
CudnnGraph::~CudnnGraph() = default;

Result<CudnnGraph> CudnnGraph::Build(const Workload& workload, const CudnnForm& form, const GpuProperties& gpu) {
  INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Impl::Build(workload, form, gpu));
  return CudnnGraph(std::move(impl));
}

Result<std::vector<CudnnPlan>> CudnnGraph::Heuristic() { return impl_->Heuristic(); }
Result<std::vector<CudnnPlan>> CudnnGraph::Engines() { return impl_->Engines(); }
Result<std::vector<CudnnPlan>> CudnnGraph::Exhaustive(std::size_t most) { return impl_->Exhaustive(most); }

}  // namespace infimum::cuda
