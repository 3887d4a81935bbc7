// The events of a trace one by one, however large the file is: {"traceEvents": [{...}, ...], ...} or the bare list in
// Chrome's format, lists under other keys in others'. Memory is bounded by a window of the text; simdjson reads each
// window (its documents end at 4 GiB).
//
//   Oddities oddities;
//   Result<TraceFrame> frame = ReadTraceEvents(file, "trace.json", {}, oddities,
//       [&](TraceEvent& event) { return ReadFields(event.object, fields); },   // goes through it, without an effect
//       [&]() -> Status { ...; });                                             // takes what was in it
//
// A window ends wherever it ends; the event that it cuts in two is given again, whole, with the next one. So an event
// is taken only once all of it was gone through. What goes wrong then is the JSON's, and an error of the whole file;
// what the second function finds wrong is the event's: it is skipped, and counted in the oddities.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "src/core/results/json_struct.h"
#include "src/readers/files/oddities.h"

namespace infimum::ingest {

// Where the events are, and what errors call them.
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

// The document without its events.
struct TraceFrame {
  Json top;          // an object whose list of events is empty; of a bare list an empty list
  std::string list;  // the key of the events
  std::int64_t events = 0;
  std::int64_t bytes = 0;  // of the text
};

using ReadEvent = std::function<simdjson::error_code(TraceEvent&)>;
using TakeEvent = std::function<Status()>;

// Errors name `origin`, the event and its byte: "trace.json: event 17 (byte 4711): not JSON: ..."; the list too where
// it may be one of several.
Result<TraceFrame> ReadTraceEvents(std::istream& input, std::string_view origin, const EventList& list,
                                   Oddities& oddities, const ReadEvent& read, const TakeEvent& take);

}  // namespace infimum::ingest
