#include "tests/microbench/gpu/pretended_gpu.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/microbench/gpu/run_on_host.h"

namespace infimum::cuda {
namespace {

constexpr Latency kStart{6}, kLaunchOfHost{5}, kNodeOfHost{0.2}, kKernel{2}, kColdKernel{1};
constexpr std::int64_t kAlignment = 256;
constexpr std::size_t kMostComputed = 500;

std::set<std::string> Faults() {
  std::set<std::string> faults;
  const char* value = std::getenv("PRETENDED_GPU");
  std::string left = value == nullptr ? "" : value;
  while (!left.empty()) {
    const std::size_t comma = std::min(left.find(','), left.size());
    faults.insert(left.substr(0, comma));
    left.erase(0, comma + 1);
  }
  return faults;
}

Latency TimeOf(std::int64_t bytes) { return kKernel + Latency(static_cast<double>(bytes) / (1 << 20)); }

}  // namespace

PretendedGpu::PretendedGpu(const GpuOptions& options, FakeClock* clock)
    : options_(options), clock_(clock), faults_(Faults()) {
  computes_in_graphs = faults_.contains("computes");
  facts_.name = "Pretended GPU";
  facts_.uuid = "GPU-00000000-0000-0000-0000-000000000000";
  facts_.compute_capability = 900;
  facts_.multiprocessors = 4;
  facts_.memory = Bytes{256 << 20};
  facts_.second_level_cache = Bytes{4 << 20};
  facts_.on_chip_memory = Bytes{2 << 20};
  facts_.clock_mhz = 1000;
  facts_.power_limit = "700 W";
  facts_.driver = "1.0";
  facts_.runtime = "13.0";
}

PretendedGpu::~PretendedGpu() = default;

Result<void*> PretendedGpu::Allocate(Bytes size) {
  const Bytes limit = options_.most_memory.value > 0 ? options_.most_memory : facts_.memory;
  if (allocated_.value + size.value > limit.value) return Error{"out of device memory"};
  auto block = std::make_unique<char[]>(static_cast<std::size_t>(size.value + kAlignment));
  const auto address = (reinterpret_cast<std::uintptr_t>(block.get()) + kAlignment - 1) / kAlignment * kAlignment;
  auto* const aligned = reinterpret_cast<void*>(address);
  // As a device gives it: with whatever was there.
  std::memset(aligned, 0xa5, static_cast<std::size_t>(size.value));
  memory_[aligned] = std::move(block);
  sizes_[aligned] = size;
  allocated_ += size;
  return aligned;
}

void PretendedGpu::Free(void* memory) {
  allocated_.value -= sizes_[memory].value;
  sizes_.erase(memory);
  memory_.erase(memory);
}

Status PretendedGpu::Upload(void* device, const void* host, Bytes size) {
  ++writes_;
  std::memcpy(device, host, static_cast<std::size_t>(size.value));
  return {};
}
Status PretendedGpu::Download(void* host, const void* device, Bytes size) {
  std::memcpy(host, device, static_cast<std::size_t>(size.value));
  return {};
}
Status PretendedGpu::Fill(void* device, int byte, Bytes size) {
  ++writes_;
  std::memset(device, byte, static_cast<std::size_t>(size.value));
  return {};
}

void PretendedGpu::Spend(Latency time) {
  if (faults_.contains("slow")) time *= 2;
  now_ += time;
  if (clock_ != nullptr) clock_->Advance(std::chrono::duration_cast<Clock::Duration>(time));
}

Status PretendedGpu::Wait() {
  ++waits_;
  if (is_blocked_) return Error{"waits for a stream that is held"};
  return {};
}

void PretendedGpu::Run(const Work& work, bool computes) {
  Spend(std::exchange(is_cold_, false) ? kKernel + kColdKernel : kKernel);
  ++kernels_run_;
  if (work.is_empty) return;
  if (std::holds_alternative<PointwiseCall>(work.call) && ++pointwise_run_ == 3 && faults_.contains("lost")) {
    std::fprintf(stderr, "the GPU's context is lost (running): an illegal memory access was encountered\n");
    std::fflush(stderr);
    std::_Exit(3);
  }
  if (!computes) return;
  if (work.on_host) {
    work.on_host();
  } else {
    RunOnHost(work.call);
  }
}

Status PretendedGpu::Enqueue(Work work, Stream stream) {
  branches_.insert(stream);
  if (is_capturing_) {
    captured_.push_back(std::move(work));
    return {};
  }
  // Behind a kernel that holds the stream the host is ahead; else the device waits for it.
  if (!is_blocked_) Spend(kLaunchOfHost);
  Run(work, true);
  return {};
}

Result<Gpu::Graph> PretendedGpu::Capture(const std::function<Status()>& enqueue) {
  if (!captures) return Error{"capturing: operation not permitted when stream is capturing"};
  is_capturing_ = true;
  captured_.clear();
  const Status enqueued = enqueue();
  is_capturing_ = false;
  INFIMUM_RETURN_IF_ERROR(enqueued);
  graphs_[++last_graph_].work = std::move(captured_);
  return last_graph_;
}

Status PretendedGpu::LaunchGraph(Graph graph) {
  Spend(kStart);
  Recorded& recorded = graphs_.at(graph);
  // Older drivers start nodes one by one.
  if (!is_blocked_) Spend(kNodeOfHost * static_cast<double>(recorded.work.size()));
  const bool computes = computes_in_graphs && recorded.work.size() <= kMostComputed && recorded.computed_at != writes_;
  if (computes) recorded.computed_at = writes_;
  const void* last = nullptr;
  for (const Work& work : recorded.work) {
    Run(work, computes && (work.program == nullptr || work.program != last));
    last = work.program;
  }
  return {};
}

Status PretendedGpu::RecordEvent(std::size_t point) {
  points_[point] = now_;
  return {};
}
Result<Latency> PretendedGpu::ElapsedTime(std::size_t first, std::size_t last) {
  return points_.at(last) - points_.at(first);
}

Status PretendedGpu::BlockStream() {
  is_blocked_ = true;
  return {};
}
Status PretendedGpu::EmptyCaches() {
  is_cold_ = true;
  return {};
}

Status PretendedGpu::Launch(const KernelCall& call, Stream at) { return Enqueue({call}, at); }
Status PretendedGpu::LaunchEmpty() { return Enqueue({FillCall(), true}, stream()); }
Status PretendedGpu::EnqueueHost(std::function<void()> work, Stream at, const void* program) {
  return Enqueue({FillCall(), false, std::move(work), program}, at);
}

Status PretendedGpu::LaunchPeak(const BandwidthCall& call) {
  Spend(TimeOf(BytesMoved(call)));
  return {};
}
Result<double> PretendedGpu::LaunchPeak(const ArithmeticCall& call) {
  Spend(Latency(1000));
  return static_cast<double>(OperationsOf(call, 4));
}

std::optional<double> PretendedGpu::FrequencyMhz() { return faults_.contains("slow") ? 500 : 1000; }

std::vector<GpuProcess> PretendedGpu::OtherProcesses() {
  if (faults_.contains("company")) return {{4711, Bytes{std::int64_t{12} << 30}}};
  return {};
}

}  // namespace infimum::cuda
