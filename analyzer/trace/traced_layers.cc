#include "analyzer/trace/traced_layers.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace infimum {
namespace {

// For each call the call that stands for the layer that it is part of; kNoCall outside of operators.
std::vector<std::uint32_t> LayerCalls(const Timeline& timeline, const TracedNames& names) {
  const std::vector<std::uint32_t> enclosing =
      EnclosingCalls(timeline, [&names](const HostCall& call) { return names.IsOperator(call); });
  struct Chain {  // of the calls around, outermost first
    std::uint32_t backward = kNoCall, known = kNoCall, registered = kNoCall;
  };
  std::vector<Chain> chains;
  chains.reserve(enclosing.size());
  std::vector<std::uint32_t> layers;
  layers.reserve(enclosing.size());
  std::uint32_t i = 0;
  for (const HostCall& call : timeline.host_calls) {
    const std::uint32_t around = enclosing[i];
    Chain chain = around == kNoCall ? Chain{} : chains[around];
    std::uint32_t innermost = around;
    if (names.IsOperator(call)) {
      const TracedName& name = names.of(call);
      if (chain.backward == kNoCall && name.is_backward) chain.backward = i;
      if (chain.known == kNoCall && name.is_registered && name.kind != OperatorKind::kOther) chain.known = i;
      if (chain.registered == kNoCall && name.is_registered) chain.registered = i;
      innermost = i;
    }
    chains.push_back(chain);
    layers.push_back(chain.backward != kNoCall     ? chain.backward
                     : chain.known != kNoCall      ? chain.known
                     : chain.registered != kNoCall ? chain.registered
                                                   : innermost);
    ++i;
  }
  return layers;
}

void SortByAsking(std::vector<TracedLayer>& layers) {
  std::ranges::stable_sort(layers, [](const TracedLayer& a, const TracedLayer& b) {
    return std::tuple(a.asked_ns, a.work.empty() ? 0 : a.work.front()) <
           std::tuple(b.asked_ns, b.work.empty() ? 0 : b.work.front());
  });
}

}  // namespace

std::vector<TracedLayer> TracedLayers(const Timeline& timeline, const TracedNames& names,
                                      const std::vector<WorkOrigin>& origins, std::int64_t device) {
  const std::vector<std::uint32_t> layer_of = LayerCalls(timeline, names);
  std::vector<TracedLayer> layers;
  if (timeline.device_work.empty()) {
    std::uint32_t i = 0;
    for (const HostCall& call : timeline.host_calls) {
      if (layer_of[i] == i) layers.push_back({i, {}, call.start_ns});
      ++i;
    }
    return layers;
  }
  std::unordered_map<std::uint32_t, std::size_t> places;  // by call
  std::uint32_t i = 0;
  for (const DeviceWork& work : timeline.device_work) {
    const std::uint32_t at = i++;
    if (timeline.streams[work.stream].device != device) continue;
    const WorkOrigin& origin = origins[at];
    const std::uint32_t started_by = origin.call != kNoCall ? origin.call : origin.operation;
    const std::uint32_t call = started_by == kNoCall ? kNoCall : layer_of[started_by];
    if (call == kNoCall) {
      layers.push_back(
          {kNoCall, {at}, origin.call == kNoCall ? work.start_ns : timeline.host_calls[origin.call].start_ns});
      continue;
    }
    const auto [place, is_new] = places.emplace(call, layers.size());
    if (is_new) layers.push_back({call, {}, timeline.host_calls[call].start_ns});
    layers[place->second].work.push_back(at);
  }
  SortByAsking(layers);
  return layers;
}

}  // namespace infimum
