#include "microbench/gpu/device/cuda_gpu.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "infimum/base/quantity_text.h"
#include "microbench/gpu/device/kernel_loader.h"
#include "microbench/gpu/device/nvml.h"

namespace infimum::cuda {
namespace {

constexpr std::uint64_t kMostHoldNs = 2'000'000'000;

// After these the context is lost: every later call of this process gives the same error.
bool IsSticky(cudaError_t error) {
  constexpr cudaError_t kSticky[] = {cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorHardwareStackError,
                                     cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
                                     cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorLaunchFailure,
                                     cudaErrorAssert, cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable,
                                     cudaErrorContextIsDestroyed, cudaErrorMpsConnectionFailed, cudaErrorUnknown,
                                     // Of later runtimes, by their numbers: contained errors, leaks of tensor memory.
                                     static_cast<cudaError_t>(226), static_cast<cudaError_t>(721)};
  return std::ranges::find(kSticky, error) != std::end(kSticky);
}

Status Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());  // else the next call that asks would be blamed for it
  if (IsSticky(error)) {
    // Nothing works in this process any more; its supervisor reads this line and starts another.
    std::fprintf(stderr, "the GPU's context is lost (%s): %s\n", what, cudaGetErrorString(error));
    std::fflush(stderr);
    std::_Exit(3);
  }
  return Error{std::string(what) + ": " + cudaGetErrorString(error)};
}

#define INFIMUM_CUDA(call, what) INFIMUM_RETURN_IF_ERROR(Check(call, what))

std::string VersionText(int version) {  // 13000: "13.0"
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string UuidDigits(const cudaUUID_t& uuid) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

// Captured launches of programmatic dependent launch become edges of this kind.
bool HasProgrammaticEdge([[maybe_unused]] cudaGraph_t graph) {
#if CUDART_VERSION >= 12030  // which has edges of several kinds
#if CUDART_VERSION >= 13000
  const auto get_edges = [](auto... arguments) { return cudaGraphGetEdges(arguments...); };
#else
  const auto get_edges = [](auto... arguments) { return cudaGraphGetEdges_v2(arguments...); };
#endif
  std::size_t count = 0;
  // A driver of before knows no kinds, and its refusal is no fault of what comes next.
  if (get_edges(graph, nullptr, nullptr, nullptr, &count) != cudaSuccess) cudaGetLastError();
  if (count == 0) return false;
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> edges(count);
  if (get_edges(graph, from.data(), to.data(), edges.data(), &count) != cudaSuccess) return false;
  for (const cudaGraphEdgeData& edge : edges)
    if (edge.type == cudaGraphDependencyTypeProgrammatic) return true;
#endif
  return false;
}

// With twice the second-level cache written nothing of before is left in it.
KernelCall FlushCall(void* memory, std::int64_t bytes) {
  FillCall call;
  call.to = memory;
  call.bytes = bytes;
  call.word = 0x5a5a5a5aU;
  return call;
}

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(const GpuOptions& options) : options_(options) {}

  ~CudaGpu() override {
    for (auto& [graph, executable] : graphs_) cudaGraphExecDestroy(executable);
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
    if (joint_ != nullptr) cudaEventDestroy(joint_);
    if (flag_ != nullptr) cudaFreeHost(flag_);
    if (flush_ != nullptr) cudaFree(flush_);
  }

  Status Open() {
    INFIMUM_RETURN_IF_ERROR(FindDevice());
    INFIMUM_RETURN_IF_ERROR(ReadFacts());
    // Before this process is one of them: within a container the driver may know it by another number. One that has
    // just ended may still be listed.
    for (int attempt = 0; nvml_ != nullptr && attempt < 20; ++attempt) {
      others_ = nvml_->OtherProcesses();
      if (others_.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    INFIMUM_CUDA(cudaSetDevice(options_.device), "choosing the device");
    INFIMUM_CUDA(cudaFree(nullptr), "making the GPU's context");
    INFIMUM_RETURN_IF_ERROR(Branch(0));
    INFIMUM_CUDA(cudaEventCreateWithFlags(&joint_, cudaEventDisableTiming), "making an event");
    INFIMUM_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&flag_), sizeof *flag_, cudaHostAllocMapped), "mapping memory");
    void* device_flag = nullptr;
    INFIMUM_CUDA(cudaHostGetDevicePointer(&device_flag, flag_, 0), "mapping memory");
    device_flag_ = static_cast<const std::uint32_t*>(device_flag);
    kernels_.emplace(facts_.compute_capability);
    // Those of the timing once: a kernel's first launch may load it, which nothing that is captured may do.
    UnblockStream();
    INFIMUM_RETURN_IF_ERROR(Queue(LaunchOf(HoldCall{device_flag_, kMostHoldNs}), streams_.front()));
    INFIMUM_RETURN_IF_ERROR(LaunchEmpty());
    return Wait();
  }

  const GpuFacts& facts() const override { return facts_; }

  Result<void*> Allocate(Bytes size) override {
    const Bytes wanted{std::max<std::int64_t>(size.value, 1)};
    if (options_.most_memory.value > 0 && allocated_.value + wanted.value > options_.most_memory.value) {
      return Error{"out of device memory: " + FormatByteCount(Bytes{allocated_.value + wanted.value}) + " of the " +
                   FormatByteCount(options_.most_memory) + " that --max-memory allows"};
    }
    void* memory = nullptr;
    if (const cudaError_t error = cudaMalloc(&memory, static_cast<std::size_t>(wanted.value)); error != cudaSuccess) {
      std::size_t available = 0, all = 0;
      static_cast<void>(cudaGetLastError());
      static_cast<void>(cudaMemGetInfo(&available, &all));
      if (error != cudaErrorMemoryAllocation) INFIMUM_RETURN_IF_ERROR(Check(error, "allocating"));
      return Error{"out of device memory: " + FormatByteCount(wanted) + " asked for, " +
                   FormatByteCount(Bytes{static_cast<std::int64_t>(available)}) + " of " +
                   FormatByteCount(Bytes{static_cast<std::int64_t>(all)}) + " are free"};
    }
    sizes_[memory] = wanted;
    allocated_ += wanted;
    return memory;
  }

  void Free(void* memory) override {
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    allocated_.value -= found->second.value;
    sizes_.erase(found);
    static_cast<void>(cudaFree(memory));
  }

  Status Upload(void* device, const void* host, Bytes size) override {
    INFIMUM_RETURN_IF_ERROR(Wait());
    INFIMUM_CUDA(cudaMemcpy(device, host, static_cast<std::size_t>(size.value), cudaMemcpyHostToDevice), "uploading");
    // From memory that is not pinned it returns when the bytes are staged, and no stream of ours waits for the rest.
    return Wait();
  }
  Status Download(void* host, const void* device, Bytes size) override {
    INFIMUM_RETURN_IF_ERROR(Wait());
    return Check(cudaMemcpy(host, device, static_cast<std::size_t>(size.value), cudaMemcpyDeviceToHost), "downloading");
  }
  Status Fill(void* device, int byte, Bytes size) override {
    INFIMUM_RETURN_IF_ERROR(Wait());
    INFIMUM_CUDA(cudaMemset(device, byte, static_cast<std::size_t>(size.value)), "filling memory");
    return Wait();
  }

  Stream stream() override { return streams_.front(); }

  Result<Stream> Branch(std::size_t number) override {
    while (streams_.size() <= number) {
      cudaStream_t stream = nullptr;
      // Not blocking: the legacy default stream, which libraries may use, does not wait for it.
      INFIMUM_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
      streams_.push_back(stream);
    }
    return static_cast<Stream>(streams_[number]);
  }

  Status StreamWait(Stream later, Stream earlier) override {
    INFIMUM_CUDA(cudaEventRecord(joint_, static_cast<cudaStream_t>(earlier)), "joining streams");
    return Check(cudaStreamWaitEvent(static_cast<cudaStream_t>(later), joint_, 0), "joining streams");
  }

  Status Wait() override {
    for (const cudaStream_t stream : streams_) INFIMUM_CUDA(cudaStreamSynchronize(stream), "running");
    return Check(cudaDeviceSynchronize(), "running");
  }

  Result<Graph> Capture(const std::function<Status()>& enqueue) override {
    // Relaxed: libraries query the device while they are captured.
    INFIMUM_CUDA(cudaStreamBeginCapture(streams_.front(), cudaStreamCaptureModeRelaxed), "capturing");
    const Status enqueued = enqueue();
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(streams_.front(), &graph);
    if (!enqueued.ok() || ended != cudaSuccess || graph == nullptr) {
      if (graph != nullptr) cudaGraphDestroy(graph);
      static_cast<void>(cudaGetLastError());
      INFIMUM_RETURN_IF_ERROR(enqueued);
      return Error{"capturing: " + std::string(cudaGetErrorString(ended))};
    }
    const bool overlaps = HasProgrammaticEdge(graph);
    cudaGraphExec_t executable = nullptr;
    const cudaError_t made = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    INFIMUM_CUDA(made, "making a graph");
    INFIMUM_CUDA(cudaGraphUpload(executable, streams_.front()), "making a graph");
    graphs_[++last_graph_] = executable;
    if (overlaps) overlapping_.insert(last_graph_);
    return last_graph_;
  }
  bool Overlaps(Graph graph) override { return overlapping_.contains(graph); }
  Status LaunchGraph(Graph graph) override {
    return Check(cudaGraphLaunch(graphs_.at(graph), streams_.front()), "launching a graph");
  }
  void DropGraph(Graph graph) override {
    const auto found = graphs_.find(graph);
    if (found == graphs_.end()) return;
    cudaGraphExecDestroy(found->second);
    graphs_.erase(found);
    overlapping_.erase(graph);
  }

  Status RecordEvent(std::size_t event) override {
    while (events_.size() <= event) {
      cudaEvent_t made = nullptr;
      INFIMUM_CUDA(cudaEventCreate(&made), "making an event");
      events_.push_back(made);
    }
    return Check(cudaEventRecord(events_[event], streams_.front()), "recording an event");
  }
  Result<Latency> ElapsedTime(std::size_t first, std::size_t last) override {
    float milliseconds = 0;
    INFIMUM_CUDA(cudaEventElapsedTime(&milliseconds, events_.at(first), events_.at(last)), "reading events");
    return Latency(static_cast<double>(milliseconds) * 1e3);
  }

  Status BlockStream() override {
    __atomic_store_n(flag_, 0u, __ATOMIC_SEQ_CST);
    return Queue(LaunchOf(HoldCall{device_flag_, kMostHoldNs}), streams_.front());
  }
  void UnblockStream() override { __atomic_store_n(flag_, 1u, __ATOMIC_SEQ_CST); }

  Status EmptyCaches() override {
    const std::int64_t bytes = std::max<std::int64_t>(2 * facts_.second_level_cache.value, 64 << 20) / 16 * 16;
    // Beside the limit on memory: it is the timing's, not a candidate's.
    if (flush_ == nullptr) INFIMUM_CUDA(cudaMalloc(&flush_, static_cast<std::size_t>(bytes)), "allocating");
    return Launch(FlushCall(flush_, bytes), streams_.front());
  }

  Status Launch(const KernelCall& call, Stream stream) override {
    const std::optional<KernelLaunch> launch = LaunchOf(call);
    return launch ? Queue(*launch, stream) : Status();
  }
  Status LaunchEmpty() override { return Queue(LaunchOf(EmptyCall()), streams_.front()); }
  Status LaunchPeak(const BandwidthCall& call) override {
    INFIMUM_ASSIGN_OR_RETURN(const BandwidthCall filled, WithBlocks(call));
    return Queue(LaunchOf(filled), streams_.front());
  }
  Result<double> LaunchPeak(const ArithmeticCall& call) override {
    INFIMUM_ASSIGN_OR_RETURN(const ArithmeticCall filled, WithBlocks(call));
    INFIMUM_RETURN_IF_ERROR(Queue(LaunchOf(filled), streams_.front()));
    return static_cast<double>(OperationsOf(filled, filled.blocks));
  }

  std::optional<double> FrequencyMhz() override { return nvml_ ? nvml_->FrequencyMhz() : std::nullopt; }
  void Pause() override { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }
  bool IsPowerLimited() override { return nvml_ && nvml_->IsPowerLimited(); }
  std::vector<GpuProcess> OtherProcesses() override { return others_; }
  std::string ClockPolicy() override {
    if (!nvml_) return "";
    const std::optional<double> set = nvml_->ApplicationMhz();
    return set ? "application:" + std::to_string(static_cast<int>(*set)) + "MHz" : "unknown";
  }

 private:
  Status Queue(const KernelLaunch& launch, Stream stream) {
    INFIMUM_ASSIGN_OR_RETURN(const int error, kernels_->Launch(launch, stream));
    return Check(static_cast<cudaError_t>(error), "launching a kernel");
  }
  // As many blocks as the device holds at a time, where the call says none.
  template <class Call>
  Result<Call> WithBlocks(Call call) {
    if (call.blocks > 0) return call;
    INFIMUM_ASSIGN_OR_RETURN(const int each, kernels_->BlocksOfMultiprocessor(LaunchOf(call)));
    call.blocks = each * static_cast<int>(facts_.multiprocessors);
    return call;
  }

  Status FindDevice() {
    int version = 0, count = 0;
    INFIMUM_CUDA(cudaDriverGetVersion(&version), "asking for the driver");
    if (version == 0) return Error{"there is no NVIDIA driver here (libcuda.so.1 was not found)"};
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
      static_cast<void>(cudaGetLastError());
      return Error{"the NVIDIA driver has no GPU here; is CUDA_VISIBLE_DEVICES set?"};
    }
    if (error == cudaErrorInsufficientDriver) {
      return Error{"the NVIDIA driver knows CUDA " + VersionText(version) + ", this program needs " +
                   VersionText(CUDART_VERSION) + "; update the driver"};
    }
    INFIMUM_CUDA(error, "counting GPUs");
    if (options_.device < 0 || options_.device >= count) {
      return Error{"there is no GPU " + std::to_string(options_.device) + ", only " + std::to_string(count) +
                   " from 0 on"};
    }
    return {};
  }

  Status ReadFacts() {
    cudaDeviceProp properties{};
    INFIMUM_CUDA(cudaGetDeviceProperties(&properties, options_.device), "asking for the device's properties");
    facts_.name = properties.name;
    const std::string digits = UuidDigits(properties.uuid);
    facts_.uuid = "GPU-" + digits;
    facts_.compute_capability = properties.major * 100 + properties.minor * 10;
    facts_.multiprocessors = properties.multiProcessorCount;
    facts_.memory = Bytes{static_cast<std::int64_t>(properties.totalGlobalMem)};
    facts_.second_level_cache = Bytes{properties.l2CacheSize};
    facts_.on_chip_memory =
        Bytes{facts_.multiprocessors * (std::int64_t{4} * properties.regsPerMultiprocessor +
                                        static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor))};
    int khz = 0;
    if (cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, options_.device) == cudaSuccess)
      facts_.clock_mhz = khz / 1e3;
    int driver = 0, runtime = 0;
    INFIMUM_CUDA(cudaDriverGetVersion(&driver), "asking for the driver");
    INFIMUM_CUDA(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
    facts_.driver = VersionText(driver);
    facts_.runtime = VersionText(runtime);
    Result<std::unique_ptr<Nvml>> nvml = Nvml::Open(digits);
    if (nvml.ok()) {
      nvml_ = *std::move(nvml);
      facts_.uuid = nvml_->uuid();
      if (const std::string version = nvml_->DriverVersion(); !version.empty()) facts_.driver = version;
      facts_.power_limit = nvml_->PowerLimit();
      facts_.ecc = nvml_->Ecc();
    }
    return {};
  }

  GpuOptions options_;
  GpuFacts facts_;
  std::unique_ptr<Nvml> nvml_;
  std::optional<KernelLoader> kernels_;
  std::vector<GpuProcess> others_;  // when this one began
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  cudaEvent_t joint_ = nullptr;
  std::uint32_t* flag_ = nullptr;  // of the holding kernel, on the host
  const std::uint32_t* device_flag_ = nullptr;
  void* flush_ = nullptr;
  std::map<Graph, cudaGraphExec_t> graphs_;
  std::set<Graph> overlapping_;
  Graph last_graph_ = 0;
  std::map<void*, Bytes> sizes_;
  Bytes allocated_;
};

}  // namespace

Result<std::unique_ptr<Gpu>> OpenCudaGpu(const GpuOptions& options) {
  auto gpu = std::make_unique<CudaGpu>(options);
  INFIMUM_RETURN_IF_ERROR(gpu->Open());
  return std::unique_ptr<Gpu>(std::move(gpu));
}

}  // namespace infimum::cuda
