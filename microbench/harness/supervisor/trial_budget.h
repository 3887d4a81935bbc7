// How long the next trial may sample, so that a short budget still gives every workload its repetition.
//
//   180 s of budget, 60 % of it for round 1, 300 trials expected, 50 ms each for preparing and checking
//     ->  (108 s / 300) - 50 ms = 310 ms, cut to the candidate's own 200 ms
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "infimum/base/clock.h"

namespace infimum {

class TrialBudget {
 public:
  TrialBudget(const Clock& clock, std::optional<Clock::Duration> campaign, Clock::Duration trial, std::int64_t rounds)
      : clock_(clock), start_(clock.Now()), campaign_(campaign), trial_(trial), rounds_(rounds) {}

  Clock::Duration elapsed() const { return clock_.Now() - start_; }
  std::optional<Clock::Duration> remaining() const {
    if (!campaign_) return std::nullopt;
    return *campaign_ - elapsed();
  }
  bool spent() const { return campaign_ && elapsed() >= *campaign_; }

  // Sampling time of the next trial, with so many yet to come in this round (itself included).
  Clock::Duration NextTrial(std::int64_t round, std::int64_t trials_to_come) const {
    if (!campaign_) return trial_;
    // Round 1 has the most trials, and leaves a part for what makes its winners sure.
    const double part = round == 1 && rounds_ > 1 ? kFirstRoundPart : 1.0;
    const auto until = std::chrono::duration_cast<Clock::Duration>(*campaign_ * part);
    const Clock::Duration share = (until - elapsed()) / std::max<std::int64_t>(1, trials_to_come);
    return std::clamp(share - overhead(), std::min(kLeast, trial_), trial_);
  }

  // A trial took `whole`, of which it sampled for `sampling`.
  void Took(Clock::Duration whole, Clock::Duration sampling) {
    overhead_sum_ += std::max(whole - sampling, Clock::Duration(0));
    whole_sum_ += whole;
    ++trials_;
  }
  Clock::Duration overhead() const { return trials_ == 0 ? Clock::Duration(0) : overhead_sum_ / trials_; }
  Clock::Duration mean() const { return trials_ == 0 ? trial_ : whole_sum_ / trials_; }

 private:
  static constexpr double kFirstRoundPart = 0.6;
  static constexpr Clock::Duration kLeast = std::chrono::milliseconds(5);

  const Clock& clock_;
  Clock::Duration start_;
  std::optional<Clock::Duration> campaign_;
  Clock::Duration trial_;
  std::int64_t rounds_;
  Clock::Duration overhead_sum_{0};
  Clock::Duration whole_sum_{0};
  std::int64_t trials_ = 0;
};

}  // namespace infimum
