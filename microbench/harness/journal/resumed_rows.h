// Rows of a campaign that wait: for their next repetition, or to be found again after an interruption. They wait in a
// temporary file without a name, so that a campaign's memory does not grow with its rows.
//
//   SpilledRows spilled;
//   INFIMUM_ASSIGN_OR_RETURN(const std::int64_t place, spilled.Put(row));
//   INFIMUM_ASSIGN_OR_RETURN(Measurement again, spilled.Get(place));   // == row
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "infimum/measurement/measurement.h"

namespace infimum {

class SpilledRows {
 public:
  SpilledRows() = default;
  ~SpilledRows();
  SpilledRows(SpilledRows&& other) noexcept;
  SpilledRows& operator=(SpilledRows&& other) noexcept;

  // All rows of one device, environment and evidence. The place is valid as long as this object is. An error: no
  // temporary file can be made (in TMPDIR, else /tmp), or there is no room left in it.
  Result<std::int64_t> Put(const Measurement& row);
  Result<Measurement> Get(std::int64_t place) const;

 private:
  Status Open();

  int descriptor_ = -1;
  std::int64_t end_ = 0;
  DeviceKey device_;
  EnvironmentKey environment_;
  EvidenceText evidence_;
};

// What an output holds of an earlier campaign on the same device in the same environment: of each row the version
// with the most repetitions, the later one of equals.
class EarlierRows {
 public:
  Status Keep(const Measurement& row);
  // The row with the blank one's key.
  Result<std::optional<Measurement>> Find(const Measurement& blank);
  std::size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }

 private:
  struct Place {
    std::int64_t at = 0;
    std::size_t repetitions = 0;
  };
  // The row with this key among those whose keys have the same hash, with its place; none: the end.
  Result<std::pair<std::multimap<std::uint64_t, Place>::iterator, Measurement>> Look(const std::string& key);

  SpilledRows spilled_;
  std::multimap<std::uint64_t, Place> places_;  // by the hash of a row's key; the row itself contains the key
};

}  // namespace infimum
