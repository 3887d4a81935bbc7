#include "microbench/gpu/checklist/kernel_recorder.h"

#include <cupti.h>

#include <cstdlib>
#include <mutex>

#include "microbench/gpu/device/shared_library.h"

namespace infimum::cuda {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr CUpti_ActivityKind kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

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
    const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
    shared.kernels.push_back(
        {kernel.name == nullptr ? "" : kernel.name, Latency(static_cast<double>(kernel.end - kernel.start) * 1e-3)});
  }
  std::free(buffer);
}

}  // namespace

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

}  // namespace infimum::cuda
