#include "microbench/libraries/cudnn/cudnn_graph.h"

#include <fmt/format.h>

#include <utility>

#include "microbench/gpu/device/caught.h"
#include "microbench/gpu/device/symmetric_values.h"
#include "microbench/libraries/cudnn/calls/cudnn_plans.h"
#include "src/core/measurement/cudnn_operations.h"

namespace infimum::cuda {
namespace {

namespace fe = cudnn_frontend;

cudnn::Form LibraryForm(const CudnnForm& form) {
  cudnn::Form result;
  result.channels_last = form.channels_last;
  result.half_sums = form.half_sums;
  result.channel_multiple = form.channel_multiple;
  return result;
}

// What the sums of a convolution or GEMM are multiplied by to become its 8-bit results.
Result<std::vector<double>> ScalesOf(const LayerConfig& config, const cpu::LayerValues& values) {
  const OperandTypes types = TypesOf(config);
  const auto* convolution = std::get_if<ConvolutionConfig>(&config);
  const auto* product = std::get_if<MatMulConfig>(&config);
  if (!IsInteger(types.input) || (convolution == nullptr && product == nullptr)) return std::vector<double>{1};
  const std::int64_t depth = convolution != nullptr
                                 ? convolution->input.dims[1] / convolution->groups * ElementCount(convolution->kernel)
                                 : product->a.dims.back();
  return FactorsOf(types, depth, values);
}

Result<CudnnValues> ValuesOf(const LayerConfig& config, const cpu::LayerValues& values) {
  if (std::holds_alternative<AttentionConfig>(config) && (values.keys_transposed || values.mask_scale != 1))
    return Error{"unsupported: transposed keys, or a scaled mask"};
  CudnnValues result;
  static_cast<PointwiseParameters&>(result) = values;
  result.epsilon = values.epsilon;
  result.attention_scale = values.scale;
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<double> scales, ScalesOf(config, values));
  result.scales = std::ssize(scales);
  return result;
}

Result<std::vector<CudnnTensor>> TensorsOf(const cpu::ValuedRegion& problem, const CudnnOperations& operations,
                                           const cudnn::Form& form, const cudnn::Arguments& arguments) {
  std::vector<CudnnTensor> tensors;
  const cudnn::OperationGraph& graph = operations.graph;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const CudnnOperand& operand = operations.tensors[i];
    const cudnn::Tensor& tensor = graph.tensors[i];
    CudnnTensor bound{arguments.tensors[i]->get_uid(),
                      {operand.tensor, 0, operand.type, PlacementOf(tensor.dims, tensor.layout, operand.shape, form)},
                      {}};
    if (operand.own_of) {
      const RegionMember& member = problem.region.members[*operand.own_of];
      INFIMUM_ASSIGN_OR_RETURN(bound.own_values,
                               ScalesOf(member.config, cpu::ValuesOfMember(problem.values, *operand.own_of)));
    }
    tensors.push_back(std::move(bound));
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const CudnnOperand& operand = operations.outputs[i];
    if (operand.own_of) {
      tensors.push_back({arguments.outputs[i]->get_uid(),
                         {operand.tensor, 0, operand.type, TensorPlacement::RowMajor(operand.shape)},
                         {0}});
      continue;
    }
    const auto made = std::ranges::find_if(
        graph.operations, [&](const auto& operation) { return operation.result == graph.outputs[i].name; });
    tensors.push_back({arguments.outputs[i]->get_uid(),
                       {operand.tensor, 0, operand.type, PlacementOf(made->dims, made->layout, operand.shape, form)},
                       {}});
  }
  return tensors;
}

}  // namespace

TensorPlacement PlacementOf(const cudnn::Dims& dims, cudnn::Layout layout, const Shape& shape,
                            const cudnn::Form& form) {
  // The same bytes as on the host, whatever dimensions cuDNN sees in them.
  if (layout == cudnn::Layout::kChannelsLast || layout == cudnn::Layout::kRowMajor)
    return TensorPlacement::RowMajor(shape);
  if (layout == cudnn::Layout::kScales || layout == cudnn::Layout::kSecondScales)
    return TensorPlacement::InScaleTiles(shape, layout == cudnn::Layout::kSecondScales);
  const cudnn::Dims room = cudnn::RoomOf(dims, layout, form);
  return {shape, Shape{room}, cudnn::StridesOf(room, layout, form), 0};
}

class CudnnGraph::Impl {
 public:
  // `device`: all that plans for it depend on.
  static Result<CudnnGraph> Build(const cpu::ValuedRegion& problem, const CudnnForm& form, cudnn::Target target,
                                  const std::string& device) {
    std::vector<CudnnValues> values;
    for (std::size_t i = 0; i < problem.region.members.size(); ++i) {
      INFIMUM_ASSIGN_OR_RETURN(CudnnValues own,
                               ValuesOf(problem.region.members[i].config, cpu::ValuesOfMember(problem.values, i)));
      values.push_back(std::move(own));
    }
    INFIMUM_ASSIGN_OR_RETURN(const CudnnOperations operations, CudnnOperationsOf(problem.region, values));
    const cudnn::Form library_form = LibraryForm(form);
    auto impl = std::make_unique<Impl>();
    INFIMUM_ASSIGN_OR_RETURN(
        impl->graph,
        Caught([&] { return std::make_unique<cudnn::LayerGraph>(operations.graph, library_form, std::move(target)); }));
    INFIMUM_ASSIGN_OR_RETURN(impl->tensors, TensorsOf(problem, operations, library_form, impl->graph->arguments()));
    // Values that a model gives are in the plan too; only replays have such. Those of benchmarks follow from the
    // region.
    if (problem.values.empty() || problem.values == BenchmarkedRegion(Workload(problem.region)).values)
      impl->made_of =
          fmt::format("cudnn {} {}\n{}\n{} {} {}\n{}", fe::detail::get_backend_version(), CUDNN_FRONTEND_VERSION,
                      device, form.channels_last, form.half_sums, form.channel_multiple, Format(problem.region));
    return CudnnGraph(std::move(impl));
  }

  bool Choose(const std::string& plan, const CodeCache& cache) {
    if (made_of.empty()) return graph->Choose(plan);
    const std::string key = made_of + "\n" + plan;
    const std::optional<std::string> kept = cache.Find(key);
    if (graph->Choose(plan, kept.value_or(""))) return true;
    if (const std::string compiled = graph->Compiled(); !compiled.empty()) cache.Keep(key, compiled);
    return false;
  }

  std::unique_ptr<cudnn::LayerGraph> graph;
  std::vector<CudnnTensor> tensors;
  std::string made_of;  // empty: plans are not kept
};

CudnnGraph::CudnnGraph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CudnnGraph::CudnnGraph(CudnnGraph&&) noexcept = default;
CudnnGraph& CudnnGraph::operator=(CudnnGraph&&) noexcept = default;
CudnnGraph::~CudnnGraph() = default;

Result<CudnnGraph> CudnnGraph::Build(const cpu::ValuedRegion& problem, const CudnnForm& form,
                                     const GpuProperties& gpu) {
  cudnn::Target target;
  target.properties = std::make_shared<fe::DeviceProperties>();
  const auto status = target.properties->deserialize({gpu.json().begin(), gpu.json().end()});
  if (status.is_bad()) return Error{gpu.name() + ": cuDNN does not take its properties: " + cudnn::MessageOf(status)};
  target.sm_version = static_cast<std::int32_t>(gpu.compute_capability() / 10);
  return Impl::Build(problem, form, std::move(target), gpu.json());
}

Result<CudnnGraph> CudnnGraph::Build(const cpu::ValuedRegion& problem, const CudnnForm& form,
                                     const CudnnHandle& handle) {
  cudnn::Target target;
  target.handle = static_cast<cudnnHandle_t>(handle.get());
  target.sm_version = static_cast<std::int32_t>(handle.compute_capability() / 10);
  return Impl::Build(problem, form, std::move(target),
                     fmt::format("{} {}", handle.device(), handle.compute_capability()));
}

Result<std::vector<cudnn::Plan>> CudnnGraph::Plans(CandidateTier tier, std::size_t most) {
  return Caught([&] {
    if (tier == CandidateTier::kHeuristic) return impl_->graph->Heuristic();
    if (tier == CandidateTier::kEngine) return impl_->graph->BestOfEngines();
    return impl_->graph->Exhaustive(most);
  });
}

const std::vector<CudnnTensor>& CudnnGraph::tensors() const { return impl_->tensors; }

bool CudnnGraph::CompilesAtRunTime(const std::string& plan) {
  const std::optional<std::int64_t> engine = cudnn::EngineOf(plan);
  const std::optional<cudnn::Notes> notes = engine ? impl_->graph->NotesOf(*engine) : std::nullopt;
  return notes && notes->compiles_at_run_time;
}

Result<bool> CudnnGraph::Choose(const std::string& plan, const CodeCache& cache) {
  return Caught([&] { return impl_->Choose(plan, cache); });
}

Bytes CudnnGraph::workspace() const { return Bytes{impl_->graph->workspace()}; }

Status CudnnGraph::Enqueue(std::unordered_map<std::int64_t, void*>& tensors, void* workspace) {
  return Caught([&] { impl_->graph->Run(tensors, workspace); });
}

Result<std::shared_ptr<CudnnHandle>> CudnnHandle::Create(std::string device, std::int64_t compute_capability) {
  cudnnHandle_t handle = nullptr;
  if (const cudnnStatus_t status = fe::detail::create_handle(&handle); status != CUDNN_STATUS_SUCCESS)
    return Error{"cuDNN cannot be used on this device: " + std::string(fe::detail::get_error_string(status))};
  return std::shared_ptr<CudnnHandle>(new CudnnHandle(handle, std::move(device), compute_capability));
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
  std::vector<std::uint8_t> json;
  auto status = properties.set_device_id(device).build();
  if (status.is_good()) status = properties.serialize(json);
  if (status.is_bad()) return Error{"cuDNN does not report the device's properties: " + cudnn::MessageOf(status)};
  return std::string(json.begin(), json.end());
}

}  // namespace infimum::cuda
