// A realistic report, and the same numbers every time: a ResNet-50 of about 170 layers against ONNX Runtime, with
// fused groups, free, estimated, missing and unknown layers, and one layer whose name is an attack.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report_model.h"

namespace infimum {

struct SampleOptions {
  std::size_t stages = 1;  // how often the 16 blocks are repeated: 18 gives about 3,000 layers
  bool with_run = true;
  bool with_missing = true;
};

inline constexpr const char* kHostileName = "<img src=x onerror=alert(1)>\"'&</script><!--";

ReportModel SampleReport(const SampleOptions& options = {});

// Of a GPU on which nothing was measured.
ReportModel SampleFloors();

// A layer and what a bracket has of it.
struct SampleLayer {
  Layer layer;
  LayerLatency latency;
};

// Missing, of a configuration's text; unknown without one. `bytes` are all that it moves.
SampleLayer MakeLayer(const std::string& name, const std::string& op, const std::string& config, Flops flops,
                      Bytes bytes);
LayerId AddLayer(SampleLayer layer, ReportModel& report);
// "onednn/gemm:jit"
Candidate NamedCandidate(const std::string& name);
void AddEngineRow(std::vector<LayerId> layers, std::vector<std::string> engine_layers, Latency took, ReportRun& run);

// Marks the layers of the longest path along the report's edges, as the parallel bound finds it.
void MarkLongestPath(ReportModel& report);

}  // namespace infimum
