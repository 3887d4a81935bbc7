#include "microbench/harness/supervisor/campaign_tally.h"

#include <algorithm>
#include <string_view>

namespace infimum {
namespace {

bool HasFlag(const Measurement& row, std::string_view flag) {
  return std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end();
}

}  // namespace

void CampaignTally::Add(const Measurement& row) {
  ++rows;
  ++outcomes[row.outcome];
  CountFlags(row, 1);
  if (row.outcome != Outcome::kFailed) return;
  const std::string failure = row.candidate.name() + ": " + row.reason;
  if (failures.size() < kMostFailures || failures.contains(failure)) {
    ++failures[failure];
  } else {
    ++other_failures;
  }
}

void CampaignTally::Replace(const Measurement& before, const Measurement& after) {
  CountFlags(before, -1);
  CountFlags(after, 1);
}

void CampaignTally::CountFlags(const Measurement& row, std::int64_t by) {
  if (HasFlag(row, "noisy")) noisy += by;
  if (HasFlag(row, "unconverged") && !HasFlag(row, "pruned")) unconverged += by;
}

}  // namespace infimum
