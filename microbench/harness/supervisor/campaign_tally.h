// What came of a campaign's rows, counted as they are written, so that no row has to be kept for the summary.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "infimum/measurement/measurement.h"

namespace infimum {

struct CampaignTally {
  // Distinct failures that are told apart; the others are only counted.
  static constexpr std::size_t kMostFailures = 64;

  std::int64_t rows = 0;
  std::map<Outcome, std::int64_t> outcomes;
  std::map<std::string, std::int64_t> failures;  // by candidate and reason
  std::int64_t other_failures = 0;
  std::int64_t noisy = 0;
  std::int64_t unconverged = 0;  // of those that were sampled to the end

  void Add(const Measurement& row);
  // A row that was counted before and got another repetition.
  void Replace(const Measurement& before, const Measurement& after);

 private:
  void CountFlags(const Measurement& row, std::int64_t by);
};

}  // namespace infimum
