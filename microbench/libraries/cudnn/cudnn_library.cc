#include "microbench/libraries/cudnn/cudnn_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

#include "microbench/gpu/device/shared_library.h"

// Where NVIDIA's frontend looks up cuDNN's functions.
namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

#if defined(__SANITIZE_ADDRESS__)
// cuDNN never frees what its heuristics and its handles of cuBLASLt allocate, and unloads libraries that did the same:
// no list of names covers these.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace infimum::cuda {

Result<CudnnLibrary> CudnnLibrary::Load() {
  static const Result<CudnnLibrary> loaded = []() -> Result<CudnnLibrary> {
    LoadNvrtcBuiltins();
    INFIMUM_ASSIGN_OR_RETURN(const SharedLibrary library, SharedLibrary::Open({"libcudnn.so.9"}, "cudnn", "cuDNN 9"));
    auto* get_version = reinterpret_cast<std::size_t (*)()>(library.Find("cudnnGetVersion"));
    if (get_version == nullptr) return Error{library.path().string() + ": it has no cudnnGetVersion; is it cuDNN?"};
    const std::size_t number = get_version();  // 91900: 9.19.0
    CudnnLibrary cudnn;
    cudnn.version_ =
        std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." + std::to_string(number % 100);
    cudnn.path_ = library.path().string();
    cudnn_frontend::cudnn_dlhandle = library.handle();
    return cudnn;
  }();
  return loaded;
}

void* CudnnLibrary::Symbol(const char* name) {
  return cudnn_frontend::cudnn_dlhandle == nullptr ? nullptr : dlsym(cudnn_frontend::cudnn_dlhandle, name);
}

bool LoadDriverOrStub() {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  // libcudnn's engines open "libcuda.so.1" by name; a library that is already loaded under that name answers.
  std::vector<std::filesystem::path> folders = LibraryFolders("cuda_runtime");
  for (const std::filesystem::path& folder : folders)
    if (dlopen((folder / "stubs" / "libcuda.so").c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  return false;
}

}  // namespace infimum::cuda
