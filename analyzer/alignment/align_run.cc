#include "analyzer/alignment/align_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/alignment/match_by_shape.h"
#include "analyzer/alignment/onnxruntime_names.h"
#include "analyzer/alignment/overrides.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"

namespace infimum {
namespace {

// Which layers of a model each layer of an engine covers, without their times: the rules of README.md,
// "Alignment", one after the other.

constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);

class Aligner {
 public:
  Aligner(const ModelGraph& graph, const RunProfile& run, const std::vector<DeclaredRow>& declared)
      : graph_(graph),
        run_(run),
        declared_(declared),
        predecessors_(Predecessors(graph)),
        row_of_(graph.layers.size(), kNoRow) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      const Layer& layer = graph.layers[i];
      nodes_.emplace(layer.name, i);
      for (const std::string& origin : layer.origins)
        if (!origin.empty()) nodes_.emplace(origin, i);
      for (const std::optional<ValueId>& output : layer.outputs)
        if (output && !graph.value(*output).name.empty()) makers_.emplace(graph.value(*output).name, i);
      for (const SubGraph& body : layer.bodies)
        if (body.graph != nullptr) CollectBodyNames(*body.graph);
    }
    successors_.resize(graph.layers.size());
    for (std::size_t i = 0; i < predecessors_.size(); ++i)
      for (LayerId before : predecessors_[i]) successors_[before.index()].push_back(i);
  }

  std::vector<AlignedRow> Align() {
    std::vector<Anchors> anchors;
    for (const ProfiledLayer& engine : run_.layers) anchors.push_back(FindAnchors(engine));
    AddOverrides(anchors);
    AddByOrder(anchors);
    for (std::size_t e = 0; e < run_.layers.size(); ++e) AddEngineLayer(e, std::move(anchors[e]));
    JoinEnclosedRows();
    for (std::size_t r = 0; r < rows_.size(); ++r) CoverBackwards(r);
    CoverLeftOvers();
    for (std::size_t i = 0; i < row_of_.size(); ++i)
      if (row_of_[i] != kNoRow) rows_[row_of_[i]].row.layers.push_back(LayerId(i));
    std::vector<AlignedRow> rows;
    rows.reserve(rows_.size());
    for (Row& row : rows_) {
      if (row.row.engine_layers.empty()) continue;
      AddOwnWork(row.row);
      rows.push_back(std::move(row.row));
    }
    return rows;
  }

 private:
  struct Row {
    AlignedRow row;
    std::vector<std::size_t> anchors;
    std::unordered_set<std::size_t> given_by;  // layers that make what the engine layers are given
    std::set<std::string> cores;               // the engine layers' operators
    bool may_hold_heavy = false;               // one of them may be several layers of any kind, for all we know
  };
  struct Anchors {
    std::vector<std::size_t> layers;
    AlignmentClue clue = AlignmentClue::kNone;
    bool inside_body = false;
  };

  void CollectBodyNames(const ModelGraph& body) {
    for (const Layer& layer : body.layers) {
      body_names_.insert(layer.name);
      body_names_.insert(layer.origins.begin(), layer.origins.end());
      for (const SubGraph& inner : layer.bodies)
        if (inner.graph != nullptr) CollectBodyNames(*inner.graph);
    }
  }

  std::optional<std::size_t> MakerOf(std::string_view engine_value) const {
    for (const std::string& name : UndecoratedNames(engine_value))
      if (const auto maker = makers_.find(name); maker != makers_.end()) return maker->second;
    return std::nullopt;
  }

  Anchors FindAnchors(const ProfiledLayer& engine) const {
    Anchors anchors;
    const auto add = [&anchors](std::size_t layer, AlignmentClue clue) {
      if (std::find(anchors.layers.begin(), anchors.layers.end(), layer) == anchors.layers.end())
        anchors.layers.push_back(layer);
      anchors.clue = clue;
    };
    // What the engine does of its own accord makes no value of the model anew. A Transpose of its own may be one of
    // the model's that it moved, and makes what that one made.
    const bool is_own = OwnWorkOf(engine) != EngineWork::kNone && engine.op != "Transpose";
    if (is_own && nodes_.find(engine.name) == nodes_.end()) return anchors;
    for (const std::string& output : engine.outputs)
      if (const auto maker = MakerOf(output)) add(*maker, AlignmentClue::kValue);
    for (const std::string& node : engine.nodes)
      if (const auto layer = nodes_.find(node); layer != nodes_.end())
        add(layer->second, anchors.layers.empty() ? AlignmentClue::kNode : anchors.clue);
    if (!anchors.layers.empty()) return anchors;
    // Decorations distinguish a value's name from a node's where both have the same: "_nchwc" follows a value.
    const std::vector<std::string> names = UndecoratedNames(engine.name);
    for (const std::string& name : names) {
      if (const auto layer = nodes_.find(name); layer != nodes_.end()) {
        add(layer->second, AlignmentClue::kNode);
        return anchors;
      }
      if (const auto maker = makers_.find(name); maker != makers_.end()) {
        add(maker->second, AlignmentClue::kValue);
        return anchors;
      }
    }
    for (const std::string& name : names) anchors.inside_body |= body_names_.count(name) > 0;
    return anchors;
  }

  // What is declared replaces what names say, and leaves the declared layers to nobody else.
  void AddOverrides(std::vector<Anchors>& anchors) const {
    if (declared_.empty()) return;
    std::vector<bool> is_declared(graph_.layers.size(), false);
    for (const DeclaredRow& row : declared_)
      for (const std::size_t layer : row.layers) is_declared[layer] = true;
    for (Anchors& found : anchors) {
      std::erase_if(found.layers, [&](std::size_t layer) { return is_declared[layer]; });
      if (found.layers.empty()) found.clue = AlignmentClue::kNone;
    }
    for (const DeclaredRow& row : declared_)
      for (const std::size_t e : row.engine_layers) anchors[e] = {row.layers, AlignmentClue::kOverride, false};
  }

  // Layers that no name leads to, by what they do and when.
  void AddByOrder(std::vector<Anchors>& anchors) const {
    std::vector<std::optional<std::size_t>> known(run_.layers.size());
    std::vector<bool> taken(graph_.layers.size(), false), open(run_.layers.size(), false);
    for (std::size_t e = 0; e < run_.layers.size(); ++e) {
      if (!anchors[e].layers.empty()) known[e] = anchors[e].layers.front();
      for (const std::size_t layer : anchors[e].layers) taken[layer] = true;
      // What is known to be in a body is no layer of the graph; what serves another layer is a step of that one.
      open[e] = anchors[e].layers.empty() && anchors[e].clue != AlignmentClue::kOverride && !anchors[e].inside_body &&
                run_.layers[e].serves.empty();
    }
    const std::vector<std::vector<std::size_t>> found = MatchByOrder(graph_, run_, known, taken, open);
    for (std::size_t e = 0; e < run_.layers.size(); ++e)
      if (!found[e].empty()) anchors[e] = {found[e], AlignmentClue::kOrder, false};
  }

  // Whether an engine layer makes a value of the model by rearranging what another engine layer computed: the
  // Reshape behind a matmul that absorbed a sum, a Transpose that was moved behind a Slice. It is a step of
  // the layer that the value comes from, not that layer.
  bool OnlyFinishes(const ProfiledLayer& engine, const Anchors& anchors) const {
    const std::string_view core = CoreOf(engine.op);
    if (!OnlyRearranges(core) || engine.inputs.empty()) return false;
    return std::any_of(anchors.layers.begin(), anchors.layers.end(), [&](std::size_t i) {
      const Layer& layer = graph_.layers[i];
      return layer.status != LayerStatus::kFree && !OnlyRearranges(CoreOf(layer.op));
    });
  }

  std::size_t RowThatMade(const std::string& engine_value) const {
    const auto found = made_in_.find(engine_value);
    return found == made_in_.end() || rows_[found->second].row.inside_body ? kNoRow : found->second;
  }

  void AddEngineLayer(std::size_t e, Anchors anchors) {
    const ProfiledLayer& engine = run_.layers[e];
    std::size_t r = kNoRow;
    for (std::size_t layer : anchors.layers)
      if (row_of_[layer] != kNoRow) r = row_of_[layer];
    if (r == kNoRow && anchors.clue != AlignmentClue::kOverride && OnlyFinishes(engine, anchors))
      r = RowThatMade(engine.inputs.front());
    if (r == kNoRow) {
      r = rows_.size();
      rows_.emplace_back();
      rows_[r].row.clue = anchors.clue;
      rows_[r].row.inside_body = anchors.inside_body;
    }
    Row& row = rows_[r];
    row.row.engine_layers.push_back(e);
    row.row.clue = std::max(row.row.clue, anchors.clue);
    row.cores.emplace(CoreOf(engine.op));
    row.may_hold_heavy |= MayHoldHeavy(engine);
    for (std::size_t layer : anchors.layers) {
      if (row_of_[layer] != kNoRow) continue;
      row_of_[layer] = r;
      row.anchors.push_back(layer);
    }
    for (const std::string& output : engine.outputs)
      if (!output.empty()) made_in_.emplace(output, r);
    std::optional<std::size_t> first_maker;
    for (const std::string& input : engine.inputs) {
      const auto known = engine_makers_.find(input);
      const std::optional<std::size_t> maker = known != engine_makers_.end() ? known->second : MakerOf(input);
      if (!maker) continue;
      if (!first_maker) first_maker = maker;
      row.given_by.insert(*maker);
    }
    // Values that only the engine has stand for what they were made from: what its layers make for the
    // model, or, for a reorder, what it was given.
    const std::optional<std::size_t> stands_for =
        !anchors.layers.empty() ? std::optional(anchors.layers.front()) : first_maker;
    if (stands_for)
      for (const std::string& output : engine.outputs)
        if (!output.empty()) engine_makers_.emplace(output, *stands_for);
  }

  // An engine layer that nothing names, but that is fed by one row alone and feeds that row alone, is a step of it:
  // the pooling between a dequantization and a quantization that all three are one layer of the model.
  void JoinEnclosedRows() {
    std::vector<std::size_t> row_of_engine(run_.layers.size(), kNoRow);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t e : rows_[r].row.engine_layers) row_of_engine[e] = r;
    }
    constexpr std::size_t kSeveral = kNoRow - 1;
    std::vector<std::size_t> fed_by(rows_.size(), kNoRow), feeds(rows_.size(), kNoRow);
    const auto note = [&](std::size_t& entry, std::size_t row) {
      if (row != kNoRow) entry = entry == kNoRow || entry == row ? row : kSeveral;
    };
    // What feeds a row without a name stands for it, so that chains of them are seen through.
    const auto visit = [&](std::size_t e, bool forwards) {
      const std::size_t r = row_of_engine[e];
      for (const std::string& input : run_.layers[e].inputs) {
        const auto maker = made_in_.find(input);
        if (maker == made_in_.end() || maker->second == r) continue;
        const std::size_t from = maker->second;
        if (forwards && IsNameless(r)) note(fed_by[r], IsNameless(from) ? fed_by[from] : from);
        if (!forwards && IsNameless(from)) note(feeds[from], IsNameless(r) ? feeds[r] : r);
      }
    };
    for (std::size_t e = 0; e < run_.layers.size(); ++e) visit(e, true);
    for (std::size_t e = run_.layers.size(); e-- > 0;) visit(e, false);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (!IsNameless(r) || fed_by[r] != feeds[r] || fed_by[r] >= kSeveral) continue;
      std::vector<std::size_t>& into = rows_[fed_by[r]].row.engine_layers;
      into.insert(into.end(), rows_[r].row.engine_layers.begin(), rows_[r].row.engine_layers.end());
      std::sort(into.begin(), into.end());
      rows_[r].row.engine_layers.clear();
    }
  }

  bool IsNameless(std::size_t r) const {
    return rows_[r].anchors.empty() && !rows_[r].row.inside_body && rows_[r].row.clue != AlignmentClue::kOverride;
  }

  // From the layers that make the engine layer's outputs back to what it was given: all that is between
  // ran as part of it. A node's name alone does not say where the engine layer ends, so only values do.
  void CoverBackwards(std::size_t r) {
    Row& row = rows_[r];
    if (row.row.clue != AlignmentClue::kValue) return;
    std::vector<std::size_t> open = row.anchors;
    while (!open.empty()) {
      const std::size_t layer = open.back();
      open.pop_back();
      // Before its own operator is only what feeds it, unless its inputs are known.
      if (row.given_by.empty() && row.cores.count(std::string(CoreOf(graph_.layers[layer].op))) > 0) continue;
      for (LayerId before : predecessors_[layer]) {
        const std::size_t next = before.index();
        if (row_of_[next] != kNoRow || row.given_by.count(next) > 0) continue;
        // What others read as well was not swallowed, or it would be made twice.
        const std::vector<std::size_t>& readers = successors_[next];
        const bool only_here =
            std::all_of(readers.begin(), readers.end(), [&](std::size_t reader) { return row_of_[reader] == r; });
        if (!only_here) continue;
        row_of_[next] = r;
        open.push_back(next);
      }
    }
  }

  static bool BelongsToItsReader(const Layer& layer) {
    return layer.op == "DequantizeLinear" || layer.op == "Transpose" || layer.op == "Pad";
  }

  // The row of the readers where all of them are in one.
  std::size_t ReaderRow(std::size_t layer) const {
    std::size_t found = kNoRow;
    for (std::size_t reader : successors_[layer]) {
      if (row_of_[reader] == kNoRow || (found != kNoRow && row_of_[reader] != found)) return kNoRow;
      found = row_of_[reader];
    }
    return found;
  }

  // Of several rows that make its inputs the one that ran last: only then all of them were there.
  std::size_t MakerRow(std::size_t layer) const {
    std::size_t found = kNoRow;
    for (LayerId before : predecessors_[layer]) {
      const std::size_t row = row_of_[before.index()];
      if (row != kNoRow && (found == kNoRow || row > found)) found = row;
    }
    return found;
  }

  // What takes an engine layer of its own is not swallowed by a neighbour that is something else: of a profile that was
  // cut off, half a model would stand at its last layer.
  bool MaySwallow(const Row& row, const Layer& layer) const {
    if (row.row.clue == AlignmentClue::kOverride) return layer.status == LayerStatus::kFree;
    const OperatorKind kind = KindOf(layer.op);
    const bool is_heavy =
        layer.status != LayerStatus::kFree && (kind == OperatorKind::kConvolution || kind == OperatorKind::kProduct ||
                                               kind == OperatorKind::kRecurrent || kind == OperatorKind::kPooling);
    return !is_heavy || row.may_hold_heavy;
  }

  static bool MayHoldHeavy(const ProfiledLayer& engine) {
    const OperatorKind kind = KindOf(CoreOf(engine.op));
    return kind == OperatorKind::kAttention || (kind == OperatorKind::kOther && !OnlyRearranges(CoreOf(engine.op)) &&
                                                OwnWorkOf(engine) == EngineWork::kNone);
  }

  void Join(std::size_t layer, std::size_t r) {
    if (r == kNoRow || !MaySwallow(rows_[r], graph_.layers[layer])) return;
    row_of_[layer] = r;
    // A free layer takes no time wherever it is counted, so that a guess about it is none about the row.
    if (graph_.layers[layer].status != LayerStatus::kFree) rows_[r].row.clue = AlignmentClue::kNeighbor;
  }

  void CoverLeftOvers() {
    for (std::size_t i = graph_.layers.size(); i-- > 0;)
      if (row_of_[i] == kNoRow && BelongsToItsReader(graph_.layers[i])) Join(i, ReaderRow(i));
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (row_of_[i] == kNoRow) Join(i, MakerRow(i));
    for (std::size_t i = graph_.layers.size(); i-- > 0;)
      if (row_of_[i] == kNoRow) Join(i, ReaderRow(i));
  }

  // Of a row without layers: the engine's own work, or what no layer could be found for.
  void AddOwnWork(AlignedRow& row) const {
    if (!row.layers.empty() || row.inside_body) return;
    for (const std::size_t e : row.engine_layers) row.own_work = std::max(row.own_work, OwnWorkOf(run_.layers[e]));
    if (row.clue != AlignmentClue::kOverride && row.own_work == EngineWork::kNone) row.clue = AlignmentClue::kUnmatched;
  }

  const ModelGraph& graph_;
  const RunProfile& run_;
  const std::vector<DeclaredRow>& declared_;
  const std::vector<std::vector<LayerId>> predecessors_;
  std::vector<std::vector<std::size_t>> successors_;
  std::unordered_map<std::string_view, std::size_t> nodes_;   // by name or origin
  std::unordered_map<std::string_view, std::size_t> makers_;  // by the name of a value they make
  std::unordered_set<std::string_view> body_names_;
  std::unordered_map<std::string, std::size_t> engine_makers_;  // by the engine's own values
  std::unordered_map<std::string, std::size_t> made_in_;        // rows by the engine's values
  std::vector<std::size_t> row_of_;
  std::vector<Row> rows_;
};

// In the engine's order of execution. `declared` comes before every rule.
std::vector<AlignedRow> AlignRows(const ModelGraph& graph, const RunProfile& run,
                                  const std::vector<DeclaredRow>& declared) {
  return Aligner(graph, run, declared).Align();
}

void AddTimes(const RunProfile& run, const ModelGraph& graph, AlignedRow& row) {
  Latency measured{0};
  std::size_t not_free = 0;
  for (LayerId layer : row.layers) not_free += graph.layer(layer).status == LayerStatus::kFree ? 0 : 1;
  row.fused = not_free > 1;
  bool any_sample = false;
  for (std::size_t e : row.engine_layers) {
    if (run.layers[e].samples.empty()) continue;
    any_sample = true;
    measured += Quantile(run.layers[e].samples, 0.5);
  }
  if (any_sample) row.measured = measured;
}

bool IsWhole(double factor) { return factor >= 1 && std::fabs(factor - std::round(factor)) < 1e-6 * factor; }

Alignment AlignWithDeclared(const ModelGraph& graph, const RunProfile& run, const std::vector<DeclaredRow>& declared) {
  Alignment alignment;
  alignment.rows = AlignRows(graph, run, declared);
  std::vector<bool> matched(graph.layers.size(), false);
  for (AlignedRow& row : alignment.rows) {
    AddTimes(run, graph, row);
    for (LayerId layer : row.layers) matched[layer.index()] = true;
    if (!row.measured || row.inside_body) continue;
    alignment.measured += *row.measured;
    if (row.is_unmatched()) alignment.unmatched += *row.measured;
    if (row.is_own()) alignment.own += *row.measured;
  }
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (!matched[i] && graph.layers[i].status != LayerStatus::kFree) alignment.unmatched_layers.push_back(LayerId(i));
  // Of another model's layers the factor is any number: what matched then says more.
  const Latency meant = alignment.measured - alignment.own;
  const bool is_aligned = alignment.unmatched < meant / 2;
  if (const std::optional<double> scale = ScaleOf(graph, run);
      scale && *scale != 1 && (is_aligned || IsWhole(*scale) || IsWhole(1 / *scale))) {
    alignment.scale = scale;
    alignment.remarks.push_back(
        "layers of the run read " + FormatNumber(std::round(*scale * 1e3) / 1e3) +
        " times as much as the model's layers with the same weights; bind the model's batch, or "
        "another dimension, to that of the run with --dim");
  }
  return alignment;
}

}  // namespace

std::string_view Name(AlignmentClue clue) {
  constexpr std::array<std::string_view, 7> kNames = {"none",  "stated",   "value",    "node",
                                                      "order", "neighbor", "unmatched"};
  return kNames[static_cast<std::size_t>(clue)];
}

Alignment AlignRun(const ModelGraph& graph, const RunProfile& run) { return AlignWithDeclared(graph, run, {}); }

Result<Alignment> AlignRun(const ModelGraph& graph, const RunProfile& run,
                           std::span<const AlignmentOverride> overrides) {
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<DeclaredRow> declared, FindDeclared(graph, run, overrides));
  return AlignWithDeclared(graph, run, declared);
}

std::vector<ObservedNode> ObservedIn(const ModelGraph& graph, const RunProfile& run) {
  const Candidate candidate{std::string(kObservedLibrary), run.framework + "-" + run.framework_version, "any", "any",
                            false};
  std::vector<ObservedNode> nodes;
  const Alignment alignment = AlignRun(graph, run);
  // Of a trace, which has operators and no names of nodes, shapes say which layer it is: of equal ones any is right.
  const auto has_shapes = [&](std::size_t layer) { return !run.layers[layer].input_tensors.empty(); };
  for (const AlignedRow& row : alignment.rows) {
    const bool is_of_shape =
        row.clue == AlignmentClue::kOrder && !alignment.scale && std::ranges::all_of(row.engine_layers, has_shapes);
    const bool is_sure = is_of_shape || row.clue == AlignmentClue::kOverride || row.clue == AlignmentClue::kValue ||
                         row.clue == AlignmentClue::kNode;
    if (!row.measured || row.inside_body || !is_sure) continue;
    const bool takes_time =
        std::ranges::any_of(row.layers, [&](LayerId layer) { return graph.layer(layer).status != LayerStatus::kFree; });
    if (!takes_time) continue;
    ObservedNode node{row.layers, *row.measured, {Latency(0), Latency(0)}, candidate};
    for (std::size_t layer : row.engine_layers) {
      if (run.layers[layer].samples.empty()) continue;
      const Interval interval = MedianInterval(run.layers[layer].samples);
      node.interval.low += interval.low;
      node.interval.high += interval.high;
    }
    node.interval = {std::min(node.interval.low, node.latency), std::max(node.interval.high, node.latency)};
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace infimum
