// A model as a store keeps it: its layers by name and workload, so that questions can be about a model.
//
//   StoredModel model = DescribeModel("resnet50_v1", graph, {{"batch", 1}});
//   // model.layers[0] = {"node_Conv_1", "Conv", "measurable", "", "convolution dtype=f32:f32:f32 ...", "strict-f32",
//   1}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "infimum/graph/model_graph.h"

namespace infimum {

struct ModelLayer {
  std::string name;
  std::string op;
  std::string status;           // "measurable", "free", "unknown"
  std::string reason;           // why free or unknown
  std::string workload;         // canonical text; of measurable layers only
  std::string contract;         // that the workload's own types ask for
  std::int64_t executions = 1;  // in each inference; 0 in a branch that need not run
  std::int64_t bytes = 0;       // that it must move
  std::int64_t flops = 0;       // of the conventional algorithm

  friend bool operator==(const ModelLayer&, const ModelLayer&) = default;
};

struct StoredModel {
  std::string name;    // what people call it: the file's name without its extension
  std::string sha256;  // of the file
  std::map<std::string, std::int64_t> dims;
  std::vector<ModelLayer> layers;  // in topological order, those of bodies after the layer that holds them

  friend bool operator==(const StoredModel&, const StoredModel&) = default;
};

// Needs a graph that Validate() accepts.
StoredModel DescribeModel(const std::string& name, const ModelGraph& graph,
                          const std::map<std::string, std::int64_t>& dims);

}  // namespace infimum
