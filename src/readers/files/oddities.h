// Deviations of a trace from its format that do not stop its reading: fields that were left out and events that were
// skipped. Counted, with the first of each as the example, for one remark each:
//
//   fields of an unexpected form, left out or read in part: 81; the first: event 81 (byte 5240): 'stream' is the text
//   "0x0"
//   events skipped, because a field that they need is missing or wrong: 2 (about 0.1 % of the device's time); the
//   first: event 90 (byte 6120): 'dur' is missing
//
// Fields (event_field.h) report here what is odd about them; ReadTraceEvents() adds where that was, and counts the
// events that a reader could make nothing of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"

namespace infimum::ingest {

class Oddities {
 public:
  // A field of the event that is read now. Only the first is described: there may be millions.
  template <class Describe>
  void Note(const Describe& describe) {
    if (++fields_.count == 1) SetFirst(fields_, describe());
  }
  void Skip(const Error& why) {
    if (++events_.count == 1) SetFirst(events_, why);
  }
  // What work that was skipped took on the device; nullopt: that could not be read either.
  void Lose(std::optional<std::int64_t> nanoseconds);

  // Whether something was seen for the first time, and then its place: "event 81 (byte 5240)".
  bool awaits_place() const { return awaits_place_; }
  void Place(const std::string& place);

  // The share of the time that was lost, where `kept` pieces of work took `kept_ns`. Those whose time could not be read
  // count as long as the others on average.
  double ShareLost(std::int64_t kept, double kept_ns) const;

  // Deviations of the text, counted by the reader of windows.
  std::int64_t control_characters = 0;
  std::int64_t invalid_bytes = 0;
  bool list_is_open = false;  // Chrome's format lets the last bracket of a bare list be missing

  std::vector<std::string> Remarks(double share_lost = 0) const;
  // The error of a trace in which nothing is left, with the first event that was skipped.
  Error Explain(const Error& error) const;

 private:
  struct Tally {
    std::int64_t count = 0;
    std::string first;
    bool awaits_place = false;
  };
  void SetFirst(Tally& tally, const Error& what);

  Tally fields_, events_;
  bool awaits_place_ = false;
  std::int64_t lost_ = 0, lost_with_time_ = 0;
  double lost_ns_ = 0;
};

}  // namespace infimum::ingest
