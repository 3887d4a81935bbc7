// Calls of the CUDA runtime and driver, and NVTX ranges of an export.
#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/readers/profiles/nsys/nsys_reading.h"

namespace infimum::ingest {
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
  if (marks > 0) reading.Remark(fmt::format("{} NVTX marks passed over", marks));
  return {};
}

}  // namespace infimum::ingest
