#include "src/app/runners/device_choice.h"

#include <fmt/format.h>

#include <vector>

#include "db/store/data_sheets.h"
#include "infimum/base/text.h"

namespace infimum {

Result<Device> ChooseDevice(const std::string& name, const Installation& installation, const CampaignOptions& campaign,
                            Store& store) {
  const std::optional<std::string> backend = BackendOfDevice(name);
  if (name.empty() || name == "here" || backend) {
    CampaignOptions own = campaign;
    if (backend) {
      INFIMUM_RETURN_IF_ERROR(CheckBackend(name, campaign.backend));
      own.backend = *backend;
    }
    INFIMUM_ASSIGN_OR_RETURN(RunnerDescription here, DescribeRunner(installation, own));
    return std::move(here.device);
  }
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<Device> devices, store.Devices());
  std::vector<const Device*> matches;
  for (const Device& entry : devices) {
    if (entry.Key().text == name) return entry;
    if (entry.name == name) matches.push_back(&entry);
  }
  const DataSheet* sheet = FindDataSheet(name);
  if (sheet == nullptr) sheet = FindDataSheetByKey(DeviceKey{name});
  // Another common name of a device that was measured.
  for (const Device& entry : devices)
    if (matches.empty() && sheet != nullptr && FindDataSheet(entry) == sheet) matches.push_back(&entry);
  if (matches.empty() && sheet == nullptr) {
    for (const Device& entry : devices) {
      if (entry.name.find(name) != std::string::npos) matches.push_back(&entry);
    }
  }
  if (matches.size() == 1) return *matches.front();
  if (matches.size() > 1) {
    std::vector<std::string> keys;
    for (const Device* device : matches) keys.push_back(device->Key().text);
    return Error{fmt::format("device {} is ambiguous, it matches {}: {}; use one of these keys", Quoted(name),
                             matches.size(), Join(keys, " | "))};
  }
  if (sheet != nullptr) return sheet->device;
  const std::vector<const DataSheet*> like = DataSheetsLike(name);
  if (like.size() == 1) return like.front()->device;
  if (!like.empty()) {
    std::vector<std::string> full;
    for (const DataSheet* known : like) full.push_back(known->device.name);
    return Error{fmt::format("device {} is not one but {}: {}", Quoted(name), full.size(), Join(full, ", "))};
  }
  std::vector<std::string> names;
  for (const Device& entry : devices) names.push_back(entry.name);
  std::vector<std::string_view> views(names.begin(), names.end());
  for (const DataSheet& known : DataSheets()) {
    views.push_back(known.device.name);
    views.insert(views.end(), known.aliases.begin(), known.aliases.end());
  }
  return Error{fmt::format("unknown device {} ({}; `infimum devices` lists those with a data sheet){}", Quoted(name),
                           names.empty() ? "the store has measurements of none" : "the store has: " + Join(names, ", "),
                           DidYouMean(name, views))};
}

std::string OtherDevicesText(const std::string& name, const Device& chosen) {
  const DataSheet* const sheet = FindDataSheetByKey(chosen.Key());
  if (sheet == nullptr || name == chosen.name) return "";
  std::vector<std::string> others;
  for (const DataSheet* like : DataSheetsLike(name))
    if (like != sheet) others.push_back(like->device.name);
  return others.empty() ? "" : fmt::format("{} may also be {}", Quoted(name), Join(others, ", "));
}

}  // namespace infimum
