#include "microbench/gpu/bound_program.h"

#include <algorithm>
#include <utility>

#include "infimum/base/clock.h"

namespace infimum::cuda {
namespace {

constexpr std::size_t kCopyAlignment = 256;                   // as a GPU's allocations have it
constexpr auto kSurelyHeld = std::chrono::seconds(1);         // of the two that a stream is held at most
constexpr std::size_t kCopyTransfer = std::size_t{16} << 20;  // of host memory for copies

Bytes BytesOf(const GpuBinding& binding) {
  return binding.rewritten.value > 0 ? binding.rewritten : binding.placement.bytes(binding.type);
}

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
    place_ = (place_ + 1) % places_;
    INFIMUM_RETURN_IF_ERROR(BindCopy(place_));
  }
  return program_->Enqueue(stream);
}

Status BoundProgram::BindCopy(std::size_t place) {
  std::vector<void*> addresses = addresses_;
  for (std::size_t i = 0; place > 0 && i < constants_.size(); ++i)
    addresses[constants_[i]] = static_cast<std::byte*>(copies_[i].memory.data()) + (place - 1) * copies_[i].stride;
  return program_->Bind(addresses, workspace_);
}

Status BoundProgram::RotateConstants(std::size_t copies) {
  place_ = 0;
  copies_.clear();
  INFIMUM_RETURN_IF_ERROR(BindCopy(0));
  places_ = std::max<std::size_t>(copies, 1);
  if (places_ == 1) return {};
  std::vector<Copies> made;
  for (const std::size_t constant : constants_) {
    const Bytes size = BytesOf(bindings()[constant]);
    const auto bytes = static_cast<std::size_t>(size.value);
    const std::size_t stride = (bytes + kCopyAlignment - 1) / kCopyAlignment * kCopyAlignment;
    // Thousands of them: one allocation, and few transfers, each of which waits for the device.
    const std::size_t in_one = std::clamp<std::size_t>(kCopyTransfer / stride, 1, places_ - 1);
    std::vector<std::byte> packed(in_one * stride);
    INFIMUM_RETURN_IF_ERROR(gpu_.Download(packed.data(), addresses_[constant], size));
    for (std::size_t i = 1; i < in_one; ++i) std::copy_n(packed.begin(), bytes, packed.begin() + i * stride);
    INFIMUM_ASSIGN_OR_RETURN(DeviceMemory memory,
                             DeviceMemory::Allocate(gpu_, Bytes{static_cast<std::int64_t>((places_ - 1) * stride)}));
    for (std::size_t first = 0; first < places_ - 1; first += in_one) {
      const std::size_t count = std::min(in_one, places_ - 1 - first);
      INFIMUM_RETURN_IF_ERROR(gpu_.Upload(static_cast<std::byte*>(memory.data()) + first * stride, packed.data(),
                                          Bytes{static_cast<std::int64_t>(count * stride)}));
    }
    made.push_back({std::move(memory), stride});
  }
  copies_ = std::move(made);
  return {};
}

Status ProgramLaunches::EnqueueAll(std::int64_t launches) {
  for (std::int64_t i = 0; i < launches; ++i) INFIMUM_RETURN_IF_ERROR(enqueue_(gpu_.stream()));
  return {};
}

// Waits also behind an error, as GpuRun::Run does: where an earlier kernel lost the context, the process ends here with
// the candidate whose kernel it was.
Result<Latency> ProgramLaunches::Elapsed(const Status& queued) {
  const Status waited = gpu_.Wait();
  INFIMUM_RETURN_IF_ERROR(queued);
  INFIMUM_RETURN_IF_ERROR(waited);
  return gpu_.ElapsedTime(0, 1);
}

Result<LaunchDevice::Graph> ProgramLaunches::Capture(std::int64_t launches) {
  return gpu_.Capture([&] { return EnqueueAll(launches); });
}

Result<Latency> ProgramLaunches::Replay(Graph graph) {
  return BehindBlock([&] { return gpu_.LaunchGraph(graph); });
}

Result<Latency> ProgramLaunches::LaunchInStream(std::int64_t launches) {
  Status queued = gpu_.RecordEvent(0);
  if (queued.ok()) queued = EnqueueAll(launches);
  if (queued.ok()) queued = gpu_.RecordEvent(1);
  return Elapsed(queued);
}

Result<Latency> ProgramLaunches::LaunchAlone(LaunchCaches caches) {
  if (caches != LaunchCaches::kAsTheyAre) INFIMUM_RETURN_IF_ERROR(gpu_.EmptyCaches());
  if (caches == LaunchCaches::kWithoutConstants) INFIMUM_RETURN_IF_ERROR(enqueue_(gpu_.stream()));
  return BehindBlock([&] { return enqueue_(gpu_.stream()); });
}

// All is queued before any of it begins, so that the host's time for it is not in between: for a graph, which drivers
// before CUDA 12.6 start node by node, as for a launch. What waits for the device while it is enqueued ends the hold by
// its own bound, and is timed as it is.
Result<Latency> ProgramLaunches::BehindBlock(const std::function<Status()>& enqueue) {
  const auto begin = SteadyClock().Now();
  INFIMUM_RETURN_IF_ERROR(gpu_.BlockStream());
  Status queued = gpu_.RecordEvent(0);
  if (queued.ok()) queued = enqueue();
  if (queued.ok()) queued = gpu_.RecordEvent(1);
  gpu_.UnblockStream();
  host_was_late_ = SteadyClock().Now() - begin > kSurelyHeld;
  return Elapsed(queued);
}

}  // namespace infimum::cuda
