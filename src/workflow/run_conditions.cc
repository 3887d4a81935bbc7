#include "src/workflow/run_conditions.h"

#include <fmt/format.h>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::string_view kDeviceName = "device_name";

std::string SettingOf(const RunProfile& run, std::string_view name) {
  const auto setting = run.settings.find(std::string(name));
  return setting == run.settings.end() ? std::string() : setting->second;
}

std::string ThreadsText(std::int64_t threads) { return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"); }

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
  if (differ(run.device, other.device)) {
    differences.push_back(fmt::format("ran on {} instead of {}", run.device, other.device));
  } else if (differ(SettingOf(run, kDeviceName), SettingOf(other, kDeviceName))) {
    differences.push_back(
        fmt::format("ran on {} instead of {}", SettingOf(run, kDeviceName), SettingOf(other, kDeviceName)));
  }
  if (run.threads && other.threads && *run.threads != *other.threads)
    differences.push_back(fmt::format("ran on {} instead of {}", ThreadsText(*run.threads), *other.threads));
  if (differ(run.contract, other.contract))
    differences.push_back(fmt::format("kept the contract {} instead of {}", run.contract, other.contract));
  return differences;
}

bool Keeps(const std::string& kept, NumericContract contract) {
  return kept == Name(contract) || kept == Name(NumericContract::kStrictF32);
}

std::string DimsText(const std::map<std::string, std::int64_t>& dims) {
  std::string text;
  for (const auto& [name, extent] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return text;
}

}  // namespace infimum
