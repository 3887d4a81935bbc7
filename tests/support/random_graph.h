// Seeded random models and rows, for laws that must hold on every graph.
//
//   RandomGraphOptions options;  options.layers = 8;
//   std::mt19937_64 random(7);
//   ModelGraph graph = MakeRandomGraph(random, options);     // valid, connected by data
#pragma once

#include <random>
#include <span>
#include <vector>

#include "infimum/graph/model_graph.h"
#include "infimum/measurement/measurement_source.h"

namespace infimum::testing {

struct RandomGraphOptions {
  std::size_t layers = 20;
  std::size_t most_inputs = 3;
  double free_share = 0.1;  // of the layers
  double unknown_share = 0.0;
  double weight_share = 0.3;  // of the layers that read a weight, some of them the same one
  std::size_t reach = 0;      // an input comes from so many layers back at most; 0: any
};

ModelGraph MakeRandomGraph(std::mt19937_64& random, const RandomGraphOptions& options);

// Keys of all distinct workloads, in the graph's order.
std::vector<WorkloadKey> WorkloadKeys(const ModelGraph& graph);

// Keys of all distinct fusable regions.
std::vector<WorkloadKey> RegionKeys(const ModelGraph& graph);

DeviceKey TestDeviceKey();  // names 32K of L1, 512K of L2 and 8M of L3
Environment TestEnvironment(std::int64_t threads);
DevicePeaks TestPeaks();

// A measured row with one repetition of each of these medians.
Measurement MeasuredRow(const WorkloadKey& workload, const std::string& algorithm, std::vector<Latency> medians);

// One to three rows for each workload, drawn between 1 and 1000 us; the second is a library's choice. Three repetitions
// each: drawn one by one, which is noise beyond all measure, or alike, so that each candidate has one given time.
enum class Repetitions { kDrawn, kAlike };
void AddRandomRows(std::mt19937_64& random, std::span<const WorkloadKey> keys, std::int64_t threads,
                   MemorySource& source, Repetitions repetitions = Repetitions::kDrawn);

Selection TestSelection(std::int64_t threads);

}  // namespace infimum::testing
