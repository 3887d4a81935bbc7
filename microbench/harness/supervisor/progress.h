// How far a campaign is, for people (one updating line on a terminal, a plain line every five seconds
// elsewhere) and for a parent process (JSON lines on a descriptor of its choice):
//
//   infimum: 34 of 120 runs, 21 rows, round 1 of 3, 1m 12s left: convolution dtype=f32:f32:f32 in=1x64...
//   {"event":"progress","done":34,"total":120,"left_s":72.1,"rows":21,"round":1,"rounds":3,"elapsed_s":30.2,...}
//   {"event":"end","complete":true,"interrupted":false,"rows":198,...}
#pragma once

#include <string>

#include "microbench/harness/supervisor/run_campaign.h"

namespace infimum {

struct ProgressOptions {
  bool people = true;     // write to standard error
  bool terminal = false;  // standard error is one
  int descriptor = -1;    // of the JSON lines; -1: none
};

std::string FormatProgressLine(const CampaignProgress& progress);
std::string FormatProgressJson(const CampaignProgress& progress);
std::string FormatEndJson(const CampaignSummary& summary);

class ProgressDisplay {
 public:
  ProgressDisplay(ProgressOptions options, const Clock& clock)
      : options_(options), clock_(clock), last_plain_(clock.Now()) {}

  // Cheap enough for every trial: shows only what is due.
  void Update(const CampaignProgress& progress);
  // Time went by within a trial.
  void Tick();
  // Clears the updating line before other output.
  void Clear();
  void End(const CampaignSummary& summary);

 private:
  void Show(Clock::Duration now);
  void SendJson(const std::string& line) const;

  ProgressOptions options_;
  const Clock& clock_;
  CampaignProgress last_;
  std::string workload_;  // owned: last_.workload points here
  Clock::Duration last_update_{0};
  Clock::Duration last_plain_;
  Clock::Duration last_drawn_{0};
  Clock::Duration last_json_{0};
  bool drawn_ = false;
};

}  // namespace infimum
