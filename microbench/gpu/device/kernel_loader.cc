#include "microbench/gpu/device/kernel_loader.h"

#include "microbench/gpu/device/shared_library.h"

namespace infimum::cuda {
namespace {

// Of cuda.h, whose functions have been as they are since CUDA 9.
constexpr int kMostDynamicSharedMemory = 8;       // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr std::int64_t kSharedMemory = 48 << 10;  // of a block that asks for no more

}  // namespace

struct KernelLoader::Driver {
  int (*version)(int*) = nullptr;
  int (*load)(void**, const void*) = nullptr;
  int (*function)(void**, void*, const char*) = nullptr;
  int (*set_attribute)(void*, int, int) = nullptr;
  int (*occupancy)(int*, void*, int, std::size_t) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = nullptr;

  bool Find(const SharedLibrary& library) {
    return library.Find("cuDriverGetVersion", version) && library.Find("cuModuleLoadData", load) &&
           library.Find("cuModuleGetFunction", function) && library.Find("cuFuncSetAttribute", set_attribute) &&
           library.Find("cuOccupancyMaxActiveBlocksPerMultiprocessor", occupancy) &&
           library.Find("cuLaunchKernel", launch);
  }
};

KernelLoader::KernelLoader(std::int64_t compute_capability) : compute_capability_(compute_capability) {}
KernelLoader::~KernelLoader() = default;

Status KernelLoader::Open() {
  if (missing_) return *missing_;
  if (compiler_ != nullptr) return {};
  const auto open = [&]() -> Status {
    INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library, SharedLibrary::Open({"libcuda.so.1"}, "nvml", "the driver"));
    driver_ = std::make_unique<Driver>();
    if (!driver_->Find(library)) return Error{library.path().string() + " lacks functions of CUDA's driver"};
    int version = 0;
    if (driver_->version(&version) != 0) return Error{"the driver does not tell its version"};
    INFIMUM_ASSIGN_OR_RETURN(compiler_, KernelCompiler::Open(compute_capability_, CodeCache(), version));
    return {};
  };
  const Status opened = open();
  if (!opened.ok()) missing_ = opened.error();
  return opened;
}

Result<KernelLoader::Function> KernelLoader::Find(const KernelLaunch& launch) {
  const std::string key = launch.key();
  auto known = functions_.find(key);
  int code = 0;
  if (known == functions_.end()) {
    if (launch.name.empty()) return Error{"infimum has no kernel in this variant"};
    INFIMUM_RETURN_IF_ERROR(Open());
    INFIMUM_ASSIGN_OR_RETURN(const CompiledKernel compiled, compiler_->Compile(SourceOf(launch), launch.name));
    // Never unloaded: captured graphs hold kernels.
    void *module = nullptr, *function = nullptr;
    code = driver_->load(&module, compiled.code.data());
    if (code == 0) code = driver_->function(&function, module, compiled.entry.c_str());
    if (code == 0) known = functions_.emplace(key, Loaded{function, kSharedMemory}).first;
  }
  if (code == 0 && launch.shared > known->second.shared) {
    code = driver_->set_attribute(known->second.function, kMostDynamicSharedMemory, static_cast<int>(launch.shared));
    if (code == 0) known->second.shared = launch.shared;
  }
  if (code != 0) return Error{"the driver does not load " + launch.name + ": CUDA error " + std::to_string(code)};
  return known->second.function;
}

Result<int> KernelLoader::Launch(const KernelLaunch& launch, void* stream) {
  INFIMUM_ASSIGN_OR_RETURN(const Function function, Find(launch));
  void* arguments[] = {const_cast<std::byte*>(launch.argument.data())};
  return driver_->launch(function, static_cast<unsigned>(launch.blocks[0]), static_cast<unsigned>(launch.blocks[1]), 1,
                         static_cast<unsigned>(launch.threads[0]), static_cast<unsigned>(launch.threads[1]), 1,
                         static_cast<unsigned>(launch.shared), stream, arguments, nullptr);
}

Result<int> KernelLoader::BlocksOfMultiprocessor(const KernelLaunch& launch) {
  INFIMUM_ASSIGN_OR_RETURN(const Function function, Find(launch));
  int blocks = 0;
  const int code = driver_->occupancy(&blocks, function, launch.threads[0] * launch.threads[1],
                                      static_cast<std::size_t>(launch.shared));
  if (code != 0) return Error{"the driver does not say how many blocks fit: CUDA error " + std::to_string(code)};
  return blocks;
}

}  // namespace infimum::cuda
