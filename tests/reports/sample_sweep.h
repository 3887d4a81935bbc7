// A small sweep for tests: fc nets by nodes and batch, with one and two threads, on a device that measured them and on
// one of which only floors are known; names that are hostile, cells that failed.
#pragma once

#include <cstddef>

#include "reports/sweep/sweep_report.h"

namespace infimum {

// `nodes` by four batches by two threads, and half as many floors.
SweepReport SampleSweep(std::size_t nodes = 3);

}  // namespace infimum
