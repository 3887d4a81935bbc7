#include "src/app/models/run_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "reports/text/fact_text.h"

namespace infimum {
namespace {

constexpr std::string_view kDeviceName = "device_name";

std::string SettingOf(const RunProfile& run, std::string_view name) {
  const auto setting = run.settings.find(std::string(name));
  return setting == run.settings.end() ? std::string() : setting->second;
}

// Layers of one name that both show with shapes: "read other shapes in 12 of 14 layers of the same names" where most
// differ. A few may by what the data were.
std::optional<std::string> ShapeDifference(const RunProfile& run, const RunProfile& other) {
  std::map<std::string_view, const ProfiledLayer*> by_name;
  for (const ProfiledLayer& layer : other.layers)
    if (!layer.input_tensors.empty()) by_name.emplace(layer.name, &layer);
  std::size_t common = 0, differing = 0;
  for (const ProfiledLayer& layer : run.layers) {
    const auto same = by_name.find(layer.name);
    if (layer.input_tensors.empty() || same == by_name.end()) continue;
    ++common;
    if (!std::ranges::equal(layer.input_tensors, same->second->input_tensors, {}, &ProfiledTensor::dims,
                            &ProfiledTensor::dims))
      ++differing;
  }
  if (2 * differing <= common) return std::nullopt;
  return fmt::format("read other shapes in {} of {} layers of the same names", differing, common);
}

}  // namespace

std::vector<std::string> DifferencesOf(const RunProfile& run, const RunProfile& other) {
  std::vector<std::string> differences;
  const auto differ = [](const std::string& one, const std::string& another) {
    return !one.empty() && !another.empty() && one != another;
  };
  if (differ(run.model_sha256, other.model_sha256))
    differences.push_back(fmt::format("is of another model file (SHA-256 {}... instead of {}...)",
                                      run.model_sha256.substr(0, 12), other.model_sha256.substr(0, 12)));
  for (const auto& [name, extent] : run.dims)
    if (const auto told = other.dims.find(name); told != other.dims.end() && told->second != extent)
      differences.push_back(fmt::format("has {}={} instead of {}", name, extent, told->second));
  if (std::optional<std::string> shapes = ShapeDifference(run, other)) differences.push_back(*std::move(shapes));
  if (differ(run.device, other.device)) {
    differences.push_back(fmt::format("ran on {} instead of {}", run.device, other.device));
  } else if (differ(SettingOf(run, kDeviceName), SettingOf(other, kDeviceName))) {
    differences.push_back(
        fmt::format("ran on {} instead of {}", SettingOf(run, kDeviceName), SettingOf(other, kDeviceName)));
  }
  if (run.threads && other.threads && *run.threads != *other.threads)
    differences.push_back(fmt::format("ran on {} instead of {}",
                                      CountText(static_cast<std::size_t>(*run.threads), "thread"), *other.threads));
  if (differ(run.contract, other.contract))
    differences.push_back(fmt::format("kept the contract {} instead of {}", run.contract, other.contract));
  return differences;
}

bool Keeps(const std::string& kept, NumericContract contract) {
  return kept == Name(contract) || kept == Name(NumericContract::kStrictF32);
}

std::string PlaceText(const Device& device, std::int64_t threads) {
  if (device.kind != DeviceKind::kCpu) return device.name;
  return fmt::format("{} with {}", device.name, CountText(static_cast<std::size_t>(threads), "thread"));
}

std::string DimsText(const std::map<std::string, std::int64_t>& dims) {
  std::string text;
  for (const auto& [name, extent] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return text;
}

}  // namespace infimum
