// The CUDA runner on a GPU that is not there (pretended_gpu.h), with kernels of ours as its only library or, where
// PRETENDED_GPU says that graphs are computed, with the reference for products too (reference_library.h), which takes
// its time: the runner's own parts, processes and files are the real ones. Its times are pretended, and its clock is,
// so that a campaign takes no longer than the host needs for the arithmetic.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "microbench/gpu/gpu_backend.h"
#ifdef INFIMUM_PRETENDED_PROPERTIES
#include "infimum/base/file_text.h"
#include "microbench/libraries/cudnn/cudnn_candidates.h"
#include "microbench/libraries/cudnn/cudnn_library.h"
#endif
#include "tests/microbench/gpu/pretended_gpu.h"
#include "tests/microbench/gpu/reference_library.h"

namespace {

using namespace infimum;

// What cuDNN has on an H200, where it is here and PRETENDED_GPU names it; else nothing, and the library's own names do.
cuda::Enumerate CudnnOfH200() {
#ifdef INFIMUM_PRETENDED_PROPERTIES
  const char* const wish = std::getenv("PRETENDED_GPU");
  if (wish == nullptr || std::strstr(wish, "cudnn") == nullptr) return nullptr;
  const Result<std::string> text = ReadFile(INFIMUM_PRETENDED_PROPERTIES);
  if (!text.ok()) return nullptr;
  const Result<cuda::GpuProperties> properties = cuda::GpuProperties::Parse(*text, INFIMUM_PRETENDED_PROPERTIES);
  if (!properties.ok() || !cuda::CudnnLibrary::Load().ok()) return nullptr;
  // No kernel of the device's is run here.
  cuda::LoadDriverOrStub();
  return [target = cuda::CudnnTarget::Of(*properties)](const Workload& workload, NumericContract contract,
                                                       CandidateTier tier) {
    std::vector<cuda::EnumeratedCandidate> candidates;
    const Result<CandidateList> list = cuda::CudnnCandidates(workload, contract, tier, target);
    if (!list.ok()) return candidates;
    for (const OfferedCandidate& offered : list->candidates)
      if (const auto choice = cuda::FindChoice(workload, contract, offered.candidate))
        candidates.push_back({offered.candidate, choice->form});
    return candidates;
  };
#else
  return nullptr;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  static FakeClock clock;
  const auto open = [](const cuda::GpuOptions& options) -> Result<std::unique_ptr<cuda::Gpu>> {
    return std::unique_ptr<cuda::Gpu>(std::make_unique<cuda::PretendedGpu>(options, &clock));
  };
  const auto libraries = [](cuda::Gpu& gpu) {
    auto& pretended = static_cast<cuda::PretendedGpu&>(gpu);
    return pretended.computes_in_graphs ? cuda::MakeReferenceLibrary(pretended, CudnnOfH200()) : cuda::MakeOwnLibrary();
  };
  const auto make = [&](const BackendOptions& options) {
    return std::unique_ptr<Backend>(
        std::make_unique<cuda::GpuBackend>(options, cuda::GpuParts{open, libraries, &clock}));
  };
  return RunnerMain(argc, argv, "cuda-rehearsal", make, {.has_device_memory = true});
}
