// What a layer's attributes and constant inputs say, as numbers and texts.
//
//   LayerFacts facts(graph, layer);
//   facts.NumberAttribute("epsilon").value_or(1e-5);   facts.InputNumbers(1);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

class LayerFacts {
 public:
  LayerFacts(const ModelGraph& graph, const Layer& layer) : graph_(graph), layer_(layer) {}

  // nullopt where there is none, or it is of another type.
  std::optional<double> NumberAttribute(const std::string& name) const;
  std::optional<std::string> TextAttribute(const std::string& name) const;
  std::optional<std::vector<double>> ListAttribute(const std::string& name) const;

  bool HasAttribute(const std::string& name) const { return layer_.attributes.contains(name); }
  bool HasInput(std::size_t position) const { return position < layer_.inputs.size() && layer_.inputs[position]; }
  // The numbers of a constant input; nullopt where they are not known.
  std::optional<std::vector<double>> InputNumbers(std::size_t position) const;
  std::optional<Shape> InputShape(std::size_t position) const;
  std::optional<Shape> OutputShape(std::size_t position) const;

 protected:
  const ModelGraph& graph_;
  const Layer& layer_;
};

}  // namespace infimum
