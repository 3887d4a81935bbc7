// How long each layer takes at best, and how that is known: measured, estimated, free or missing.
//
//   Conv     rows 1.24 ms, 1.16 ms (jit), unsupported (wino)  -> measured 1.16 ms, the jit candidate
//   Concat   no row, moves 2 MiB, copy curve 10 GB/s there     -> estimated 0.21 ms
//   Reshape  a view                                            -> free, 0
//   Conv     only failed rows                                  -> missing: adds nothing to a bound, and is listed
//
// The best candidate is the one with the least point value (statistics.h), so a further row can only
// lower a layer's latency. The interval runs from the least low end of all candidates' intervals to the
// least high end: whichever candidate is truly best, it is no slower than the least high end says; it
// always holds the point value. Only layers whose time is moving bytes are estimated; a convolution,
// product, recurrent network or attention without rows is missing, as is a region without its own rows.
//
// A layer with bodies takes the time of its bodies: If of the branch that takes less, Loop and Scan of
// `least_executions` iterations. It is missing where a part of that is; the known part still enters the
// bounds.
#pragma once

#include <optional>
#include <vector>

#include "analyzer/device_model.h"
#include "analyzer/measured_rows.h"
#include "infimum/analyzer/bracket.h"

namespace infimum {

// What the rows of one workload say; the same for all layers that have it.
struct BestTime {
  Latency best{0};
  Interval interval;
  Candidate candidate;
  Latency core_time{0};
};
// Absent where none of its rows counts.
std::optional<BestTime> BestTimeOf(const WorkloadRows& rows, const Selection& selection);

struct ResolvedLayer {
  LayerLatency known;  // what is shown
  Latency best{0};     // what the layer adds to a bound; 0 where free or missing
  Interval interval;   // of `best`
  // What it takes of all cores' time at least: min over q of q x latency on q cores.
  Latency core_time{0};
  // The layer's weights in the coverage; a layer with bodies may have several.
  Latency measured{0};
  Latency estimated{0};
  Latency missing{0};  // the floor of what is missing
};

// One for each layer, in the graph's order.
std::vector<ResolvedLayer> ResolveLatencies(const ModelGraph& graph, const MeasuredRows& rows,
                                            const Selection& selection, const DeviceModel& device);

// Whether a layer may be estimated from the bytes that it moves.
bool MovesBytesOnly(const Workload& workload);

}  // namespace infimum
