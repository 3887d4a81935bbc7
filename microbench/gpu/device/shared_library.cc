#include "microbench/gpu/device/shared_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

namespace infimum::cuda {
namespace {

namespace fs = std::filesystem;

// lib/python3.11/site-packages/nvidia/<package>/lib of a prefix, of every Python that it has. Packages of CUDA 13 share
// one folder, nvidia/cu13.
void AddPackages(const fs::path& prefix, std::string_view package, std::vector<fs::path>& folders) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& python : fs::directory_iterator(prefix / "lib", ignored)) {
    if (!python.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const std::string_view name : {package, std::string_view("cu13")}) {
        fs::path folder = python.path() / packages / "nvidia" / name / "lib";
        if (fs::is_directory(folder, ignored)) found.push_back(std::move(folder));
      }
    }
  }
  std::ranges::sort(found, std::greater<>());  // the newest Python first
  folders.insert(folders.end(), found.begin(), found.end());
}

void AddListed(const char* variable, std::vector<fs::path>& folders) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return;
  std::string_view left = value;
  while (!left.empty()) {
    const std::size_t colon = left.find(':');
    if (colon != 0) folders.emplace_back(left.substr(0, colon));
    if (colon == std::string_view::npos) return;
    left.remove_prefix(colon + 1);
  }
}

// What brings a library, by its folder in wheels. Of CUDA 13 most wheels have no version in their names.
std::string Wheel(std::string_view package, const std::string& library) {
  if (package == "cusparselt") return "pip install nvidia-cusparselt-cu13, or NVIDIA's packages";
  if (package == "nvml") return "it comes with NVIDIA's driver";
  if (package == "cudnn")
    return "pip install nvidia-cudnn-cu13, beside a driver before R580 nvidia-cudnn-cu12, or NVIDIA's packages";
  std::string name(package);
  std::ranges::replace(name, '_', '-');
  return "pip install nvidia-" + name + (library.ends_with(".12") ? "-cu12" : "") + ", or NVIDIA's packages";
}

std::string PathOf(void* handle, const std::string& name) {
  // A library's own address tells where the loader found it.
  std::string path(4096, '\0');
  if (dlinfo(handle, RTLD_DI_ORIGIN, path.data()) != 0) return name;
  path.resize(path.find('\0'));
  return (fs::path(path) / name).string();
}

}  // namespace

std::vector<std::string> NamesForDriver(const std::string& stem, int driver) {
  if (driver < 13000) return {stem + ".so.12", stem + ".so.13"};
  return {stem + ".so.13", stem + ".so.12"};
}

std::vector<fs::path> LibraryFolders(std::string_view package) {
  std::vector<fs::path> folders;
  for (const char* prefix : {"/usr/local/cuda", "/opt/cuda"})
    for (const char* lib : {"lib64", "lib"}) folders.push_back(fs::path(prefix) / lib);
  if (const char* environment = std::getenv("VIRTUAL_ENV")) AddPackages(environment, package, folders);
  if (const char* environment = std::getenv("CONDA_PREFIX")) AddPackages(environment, package, folders);
  // The environment that `python3` is of, which need not be active in a name of its own.
  std::vector<fs::path> programs;
  AddListed("PATH", programs);
  for (const fs::path& program : programs) {
    std::error_code ignored;
    if (!fs::exists(program / "python3", ignored)) continue;
    AddPackages(program.parent_path(), package, folders);
    break;
  }
  for (const char* prefix : {"/usr/local", "/usr"}) AddPackages(prefix, package, folders);
  return folders;
}

Result<SharedLibrary> SharedLibrary::Open(const std::vector<std::string>& names, std::string_view package,
                                          std::string_view what) {
  std::string failure;
  const auto open = [&](const std::string& name) -> void* {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    // A file that is there and cannot be loaded says more than one that is not.
    if (const char* said = handle == nullptr ? dlerror() : nullptr)
      if (std::string_view(said).find("No such file") == std::string_view::npos && failure.empty()) failure = said;
    return handle;
  };
  std::vector<fs::path> own;
  AddListed("INFIMUM_CUDA_LIBRARIES", own);
  for (const fs::path& folder : own)
    for (const std::string& name : names)
      if (void* handle = open((folder / name).string())) return SharedLibrary(handle, folder / name);
  for (const std::string& name : names)
    if (void* handle = open(name)) return SharedLibrary(handle, PathOf(handle, name));
  for (const fs::path& folder : LibraryFolders(package))
    for (const std::string& name : names)
      if (void* handle = open((folder / name).string())) return SharedLibrary(handle, folder / name);
  return Error{std::string(what) + " (" + names.front() + ") was not found" +
               (failure.empty() ? std::string() : "; the loader says: " + failure) + "; install it (" +
               Wheel(package, names.front()) + "), or name its folder in INFIMUM_CUDA_LIBRARIES"};
}

std::vector<std::string> LoadNvrtcBuiltins() {
  std::vector<fs::path> folders;
  AddListed("INFIMUM_CUDA_LIBRARIES", folders);
  for (fs::path& folder : LibraryFolders("cuda_nvrtc")) folders.push_back(std::move(folder));
  std::vector<std::string> loaded;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
      // One of each version: "libnvrtc-builtins.so.13.0".
      const std::string name = file.path().filename().string();
      if (!name.starts_with("libnvrtc-builtins.so.") || std::ranges::find(loaded, name) != loaded.end()) continue;
      if (dlopen(file.path().c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) loaded.push_back(name);
    }
  }
  return loaded;
}

void* SharedLibrary::Find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace infimum::cuda
