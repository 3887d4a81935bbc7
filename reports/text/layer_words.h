// What tables and files call a layer or a region, its state and what it runs; names of kernels without what every one
// of a library's has.
//
//   Conv_0, measured by onednn/brgconv:avx512_core   ConfigOf: "convolution dtype=...", FamilyOf: "convolution"
//   Blend_7, for which no configuration is known     ConfigOf: "", FamilyOf: "com.acme.Blend", StatusOf: "unknown"
//   "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, ...)"
//   -> ShortKernelName: "vectorized_layer_norm_kernel<BFloat16, float>"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/bracket/bracket.h"
#include "infimum/graph/model_graph.h"

namespace infimum {

std::vector<std::string> LayerNames(const ModelGraph& graph, const std::vector<LayerId>& layers);

// The canonical text; empty without a configuration, and of a region that a run has shown alone.
std::string ConfigOf(const Layer& layer);
std::string ConfigOf(const RegionLatency& region);

// The operator's name where there is no configuration.
std::string FamilyOf(const Layer& layer);

// As the bracket has it, or "unknown": no configuration could be made for it.
std::string_view StatusOf(const Layer& layer, const LayerLatency& latency);
bool IsFree(const LayerLatency& latency);

inline constexpr std::string_view kNotMeasured = "not measured yet";
// Why it is free, missing or unknown; of a missing one never empty.
std::string ShownReasonOf(const Layer& layer, const LayerLatency& latency);

// "16 layers (GroupQueryAttention: a table of ...)": those of which nothing counts, and why the first; empty without.
std::string UnknownLayersText(const ModelGraph& graph);

// Numbers that only a run decides: each kind on a line, with the option that states it.
std::string QuantitiesText(const ModelGraph& graph);

// Empty where no candidate ran.
std::string CandidateOf(const LayerLatency& latency);

// "1x3x224x224"; "?" where it is not known.
std::string ShapeText(const Value& value);

// At most `most` characters; longer ones lose their middle, since a tile's shape stands at the end.
std::string ShortKernelName(std::string_view name, std::size_t most);

}  // namespace infimum
