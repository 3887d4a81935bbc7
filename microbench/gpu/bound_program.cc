#include "microbench/gpu/bound_program.h"

#include <utility>

namespace infimum::cuda {
namespace {

Bytes BytesOf(const GpuBinding& binding) { return binding.placement.bytes(binding.type); }

}  // namespace

BoundProgram::BoundProgram(Gpu& gpu, std::unique_ptr<GpuProgram> program, std::vector<void*> addresses, void* workspace,
                           std::vector<std::size_t> constants)
    : gpu_(gpu),
      program_(std::move(program)),
      addresses_(std::move(addresses)),
      workspace_(workspace),
      constants_(std::move(constants)) {
  for (const std::size_t constant : constants_) constant_bytes_ += BytesOf(bindings()[constant]);
}

Status BoundProgram::Prepare() {
  INFIMUM_RETURN_IF_ERROR(program_->Bind(addresses_, workspace_));
  return program_->Prepare();
}

Status BoundProgram::Enqueue(Gpu::Stream stream) {
  if (!copies_.empty()) {
    place_ = place_ == copies_.size() ? 0 : place_ + 1;
    INFIMUM_RETURN_IF_ERROR(BindCopy(place_));
  }
  return program_->Enqueue(stream);
}

Status BoundProgram::BindCopy(std::size_t place) {
  std::vector<void*> addresses = addresses_;
  for (std::size_t i = 0; place > 0 && i < constants_.size(); ++i)
    addresses[constants_[i]] = copies_[place - 1][i].data();
  return program_->Bind(addresses, workspace_);
}

Status BoundProgram::RotateConstants(std::size_t copies) {
  place_ = 0;
  copies_.clear();
  INFIMUM_RETURN_IF_ERROR(BindCopy(0));
  if (copies <= 1) return {};
  copies_.resize(copies - 1);
  for (const std::size_t constant : constants_) {
    const Bytes size = BytesOf(bindings()[constant]);
    std::vector<std::byte> packed(static_cast<std::size_t>(size.value));
    INFIMUM_RETURN_IF_ERROR(gpu_.Download(packed.data(), addresses_[constant], size));
    for (std::vector<DeviceMemory>& copy : copies_) {
      Result<DeviceMemory> memory = DeviceMemory::Allocate(gpu_, size);
      if (!memory.ok()) {
        copies_.clear();
        return memory.error();
      }
      INFIMUM_RETURN_IF_ERROR(gpu_.Upload(memory->data(), packed.data(), size));
      copy.push_back(*std::move(memory));
    }
  }
  return {};
}

Status ProgramLaunches::EnqueueAll(std::int64_t launches) {
  for (std::int64_t i = 0; i < launches; ++i) INFIMUM_RETURN_IF_ERROR(enqueue_(gpu_.stream()));
  return {};
}

Result<Latency> ProgramLaunches::Between() {
  INFIMUM_RETURN_IF_ERROR(gpu_.Wait());
  return gpu_.Between(0, 1);
}

Result<LaunchDevice::Graph> ProgramLaunches::Capture(std::int64_t launches) {
  return gpu_.Capture([&] { return EnqueueAll(launches); });
}

Result<Latency> ProgramLaunches::Replay(Graph graph) {
  INFIMUM_RETURN_IF_ERROR(gpu_.Mark(0));
  INFIMUM_RETURN_IF_ERROR(gpu_.LaunchGraph(graph));
  INFIMUM_RETURN_IF_ERROR(gpu_.Mark(1));
  return Between();
}

Result<Latency> ProgramLaunches::LaunchInStream(std::int64_t launches) {
  INFIMUM_RETURN_IF_ERROR(gpu_.Mark(0));
  INFIMUM_RETURN_IF_ERROR(EnqueueAll(launches));
  INFIMUM_RETURN_IF_ERROR(gpu_.Mark(1));
  return Between();
}

Result<Latency> ProgramLaunches::LaunchCold() {
  INFIMUM_RETURN_IF_ERROR(gpu_.EmptyCaches());
  // All is queued before any of it begins, so that the host's time for it is not in between. What waits for the device
  // while it is enqueued ends the hold by its own bound, and is timed as it is.
  INFIMUM_RETURN_IF_ERROR(gpu_.Hold());
  Status queued = gpu_.Mark(0);
  if (queued.ok()) queued = enqueue_(gpu_.stream());
  if (queued.ok()) queued = gpu_.Mark(1);
  gpu_.Release();
  INFIMUM_RETURN_IF_ERROR(queued);
  return Between();
}

}  // namespace infimum::cuda
