// Quantities for people: three significant digits and a unit that fits.
//
//   BytesText(Bytes{1536}) == "1.54 kB"             SignedLatencyText(Latency(80)) == "+80.0 µs"
//   FlopsText(Flops{8178892800}) == "8.18 GFLOP"    PercentText(0.1517) == "15.2 %"
#pragma once

#include <string>
#include <string_view>

#include "infimum/analyzer/bracket.h"
#include "infimum/base/units.h"

namespace infimum {

std::string SignedLatencyText(Latency latency);  // "+80.0 µs"
std::string BytesText(Bytes bytes);              // decimal units, as bandwidths use them
std::string FlopsText(Flops flops);
std::string PercentText(double share);                           // of 1
std::string RateText(double per_second, std::string_view unit);  // (2.65e11, "FLOP/s") is "265 GFLOP/s"

// "7.15 ms to 8.67 ms"
std::string IntervalText(const Interval& interval);

// "1.053 times its parts alone with weights 18 % in the caches (1.141 times with all caches warm, 1.035 with weights
// from memory)"
std::string CompositionText(const CompositionError& error);

// 1 for a singular and everything else in the plural: CountText(2, "layer") == "2 layers".
std::string CountText(std::size_t count, const std::string& noun);

}  // namespace infimum
