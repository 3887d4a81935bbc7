// How far ONNX Runtime rewrote a graph before it ran it: what its levels enable leaves traces in a profile, which
// contains no setting.
//
//   setting graph_optimization_level=basic    -> basic, reported
//   layers relu_nchwc, ReorderOutput          -> all: only its layout rules make these
//   layer node_Conv_0 (FusedConv)             -> extended at least
//   layers conv1 (Conv), relu1 (Relu)         -> nothing is known
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "infimum/graph/run_profile.h"

namespace infimum::findings {

// What a level does beyond the one before (ONNX Runtime, "Graph Optimizations in ONNX Runtime").
enum class GraphOptimization : std::uint8_t {
  kDisabled,  // "disabled"
  kBasic,     // "basic": constants are folded; Identity, Dropout and the like go
  kExtended,  // "extended": fusions for the processor's and CUDA's providers, FusedConv and Gelu among them
  kAll,       // "all": the blocked layout of convolutions on processors (NCHWc); the default
};
std::string_view Name(GraphOptimization level);

// As the run's settings report; nullopt where they do not, or in unknown words.
std::optional<GraphOptimization> ReportedOptimization(const RunProfile& run);
// The least that makes such layers; nullopt where the run is of another framework, or nothing shows it.
std::optional<GraphOptimization> InferredOptimization(const RunProfile& run);
// Reported, else inferred.
std::optional<GraphOptimization> OptimizationOf(const RunProfile& run);

}  // namespace infimum::findings
