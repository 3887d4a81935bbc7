// What an engine's layers say by themselves, before there is any bound: which operators and which layers took the time.
//
//   LayersView view = ViewOf(run, "profile.json");
//   view.operators.front()   // "Conv", 53 layers, 41.2 ms of 52.1
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/findings/finding.h"
#include "infimum/base/units.h"
#include "infimum/graph/run_profile.h"

namespace infimum {

struct LayerRow {
  std::string name;
  std::string op;
  std::string algorithm;           // the engine's, where it tells
  std::vector<std::string> nodes;  // the model's that it covers, where the engine tells
  std::int64_t samples = 0;
  std::optional<Latency> median;  // absent without samples
  Latency least{0}, most{0}, total{0};
};

struct EngineOperatorRow {
  std::string op;
  std::int64_t layers = 0;
  Latency time{0};  // sum of the layers' medians
};

struct LayersView {
  std::string source;                        // the file
  std::string framework;                     // "onnxruntime 1.31.1"
  std::optional<Latency> end_to_end;         // the smallest repetition median, where the run has unprofiled samples
  Latency layers_time{0};                    // sum of the layers' medians
  std::string noisy;                         // why its end-to-end time is none
  double skipped_share = 0;                  // of the layers' time: of events that could not be read, about
  std::vector<EngineOperatorRow> operators;  // the most time first
  std::vector<LayerRow> layers;              // in the engine's order
  std::vector<Finding> findings;
  std::vector<std::string> remarks;
};

LayersView ViewOf(const RunProfile& run, std::string source);

}  // namespace infimum
