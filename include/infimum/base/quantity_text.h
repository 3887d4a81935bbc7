// Times and sizes as people write them on a command line and read them in a progress line.
//
//   ParseDuration("1h30m") == 5400 s;   ParseDuration("90") is an error: it has no unit
//   ParseByteCount("1.5G") == 1610612736 bytes;   FormatDuration(130 s) == "2m 10s"
#pragma once

#include <string>
#include <string_view>

#include "infimum/base/clock.h"
#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum {

// One or more of <number><unit> with units us, ms, s, m, h; positive, at most a year.
Result<Clock::Duration> ParseDuration(std::string_view text);

// <number> with an optional K, M, G or T (powers of 1024; "GB", "GiB" and "g" mean the same).
Result<Bytes> ParseByteCount(std::string_view text);

std::string FormatDuration(Clock::Duration duration);  // "2h 5m", "2m 10s", "12.3 s", "350 ms", "20 µs"
std::string FormatLatency(Latency latency);            // three digits: "1.24 ms", "812 µs"; "-": no number
std::string FormatByteCount(Bytes bytes);              // "8 GiB", "1.5 MiB"

}  // namespace infimum
