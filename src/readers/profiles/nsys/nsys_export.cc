#include "src/readers/profiles/nsys/nsys_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/graph/framework_names.h"
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
  timeline.profiler = profiler::kNsys;
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

namespace infimum::ingest {

// Calls of the CUDA runtime and driver, and NVTX ranges of an export.

namespace {

// ENUM_NSYS_EVENT_TYPE. The second two are ranges that were imported from a text file.
bool IsRange(std::int64_t type) {
  constexpr std::int64_t kPushPop = 59, kStartEnd = 60, kImportedPushPop = 70, kImportedStartEnd = 71;
  return type == kPushPop || type == kStartEnd || type == kImportedPushPop || type == kImportedStartEnd;
}
bool IsMark(std::int64_t type) {
  constexpr std::int64_t kMark = 34, kImportedMark = 65;
  return type == kMark || type == kImportedMark;
}

}  // namespace

Status ReadNsysCalls(NsysReading& reading) {
  if (!reading.database.HasTable(kNsysCalls)) {
    reading.Remark(
        fmt::format("no table {}: which call started which kernel is not known; record with nsys profile "
                    "--trace=cuda,nvtx",
                    kNsysCalls));
    return {};
  }
  enum : std::size_t { kStart, kEnd, kThread, kCorrelation, kName };
  INFIMUM_ASSIGN_OR_RETURN(NsysTable rows,
                           NsysTable::Open(reading.database, kNsysCalls,
                                           {{"start"}, {"end"}, {"globalTid"}, {"correlationId", false}, {"nameId"}}));
  while (rows.Next()) {
    const NsysSpan span = rows.Span(kStart, kEnd);
    reading.Saw(span);
    const std::optional<std::int64_t> thread = rows.OptionalInteger(kThread);
    HostCall call;
    call.start_ns = span.start;
    call.duration_ns = span.duration;
    call.correlation = reading.places.Correlation(thread, rows.OptionalInteger(kCorrelation));
    call.name = reading.names.ReferredCall(rows, kName);
    call.thread = reading.places.Thread(thread.value_or(0));
    call.kind = HostCallKind::kRuntime;
    reading.timeline.host_calls.push_back(call);
  }
  return rows.status();
}

Status ReadNsysRanges(NsysReading& reading) {
  if (!reading.database.HasTable(kNsysRanges)) {
    reading.Remark(fmt::format("no table {}: no ranges were annotated", kNsysRanges));
    return {};
  }
  enum : std::size_t { kStart, kEnd, kType, kThread, kText, kTextId };
  INFIMUM_ASSIGN_OR_RETURN(
      NsysTable rows,
      NsysTable::Open(reading.database, kNsysRanges,
                      {{"start"}, {"end"}, {"eventType"}, {"globalTid", false}, {"text", false}, {"textId", false}}));
  if (!rows.Has(kText) && !rows.Has(kTextId))
    reading.Remark(fmt::format("{} has no column 'text' or 'textId': ranges have no names", kNsysRanges));
  std::vector<std::size_t> open;
  std::int64_t marks = 0, names = 0;
  while (rows.Next()) {
    const bool ends = !rows.IsEmpty(kEnd);
    const NsysSpan span = ends ? rows.Span(kStart, kEnd) : NsysSpan{rows.Time(kStart), 0};
    const std::int64_t type = rows.Integer(kType);
    if (!IsRange(type)) {
      // Names of domains and threads have no time of their own.
      if (IsMark(type)) reading.Saw(span);
      ++(IsMark(type) ? marks : names);
      continue;
    }
    reading.Saw(span);
    HostCall range;
    range.start_ns = span.start;
    range.duration_ns = span.duration;
    range.kind = HostCallKind::kAnnotation;
    range.thread = reading.places.Thread(rows.OptionalInteger(kThread).value_or(0));
    // Older exports write an empty text where there is none.
    if (!rows.IsEmpty(kText) && (rows.IsEmpty(kTextId) || !rows.Text(kText).empty())) {
      range.name = reading.names.TextOf(rows, kText);
    } else if (!rows.IsEmpty(kTextId)) {
      range.name = reading.names.Referred(rows, kTextId);
    }
    if (!ends) open.push_back(reading.timeline.host_calls.size());
    reading.timeline.host_calls.push_back(range);
  }
  INFIMUM_RETURN_IF_ERROR(rows.status());
  for (const std::size_t place : open) {
    HostCall& range = reading.timeline.host_calls[place];
    range.duration_ns = reading.last_ns - range.start_ns;
  }
  if (!open.empty())
    reading.Remark(fmt::format("{} NVTX ranges were still open at the end of the trace, and end with it", open.size()));
  reading.timeline.events += names;
  if (marks > 0) reading.Remark(fmt::format("{} NVTX marks ignored", marks));
  return {};
}

}  // namespace infimum::ingest
