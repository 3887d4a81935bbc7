// Prepared runs of times that a test decides.
#pragma once

#include <functional>

#include "infimum/microbench/backend.h"

namespace infimum {

class FixedRun : public PreparedRun {
 public:
  FixedRun(FakeClock& clock, std::function<Clock::Duration(std::int64_t)> latency)
      : clock_(clock), latency_(std::move(latency)) {}
  FixedRun(FakeClock& clock, Clock::Duration latency) : FixedRun(clock, [latency](std::int64_t) { return latency; }) {}

  Status Run() override {
    clock_.Advance(latency_(launches_++));
    return {};
  }
  Result<std::optional<double>> NumericError() override { return std::optional<double>(); }
  Bytes footprint() const override { return Bytes{4096}; }
  std::int64_t launches() const { return launches_; }

 private:
  FakeClock& clock_;
  std::function<Clock::Duration(std::int64_t)> latency_;
  std::int64_t launches_ = 0;
};

}  // namespace infimum
