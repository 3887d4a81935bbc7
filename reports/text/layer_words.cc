#include "reports/text/layer_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "infimum/base/utf8.h"
#include "reports/text/fact_text.h"
#include "src/core/graph/run_time_quantities.h"

namespace infimum {
namespace {

constexpr std::array<std::string_view, 8> kEverywhere = {
    "(anonymous namespace)::", "at::native::", "c10::", "cutlass::", "std::", "at::", "infer::", "void "};

void Erase(std::string& text, std::string_view part) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
}

// Where the list of parameters begins: the last parenthesis that stands in no template's brackets.
std::size_t ParametersOf(std::string_view name) {
  int depth = 0;
  std::size_t found = std::string_view::npos;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0) found = i;
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
  }
  return depth == 0 ? found : std::string_view::npos;
}

}  // namespace

std::vector<std::string> LayerNames(const ModelGraph& graph, const std::vector<LayerId>& layers) {
  std::vector<std::string> names;
  for (const LayerId layer : layers) names.push_back(graph.layer(layer).name);
  return names;
}

std::string ConfigOf(const Layer& layer) { return layer.workload ? Format(*layer.workload) : ""; }

std::string ConfigOf(const RegionLatency& region) { return region.region ? Format(region.region->workload) : ""; }

std::string FamilyOf(const Layer& layer) { return layer.workload ? std::string(FamilyOf(*layer.workload)) : layer.op; }

std::string_view StatusOf(const Layer& layer, const LayerLatency& latency) {
  return layer.status == LayerStatus::kUnknown ? "unknown" : Name(latency.status);
}

bool IsFree(const LayerLatency& latency) { return latency.status == LatencyStatus::kFree; }

std::string ShownReasonOf(const Layer& layer, const LayerLatency& latency) {
  const std::string& reason = ReasonOf(layer, latency);
  const bool is_missing = layer.status != LayerStatus::kUnknown && latency.status == LatencyStatus::kMissing;
  return reason.empty() && is_missing ? std::string(kNotMeasured) : reason;
}

std::string CandidateOf(const LayerLatency& latency) { return latency.candidate ? latency.candidate->name() : ""; }

std::string ShapeText(const Value& value) { return value.shape ? Format(*value.shape) : "?"; }

std::string ShortKernelName(std::string_view name, std::size_t most) {
  // Copies and sets have words in their parentheses.
  if (name.starts_with("Mem")) return std::string(name.substr(0, most));
  std::string text(name);
  // "std::enable_if<...>::type kernel<...>": what it returns is not its name.
  if (const std::size_t type = text.find("::type "); text.starts_with("std::enable_if<") && type != std::string::npos)
    text.erase(0, type + 7);
  for (const std::string_view part : kEverywhere) Erase(text, part);
  if (const std::size_t parameters = ParametersOf(text); parameters != std::string_view::npos && parameters > 0)
    text.resize(parameters);
  if (text.size() <= most || most < 8) return text;
  const std::size_t tail = (most - 3) / 3;
  return text.substr(0, most - 3 - tail) + "..." + text.substr(text.size() - tail);
}

std::string UnknownLayersText(const ModelGraph& graph) {
  std::size_t count = 0;
  const Layer* first = nullptr;
  const auto visit = [&](const auto& self, const ModelGraph& within) -> void {
    for (const Layer& layer : within.layers) {
      for (const SubGraph& body : layer.bodies)
        if (body.graph != nullptr) self(self, *body.graph);
      if (layer.status != LayerStatus::kUnknown || !layer.bodies.empty() || layer.least) continue;
      if (++count == 1) first = &layer;
    }
  };
  visit(visit, graph);
  if (first == nullptr) return "";
  return fmt::format("{} ({}: {})", CountText(count, "layer"), Printable(first->op), Printable(first->reason));
}

std::string QuantitiesText(const ModelGraph& graph) {
  std::map<std::string, std::vector<RunTimeQuantity>> by_name;
  VisitQuantities(graph, [&](const RunTimeQuantity& quantity) { by_name[quantity.name].push_back(quantity); });
  std::string out;
  for (const auto& [name, quantities] : by_name) {
    std::set<std::int64_t> stated;
    std::size_t open = 0;
    std::int64_t least = quantities.front().least, most = quantities.front().most;
    for (const RunTimeQuantity& quantity : quantities) {
      if (quantity.stated) stated.insert(*quantity.stated);
      if (!quantity.stated) ++open;
      least = std::min(least, quantity.least);
      most = std::max(most, quantity.most);
    }
    const auto kind = std::ranges::find(kQuantityKinds, name, &QuantityKind::name);
    out += fmt::format("{}, {} in {}: ", name, kind == std::end(kQuantityKinds) ? "" : kind->meaning,
                       CountText(quantities.size(), "layer"));
    for (const std::int64_t number : stated)
      out += fmt::format("{}{}", number == *stated.begin() ? "assumed " : ", ", number);
    if (open > 0)
      out += fmt::format("{}only a run decides, {} to {}; --assume {}=N or {}@{}=N states it",
                         stated.empty() ? "" : "; ", least, most, name, name, Printable(quantities.front().layer));
    out += "\n";
  }
  return out;
}

}  // namespace infimum
