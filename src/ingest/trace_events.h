// The events of a trace one by one, however large the file is: {"traceEvents": [{...}, ...], ...} or the bare list in
// Chrome's format, lists under other keys in others'. Memory is bounded by a window of the text; simdjson reads each
// window (its documents end at 4 GiB).
//
//   Result<TraceFrame> frame = ReadTraceEvents(file, "trace.json", {}, [&](TraceEvent& event) -> Status {
//     for (auto field : event.object) ...;     // in the order of the file, each at most once
//     return {};
//   });
//
// A window ends wherever it ends; the event that it cuts in two is given again, whole, with the next one. So `take`
// must go through all fields of an event and have no effect before it has; what simdjson says it returns as Broken.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "src/ingest/json_fields.h"

namespace infimum::ingest {

// Where the events stand, and what errors call them.
struct EventList {
  std::string_view document = "a trace";            // what a file without the list is not
  std::vector<std::string> keys = {"traceEvents"};  // the first of these lists that is in the document
  bool may_be_bare = true;                          // the list as the whole document
  std::string_view event = "event";
  std::int64_t first_number = 0;
};

struct TraceEvent {
  simdjson::ondemand::object& object;
  std::string_view list;  // its key, empty of a bare one
};

// What simdjson says of a text that is not JSON.
Error Broken(simdjson::error_code code);

// The document without its events.
struct TraceFrame {
  Json top;          // an object whose list of events is empty; of a bare list an empty list
  std::string list;  // the key of the events
  std::int64_t events = 0;
  std::int64_t bytes = 0;  // of the text
  // Forgiven: control characters inside texts, bytes that are not UTF-8.
  std::int64_t control_characters = 0;
  std::int64_t invalid_bytes = 0;
};

// Errors name `origin`, the event and its byte: "trace.json: event 17 (byte 4711): 'dur' is negative"; the list too
// where it may be one of several.
Result<TraceFrame> ReadTraceEvents(std::istream& input, std::string_view origin, const EventList& list,
                                   const std::function<Status(TraceEvent&)>& take);

// What was forgiven, for people.
std::vector<std::string> Remarks(const TraceFrame& frame);

}  // namespace infimum::ingest
