// What a campaign has so far, by its folder alone: right at each moment, whatever runs, failed or was killed.
//
//   CampaignStatus status = *ReadStatus(*CampaignFolder::Open("nightly"));
//   std::string text = StatusTable(status, 80);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/app/commands/campaign/campaign_folder.h"

namespace infimum::cli {

enum class PartState : std::uint8_t {
  kWaiting,   // no journal yet
  kRunning,   // a runner has the journal open, as far as this machine can see its lock
  kStopped,   // neither whole nor, as far as can be seen, running: submit again
  kMeasured,  // the journal is whole, and not in the store yet
  kSaved,
};
inline constexpr std::array<const char*, 5> kPartStateNames = {"waiting", "running", "stopped", "measured", "done"};

struct PartStatus {
  std::string kind;
  std::int64_t shard = 0;
  PartState state = PartState::kWaiting;
  std::optional<std::int64_t> expected;                    // rows; known once the part has begun
  std::int64_t rows = 0, failed = 0;                       // different ones in the journal, and of these failed
  std::set<std::string> hosts, clocks, versions, devices;  // of its headers
  std::string problem;                                     // of the journal

  std::string state_name() const { return kPartStateNames[static_cast<std::size_t>(state)]; }
};

// The parts of one kind, in sum.
struct KindStatus {
  std::string kind;
  std::size_t parts = 0, done = 0;
  bool is_expected_known = true;  // of all parts
  PartStatus sum;
};

struct CampaignStatus {
  CampaignSettings settings;
  std::vector<PartStatus> parts;  // by kind, then shard
  std::vector<KindStatus> by_kind() const;
  bool is_done() const;
  // What makes its rows differ: several devices of a kind, clock policies, versions; journals that cannot be read.
  std::vector<std::string> remarks() const;
};

CampaignStatus ReadStatus(const CampaignFolder& campaign);

std::string StatusTable(const CampaignStatus& status, const CampaignFolder& campaign, std::size_t width);
std::string StatusJson(const CampaignStatus& status);
std::string StatusCsv(const CampaignStatus& status);

}  // namespace infimum::cli
