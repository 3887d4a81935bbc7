// What single changes would win over the whole model, each solved by itself, so that gains do not add up.
//
//   run the measured fused kernels     967 µs   42 regions, against each layer alone
//   run independent layers at once       0 µs   core-time-decides
//   what if contract:bf16             21.3 ms   122 layers, fused-sequential 9.77 ms, measured 97 %
#pragma once

#include <string>
#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

struct PossibleGain {
  std::string what;
  Latency gain{0};   // of the bound that it is held against; negative where it costs
  std::string note;  // how it is known
};

std::vector<PossibleGain> PossibleGains(const ReportModel& report);

}  // namespace infimum
