// What decoder-only language models have in common, whatever the network is behind their attention.
#pragma once

#include <functional>
#include <vector>

#include "src/synth/families.h"

namespace infimum::synth {

// Usual values of what differs.
struct DecoderSizes {
  std::int64_t layers, hidden, heads, kv_heads;
};
std::vector<Parameter> DecoderParameters(const DecoderSizes& usual);

// The parameter `feed-forward`, or the rule in its place.
std::int64_t FeedForwardWidth(const Point& point);

// From token ids and cached keys and values to logits of the last token and the new cache. `feed_forward` maps hidden
// states to hidden states.
void BuildDecoder(const Point& point, Net& net, Storage storage, const std::function<NetValue(NetValue)>& feed_forward);

}  // namespace infimum::synth
