#include "microbench/gpu/checklist/nvidia_checks.h"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "infimum/base/file_text.h"
#include "infimum/base/result.h"
#include "infimum/base/units.h"
#include "infimum/measurement/statistics.h"
#include "microbench/gpu/device/shared_library.h"
#include "microbench/libraries/cublaslt/cublaslt.h"
#include "microbench/libraries/cublaslt/gemm_program.h"
#include "microbench/libraries/cublaslt/gemm_recording.h"
#include "microbench/libraries/cudnn/cudnn_candidates.h"
#include "microbench/libraries/cudnn/cudnn_library.h"
#include "microbench/libraries/cudnn_legacy/legacy_calls.h"

namespace infimum::cuda {
namespace {

// What CUPTI, NVIDIA's own profiler, says of each kernel that ran: the times that ours are held against.
//
//   INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<KernelRecorder> recorder, KernelRecorder::Start());
//   run->Run();
//   for (const KernelRecord& kernel : *recorder->Stop()) ...   // {"sm90_xmma_fprop_...", 61.4 us}

struct KernelRecord {
  std::string name;
  Latency duration{0};
};

class KernelRecorder {
 public:
  // One at a time in a process. An error where libcupti is missing or not allowed to look.
  static Result<std::unique_ptr<KernelRecorder>> Start();
  ~KernelRecorder();

  // All kernels since the start, in the order in which CUPTI hands them over. Waits for none: the device is done.
  Result<std::vector<KernelRecord>> Stop();

 private:
  struct Functions;
  explicit KernelRecorder(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions_;
};

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr CUpti_ActivityKind kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
#else  // CUDA 12
using Kernel = CUpti_ActivityKernel9;
#endif

// CUPTI's callbacks know nothing but their buffer.
struct Collected {
  std::mutex mutex;
  std::vector<KernelRecord> kernels;
  decltype(&cuptiActivityGetNextRecord) next = nullptr;
};
Collected& Shared() {
  static Collected& shared = *new Collected();
  return shared;
}

void CUPTIAPI GiveBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void CUPTIAPI TakeBuffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  Collected& shared = Shared();
  const std::lock_guard<std::mutex> lock(shared.mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && shared.next(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != kKernels) continue;
    const auto& kernel = *reinterpret_cast<const Kernel*>(record);
    shared.kernels.push_back(
        {kernel.name == nullptr ? "" : kernel.name, Latency(static_cast<double>(kernel.end - kernel.start) * 1e-3)});
  }
  std::free(buffer);
}

struct KernelRecorder::Functions {
  decltype(&cuptiActivityRegisterCallbacks) set_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiGetResultString) text = nullptr;

  Status Check(CUptiResult result, const char* doing) const {
    if (result == CUPTI_SUCCESS) return {};
    const char* words = nullptr;
    if (text != nullptr) text(result, &words);
    return Error{std::string("CUPTI, ") + doing + ": " + (words == nullptr ? std::to_string(result) : words)};
  }
};

KernelRecorder::KernelRecorder(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}

KernelRecorder::~KernelRecorder() { functions_->disable(kKernels); }

Result<std::unique_ptr<KernelRecorder>> KernelRecorder::Start() {
  INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library,
                           SharedLibrary::Open({"libcupti.so.13", "libcupti.so.12", "libcupti.so"}, "cuda_cupti",
                                               "CUPTI, NVIDIA's profiling interface"));
  auto functions = std::make_unique<Functions>();
  const auto find = [&]<class Function>(const char* name, Function& function) {
    function = reinterpret_cast<Function>(library.Find(name));
    return function != nullptr;
  };
  const bool found =
      find("cuptiActivityRegisterCallbacks", functions->set_callbacks) &&
      find("cuptiActivityEnable", functions->enable) && find("cuptiActivityDisable", functions->disable) &&
      find("cuptiActivityFlushAll", functions->flush) && find("cuptiActivityGetNextRecord", Shared().next);
  if (!found) return Error{library.path().string() + ": not the CUPTI that was expected"};
  find("cuptiGetResultString", functions->text);
  Shared().kernels.clear();
  INFIMUM_RETURN_IF_ERROR(functions->Check(functions->set_callbacks(GiveBuffer, TakeBuffer), "setting it up"));
  INFIMUM_RETURN_IF_ERROR(functions->Check(functions->enable(kKernels), "looking at kernels"));
  return std::unique_ptr<KernelRecorder>(new KernelRecorder(std::move(functions)));
}

Result<std::vector<KernelRecord>> KernelRecorder::Stop() {
  INFIMUM_RETURN_IF_ERROR(functions_->Check(functions_->flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "handing over"));
  const std::lock_guard<std::mutex> lock(Shared().mutex);
  return std::move(Shared().kernels);
}

constexpr int kSamples = 21;
constexpr Bytes kGemmWorkspace{std::int64_t{32} << 20};
// Kernels of so many microseconds or more are long enough for both clocks to agree.
constexpr double kLongEnough = 50, kMostApart = 0.02;

Result<std::vector<Workload>> LayersOf(const CheckTools& tools) {
  std::vector<Workload> workloads;
  for (const std::string& text : tools.layers) {
    INFIMUM_ASSIGN_OR_RETURN(Workload workload, ParseWorkload(text));
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

// Where there is no device: what would be found once there is a driver.
Finding LibrariesAlone(const Error& no_device) {
  Finding finding;
  finding.holds = false;
  finding.details.push_back(no_device.message);
  const auto add = [&](const char* name, const auto& library) {
    finding.details.push_back(library.ok() ? fmt::format("{} {}", name, library->path().string())
                                           : library.error().message);
  };
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);
  add("cudnn", SharedLibrary::Open({"libcudnn.so.9"}, "cudnn", "cuDNN 9"));
  add("cublaslt", SharedLibrary::Open(NamesForDriver("libcublasLt", driver), "cublas", "cuBLASLt"));
  add("cublas", SharedLibrary::Open(NamesForDriver("libcublas", driver), "cublas", "cuBLAS"));
  add("cusparselt", SharedLibrary::Open({"libcusparseLt.so.0"}, "cusparselt", "cuSPARSELt"));
  add("nvrtc", SharedLibrary::Open(NamesForDriver("libnvrtc", driver), "cuda_nvrtc", "NVRTC"));
  return finding;
}

Result<Finding> CheckLibraries(const CheckTools& tools) {
  const Result<Device> described = tools.backend.DescribeDevice();
  if (!described.ok()) return LibrariesAlone(described.error());
  const Device& device = *described;
  INFIMUM_ASSIGN_OR_RETURN(const Environment environment, tools.backend.DescribeEnvironment());
  Finding finding;
  finding.details.push_back(device.Key().text);
  for (const auto& [name, version] : environment.libraries) finding.details.push_back(name + " " + version);
  for (const char* needed : {"cudnn", "cublaslt", "cublas"}) {
    if (environment.libraries.contains(needed)) continue;
    finding.holds = false;
    finding.details.push_back(std::string(needed) + " is missing");
  }
  if (const Result<CudnnLibrary> cudnn = CudnnLibrary::Load(); cudnn.ok()) finding.details.push_back(cudnn->path());
  const std::optional<double> clock = tools.backend.FrequencyMhz();
  finding.details.push_back(clock ? fmt::format("NVML reports a clock of {:.0f} MHz", *clock)
                                  : "NVML reports no clock");
  return finding;
}

Result<Finding> CheckProperties(const CheckTools& tools) {
  INFIMUM_ASSIGN_OR_RETURN(const Device device, tools.backend.DescribeDevice());
  INFIMUM_RETURN_IF_ERROR(CudnnLibrary::Load());
  INFIMUM_ASSIGN_OR_RETURN(const std::string json, PropertiesOfDevice(tools.device));
  const std::filesystem::path path = tools.folder / "device-properties.json";
  INFIMUM_RETURN_IF_ERROR(WriteFile(path, json));
  INFIMUM_ASSIGN_OR_RETURN(const GpuProperties properties, GpuProperties::Parse(json, path.string()));
  return Finding{properties.name() == device.name, {path.string(), properties.name()}};
}

Result<Finding> CheckDeviceless(const CheckTools& tools) {
  INFIMUM_ASSIGN_OR_RETURN(const Device device, tools.backend.DescribeDevice());
  INFIMUM_RETURN_IF_ERROR(CudnnLibrary::Load());
  INFIMUM_ASSIGN_OR_RETURN(const std::string json, PropertiesOfDevice(tools.device));
  INFIMUM_ASSIGN_OR_RETURN(const GpuProperties properties, GpuProperties::Parse(json, "the device"));
  INFIMUM_ASSIGN_OR_RETURN(const std::shared_ptr<CudnnHandle> handle,
                           CudnnHandle::Create(properties.name(), properties.compute_capability()));
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Workload> workloads, LayersOf(tools));
  Finding finding;
  for (const Workload& workload : workloads) {
    const auto names = [&](const CudnnTarget& target) -> Result<std::vector<std::string>> {
      INFIMUM_ASSIGN_OR_RETURN(const CandidateList list,
                               CudnnCandidates(workload, NativeContract(workload), CandidateTier::kEngine, target));
      std::vector<std::string> found;
      for (const OfferedCandidate& offered : list.candidates)
        found.push_back(offered.candidate.name() + " " + offered.candidate.input_layout);
      return found;
    };
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> here, names(CudnnTarget::Of(device.name, handle)));
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> told, names(CudnnTarget::Of(properties)));
    const std::set<std::string> here_set(here.begin(), here.end()), told_set(told.begin(), told.end());
    std::vector<std::string> differing;
    std::set_symmetric_difference(here_set.begin(), here_set.end(), told_set.begin(), told_set.end(),
                                  std::back_inserter(differing));
    finding.holds = finding.holds && differing.empty();
    finding.details.push_back(fmt::format("{}: {} on the device, {} by its properties, {} differ{}{}", Format(workload),
                                          here.size(), told.size(), differing.size(),
                                          here == told ? "" : ", not in the same order",
                                          differing.empty() ? "" : ": " + differing.front()));
  }
  return finding;
}

Result<Finding> CheckLegacy(const CheckTools& tools) {
  Finding finding;
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Workload> workloads, LayersOf(tools));
  for (const Workload& workload : workloads) {
    const auto* layer = std::get_if<LayerConfig>(&workload);
    if (layer == nullptr || !std::holds_alternative<ConvolutionConfig>(*layer)) continue;
    const NumericContract contract = NativeContract(workload);
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                             tools.backend.Candidates(workload, contract, CandidateTier::kEngine));
    for (const Candidate& candidate : candidates) {
      if (candidate.library != kCudnnLegacy) continue;
      std::string line = Format(workload) + ": " + candidate.name() + " " + candidate.input_layout + ": ";
      Result<std::unique_ptr<PreparedRun>> run = tools.backend.Prepare(workload, candidate, contract);
      if (!run.ok()) {
        finding.details.push_back(line + run.error().message);
        continue;
      }
      INFIMUM_ASSIGN_OR_RETURN(const std::optional<double> error, (*run)->NumericError());
      INFIMUM_ASSIGN_OR_RETURN(const std::vector<Latency> times, WarmTimes(**run, kSamples));
      const bool is_right = error && *error <= Tolerance(contract, workload);
      finding.holds = finding.holds && is_right;
      finding.details.push_back(line + fmt::format("{:.2f} us, error {:.2g}{}", Quantile(times, 0.5).count(),
                                                   error.value_or(NAN), is_right ? "" : " WRONG"));
    }
  }
  finding.holds = finding.holds && !finding.details.empty();
  return finding;
}

Result<Finding> CheckCublasLt(const CheckTools& tools) {
  // The device is opened, so that the library has one to answer for.
  INFIMUM_RETURN_IF_ERROR(tools.backend.DescribeDevice());
  INFIMUM_ASSIGN_OR_RETURN(const std::shared_ptr<GemmLibrary> lt, OpenCublasLt(kGemmWorkspace));
  const auto recorder = std::make_shared<RecordingGemmLibrary>(lt);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Workload> workloads, LayersOf(tools));
  Finding finding;
  for (const Workload& workload : workloads) {
    for (const NumericContract contract : {NativeContract(workload), NumericContract::kTf32}) {
      if (contract == NumericContract::kTf32 && NativeContract(workload) != NumericContract::kStrictF32) continue;
      const std::size_t offers = GemmOffers(recorder, workload, contract, CandidateTier::kEngine).size();
      if (offers > 0)
        finding.details.push_back(fmt::format("{} under {}: {}", Format(workload), Name(contract), offers));
    }
  }
  finding.holds = !finding.details.empty();
  const std::filesystem::path path = tools.folder / "cublaslt-recording.json";
  INFIMUM_RETURN_IF_ERROR(WriteFile(path, recorder->Text()));
  finding.details.push_back(path.string());
  return finding;
}

struct KernelTimes {
  Latency sum{0};
  std::size_t count = 0;
};
// Of one launch: how many kernels, and the median over several launches of the sum of their durations. Launched one by
// one: graphs that were recorded before CUPTI looked may have no records.
Result<KernelTimes> TimesOfKernels(PreparedRun& run) {
  INFIMUM_RETURN_IF_ERROR(run.Run());
  std::vector<Latency> sums;
  std::size_t count = 0;
  for (int i = 0; i < kSamples; ++i) {
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<KernelRecorder> recorder, KernelRecorder::Start());
    INFIMUM_RETURN_IF_ERROR(run.Run());
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<KernelRecord> kernels, recorder->Stop());
    if (kernels.empty()) return Error{"CUPTI saw no kernel"};
    Latency sum{0};
    for (const KernelRecord& kernel : kernels) sum += kernel.duration;
    sums.push_back(sum);
    count = kernels.size();
  }
  return KernelTimes{Quantile(sums, 0.5), count};
}

// A marginal launch is its kernels' time and a gap behind each, which an empty kernel's time has too. What the power
// limit slows down is not compared: launched one by one it is faster (by 10 to 12 % on an H100).
Result<Finding> CheckCupti(const CheckTools& tools) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Workload> workloads, LayersOf(tools));
  Finding finding;
  struct Timed {
    const Workload& workload;
    PreparedCandidate prepared;
    Latency ours;
  };
  // All of ours first: once CUPTI has looked it may slow down whatever follows.
  std::vector<Timed> timed;
  for (const Workload& workload : workloads) {
    Result<PreparedCandidate> prepared = PrepareFirst(tools.backend, workload);
    if (!prepared.ok()) {
      finding.details.push_back(Format(workload) + ": " + prepared.error().message);
      continue;
    }
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Latency> samples, WarmTimes(*prepared->run, kSamples));
    timed.push_back({workload, *std::move(prepared), Quantile(samples, 0.5)});
  }
  bool any_long = false;
  for (Timed& one : timed) {
    PreparedRun& run = *one.prepared.run;
    INFIMUM_ASSIGN_OR_RETURN(const KernelTimes kernels, TimesOfKernels(run));
    const std::vector<std::string> flags = run.TimingFlags();
    const bool is_limited = std::ranges::find(flags, "power_limited") != flags.end();
    const bool is_judged = !is_limited && kernels.sum.count() >= kLongEnough;
    any_long |= is_judged;
    const Latency apart = one.ours - kernels.sum, gaps = run.TimingFloor().value_or(Latency(0)) * kernels.count;
    finding.holds = finding.holds &&
                    (!is_judged || (apart >= -kMostApart * kernels.sum && apart <= kMostApart * kernels.sum + gaps));
    finding.details.push_back(fmt::format("{}: {}: {:.2f} us, by CUPTI {:.2f} us in {} kernels, ratio {:.4f}{}",
                                          Format(one.workload), one.prepared.candidate.name(), one.ours.count(),
                                          kernels.sum.count(), kernels.count, one.ours / kernels.sum,
                                          is_judged    ? ""
                                          : is_limited ? " (power limited)"
                                                       : " (short)"));
  }
  finding.holds = finding.holds && any_long;
  return finding;
}

}  // namespace

std::vector<Check> NvidiaChecks() {
  return {
      {"libraries", "which of NVIDIA's libraries were found, and where", CheckLibraries},
      {"properties", "the device's properties, kept as cuDNN reads them", CheckProperties},
      {"deviceless", "cuDNN lists for the device what it lists for its properties", CheckDeviceless},
      {"legacy", "the eight algorithms of a convolution", CheckLegacy},
      {"cublaslt", "cuBLASLt's answers, kept as a recording", CheckCublasLt},
      {"cupti", "times against those of kernels by CUPTI, within 2 % and the launch gaps from 50 us on", CheckCupti}};
}

}  // namespace infimum::cuda
