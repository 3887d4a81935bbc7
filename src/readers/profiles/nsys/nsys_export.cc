#include "src/readers/profiles/nsys/nsys_export.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/readers/profiles/nsys/nsys_reading.h"

namespace infimum {
namespace ingest {
namespace {

// When the events of a kind that is not kept happened. Their values are not ours to judge: what is no time is passed
// over.
Status ReadExtent(NsysReading& reading, std::string_view table) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> columns, reading.database.ColumnsOf(table));
  for (const char* column : {"start", "end"})
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) return {};
  enum : std::size_t { kStart, kEnd };
  INFIMUM_ASSIGN_OR_RETURN(NsysTable rows, NsysTable::Open(reading.database, table, {{"start"}, {"end"}}));
  while (rows.Next()) {
    if (!rows.IsInteger(kStart) || !rows.IsInteger(kEnd)) continue;
    const std::int64_t start = rows.Integer(kStart), end = rows.Integer(kEnd);
    if (start > -kTimeLimit && start <= end && end < kTimeLimit && end != 0) reading.Saw({start, end - start});
  }
  return rows.status();
}

Result<Timeline> Read(const NsysDatabase& database) {
  Timeline timeline;
  timeline.profiler = "nsys";
  NsysReading reading(database, timeline);
  INFIMUM_RETURN_IF_ERROR(reading.places.ReadDevices(database));
  INFIMUM_RETURN_IF_ERROR(ReadNsysCalls(reading));
  INFIMUM_RETURN_IF_ERROR(ReadNsysDeviceWork(reading));
  constexpr std::array<std::string_view, 6> kKept = {kNsysKernels, kNsysCopies, kNsysSets,
                                                     kNsysGraphs,  kNsysCalls,  kNsysRanges};
  for (const std::string& table : database.tables()) {
    if (std::find(kKept.begin(), kKept.end(), table) == kKept.end())
      INFIMUM_RETURN_IF_ERROR(ReadExtent(reading, table));
  }
  INFIMUM_RETURN_IF_ERROR(ReadNsysRanges(reading));
  if (reading.first_ns <= reading.last_ns) {
    timeline.first_ns = reading.first_ns;
    timeline.last_ns = reading.last_ns;
  }
  const auto nameless = [](const TimelineDevice& device) { return device.name.empty(); };
  if (std::any_of(timeline.devices.begin(), timeline.devices.end(), nameless))
    reading.Remark("the names of its GPUs are not in the file (TARGET_INFO_GPU)");
  SortByStart(timeline);
  return timeline;
}

}  // namespace
}  // namespace ingest

Result<Timeline> ReadNsysExport(const std::filesystem::path& path) {
  INFIMUM_ASSIGN_OR_RETURN(const ingest::NsysDatabase database, ingest::NsysDatabase::Open(path));
  return ingest::Read(database);
}

}  // namespace infimum
