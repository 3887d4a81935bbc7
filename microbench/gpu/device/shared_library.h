// A library of NVIDIA's, opened when it is asked for: no program here links one, so that each starts on every machine
// and can say which library is missing.
//
//   Result<SharedLibrary> cudnn = SharedLibrary::Open({"libcudnn.so.9"}, "cudnn", "cuDNN 9");
//   cudnn->path();   // "/usr/local/cuda/lib64/libcudnn.so.9"
//
// Looked for in this order: the folders in INFIMUM_CUDA_LIBRARIES (separated by colons), where the system's loader
// looks, /usr/local/cuda and /opt/cuda, and where Python's packages keep it (site-packages/nvidia/<part>/lib of the
// active environment, of the one that `python3` is of, and of the system's Pythons).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

namespace infimum::cuda {

// A library of CUDA's by the versions that are known here, that which the driver runs first: "libnvrtc.so.13",
// "libnvrtc.so.12". `driver`: as CUDA counts it, 12090 of R575.
std::vector<std::string> NamesForDriver(const std::string& stem, int driver);

class SharedLibrary {
 public:
  // `names`: the likeliest first; `package`: its folder in site-packages/nvidia; `what`: for people. An error says what
  // is missing, where it was looked for, and how to get it.
  static Result<SharedLibrary> Open(const std::vector<std::string>& names, std::string_view package,
                                    std::string_view what);

  // Never closed: libraries of CUDA do not survive it.
  void* handle() const { return handle_; }
  const std::filesystem::path& path() const { return path_; }
  // nullptr where the library has no such symbol.
  void* Find(const char* symbol) const;
  // As a function; false where there is none.
  template <class Function>
  bool Find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(Find(symbol));
    return function != nullptr;
  }

 private:
  SharedLibrary(void* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}

  void* handle_ = nullptr;
  std::filesystem::path path_;
};

// Folders in which NVIDIA's libraries may be, apart from those of the system's loader, in the order above.
std::vector<std::filesystem::path> LibraryFolders(std::string_view package);

// NVRTC opens its builtins by name alone, and the one of CUDA 13 looks for them nowhere but in the loader's folders:
// loads those that lie in the folders above, so that it and what uses it (cuDNN's engines) find them. Returns their
// names.
std::vector<std::string> LoadNvrtcBuiltins();

}  // namespace infimum::cuda
