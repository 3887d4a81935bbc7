// Data sheets of devices that were not measured here: db/data/devices.csv, embedded in the program.
//
//   const DataSheet* sheet = FindDataSheet("L40S");     // by its name or another common one
//   sheet->peaks                                         // a floor can be made of them, never a bound
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/measurement/device.h"

namespace infimum {

// Reads RFC 4180: cells in double quotes may hold commas, line ends and doubled quotes.

std::vector<std::vector<std::string>> ReadCsv(std::string_view text);

// The files of db/data and db/roles.sql, which became part of the program when it was built.

std::string_view DevicesCsv();
std::string_view RolesSql();

struct DataSheet {
  // `generation`, cores (GPU: multiprocessors), memory and last-level cache by the data sheet; the identity is that of
  // the sheet, which no device that was measured has.
  Device device;
  std::vector<std::string> aliases;
  std::string year;
  std::string source;  // where the figures are from
  std::string notes;
  // Bytes and FLOPs at the highest clock that the driver allows, where that is known; otherwise at the maker's boost
  // clock, and then the rate's source does not begin with "data sheet", so that floors made of it are tagged
  // "estimated".
  DevicePeaks peaks;
  // The geometric middle between the base clock and the peaks' clock, over the latter: what an estimate may expect
  // where nothing is known of the clocks. 1 where one of them is unknown.
  double middle_clock = 1;
};

// In the order of the file.
const std::vector<DataSheet>& DataSheets();

// "NVIDIA H100_SXM" of NVIDIA as "h100-sxm": small letters, one kind of gap, and no maker.
std::string PlainDeviceName(std::string_view name, std::string_view maker);

// By name or alias in their plain forms; nullptr where there is none. Of several with one name (the Jetson modules call
// themselves "Orin") the one with this compute capability and these multiprocessors, where given.
const DataSheet* FindDataSheet(std::string_view name, std::string_view compute_capability = "",
                               std::string_view multiprocessors = "");

// Those that have all words of a name, whatever else they have: "A100 80GB" is two.
std::vector<const DataSheet*> DataSheetsLike(std::string_view name);

// The year of the first device of a generation with a data sheet ("Volta": 2017); nullopt where there is none.
std::optional<std::int64_t> YearOfGeneration(std::string_view generation);

// That of a device that was measured, or of a sheet's own; nullptr where there is none.
const DataSheet* FindDataSheet(const Device& device);
const DataSheet* FindDataSheetByKey(const DeviceKey& device);  // of a sheet's own only

}  // namespace infimum
