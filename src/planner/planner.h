// From models to a plan: each distinct workload once, layers before the regions that may be fused, of each the largest
// expected share of the time first, and without what is measured already.
//
//   Plan plan = BuildPlan({{&resnet50, &bert}}, PlanOptions{});
//   Selection now{.device = device.Key(), .threads = 1, .environment = environment.Key()};
//   Result<Plan> rest = LeaveOutKnown(std::move(plan), store, now, SettledRule{});
//
// The share of a workload is a roofline estimate, max(FLOPs / arithmetic, bytes / bandwidth) times uses,
// over the sum of all. It orders the work; it enters no bound.
//
//   5 GFLOP conv used twice at 50 GFLOP/s: 200 ms;  a 100 MB copy at 10 GB/s: 10 ms  ->  0.952 and 0.048
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"
#include "infimum/measurement/measurement_source.h"
#include "infimum/measurement/plan.h"

namespace infimum {

struct PlanOptions {
  std::optional<NumericContract> contract;  // absent: each workload's own types
  // One core of today, roughly: only their ratio matters for the order.
  FlopsPerSecond arithmetic{5e10};
  BytesPerSecond bandwidth{1e10};
  bool regions = true;  // also what a library may run as one (FindFusableRegions)
};

// Options with the rates of a device: its best f32 arithmetic and its copy rate at the largest working set
// at that number of threads. A rate that `peaks` does not have keeps its default.
PlanOptions WithRatesOf(const DevicePeaks& peaks, std::int64_t threads, PlanOptions options);

// The roofline estimate of one execution.
Latency EstimateLatency(const Workload& workload, const PlanOptions& options);

// All measurable layers of the graphs and their fusable regions, those of bodies too. Equal workloads are one entry,
// its uses added up. Ties are ordered by text. One comment for each graph names it. Graphs must be valid.
Plan BuildPlan(std::span<const ModelGraph* const> graphs, const PlanOptions& options);

// A plan of just these, each expected to take as long as the others.
Plan EvenPlan(std::vector<PlanEntry> entries);

// When a workload needs no more measuring.
struct SettledRule {
  // What every candidate that could be the best must have, in one row.
  std::int64_t repetitions = 3;
  // Names of the candidates that a complete campaign would run; empty: only the rows are known. Without it an
  // interrupted campaign is noticed by the repetitions that its interleaved rounds did not get to.
  std::function<std::vector<std::string>(const PlanEntry&)> candidates;
};

// A workload is settled by its rows when
//  - there is at least one, and not all of them are skipped (a skipped row was never tried),
//  - every expected candidate (SettledRule::candidates) has a row, and
//  - each measured candidate, of the expected ones where they are told, has a row of `repetitions`, except
//    those that are clearly slower: whose point value is over kClearlySlower times the best.
// So workloads that no candidate supports are settled, and those of a campaign that was stopped are not.
inline constexpr double kClearlySlower = 1.5;
bool IsSettled(const PlanEntry& entry, std::span<const Measurement> rows, const SettledRule& rule);

// Drops the entries that `source` has settled rows for, asking it once for each contract. Select the
// environment that the campaign would run in: with none selected, an older library's rows count as known.
// The entry's own contract replaces the selection's. Shares stay those of the whole plan, so that their
// sum says how much of the time is left; a comment says how many entries were left out.
Result<Plan> LeaveOutKnown(Plan plan, MeasurementSource& source, const Selection& selection,
                           const SettledRule& rule = SettledRule{});

}  // namespace infimum
