#include "src/readers/files/oddities.h"

#include <fmt/format.h>

namespace infimum::ingest {

void Oddities::Lose(std::optional<std::int64_t> nanoseconds) {
  ++lost_;
  if (!nanoseconds) return;
  ++lost_with_time_;
  lost_ns_ += static_cast<double>(*nanoseconds);
}

void Oddities::SetFirst(Tally& tally, const Error& what) {
  tally.first = what.message;
  tally.awaits_place = awaits_place_ = true;
}

void Oddities::Place(const std::string& place) {
  for (Tally* const tally : {&fields_, &events_}) {
    if (tally->awaits_place) tally->first = fmt::format("{}: {}", place, tally->first);
    tally->awaits_place = false;
  }
  awaits_place_ = false;
}

double Oddities::ShareLost(std::int64_t kept, double kept_ns) const {
  if (lost_ == 0) return 0;
  const std::int64_t timed = kept + lost_with_time_;
  const double known = kept_ns + lost_ns_;
  const double mean = timed > 0 && known > 0 ? known / static_cast<double>(timed) : 1;
  const double lost = lost_ns_ + mean * static_cast<double>(lost_ - lost_with_time_);
  return lost > 0 ? lost / (kept_ns + lost) : 0;
}

std::vector<std::string> Oddities::Remarks(double share_lost) const {
  std::vector<std::string> remarks;
  if (fields_.count > 0)
    remarks.push_back(
        fmt::format("fields of an unexpected form, left out or read in part: {}; "
                    "the first: {}",
                    fields_.count, fields_.first));
  if (events_.count > 0) {
    const std::string share = share_lost > 0 ? fmt::format(" (about {:.{}g} % of the device's time)", 100 * share_lost,
                                                           share_lost < 0.995 ? 2 : 3)
                                             : "";
    remarks.push_back(
        fmt::format("events skipped, because a field that they need is missing or wrong: {}{}; the first: {}",
                    events_.count, share, events_.first));
  }
  if (list_is_open)
    remarks.emplace_back(
        "the list of events has no closing bracket: if the profiler was stopped before it wrote the end, the last "
        "events are missing");
  if (control_characters > 0)
    remarks.push_back(
        fmt::format("{} control characters within texts, which JSON forbids, are read as spaces", control_characters));
  if (invalid_bytes > 0) remarks.push_back(fmt::format("{} bytes that are not UTF-8 are read as '?'", invalid_bytes));
  return remarks;
}

Error Oddities::Explain(const Error& error) const {
  if (events_.count == 0) return error;
  return Error{fmt::format("{}; events skipped: {}, the first: {}", error.message, events_.count, events_.first)};
}

}  // namespace infimum::ingest
