// What every way of making bounds from rows has in common: the device as the rows show it, the coverage, and the
// assumptions that the selection is.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/bounds/latency_resolution.h"
#include "analyzer/bracket/bracket.h"
#include "analyzer/rows/measured_rows.h"
#include "analyzer/types/device_model.h"

namespace infimum {

// Raises the device's rates by whatever the rows show to be possible.
void ObserveRows(const MeasuredRows& rows, DeviceModel& device);

Coverage CoverageOf(std::span<const ResolvedLayer> layers);

// Whether a workload's benchmark does less than a model's layer: element-wise layers and poolings on 8 bits are
// measured on plain integers, without the scales that a model's have.
bool LacksScales(const Workload& workload);

// Environments, evidence and hosts of the rows.
void SetOrigins(const MeasuredRows& rows, Bracket& bracket);

// "free-layouts", "warm-caches", "one-thread"; "several-hosts", "estimated-layers", "unmeasured-layers" and
// "integers-without-scales" where there are such.
std::vector<std::string> CommonAssumptions(const Bracket& bracket, std::span<const ResolvedLayer> layers,
                                           Latency launch);

}  // namespace infimum
