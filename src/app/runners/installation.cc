#include "src/app/runners/installation.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "db/store/data_sheets.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

// What follows `prefix` in the names of a folder's entries, sorted; `suffix` is cut off.
std::vector<std::string> NamesIn(const std::filesystem::path& folder, std::string_view prefix,
                                 std::string_view suffix) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(suffix) && name.size() > prefix.size() + suffix.size()) {
      names.push_back(name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::filesystem::path> Choose(const std::filesystem::path& folder, std::string_view kind,
                                     std::string_view prefix, std::string_view name, std::string_view suffix) {
  const std::filesystem::path path = folder / fmt::format("{}{}{}", prefix, name, suffix);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return path;
  const std::vector<std::string> known = NamesIn(folder, prefix, suffix);
  const std::vector<std::string_view> views(known.begin(), known.end());
  return Error{fmt::format("unknown {} {}{}; there {}: {}", kind, Quoted(name), DidYouMean(name, views),
                           known.size() == 1 ? "is" : "are", known.empty() ? "none" : Join(known, ", "))};
}

// As names of files are: small letters and no maker.
std::string PlainGpuName(std::string_view name) { return PlainDeviceName(name, "NVIDIA"); }

// As the properties in this file say, "" where they do not.
std::string DeviceNameIn(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  const nlohmann::json properties = nlohmann::json::parse(input, nullptr, false);
  if (!properties.is_object()) return "";
  const auto name = properties.find("deviceName");
  return name != properties.end() && name->is_string() ? name->get<std::string>() : "";
}

}  // namespace

Result<Installation> Installation::Find() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Error{"the running program's own path cannot be read: " + error.message()};
  return Installation(self.parent_path());
}

Result<std::filesystem::path> Installation::Runner(std::string_view backend) const {
  Result<std::filesystem::path> runner = Choose(binaries_, "backend", "infimum-microbench-", backend, "");
  if (!runner && backend == "cuda")
    return Error{runner.error().message +
                 ". The runner for CUDA needs CUDA 12, cuDNN 9 and cuBLASLt, or newer: INFIMUM_GPU=on scripts/setup "
                 "fetches them, and scripts/build says what it leaves out"};
  return runner;
}

Result<std::filesystem::path> Installation::Enumerator(std::string_view backend) const {
  const std::filesystem::path path = binaries_ / fmt::format("infimum-candidates-{}", backend);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return path;
  return Error{
      fmt::format("{} cannot be asked about a device that is not here: {} is missing; it is built if CMake finds the "
                  "library's headers (for cuDNN: cudnn.h, cuda_runtime_api.h and cudnn_frontend.h)",
                  backend, path.filename().string())};
}

Result<std::filesystem::path> Installation::GpuProperties(const std::string& given) const {
  if (given.empty()) return Error{"a GPU's name or a file of its properties is needed, not nothing"};
  std::error_code error;
  if (std::filesystem::is_regular_file(given, error)) return std::filesystem::path(given);
  if (given.find('/') != std::string::npos || given.ends_with(".json"))
    return Error{given + ": no such file of device properties"};
  const std::filesystem::path folder = share() / "gpus";
  const std::string wanted = PlainGpuName(given);
  const DataSheet* const sheet = FindDataSheet(given);
  const std::vector<std::string> known = NamesIn(folder, "", ".json");
  std::vector<std::string> begin_so;
  for (const std::string& name : known) {
    const std::filesystem::path path = folder / (name + ".json");
    const std::string device = PlainGpuName(DeviceNameIn(path));
    if (name == wanted || device == wanted || (sheet != nullptr && device == PlainGpuName(sheet->device.name)))
      return path;
    if (name.starts_with(wanted) || device.starts_with(wanted)) begin_so.push_back(name);
  }
  if (begin_so.size() == 1) return folder / (begin_so[0] + ".json");
  if (!begin_so.empty())
    return Error{fmt::format("GPU {} is not one but {}: {}", Quoted(given), begin_so.size(), Join(begin_so, ", "))};
  const std::vector<std::string_view> views(known.begin(), known.end());
  return Error{fmt::format("unknown GPU {}{}; there {}: {}; or a file of its properties", Quoted(given),
                           DidYouMean(wanted, views), known.size() == 1 ? "is" : "are",
                           known.empty() ? "none" : Join(known, ", "))};
}

Result<std::filesystem::path> Installation::FrameworkScript(std::string_view framework, std::string_view task) const {
  return Choose(share() / "frameworks", "framework", fmt::format("{}_", task), framework, ".py");
}

std::string Installation::Python(const std::string& given) const {
  if (!given.empty()) return given;
  if (const char* named = std::getenv("INFIMUM_PYTHON"); named != nullptr && *named != '\0') return named;
  std::ifstream file(share() / "python");
  std::string recorded;
  if (std::getline(file, recorded) && std::filesystem::exists(recorded)) return recorded;
  return "python3";
}

std::vector<std::string> Installation::CMake() const {
  std::ifstream file(share() / "cmake");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty() || !std::filesystem::exists(lines[0])) return {"cmake"};
  return lines;
}

std::string Installation::DefaultBackend(const std::filesystem::path& root) const {
  std::error_code error;
  // WSL has no device file of NVIDIA's.
  const bool has_driver = std::filesystem::exists(root / "dev/nvidiactl", error) ||
                          std::filesystem::exists(root / "usr/lib/wsl/lib/libcuda.so.1", error);
  // As CUDA itself hides all devices.
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool is_hidden = visible != nullptr && (*visible == '\0' || std::string_view(visible) == "-1");
  const char* const wish = std::getenv("INFIMUM_GPU");
  const std::set<std::string_view> no{"off", "OFF", "no", "0"};
  const bool is_declined = wish != nullptr && no.contains(wish);
  return has_driver && !is_hidden && !is_declined && Runner("cuda").ok() ? "cuda" : "onednn";
}

std::string DefaultBackend() {
  static const std::string backend = [] {
    const Result<Installation> installation = Installation::Find();
    if (!installation.ok() || installation->DefaultBackend() == "onednn") return "onednn";
    // A container may have the device's file without the driver's library.
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver == nullptr) return "onednn";
    dlclose(driver);
    return "cuda";
  }();
  return backend;
}

std::optional<std::string> BackendOfDevice(std::string_view name) {
  if (name == "cpu") return "onednn";
  if (name == "gpu") return "cuda";
  return std::nullopt;
}

Status CheckBackend(std::string_view device, const std::string& backend) {
  if (backend == DefaultBackend() || backend == BackendOfDevice(device)) return {};
  return Error{fmt::format("--device {} and --backend {} contradict each other; leave one out", device, backend)};
}

std::string_view InfimumVersion() { return INFIMUM_VERSION; }

}  // namespace infimum
