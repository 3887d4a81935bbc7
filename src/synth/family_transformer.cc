#include <cmath>

#include "src/synth/family_table.h"

namespace infimum::synth {
namespace {

struct Extents {
  std::int64_t batch, sequence, hidden, heads;
};

// [batch, sequence, hidden] to [batch, heads, sequence, width], or with the last two exchanged.
NetValue Heads(Net& net, NetValue x, const Extents& of, std::vector<std::int64_t> permutation) {
  return net.Transpose(net.Reshape(x, {of.batch, of.sequence, of.heads, of.hidden / of.heads}), std::move(permutation));
}

NetValue SelfAttention(Net& net, NetValue x, const Extents& of) {
  const NetValue query = Heads(net, net.Linear(x, of.hidden), of, {0, 2, 1, 3});
  const NetValue key = Heads(net, net.Linear(x, of.hidden), of, {0, 2, 3, 1});
  const NetValue value = Heads(net, net.Linear(x, of.hidden), of, {0, 2, 1, 3});
  const double scale = 1 / std::sqrt(static_cast<double>(of.hidden / of.heads));
  const NetValue weights = net.Softmax(net.Scaled(net.MatMul(query, key), scale));
  const NetValue mixed = net.Transpose(net.MatMul(weights, value), {0, 2, 1, 3});
  return net.Linear(net.Reshape(mixed, {of.batch, of.sequence, of.hidden}), of.hidden);
}

}  // namespace

// As BERT has it (arXiv 1810.04805): normalization behind each sum. The usual values are those of BERT-base.
Family Transformer() {
  return {"transformer",
          "transformer encoder: self-attention and a feed-forward network, from token ids to hidden states",
          {{.name = "layers", .what = "blocks", .usual = 12, .most = 1 << 12},
           {.name = "hidden", .what = "elements of a token", .usual = 768},
           {.name = "heads", .what = "of the attention; they divide hidden", .usual = 12},
           {.name = "feed-forward",
            .what = "elements of a token within the network; 0: four times hidden",
            .usual = 0,
            .least = 0},
           {.name = "sequence", .what = "tokens", .usual = 128},
           {.name = "vocabulary", .what = "rows of the embedding", .usual = 30522}},
          [](const Point& point, Net& net) {
            const Extents of{point.at("batch"), point.at("sequence"), point.at("hidden"), point.at("heads")};
            if (of.hidden % of.heads != 0)
              return net.Refuse("hidden " + std::to_string(of.hidden) + " is not divisible by " +
                                std::to_string(of.heads) + " heads");
            const std::int64_t inner = point.at("feed-forward") == 0 ? 4 * of.hidden : point.at("feed-forward");
            const NetValue ids = net.Input("input_ids", {of.batch, of.sequence}, DataType::kS64);
            NetValue x = net.Embedding(ids, point.at("vocabulary"), of.hidden);
            x = net.LayerNormalization(net.Add(x, net.Weight({of.sequence, of.hidden}, 1)));
            x = net.Repeat(point.at("layers"), x, [&](NetValue y) {
              y = net.LayerNormalization(net.Add(y, SelfAttention(net, y, of)));
              const NetValue inside = net.Unary("Gelu", PointwiseKind::kGeluErf, net.Linear(y, inner));
              return net.LayerNormalization(net.Add(y, net.Linear(inside, of.hidden)));
            });
            net.Output("output", x);
          }};
}

}  // namespace infimum::synth
