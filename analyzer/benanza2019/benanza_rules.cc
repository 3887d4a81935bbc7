#include "analyzer/benanza2019/benanza_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "analyzer/bounds/dag_view.h"

namespace infimum {
namespace {

bool IsTime(const std::optional<Latency>& time) { return time && std::isfinite(time->count()) && *time >= Latency(0); }

bool IsListed(const BenanzaLayer& layer) {
  return !IsZeroCostInBenanza(layer.op) && IsTime(layer.forward) && (!layer.has_bias_row || IsTime(layer.bias));
}

Latency TimeOverUses(const BenanzaLayer& layer) {
  if (!IsListed(layer)) return Latency(0);
  return *layer.forward + (layer.has_bias_row ? *layer.bias : Latency(0));
}

// Only layers before the reader, so that whatever the names are there is no cycle.
std::vector<std::vector<LayerId>> PredecessorsOf(std::span<const BenanzaLayer> layers) {
  std::vector<std::vector<LayerId>> predecessors(layers.size());
  std::unordered_map<std::string_view, LayerId> makers;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const std::string& input : layers[i].inputs) {
      const auto maker = makers.find(input);
      if (maker != makers.end()) predecessors[i].push_back(maker->second);
    }
    for (const std::string& output : layers[i].outputs)
      if (!output.empty()) makers.insert_or_assign(output, LayerId(i));
  }
  return predecessors;
}

}  // namespace

bool IsZeroCostInBenanza(std::string_view op) {
  constexpr std::array<std::string_view, 13> kOperators = {
      "Concat",        "Flatten",     "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "Identity", "LRN",
      "GlobalPooling", "ImageScaler", "Reshape",           "Scale",        "Transpose",     "Unsqueeze"};
  return std::ranges::find(kOperators, op) != kOperators.end();
}

BenanzaTotals ComputeBenanzaTotals(std::span<const BenanzaLayer> layers, LastLayer last) {
  BenanzaTotals totals;
  std::vector<Latency> weights;
  weights.reserve(layers.size());
  std::optional<std::size_t> first_listed, last_listed;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const BenanzaLayer& layer = layers[i];
    weights.push_back(TimeOverUses(layer));
    totals.serial += weights.back();
    if (IsListed(layer)) {
      if (!first_listed) first_listed = i;
      last_listed = i;
    } else if (!IsZeroCostInBenanza(layer.op)) {
      totals.unlisted.push_back(i);
      if (IsTime(layer.forward)) totals.serial_unlisted += *layer.forward;
    }
  }
  totals.serial += totals.serial_unlisted;
  if (!first_listed) return totals;
  std::optional<LongestPath> path =
      DagView(PredecessorsOf(layers)).FindLongestPath(weights, *first_listed, *last_listed);
  if (!path) return totals;
  // Its end is the last listed layer on every path, so what to leave out of the longest is no question.
  totals.parallel = path->latency - (last == LastLayer::kExcluded ? weights[*last_listed] : Latency(0));
  totals.path = std::move(path->layers);
  return totals;
}

}  // namespace infimum
