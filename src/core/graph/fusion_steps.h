// A graph as the rules of fusion see it: layers that do one thing on values, with the views between them walked
// through, so that a Reshape between a product and its activation hides neither from the other.
//
//   matmul -> Reshape -> add:   RootOf(Reshape's output) == matmul's output, which `add` reads
//
// A step is one layer with one output and a plain configuration, or several layers that a pattern (fusion_patterns.h)
// reads as one configuration.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

struct FusionStep {
  std::vector<LayerId> layers;  // ascending, without the views between them
  LayerConfig config;
  std::vector<ValueId> operands;                           // roots, in the configuration's order
  ValueId output;                                          // root
  std::map<std::string, std::vector<double>> values = {};  // as FusableRegion's
};

class FusionSteps {
 public:
  explicit FusionSteps(const ModelGraph& graph);

  const ModelGraph& graph() const { return graph_; }

  // The layer alone as a step; nullopt for views, layers with several outputs or bodies, regions, unknown layers.
  std::optional<FusionStep> StepOf(LayerId layer) const;

  // The value that this one is a view of, itself where it is none.
  ValueId RootOf(ValueId value) const { return roots_[value.index()]; }
  // Layers that read the root or a view of it, and are no views themselves; ascending, without repeats.
  std::span<const LayerId> ReadersOf(ValueId root) const { return readers_[root.index()]; }
  std::span<const LayerId> ViewsOf(ValueId root) const { return views_[root.index()]; }
  // Of a root or of a view.
  std::optional<LayerId> WriterOf(ValueId value) const { return writers_[value.index()]; }
  // Whether the root or a view of it leaves the graph or enters a body.
  bool Escapes(ValueId root) const { return escapes_[root.index()]; }
  bool IsConstant(ValueId value) const { return graph_.value(value).kind == ValueKind::kWeight; }
  // Of a constant with exactly one element.
  std::optional<double> NumberOf(ValueId value) const;

  // The layers with the views of their values that only they read, or that they read such a value through; ascending.
  std::vector<LayerId> WithInnerViews(std::span<const LayerId> layers) const;
  // Whether no path leaves these layers (WithInnerViews) and comes back. A search that grows too long says no.
  bool IsConvex(std::span<const LayerId> layers) const;

 private:
  bool IsView(const Layer& layer) const;

  const ModelGraph& graph_;
  std::vector<std::vector<LayerId>> predecessors_;  // by layer
  std::vector<ValueId> roots_;                      // by value
  std::vector<std::vector<LayerId>> readers_;       // by value
  std::vector<std::vector<LayerId>> views_;         // by value
  std::vector<std::optional<LayerId>> writers_;     // by value
  std::vector<bool> escapes_;                       // by value
  mutable std::vector<std::size_t> visited_;        // by layer: the search that saw it last
  mutable std::size_t searches_ = 0;
};

}  // namespace infimum
