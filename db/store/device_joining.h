// Devices that are one although they were described as several: by earlier versions (older_identity.h), or as the user
// says. Their rows, peaks and runs become those of one device; of rows that were equal but for the device the one
// with the most repetitions counts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "db/connection/sql_connection.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/device.h"

namespace infimum {

// The new id of a device's rows by the old one; devices that did not change are not in it.
using JoinedDevices = std::map<std::int64_t, std::int64_t>;

// All of these in a transaction of the caller's.

// What an earlier version's devices are today. Once, when a store comes to schema 6.
Status RenewDevices(Connection& connection);

// Makes clear of devices with `cores_seen` what can be made clear by now. `threads`: on which more rows of a device, by
// its id, are about to come.
Result<JoinedDevices> JoinDevices(Connection& connection,
                                  const std::map<std::int64_t, std::set<std::int64_t>>& threads);

// On the user's request. An error where either is missing, or where they differ in more than their cores. Where the
// store as it was is kept (Connection::BackUp).
Result<std::string> MergeDevices(Connection& connection, const DeviceKey& from, const DeviceKey& into);

// The key of the device that a run is of, which an earlier version may have written.
Result<std::string> DeviceKeyOf(Connection& connection, const RunProfile& run);

}  // namespace infimum
