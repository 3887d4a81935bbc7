// Where infimum's own programs and scripts are: beside the running program, wherever it was put.
//
//   <prefix>/bin/infimum, infimum-microbench-onednn;  <prefix>/share/infimum/frameworks/measure_onnxruntime.py
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

namespace infimum {

class Installation {
 public:
  // Of the running program.
  static Result<Installation> Find();
  explicit Installation(std::filesystem::path binary_directory) : binaries_(std::move(binary_directory)) {}

  std::filesystem::path program() const { return binaries_ / "infimum"; }
  // Scripts, properties of GPUs, models.
  std::filesystem::path share() const { return binaries_.parent_path() / "share/infimum"; }

  // "infimum-microbench-<backend>"; an error lists the backends that are there.
  Result<std::filesystem::path> Runner(std::string_view backend) const;

  // What measures here unless the user says: "cuda" where its runner and a driver of NVIDIA's are, else "onednn", also
  // where CUDA_VISIBLE_DEVICES hides all devices or INFIMUM_GPU=off asks for it. `root`: of the file system.
  std::string DefaultBackend(const std::filesystem::path& root = "/") const;

  // "infimum-candidates-<backend>", which asks a library about devices that are not here.
  Result<std::filesystem::path> Enumerator(std::string_view backend) const;

  // A file of a GPU's properties: `given` where it is one, else the shipped one of this name. Small and capital letters
  // are the same: "h200", "NVIDIA H200" or another name that its data sheet knows, "a100" where one alone begins so. An
  // error lists those that it may be, or all.
  Result<std::filesystem::path> GpuProperties(const std::string& given) const;

  // "measure_onnxruntime.py", of another task "explain_onnxruntime.py"; an error lists the frameworks that have one.
  Result<std::filesystem::path> FrameworkScript(std::string_view framework, std::string_view task = "measure") const;

  // `given` (the user's --python), else INFIMUM_PYTHON, else the environment that scripts/setup made, else
  // python3 on the PATH.
  std::string Python(const std::string& given) const;

  // CMake, then what it is to be told of where libraries are: those that infimum was built with, else those on the
  // PATH.
  std::vector<std::string> CMake() const;

 private:
  std::filesystem::path binaries_;
};

// Of the running program's installation, where the driver's library can be opened.
std::string DefaultBackend();

// "cpu" and "gpu" name this machine's devices by the backend that measures on them; nullopt of every other name.
std::optional<std::string> BackendOfDevice(std::string_view name);
// An error where another backend than the device's was given beside it.
Status CheckBackend(std::string_view device, const std::string& backend);

// This program's version, from the build.
std::string_view InfimumVersion();

}  // namespace infimum
