#include "microbench/cpu/device/cpu_device.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "infimum/base/text.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kMostCores = 1 << 20;

constexpr int kMostCaches = 16;
constexpr std::int64_t kMostCacheBytes = std::int64_t{1} << 40;

// Without space around it; empty where there is no such file.
std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(TrimSpace(line));
}

// "32K", "1280K", "32M": the largest unit that divides.
std::string SizeText(std::int64_t bytes) {
  if (bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + "M";
  return std::to_string(bytes >> 10) + "K";
}

}  // namespace

std::int64_t PresentCores(const std::string& root) {
  std::ifstream file(root + "/present");
  std::string list;
  std::int64_t cores = 0;
  if (std::getline(file, list)) {
    for (const std::string_view piece : Split(TrimSpace(list), ',')) {
      const std::size_t dash = piece.find('-');
      const std::optional<std::int64_t> first = ParseInteger(piece.substr(0, dash));
      const std::optional<std::int64_t> last =
          dash == std::string_view::npos ? first : ParseInteger(piece.substr(dash + 1));
      if (first && last && *first >= 0 && *first <= *last && *last < kMostCores) cores += *last - *first + 1;
    }
  }
  return cores > 0 ? cores : std::max<std::int64_t>(1, sysconf(_SC_NPROCESSORS_CONF));
}

Result<Device> DescribeCpu() {
  const CpuFeatures& features = Features();
  Device device;
  device.kind = DeviceKind::kCpu;
  device.name = features.brand.empty() ? features.vendor : features.brand;
  device.vendor = features.vendor;
  device.generation = MicroArchitecture(features);
  device.cores = PresentCores("/sys/devices/system/cpu");
  device.identity["family"] = std::to_string(features.family);
  device.identity["model"] = std::to_string(features.model);
  device.identity["stepping"] = std::to_string(features.stepping);
  device.identity["instructions"] = features.InstructionSets();
  if (features.l1 > 0) device.identity["l1"] = SizeText(features.l1);
  if (features.l2 > 0) device.identity["l2"] = SizeText(features.l2);
  if (features.l3 > 0) device.identity["l3"] = SizeText(features.l3);
  device.identity["cores"] = std::to_string(device.cores);
  device.last_level_cache = Bytes{std::max({features.l1, features.l2, features.l3})};
  struct sysinfo memory {};
  if (sysinfo(&memory) == 0) {
    device.memory = Bytes{static_cast<std::int64_t>(memory.totalram) * static_cast<std::int64_t>(memory.mem_unit)};
  }
  return device;
}

std::int64_t LastLevelCaches(std::span<const int> cores, const std::string& root) {
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> sizes;  // by level and the cores that share it
  for (const int core : cores) {
    const std::string folder = root + "/cpu" + std::to_string(core) + "/cache/index";
    for (int index = 0; index < kMostCaches; ++index) {
      const std::string cache = folder + std::to_string(index);
      const std::optional<std::int64_t> level = ParseInteger(FirstLine(cache + "/level"));
      std::string size = FirstLine(cache + "/size");
      if (!level || size.empty() || FirstLine(cache + "/type") == "Instruction") continue;
      const std::int64_t unit = size.back() == 'K' ? 1 << 10 : size.back() == 'M' ? 1 << 20 : 1;
      if (unit > 1) size.pop_back();
      const std::optional<std::int64_t> number = ParseInteger(size);
      if (number && *number > 0 && *number <= kMostCacheBytes / unit)
        sizes[{*level, FirstLine(cache + "/shared_cpu_list")}] = *number * unit;
    }
  }
  if (sizes.empty()) return std::max({Features().l1, Features().l2, Features().l3});
  std::int64_t all = 0;
  for (const auto& [place, bytes] : sizes)
    if (place.first == sizes.rbegin()->first.first) all += bytes;
  return all;
}

std::optional<double> FrequencyMhz(const std::string& root) {
  std::ifstream file(root + "/cpu" + std::to_string(sched_getcpu()) + "/cpufreq/scaling_cur_freq");
  double kilohertz = 0;
  if (!(file >> kilohertz) || !(kilohertz > 0)) return std::nullopt;
  return kilohertz / 1000;
}

}  // namespace infimum::cpu
