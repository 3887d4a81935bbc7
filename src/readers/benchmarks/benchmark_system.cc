#include "src/readers/benchmarks/benchmark_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "infimum/base/text.h"
#include "infimum/measurement/older_identity.h"

namespace infimum::ingest {
namespace {

constexpr std::array<std::string_view, 6> kFacts = {"gpu_name",       "compute_capability",  "cudnn_version",
                                                    "cublas_version", "cuda_driver_version", "cuda_runtime_version"};

// CUDA's versions were printed as 1000 major + 10 minor, taken apart wrongly: "10.10" is 10.1.
std::string CudaVersion(std::string version) {
  const std::size_t dot = version.find('.');
  if (dot != std::string::npos && version.size() == dot + 3 && version.back() == '0') version.pop_back();
  return version;
}

Device UnnamedProcessor(const BenchmarkContext& context) {
  Device device;
  device.vendor = "unknown";
  device.name = "unnamed processor";
  device.identity.insert(context.caches.begin(), context.caches.end());
  if (context.cpus && *context.cpus >= 1 && *context.cpus < 1e6) {
    device.cores = static_cast<std::int64_t>(*context.cpus);
    device.identity["cores"] = std::to_string(device.cores);
  }
  if (context.megahertz && *context.megahertz > 0 && *context.megahertz < 1e6)
    device.identity["clock"] = fmt::format("{:.0f}MHz", *context.megahertz);
  return device;
}

// Digits at `at` of a text that has the form of a date, so that they are there.
int Digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) value = value * 10 + (text[i] - '0');
  return value;
}

bool HasForm(std::string_view text, std::string_view form) {
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool fits = form[i] == 'd' ? digit : form[i] == 'T' ? text[i] == 'T' || text[i] == ' ' : text[i] == form[i];
    if (!fits) return false;
  }
  return true;
}

// "Z", "+02:00", or nothing.
std::optional<std::chrono::minutes> OffsetOf(std::string_view text) {
  if (text.empty() || text == "Z") return std::chrono::minutes(0);
  if (!HasForm(text.substr(1), "dd:dd") || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const std::chrono::minutes offset(Digits(text, 1, 2) * 60 + Digits(text, 4, 2));
  return text[0] == '-' ? -offset : offset;
}

std::optional<std::string> UtcOf(std::string_view text) {
  using std::chrono::year, std::chrono::month, std::chrono::day;
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < kForm.size() || !HasForm(text.substr(0, kForm.size()), kForm)) return std::nullopt;
  const std::optional<std::chrono::minutes> offset = OffsetOf(text.substr(kForm.size()));
  const std::chrono::year_month_day date(year(Digits(text, 0, 4)), month(static_cast<unsigned>(Digits(text, 5, 2))),
                                         day(static_cast<unsigned>(Digits(text, 8, 2))));
  const int hour = Digits(text, 11, 2), minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (!offset || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (Digits(text, 0, 4) < 1970) return std::nullopt;  // a clock that was not set
  const auto time = std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) - *offset;
  const auto midnight = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day utc(midnight);
  const auto minutes = (time - midnight).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(utc.year()),
                     static_cast<unsigned>(utc.month()), static_cast<unsigned>(utc.day()), minutes / 60, minutes % 60,
                     second);
}

}  // namespace

std::span<const std::string_view> FactNames() { return kFacts; }

Status AddFacts(const Facts& entry, Facts& file) {
  for (const auto& [name, value] : entry) {
    const auto [known, added] = file.emplace(name, value);
    if (!added && known->second != value) {
      return Error{fmt::format("'{}' is {}, but {} in earlier entries: a file of one system is wanted, split it", name,
                               Quoted(value), Quoted(known->second))};
    }
  }
  return {};
}

bool IsDeviceKnown(const Facts& facts, const BenchmarkContext& context) {
  return facts.contains("gpu_name") || !context.infimum_device.empty();
}

Result<Device> DeviceOf(const Facts& facts, const BenchmarkContext& context) {
  if (const auto name = facts.find("gpu_name"); name != facts.end()) {
    const auto capability = facts.find("compute_capability");
    if (name->second.empty() || capability == facts.end() || capability->second.empty())
      return Error{"entries name a GPU, but not its 'compute_capability:': the device is not known"};
    Device device;
    device.kind = DeviceKind::kGpu;
    device.name = name->second;
    device.vendor = "NVIDIA";
    device.generation = GenerationOf(capability->second);
    device.identity = {{"name", name->second}, {"compute_capability", capability->second}};
    return device;
  }
  if (!context.infimum_device.empty()) {
    if (const std::optional<Device> device = Device::OfKey(context.infimum_device)) return WithoutClocks(*device);
    return Error{fmt::format("context.infimum_device is {}, expected a key as 'infimum devices' lists it",
                             Quoted(context.infimum_device))};
  }
  return UnnamedProcessor(context);
}

std::string_view GenerationOf(std::string_view compute_capability) {
  const std::size_t dot = compute_capability.find('.');
  const std::int64_t major = ParseInteger(compute_capability.substr(0, dot)).value_or(0);
  const std::int64_t minor =
      dot == std::string_view::npos ? 0 : ParseInteger(compute_capability.substr(dot + 1)).value_or(0);
  switch (major) {
    case 3:
      return "Kepler";
    case 5:
      return "Maxwell";
    case 6:
      return "Pascal";
    case 7:
      return minor >= 5 ? "Turing" : "Volta";
    case 8:
      return minor >= 9 ? "Ada" : "Ampere";
    case 9:
      return "Hopper";
    case 10:
    case 11:
    case 12:
      return "Blackwell";
    default:
      return "";
  }
}

Environment EnvironmentOf(const Facts& facts) {
  Environment environment;
  const auto add = [&](const char* fact, const char* library, bool is_cuda) {
    const auto found = facts.find(fact);
    if (found == facts.end() || found->second.empty()) return;
    environment.libraries[library] = is_cuda ? CudaVersion(found->second) : found->second;
  };
  add("cudnn_version", "cudnn", false);
  add("cublas_version", "cublas", false);
  // The source swapped these two names.
  add("cuda_driver_version", "cuda_runtime", true);
  add("cuda_runtime_version", "cuda_driver", true);
  return environment;
}

Result<std::string> MeasuredAt(const BenchmarkContext& context) {
  if (std::optional<std::string> time = UtcOf(context.date)) return *std::move(time);
  return Error{fmt::format("context.date is {}, expected a time like '2019-10-06 14:50:20'", Quoted(context.date))};
}

}  // namespace infimum::ingest
