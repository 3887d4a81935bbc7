#include "microbench/libraries/cudnn_legacy/calls/legacy_convolution.h"

#include "microbench/gpu/device/caught.h"
#include "microbench/libraries/cudnn/cudnn_library.h"
#include "microbench/libraries/cudnn_legacy/legacy_calls.h"
#include "microbench/reference/region_tensors.h"
#include "src/core/measurement/cudnn_form.h"
#include "src/core/measurement/cudnn_operations.h"

void* cudnn::SymbolOf(const char* name) { return infimum::cuda::CudnnLibrary::Symbol(name); }

namespace infimum::cuda {
namespace {

class ConvolutionProgram : public GpuProgram {
 public:
  ConvolutionProgram(std::shared_ptr<CudnnHandle> handle, const CudnnOperations& operations,
                     const cudnn::ConvolutionWay& way)
      : handle_(std::move(handle)), convolution_(operations.graph, way, static_cast<cudnnHandle_t>(handle_->get())) {
    cudnn::Form form;
    form.channels_last = way.channels_last;
    const auto bind = [&](const CudnnOperand& operand, const cudnn::Dims& dims, cudnn::Layout layout) {
      bindings_.push_back({operand.tensor, 0, operand.type, PlacementOf(dims, layout, operand.shape, form)});
    };
    for (std::size_t i = 0; i < operations.tensors.size(); ++i)
      bind(operations.tensors[i], operations.graph.tensors[i].dims, operations.graph.tensors[i].layout);
    bind(operations.outputs[0], operations.graph.operations.back().dims, operations.graph.operations.back().layout);
  }

  Bytes workspace() const override { return Bytes{static_cast<std::int64_t>(convolution_.workspace())}; }

  Status Enqueue(Gpu::Stream stream) override {
    INFIMUM_RETURN_IF_ERROR(handle_->Use(stream));
    return Caught([&] { convolution_.Run(addresses_, addresses_.back(), workspace_); });
  }

 private:
  std::shared_ptr<CudnnHandle> handle_;
  cudnn::LegacyConvolution convolution_;
};

}  // namespace

std::vector<GpuOffer> LegacyConvolutions(const std::shared_ptr<CudnnHandle>& handle, const Workload& workload,
                                         NumericContract contract) {
  const Result<CudnnOperations> operations = CudnnOperationsOf(cpu::RegionOf(workload));
  if (!operations.ok()) return {};
  std::vector<GpuOffer> offers;
  for (const cudnn::ConvolutionWay& way : cudnn::ConvolutionWays(operations->graph, std::string(Name(contract)))) {
    CudnnForm form;
    form.channels_last = way.channels_last;
    const Candidate candidate = {std::string(kCudnnLegacy), way.name, InputLayouts(workload, form),
                                 OutputLayout(workload, form), offers.empty()};
    offers.push_back({candidate, [handle, operations = *operations, way](Gpu&) {
                        return Caught([&]() -> std::unique_ptr<GpuProgram> {
                          return std::make_unique<ConvolutionProgram>(handle, operations, way);
                        });
                      }});
  }
  return offers;
}

}  // namespace infimum::cuda
