#include "microbench/libraries/onednn_graph/graph_partition_offers.h"

#include "microbench/libraries/onednn/program/declared_layouts.h"
#include "microbench/libraries/onednn_graph/region_graph.h"

namespace infimum::cpu {
namespace {

constexpr const char* kLibrary = "onednn";
constexpr const char* kPartition = "graph/partition";

std::vector<const HostTensor*> OperandsOf(const RegionGraph& graph, const RegionProblem& problem) {
  std::vector<const HostTensor*> operands;
  for (const RegionOperand& operand : graph.operands) operands.push_back(problem.Find(operand));
  return operands;
}

HostTensor* ResultOf(const RegionProblem& problem) { return problem.members.back()[0]; }

RegionOffer OfferOf(const Region& region, RegionGraph graph, const std::string& policy) {
  RegionOffer offer;
  offer.candidate.library = kLibrary;
  offer.candidate.algorithm = kPartition + policy;
  std::vector<OrderOf> inputs;
  for (std::size_t i = 0; i < graph.operands.size(); ++i)
    if (graph.operands[i].source == RegionOperand::Source::kInput) inputs.push_back(graph.graph.tensors[i].order);
  StateLayouts(region, inputs, graph.graph.tensors[graph.result].order, offer.candidate);
  offer.make = [graph](const RegionProblem& problem) {
    return MakePartitionProgram(graph.graph, OperandsOf(graph, problem), ResultOf(problem));
  };
  offer.place = [graph = std::move(graph)](const RegionProblem& problem) -> Result<std::vector<Placement>> {
    return PlacementsOf(graph.graph, OperandsOf(graph, problem), ResultOf(problem));
  };
  return offer;
}

}  // namespace

std::vector<RegionOffer> GraphPartitionOffers(const Region& region, const RegionValues& values) {
  std::vector<RegionOffer> offers;
  if (region.members.size() < 2) return offers;
  for (const bool channels_last : {false, true}) {
    Result<RegionGraph> graph =
        GraphOf(region, values, channels_last ? GraphLayout::kChannelsLast : GraphLayout::kRowMajor);
    if (!graph.ok() || !CheckCompiles(graph->graph).ok()) continue;
    offers.push_back(OfferOf(region, *std::move(graph), channels_last ? "/nhwc" : ""));
  }
  return offers;
}

std::vector<Offer> GraphPartitionOffers(const AttentionConfig& config, const LayerValues& values) {
  std::vector<Offer> offers;
  for (const bool transposed : {false, true}) {
    const Result<LibraryGraph> graph = GraphOf(config, values, transposed);
    if (!graph.ok() || !CheckCompiles(*graph).ok()) continue;
    const auto make = [graph = *graph](const Problem& problem) {
      return MakePartitionProgram(graph, problem.operands, problem.outputs[0]);
    };
    offers.push_back({{kLibrary, std::string(kPartition) + (transposed ? "/transposed" : ""), "plain", "plain"}, make});
  }
  return offers;
}

}  // namespace infimum::cpu
