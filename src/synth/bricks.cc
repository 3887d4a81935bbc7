#include "src/synth/bricks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "infimum/base/text.h"
#include "infimum/graph/fusable_regions.h"

namespace infimum::synth {
namespace {

// Runs in every inference and takes time: no constant, no view.
bool IsWork(const ModelGraph& graph, const Layer& layer) {
  const bool computes = std::ranges::any_of(layer.outputs, [&](const auto& output) {
    return output && graph.value(*output).kind == ValueKind::kIntermediate;
  });
  return computes && (layer.status != LayerStatus::kFree || !layer.bodies.empty());
}

std::string TextOf(const ModelGraph& graph, const Layer& layer) {
  if (layer.workload) return KeyOf(*layer.workload).text;
  std::string operands;
  for (const std::optional<ValueId>& input : layer.inputs) {
    if (!operands.empty()) operands += ", ";
    if (!input) continue;
    const Value& value = graph.value(*input);
    operands += std::string(Name(value.type)) + " " + (value.shape ? Format(*value.shape) : "?");
  }
  return layer.op + "(" + operands + ")";
}

void AddWork(const Layer& layer, Piece& piece) {
  piece.flops += layer.work.direct;
  piece.moved += layer.work.read() + layer.work.written;
}

Piece PieceOf(const ModelGraph& graph, std::size_t index) {
  const Layer& layer = graph.layers[index];
  Piece piece{{LayerId(index)},
              layer.workload ? std::string(FamilyOf(*layer.workload)) : layer.op,
              TextOf(graph, layer),
              layer.workload.has_value(),
              {},
              {}};
  AddWork(layer, piece);
  return piece;
}

// How a block's layers are joined, where that is not one after the other: "#2" is the block's third layer, "%0" the
// first value from outside. Views have their inputs' names.
class Joints {
 public:
  // What a layer of the block reads, weights aside: " (#0 %1)".
  std::string Read(const ModelGraph& graph, const Layer& layer, bool is_work) {
    std::vector<std::string> read;
    for (const std::optional<ValueId>& input : layer.inputs) {
      if (!input || graph.value(*input).kind == ValueKind::kWeight) continue;
      const auto [name, is_new] = names_.try_emplace(input->index());
      if (is_new) name->second = "%" + std::to_string(outside_++);
      read.push_back(name->second);
    }
    for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
      if (!layer.outputs[i] || (!is_work && read.empty())) continue;
      const std::size_t value = layer.outputs[i]->index();
      names_[value] = is_work ? "#" + std::to_string(layers_) + (i > 0 ? "." + std::to_string(i) : "") : read.front();
      (is_work ? computed_ : views_).insert(value);
    }
    if (!is_work) return "";
    const std::string usual = layers_ == 0 ? "%0" : "#" + std::to_string(layers_ - 1);
    ++layers_;
    return read.empty() || (read.size() == 1 && read.front() == usual) ? "" : " (" + Join(read, " ") + ")";
  }

  // Which of the block's values the layers from `end` on read, where that is not the last one alone; "#1'" is a view.
  std::string Outputs(const ModelGraph& graph, std::size_t end, const std::vector<std::size_t>& last_reader) const {
    std::multiset<std::string> outputs;
    for (const auto* values : {&computed_, &views_})
      for (const std::size_t value : *values)
        if (last_reader[value] >= end || graph.values[value].is_graph_output)
          outputs.insert(names_.at(value) + (values == &views_ ? "'" : ""));
    if (outputs == std::multiset<std::string>{"#" + std::to_string(layers_ - 1)}) return "";
    return " -> (" + Join(std::vector<std::string>(outputs.begin(), outputs.end()), " ") + ")";
  }

 private:
  std::map<std::size_t, std::string> names_;  // of values
  std::set<std::size_t> computed_, views_;    // those that the block makes
  std::size_t layers_ = 0, outside_ = 0;
};

std::vector<Piece> CutIntoBlocks(const ModelGraph& graph, std::size_t most) {
  std::vector<std::size_t> last_reader(graph.values.size());  // of each value
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const std::optional<ValueId>& input : graph.layers[i].inputs)
      if (input) last_reader[input->index()] = i;
  std::vector<Piece> blocks;
  Joints joints;
  std::size_t layers = most;  // of the last block
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const bool is_work = IsWork(graph, layer);
    if (is_work && layers == most) {
      if (!blocks.empty()) blocks.back().text += joints.Outputs(graph, i, last_reader);
      joints = {};
      blocks.push_back({{}, "block", "block", true, {}, {}});
      layers = 0;
    }
    // Views before the first block are nobody's.
    if (blocks.empty()) continue;
    Piece& block = blocks.back();
    block.layers.push_back(LayerId(i));
    const std::string read = joints.Read(graph, layer, is_work);
    if (!is_work) continue;
    ++layers;
    block.text += " [" + TextOf(graph, layer) + "]" + read;
    block.is_exact = block.is_exact && layer.workload.has_value();
    AddWork(layer, block);
  }
  if (!blocks.empty()) blocks.back().text += joints.Outputs(graph, graph.layers.size(), last_reader);
  return blocks;
}

// With the free layers between them: those that read a member, or such a one, and are read by a member, or such a one.
std::vector<LayerId> WithViews(const ModelGraph& graph, const std::vector<LayerId>& members) {
  const std::size_t first = members.front().index(), last = members.back().index();
  const auto is_member = [&](std::size_t i) { return std::binary_search(members.begin(), members.end(), LayerId(i)); };
  std::vector<bool> after(graph.values.size()), before(graph.values.size());
  const auto any = [](const std::vector<bool>& marked, const std::vector<std::optional<ValueId>>& values) {
    return std::ranges::any_of(values,
                               [&](const std::optional<ValueId>& value) { return value && marked[value->index()]; });
  };
  const auto mark = [](std::vector<bool>& marked, const std::vector<std::optional<ValueId>>& values) {
    for (const std::optional<ValueId>& value : values)
      if (value) marked[value->index()] = true;
  };
  const auto is_view = [&](const Layer& layer) { return layer.status == LayerStatus::kFree && layer.bodies.empty(); };
  for (std::size_t i = first; i <= last; ++i) {
    const Layer& layer = graph.layers[i];
    if (is_member(i) || (is_view(layer) && any(after, layer.inputs))) mark(after, layer.outputs);
  }
  std::vector<LayerId> all;
  for (std::size_t i = last + 1; i-- > first;) {
    const Layer& layer = graph.layers[i];
    if (!is_member(i) && !(is_view(layer) && any(after, layer.inputs) && any(before, layer.outputs))) continue;
    mark(before, layer.inputs);
    all.push_back(LayerId(i));
  }
  std::ranges::reverse(all);
  return all;
}

std::vector<Piece> CutIntoRegions(const ModelGraph& graph) {
  std::vector<FusableRegion> regions = FindFusableRegions(graph);
  std::ranges::stable_sort(
      regions, [](const FusableRegion& a, const FusableRegion& b) { return a.layers.size() > b.layers.size(); });
  std::vector<Piece> pieces;
  std::vector<bool> taken(graph.layers.size());
  for (const FusableRegion& region : regions) {
    const auto is_taken = [&](LayerId id) { return taken[id.index()]; };
    if (std::ranges::any_of(region.layers, is_taken)) continue;
    const Work work = WorkOf(region.workload);
    pieces.push_back(
        {WithViews(graph, region.layers),
         std::holds_alternative<Region>(region.workload) ? "region" : std::string(FamilyOf(region.workload)),
         KeyOf(region.workload).text, true, work.direct, work.read() + work.written});
    for (const LayerId id : region.layers) taken[id.index()] = true;
  }
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (!taken[i] && IsWork(graph, graph.layers[i])) pieces.push_back(PieceOf(graph, i));
  std::ranges::sort(pieces, {}, &Piece::layers);
  return pieces;
}

}  // namespace

Result<std::vector<Piece>> CutGraph(const ModelGraph& graph, const Cut& cut) {
  if (cut.into == CutInto::kBlocks) return CutIntoBlocks(graph, std::max<std::size_t>(cut.block_layers, 1));
  if (cut.into == CutInto::kFused) return CutIntoRegions(graph);
  std::vector<Piece> pieces;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const bool is_named = layer.name == cut.layer || std::ranges::find(layer.origins, cut.layer) != layer.origins.end();
    names.push_back(layer.name);
    if (!IsWork(graph, layer)) {
      if (is_named && !cut.layer.empty())
        return Error{"layer " + Quoted(cut.layer) +
                     " takes no time: " + (layer.reason.empty() ? "nothing reads what it computes" : layer.reason)};
      continue;
    }
    if (cut.layer.empty() || is_named) pieces.push_back(PieceOf(graph, i));
  }
  if (!cut.layer.empty() && pieces.empty())
    return Error{"there is no layer " + Quoted(cut.layer) + DidYouMean(cut.layer, names)};
  return pieces;
}

}  // namespace infimum::synth
