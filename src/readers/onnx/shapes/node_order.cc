#include "src/readers/onnx/shapes/node_order.h"

#include <functional>
#include <numeric>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "infimum/base/text.h"

namespace infimum {
namespace {

using Producers = std::unordered_map<std::string_view, int>;

// The nodes of this graph whose results a node reads, its bodies included. A body's own names may hide
// ours; such a false dependency can only arise where names repeat, which ONNX forbids.
void AddDependencies(const onnx::NodeProto& node, const Producers& producers, std::vector<int>& dependencies) {
  for (const std::string& input : node.input())
    if (const auto found = producers.find(input); found != producers.end()) dependencies.push_back(found->second);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const auto add_body = [&](const onnx::GraphProto& body) {
      for (const onnx::NodeProto& inner : body.node()) AddDependencies(inner, producers, dependencies);
      for (const onnx::ValueInfoProto& output : body.output())
        if (const auto found = producers.find(output.name()); found != producers.end())
          dependencies.push_back(found->second);
    };
    if (attribute.has_g()) add_body(attribute.g());
    for (const onnx::GraphProto& body : attribute.graphs()) add_body(body);
  }
}

// Follows unfinished dependencies until a node comes back.
Error CycleError(const onnx::GraphProto& graph, const std::vector<std::vector<int>>& dependencies,
                 const std::vector<int>& waiting) {
  int node = 0;
  while (waiting[static_cast<std::size_t>(node)] == 0) ++node;
  std::vector<int> path;
  std::unordered_map<int, std::size_t> place;
  while (place.emplace(node, path.size()).second) {
    path.push_back(node);
    for (const int next : dependencies[static_cast<std::size_t>(node)]) {
      if (waiting[static_cast<std::size_t>(next)] == 0) continue;
      node = next;
      break;
    }
  }
  std::string names;
  constexpr std::size_t kMostNamed = 5;
  for (std::size_t i = place[node]; i < path.size(); ++i) {
    if (i - place[node] == kMostNamed) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + Describe(graph.node(path[i]), path[i]);
  }
  return Error{"the graph has a cycle, each of these reads what the next one writes: " + names};
}

}  // namespace

std::string Describe(const onnx::NodeProto& node, int position) {
  const std::string name = node.name().empty() ? std::to_string(position) : Quoted(node.name());
  return "node " + name + " (" + Quoted(node.op_type()).substr(1, Quoted(node.op_type()).size() - 2) + ")";
}

Result<std::vector<int>> OrderNodes(const onnx::GraphProto& graph) {
  const auto count = static_cast<std::size_t>(graph.node_size());
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  Producers producers;
  producers.reserve(2 * count);
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string& output : graph.node(i).output())
      if (!output.empty()) producers.emplace(output, i);

  std::vector<std::vector<int>> dependencies(count);
  bool sorted = true;
  for (std::size_t i = 0; i < count; ++i) {
    AddDependencies(graph.node(static_cast<int>(i)), producers, dependencies[i]);
    for (const int dependency : dependencies[i]) sorted = sorted && dependency < static_cast<int>(i);
  }
  if (sorted) return order;

  std::vector<std::vector<int>> readers(count);
  std::vector<int> waiting(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    waiting[i] = static_cast<int>(dependencies[i].size());
    for (const int dependency : dependencies[i])
      readers[static_cast<std::size_t>(dependency)].push_back(static_cast<int>(i));
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;  // first in the file first
  for (std::size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  order.clear();
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const int reader : readers[static_cast<std::size_t>(node)])
      if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
  }
  if (order.size() != count) return CycleError(graph, dependencies, waiting);
  return order;
}

}  // namespace infimum
