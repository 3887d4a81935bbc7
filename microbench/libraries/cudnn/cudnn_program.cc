#include "microbench/libraries/cudnn/cudnn_program.h"

#include <unordered_map>
#include <utility>

#include "src/core/base/prepared.h"

namespace infimum::cuda {
namespace {

class CudnnProgram : public GpuProgram {
 public:
  CudnnProgram(std::shared_ptr<CudnnHandle> handle, CudnnGraph graph)
      : handle_(std::move(handle)), graph_(std::move(graph)) {}

  Status Prepare(Gpu& gpu, const std::string& plan) {
    // The processes of the rounds to come read what this one compiles.
    const CodeCache cache = graph_.CompilesAtRunTime(plan) ? CodeCache() : CodeCache(std::filesystem::path());
    INFIMUM_RETURN_IF_ERROR(graph_.Choose(plan, cache));
    for (const CudnnTensor& tensor : graph_.tensors()) {
      if (tensor.own_values.empty()) {
        bindings_.push_back(tensor.binding);
        uids_.push_back(tensor.uid);
        continue;
      }
      const TensorPlacement& placement = tensor.binding.placement;
      INFIMUM_ASSIGN_OR_RETURN(cpu::HostTensor values, cpu::HostTensor::Make(placement.shape, DataType::kF32));
      for (std::int64_t i = 0; i < values.count(); ++i) values.Set(i, tensor.own_values[static_cast<std::size_t>(i)]);
      const std::vector<std::byte> packed = Packed(values, placement, DataType::kF32);
      INFIMUM_ASSIGN_OR_RETURN(DeviceMemory memory, DeviceMemory::Allocate(gpu, placement.bytes(DataType::kF32)));
      INFIMUM_RETURN_IF_ERROR(gpu.Upload(memory.data(), packed.data(), memory.size()));
      by_uid_[tensor.uid] = memory.data();
      own_.push_back(std::move(memory));
    }
    return {};
  }

  Bytes workspace() const override { return graph_.workspace(); }

  Status Bind(const std::vector<void*>& addresses, void* workspace) override {
    for (std::size_t i = 0; i < uids_.size(); ++i) by_uid_[uids_[i]] = addresses[i];
    return GpuProgram::Bind(addresses, workspace);
  }

  Status Enqueue(Gpu::Stream stream) override {
    INFIMUM_RETURN_IF_ERROR(handle_->Use(stream));
    return graph_.Enqueue(by_uid_, workspace_);
  }

 private:
  std::shared_ptr<CudnnHandle> handle_;
  CudnnGraph graph_;
  std::vector<std::int64_t> uids_;  // of the bindings
  std::vector<DeviceMemory> own_;
  std::unordered_map<std::int64_t, void*> by_uid_;  // addresses of all tensors
};

}  // namespace

Result<std::unique_ptr<GpuProgram>> MakeCudnnProgram(Gpu& gpu, std::shared_ptr<CudnnHandle> handle,
                                                     const cpu::ValuedRegion& problem, const CudnnChoice& choice) {
  INFIMUM_ASSIGN_OR_RETURN(CudnnGraph graph, CudnnGraph::Build(problem, choice.form, *handle));
  return Prepared<GpuProgram>(std::make_unique<CudnnProgram>(std::move(handle), std::move(graph)), gpu, choice.plan);
}

}  // namespace infimum::cuda
