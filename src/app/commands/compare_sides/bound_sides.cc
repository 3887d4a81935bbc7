#include "src/app/commands/compare_sides/bound_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "db/store/data_sheets.h"
#include "infimum/base/text.h"
#include "reports/model/report_model.h"
#include "src/app/runners/device_choice.h"
#include "src/app/runners/library_versions.h"

namespace infimum {
namespace {

constexpr std::array kContracts = {NumericContract::kStrictF32, NumericContract::kTf32, NumericContract::kF16,
                                   NumericContract::kBf16,      NumericContract::kInt8, NumericContract::kFp8};

ReportSide ShownOf(const Device& device) {
  ReportSide side;
  side.device = device.name;
  side.generation = device.generation;
  side.year = YearOfGeneration(device.generation);
  return side;
}

// Two devices of one name are told apart by their keys.
void TellLabelsApart(std::vector<BoundSide>& sides) {
  std::map<std::string, std::size_t> count;
  for (const BoundSide& side : sides) ++count[side.shown.label];
  for (BoundSide& side : sides)
    if (count[side.shown.label] > 1) side.shown.label += " (" + side.device.Key().text + ")";
}

std::int64_t ThreadsOn(const Device& device, const SideReportOptions& options) {
  return device.kind == DeviceKind::kGpu ? 1 : options.campaign.threads;
}

// "cudnn 7.6.4" or "cudnn": a library, and its version or nothing.
std::pair<std::string, std::string> LibraryAndVersion(const std::string& text) {
  const std::size_t space = text.find(' ');
  return {text.substr(0, space), space == std::string::npos ? "" : std::string(TrimSpace(text.substr(space)))};
}

// Only rows of one version of a library: devices that have none are left out, or where they were named an error.
Status KeepOneVersion(const SideReportOptions& options, std::vector<BoundSide>& sides, Store& store) {
  const auto [library, wanted] = LibraryAndVersion(options.libraries.front());
  if (options.libraries.size() > 1 || wanted.empty())
    return Error{"--by device takes one version of a library for all of them: --library 'cudnn 7.6.3'"};
  std::vector<BoundSide> kept;
  for (BoundSide& side : sides) {
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<LibraryVersion> versions,
                             VersionsOf(library, side.device, ThreadsOn(side.device, options), store));
    const auto found = std::ranges::find(versions, wanted, &LibraryVersion::version);
    if (found == versions.end() && side.is_named)
      return Error{
          fmt::format("--library {}: nothing was measured with it on {}; `infimum query environments` lists "
                      "what there is",
                      Quoted(options.libraries.front()), side.device.name)};
    if (found == versions.end()) continue;
    side.environments = found->environments;
    kept.push_back(std::move(side));
  }
  sides = std::move(kept);
  return {};
}

Result<std::vector<BoundSide>> Devices(const SideReportOptions& options, const Installation& installation,
                                       Store& store) {
  std::vector<BoundSide> sides;
  std::set<std::string> keys;
  for (const std::string& name : options.devices) {
    INFIMUM_ASSIGN_OR_RETURN(Device device, ChooseDevice(name, installation, options.campaign, store));
    if (!keys.insert(device.Key().text).second)
      return Error{fmt::format("--device {}: given twice, as another name of {}", Quoted(name), device.name)};
    BoundSide side{ShownOf(device), std::move(device), {}, options.contract, true};
    sides.push_back(std::move(side));
  }
  if (options.devices.empty()) {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<Device> devices, store.Devices());
    for (Device& device : devices) {
      ReportSide shown = ShownOf(device);
      sides.push_back({std::move(shown), std::move(device), {}, options.contract, false});
    }
    std::ranges::stable_sort(sides, {}, [](const BoundSide& side) {
      return std::tuple(!side.shown.year, side.shown.year.value_or(0), side.shown.generation, side.shown.device,
                        side.device.Key());
    });
  }
  if (!options.libraries.empty()) INFIMUM_RETURN_IF_ERROR(KeepOneVersion(options, sides, store));
  for (BoundSide& side : sides) side.shown.label = side.device.name;
  TellLabelsApart(sides);
  return sides;
}

Result<Device> OneDevice(const SideReportOptions& options, const Installation& installation, Store& store) {
  if (options.devices.size() > 1)
    return Error{
        fmt::format("--by {} takes exactly one --device ({} given)", Name(options.axis), options.devices.size())};
  return ChooseDevice(options.devices.empty() ? "" : options.devices.front(), installation, options.campaign, store);
}

Result<std::vector<BoundSide>> Libraries(const SideReportOptions& options, const Installation& installation,
                                         Store& store) {
  INFIMUM_ASSIGN_OR_RETURN(const Device device, OneDevice(options, installation, store));
  const std::int64_t threads = ThreadsOn(device, options);
  if (options.libraries.empty())
    return Error{
        "--by library needs a library: --library cudnn, or --library 'cudnn 7.5.0' --library 'cudnn "
        "7.6.4'; `infimum query environments` lists what the store has"};
  std::vector<BoundSide> sides;
  for (const std::string& text : options.libraries) {
    const auto [library, wanted] = LibraryAndVersion(text);
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<LibraryVersion> versions, VersionsOf(library, device, threads, store));
    std::vector<std::string> names;
    const std::size_t before = sides.size();
    for (const LibraryVersion& known : versions) {
      names.push_back(known.version);
      if (!wanted.empty() && known.version != wanted) continue;
      BoundSide side{ShownOf(device), device, known.environments, options.contract, !wanted.empty()};
      side.shown.label = library + " " + known.version;
      if (std::ranges::find(sides, side.shown.label, [](const BoundSide& s) { return s.shown.label; }) != sides.end())
        return Error{fmt::format("--library {}: given twice", Quoted(text))};
      sides.push_back(std::move(side));
    }
    if (sides.size() == before)
      return Error{
          fmt::format("--library {}: {} has nothing that was measured with it on {}{}; `infimum query "
                      "environments` lists what there is",
                      Quoted(text), ShownAddress(options.database), device.name,
                      names.empty() ? std::string() : ", but with " + Join(names, ", "))};
  }
  return sides;
}

Result<std::vector<BoundSide>> Contracts(const SideReportOptions& options, const Installation& installation,
                                         Store& store) {
  INFIMUM_ASSIGN_OR_RETURN(const Device device, OneDevice(options, installation, store));
  std::vector<BoundSide> sides;
  const auto add = [&](NumericContract contract, bool is_named) {
    BoundSide side{ShownOf(device), device, {}, contract, is_named};
    side.shown.label = std::string(Name(contract));
    sides.push_back(std::move(side));
  };
  for (const NumericContract contract : options.contracts) {
    if (std::ranges::find(sides, std::optional(contract), &BoundSide::contract) != sides.end())
      return Error{fmt::format("--contract {}: given twice", Name(contract))};
    add(contract, true);
  }
  if (options.contracts.empty())
    for (const NumericContract contract : kContracts) add(contract, false);
  return sides;
}

}  // namespace

Result<std::vector<BoundSide>> BoundSidesOf(const SideReportOptions& options, const Installation& installation,
                                            Store& store) {
  switch (options.axis) {
    case ComparisonAxis::kLibrary:
      return Libraries(options, installation, store);
    case ComparisonAxis::kContract:
      return Contracts(options, installation, store);
    default:
      return Devices(options, installation, store);
  }
}

Result<std::string> VersionOnAll(const SideReportOptions& options, const std::vector<BoundSide>& sides, Store& store) {
  for (const char* library : kComparedLibraries) {
    std::vector<std::string> common;  // ascending
    for (const BoundSide& side : sides) {
      INFIMUM_ASSIGN_OR_RETURN(const std::vector<LibraryVersion> versions,
                               VersionsOf(library, side.device, ThreadsOn(side.device, options), store));
      if (&side == &sides.front())
        for (const LibraryVersion& known : versions) common.push_back(known.version);
      std::erase_if(common, [&](const std::string& version) {
        return std::ranges::find(versions, version, &LibraryVersion::version) == versions.end();
      });
    }
    if (!common.empty()) return fmt::format("{} {}", library, common.back());
  }
  return std::string();
}

std::string LibrariesText(const Environment& environment) {
  std::vector<std::string> libraries;
  for (const auto& [name, version] : environment.libraries) libraries.push_back(name + " " + version);
  return Join(libraries, ", ");
}

}  // namespace infimum
