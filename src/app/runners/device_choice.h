// Which device a question is about: the one here, one that the store has measurements of, or one that a data sheet is
// known of, by name.
//
//   ChooseDevice("Tesla V100-SXM2-16GB", ...)   by name, by key, or by a part of the name that only one has
//   ChooseDevice("h100 nvl", ...)               of data sheets also by words that only one has
//   ChooseDevice("", ...)                       this device; "here" likewise
//   ChooseDevice("cpu", ...)                    this machine's processor; "gpu" its GPU
#pragma once

#include <string>

#include "infimum/db/store.h"
#include "src/app/runners/campaign.h"

namespace infimum {

// An unknown or ambiguous name is an error that lists what there is, with "did you mean".
Result<Device> ChooseDevice(const std::string& name, const Installation& installation, const CampaignOptions& campaign,
                            Store& store);

// Of a device that a data sheet was chosen for, the others that the name fits: "'h100' may also be NVIDIA H100 PCIe,
// NVIDIA H100 NVL"; empty where there are none.
std::string OtherDevicesText(const std::string& name, const Device& chosen);

}  // namespace infimum
