// The bracket as JSON: what `infimum bound --format json` prints (schema infimum.bound/2), and the parts of it that a
// report has as well, each with one list of its fields. Keys are documented in README.md.
#pragma once

#include <string>

#include "analyzer/bracket/bracket.h"
#include "reports/text/json_values.h"

namespace infimum {

// The coverage adds up to 1; a missing layer's latency_us is null. `bracket` must be of `graph`: one LayerLatency for
// each of its layers.
std::string BoundJson(const ModelGraph& graph, const Bracket& bracket);

// A layer's and a region's JSON is one list each, in two forms: `bound` has null for what is absent, a library's choice
// with its time, and a region's layers by name; a report has "" for absent texts, the family, a library's choice by
// name with its regret, and layers by index. A report's region has null as its "workload" until the report says it.
enum class BracketForm { kBound, kReport };
OrderedJson ObservedJson(const ModelGraph& graph, const std::vector<ObservedNode>& nodes);
OrderedJson ShownLossJson(const ModelGraph& graph, const std::optional<ShownLoss>& loss);
OrderedJson LayerJson(const Layer& layer, const LayerLatency& row, BracketForm form);
OrderedJson RegionJson(const ModelGraph& graph, const RegionLatency& region, BracketForm form);

void to_json(OrderedJson& json, const Bound& bound);
void to_json(OrderedJson& json, const Floor& floor);
void to_json(OrderedJson& json, const UpperLimit& limit);
void to_json(OrderedJson& json, const ModelContext& context);
void to_json(OrderedJson& json, const Coverage& coverage);
void to_json(OrderedJson& json, const AlgorithmRegret& regret);
void to_json(OrderedJson& json, const Inversion& inversion);
void to_json(OrderedJson& json, const NotTried& kind);
void to_json(OrderedJson& json, const WhatIfBound& bound);
void to_json(OrderedJson& json, const WhatIfOutcome& outcome);
void to_json(OrderedJson& json, const CompositionError& error);

}  // namespace infimum
