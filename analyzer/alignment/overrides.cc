#include "analyzer/alignment/overrides.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "infimum/base/text.h"

namespace infimum {
namespace {

using Places = std::multimap<std::string_view, std::size_t>;

// All places of a name; nothing where it is unknown.
std::vector<std::size_t> PlacesOf(const Places& places, std::string_view name) {
  std::vector<std::size_t> found;
  const auto [begin, end] = places.equal_range(name);
  for (auto entry = begin; entry != end; ++entry) found.push_back(entry->second);
  return found;
}

Error Unknown(const AlignmentOverride& declared, std::string_view name, const char* where, const Places& places) {
  std::vector<std::string_view> known;
  for (const auto& [text, place] : places)
    if (known.empty() || known.back() != text) known.push_back(text);
  return Error{declared.origin + ": " + Quoted(name) + " is no " + where + DidYouMean(name, known)};
}

Places NodesOf(const ModelGraph& graph) {
  Places nodes;
  const auto add = [&nodes](std::string_view name, std::size_t layer) {
    const std::vector<std::size_t> known = PlacesOf(nodes, name);
    if (!name.empty() && std::ranges::find(known, layer) == known.end()) nodes.emplace(name, layer);
  };
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    add(graph.layers[i].name, i);
    for (const std::string& origin : graph.layers[i].origins) add(origin, i);
  }
  return nodes;
}

}  // namespace

Result<std::vector<DeclaredRow>> FindDeclared(const ModelGraph& graph, const RunProfile& run,
                                              std::span<const AlignmentOverride> overrides) {
  std::vector<DeclaredRow> rows;
  if (overrides.empty()) return rows;
  const Places nodes = NodesOf(graph);
  Places engine;
  for (std::size_t e = 0; e < run.layers.size(); ++e) engine.emplace(run.layers[e].name, e);
  std::set<std::size_t> taken_engine_layers, taken_layers;
  for (const AlignmentOverride& declared : overrides) {
    DeclaredRow row;
    for (const std::string& name : declared.engine_layers) {
      const std::vector<std::size_t> found = PlacesOf(engine, name);
      if (found.empty()) return Unknown(declared, name, "layer of the run", engine);
      for (const std::size_t e : found) {
        if (!taken_engine_layers.insert(e).second)
          return Error{declared.origin + ": engine layer " + Quoted(name) + " is declared twice, name it once"};
        row.engine_layers.push_back(e);
      }
    }
    std::ranges::sort(row.engine_layers);
    for (const std::string& name : declared.nodes) {
      const std::vector<std::size_t> found = PlacesOf(nodes, name);
      if (found.empty()) return Unknown(declared, name, "layer of the model", nodes);
      for (const std::size_t layer : found) {
        // Two nodes that a rewrite made one layer may both be named, in one row.
        if (std::ranges::find(row.layers, layer) != row.layers.end()) continue;
        if (!taken_layers.insert(layer).second)
          return Error{declared.origin + ": layer " + Quoted(name) +
                       " of the model is in another row already; engine layers that compute it together belong into "
                       "one row"};
        row.layers.push_back(layer);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace infimum
