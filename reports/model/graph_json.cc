#include "reports/model/graph_json.h"

#include <cmath>
#include <cstdint>

#include "reports/graph_drawing/graph_layout.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

constexpr LayoutNode kNode = {148, 40};
constexpr LayoutNode kFreeNode = {76, 16};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// By layer: the next one on the critical path. The path visits its layers in the graph's order.
std::vector<std::size_t> NextOnPath(const Bracket& bracket) {
  std::vector<std::size_t> next(bracket.layers.size(), kNone);
  std::size_t last = kNone;
  for (std::size_t layer = 0; layer < bracket.layers.size(); ++layer) {
    if (!bracket.layers[layer].on_critical_path) continue;
    if (last != kNone) next[last] = layer;
    last = layer;
  }
  return next;
}

std::int64_t Rounded(double value) { return std::llround(value); }

}  // namespace

Json GraphJson(const ReportModel& report, const std::vector<ModelRow>& rows) {
  const std::vector<LayerLatency>& layers = report.bracket.layers;
  std::vector<std::size_t> row_of(layers.size(), kNone);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const LayerId layer : rows[row].layers) row_of[layer.index()] = row;
  const std::vector<std::size_t> next = NextOnPath(report.bracket);
  // Constants that were folded stand beside who reads them, and pull nothing.
  std::vector<std::uint8_t> reads(layers.size(), 0);
  for (const ReportEdge& edge : report.edges)
    if (edge.to < reads.size()) reads[edge.to] = 1;

  std::vector<LayoutNode> nodes;
  for (const LayerLatency& layer : layers) nodes.push_back(IsFree(layer) ? kFreeNode : kNode);
  std::vector<LayoutEdge> edges;
  Json edge_array = Json::array(), path = Json::array();
  for (const ReportEdge& edge : report.edges) {
    if (edge.from >= nodes.size() || edge.to >= nodes.size()) continue;
    LayoutEdge& added = edges.emplace_back(edge.from, edge.to);
    added.is_main = next[edge.from] == edge.to;
    const bool is_constant = IsFree(layers[edge.from]) && reads[edge.from] == 0;
    added.is_joined = !is_constant && row_of[edge.from] != kNone && row_of[edge.from] == row_of[edge.to];
    if (added.is_main) path.push_back(edge_array.size());
    edge_array.push_back({edge.from, edge.to});
  }
  const GraphLayout layout = LayOutGraph(nodes, edges);
  Json places = Json::array(), routes = Json::array();
  for (const LayoutPoint& place : layout.nodes) places.push_back({Rounded(place.x), Rounded(place.y)});
  for (std::size_t edge = 0; edge < edges.size(); ++edge) {
    if (layout.routes[edge].empty()) continue;
    Json& route = routes.emplace_back(Json::array({edge}));
    for (const LayoutPoint& point : layout.routes[edge]) {
      route.push_back(Rounded(point.x));
      route.push_back(Rounded(point.y));
    }
  }
  return {{"edges", std::move(edge_array)},
          {"path", std::move(path)},
          {"nodes", std::move(places)},
          {"routes", std::move(routes)},
          {"size", {Rounded(layout.width), Rounded(layout.height)}},
          {"node", {Rounded(kNode.width), Rounded(kNode.height)}},
          {"free_node", {Rounded(kFreeNode.width), Rounded(kFreeNode.height)}}};
}

}  // namespace infimum
