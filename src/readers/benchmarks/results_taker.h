// Where the measurements of a file go, and the files that infimum itself wrote read into it.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/campaign_origin.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

// Where what is read goes. The first error ends the reading and is returned.
struct ResultsTaker {
  std::function<Status(const Device& device, const Environment& environment, std::span<const Measurement> rows,
                       std::span<const PeakRate> peaks)>
      rows;
  std::function<Status(const RunProfile& run)> run;
  // The rows that follow came from this campaign; absent: from this file. May be empty.
  std::function<void(const std::optional<CampaignOrigin>& campaign)> campaign = {};
  // What a person should know of a file that was read, such as what of it was left out and why. May be empty.
  std::function<void(const std::string& remark)> remark;
};

// Rows of a batch share device and environment; the batch of a header without rows is handed on too.
inline constexpr std::size_t kRowsOfABatch = 500;

Status ReadJournalResults(std::istream& input, std::string_view origin, const ResultsTaker& taker);
Status ReadGoogleBenchmarkResults(std::istream& input, std::string_view origin, const ResultsTaker& taker);

}  // namespace infimum
