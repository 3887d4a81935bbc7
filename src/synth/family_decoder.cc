#include <algorithm>
#include <cmath>

#include "src/synth/decoder.h"
#include "src/synth/family_table.h"

namespace infimum::synth {
namespace {

constexpr std::int64_t kMostWidth = 1 << 16;

struct Step {
  std::int64_t batch, tokens, past, hidden, heads, kv_heads, width;
  std::int64_t window;  // tokens that one attends to; at most the context
  Storage storage;

  std::int64_t keys() const { return past + tokens; }
};

// What all layers use.
struct Positions {
  NetValue cosines, sines;       // [batch, 1, tokens, width]
  std::optional<NetValue> mask;  // [batch, 1, 1, tokens, keys]; absent: every token attends to all keys
};

// Token t attends to those from t - window + 1 to t.
NetValue Mask(Net& net, NetValue ids, const Step& of, std::int64_t context) {
  std::vector<std::int64_t> keys, ends;
  for (std::int64_t key = context - of.keys(); key < context; ++key) {
    keys.push_back(key);
    ends.push_back(key + of.window);
  }
  const NetValue tokens = net.Reshape(ids, {of.batch, 1, 1, of.tokens, 1});
  NetValue is_seen = net.Binary("LessOrEqual", PointwiseKind::kLessOrEqual, net.Indices(std::move(keys)), tokens);
  if (of.keys() > of.window) {
    const NetValue is_near = net.Binary("Greater", PointwiseKind::kGreater, net.Indices(std::move(ends)), tokens);
    is_seen = net.Binary("And", PointwiseKind::kAnd, is_seen, is_near);
  }
  return net.Select(is_seen, 0, -1e4);  // within f16
}

// Angles of f32, which tells large positions apart.
Positions MakePositions(Net& net, const Step& of, std::int64_t context) {
  constexpr double kBase = 10'000;
  const NetValue ids = net.Input("position_ids", {of.batch, of.tokens}, DataType::kS64);
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < of.width; i += 2)
    frequencies.push_back(std::pow(kBase, -static_cast<double>(i) / static_cast<double>(of.width)));
  const NetValue column = net.Reshape(net.Cast(ids, DataType::kF32), {of.batch, 1, of.tokens, 1});
  const NetValue half = net.Multiply(column, net.Numbers(std::move(frequencies), DataType::kF32));
  const NetValue angles = net.Concat({half, half}, 3);
  Positions positions{net.Cast(net.Unary("Cos", PointwiseKind::kCosine, angles), net.floats()),
                      net.Cast(net.Unary("Sin", PointwiseKind::kSine, angles), net.floats()), std::nullopt};
  if (of.tokens > 1) positions.mask = Mask(net, ids, of, context);
  return positions;
}

// Rotary embedding of [batch, heads, tokens, width]: the halves of a head are turned against each other.
NetValue Rotated(Net& net, NetValue x, const Step& of, const Positions& positions) {
  const std::int64_t half = of.width / 2;
  const NetValue first = net.Slice(x, 3, 0, half), second = net.Slice(x, 3, half, half);
  const NetValue turned = net.Concat({net.Unary("Neg", PointwiseKind::kNegative, second), first}, 3);
  return net.Add(net.Multiply(x, positions.cosines), net.Multiply(turned, positions.sines));
}

NetValue SplitHeads(Net& net, NetValue x, const Step& of, std::int64_t heads) {
  const NetValue projected = net.Projection(x, heads * of.width, of.storage);
  return net.Transpose(net.Reshape(projected, {of.batch, of.tokens, heads, of.width}), {0, 2, 1, 3});
}

// New keys or values behind those of the cache; what the window still reaches goes into the new cache.
NetValue Cached(Net& net, NetValue x, const Step& of, const std::string& what) {
  const std::string name = std::to_string(net.repetition()) + "." + what;
  if (of.past > 0) {
    const NetValue past =
        net.Input("past_key_values." + name, {of.batch, of.kv_heads, of.past, of.width}, net.floats());
    x = net.Concat({past, x}, 2);
  }
  const std::int64_t kept = std::min(of.keys(), of.window);
  net.Output("present." + name, net.Slice(x, 2, of.keys() - kept, kept));
  return x;
}

// Heads that share keys are rows of one product, so that no key is copied.
NetValue GroupedAttention(Net& net, NetValue x, const Step& of, const Positions& positions) {
  const std::int64_t group = of.heads / of.kv_heads, rows = group * of.tokens;
  const NetValue query = Rotated(net, SplitHeads(net, x, of, of.heads), of, positions);
  const NetValue key = Cached(net, Rotated(net, SplitHeads(net, x, of, of.kv_heads), of, positions), of, "key");
  const NetValue value = Cached(net, SplitHeads(net, x, of, of.kv_heads), of, "value");
  const NetValue products =
      net.MatMul(net.Reshape(query, {of.batch, of.kv_heads, rows, of.width}), net.Transpose(key, {0, 1, 3, 2}));
  NetValue scores = net.Scaled(products, 1 / std::sqrt(static_cast<double>(of.width)));
  if (positions.mask) {
    scores = net.Reshape(scores, {of.batch, of.kv_heads, group, of.tokens, of.keys()});
    scores = net.Softmax(net.Add(scores, *positions.mask));
    scores = net.Reshape(scores, {of.batch, of.kv_heads, rows, of.keys()});
  } else {
    scores = net.Softmax(scores);
  }
  const NetValue mixed = net.Reshape(net.MatMul(scores, value), {of.batch, of.heads, of.tokens, of.width});
  const NetValue joined = net.Reshape(net.Transpose(mixed, {0, 2, 1, 3}), {of.batch, of.tokens, of.heads * of.width});
  return net.Projection(joined, of.hidden, of.storage);
}

}  // namespace

std::vector<Parameter> DecoderParameters(const DecoderSizes& usual) {
  return {{.name = "layers", .what = "blocks", .usual = usual.layers, .most = 1 << 12},
          {.name = "hidden", .what = "elements of a token", .usual = usual.hidden},
          {.name = "heads", .what = "of queries", .usual = usual.heads},
          {.name = "kv-heads",
           .what = "of keys and values; they divide heads; 0: as many as heads",
           .usual = usual.kv_heads,
           .least = 0},
          {.name = "head-width",
           .what = "elements of a head, even; 0: hidden / heads",
           .usual = 0,
           .least = 0,
           .most = kMostWidth},
          {.name = "feed-forward",
           .what = "elements of a token within a network; 0: 8/3 of hidden, as a multiple of 256",
           .usual = 0,
           .least = 0},
          {.name = "vocabulary", .what = "rows of the embedding, and logits", .usual = 32000},
          {.name = "context", .what = "tokens so far, with those of this step", .usual = 1024, .most = 1 << 20},
          {.name = "tokens",
           .what = "of this step, the others are in the cache; 1: decoding; 0: all of the context, a prefill",
           .usual = 1,
           .least = 0,
           .most = 1 << 20},
          {.name = "window",
           .what = "tokens that one attends to, and that the cache keeps; 0: all",
           .usual = 0,
           .least = 0}};
}

std::int64_t FeedForwardWidth(const Point& point) {
  constexpr std::int64_t kMultiple = 256;
  const std::int64_t given = point.at("feed-forward");
  return given > 0 ? given : (8 * point.at("hidden") / 3 + kMultiple - 1) / kMultiple * kMultiple;
}

void BuildDecoder(const Point& point, Net& net, Storage storage,
                  const std::function<NetValue(NetValue)>& feed_forward) {
  const std::int64_t hidden = point.at("hidden"), heads = point.at("heads"), context = point.at("context");
  const std::int64_t tokens = point.at("tokens") == 0 ? context : point.at("tokens");
  const std::int64_t kv_heads = point.at("kv-heads") == 0 ? heads : point.at("kv-heads");
  const std::int64_t width = point.at("head-width") == 0 ? hidden / heads : point.at("head-width");
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (point.at("head-width") == 0 && hidden % heads != 0)
    return net.Refuse("hidden " + text(hidden) + " is not divisible by " + text(heads) + " heads");
  if (heads % kv_heads != 0)
    return net.Refuse(text(heads) + " heads are not divisible by " + text(kv_heads) + " kv-heads");
  if (width % 2 != 0 || width > kMostWidth)
    return net.Refuse("a head-width of " + text(width) + " is not an even number up to " + text(kMostWidth));
  if (tokens > context) return net.Refuse(text(tokens) + " tokens are more than the context of " + text(context));
  const std::int64_t window = point.at("window") == 0 ? context : std::min(point.at("window"), context);
  const Step of{point.at("batch"),
                tokens,
                std::min(context - tokens, window - 1),
                hidden,
                heads,
                kv_heads,
                width,
                window,
                storage};
  const NetValue ids = net.Input("input_ids", {of.batch, of.tokens}, DataType::kS64);
  const Positions positions = MakePositions(net, of, context);
  NetValue x = net.Embedding(ids, point.at("vocabulary"), hidden);
  x = net.Repeat(point.at("layers"), x, [&](NetValue y) {
    y = net.Add(y, GroupedAttention(net, net.RmsNormalization(y), of, positions));
    return net.Add(y, feed_forward(net.RmsNormalization(y)));
  });
  const NetValue last = net.Slice(net.RmsNormalization(x), 1, of.tokens - 1, 1);
  net.Output("logits", net.Projection(last, point.at("vocabulary"), storage));
}

// As Llama has it (arXiv 2302.13971, 2307.09288). The usual values are those of TinyLlama (arXiv 2401.02385).
Family Decoder() {
  std::vector<Parameter> parameters = DecoderParameters({22, 2048, 32, 4});
  parameters.push_back(
      {.name = "weights",
       .what = "of all projections: 8 bits with a scale for each column, 4 bits with one for 32 elements",
       .usual = 0,
       .least = 0,
       .most = 2,
       .words = {"as-type", "int8", "int4"}});
  return {"decoder", "decoder-only language model: a step of decoding with a cache of keys and values, or a prefill",
          std::move(parameters), [](const Point& point, Net& net) {
            const auto storage = static_cast<Storage>(point.at("weights"));
            const std::int64_t hidden = point.at("hidden"), inner = FeedForwardWidth(point);
            BuildDecoder(point, net, storage, [&](NetValue x) {
              const NetValue gate = net.Swish(net.Projection(x, inner, storage));
              return net.Projection(net.Multiply(gate, net.Projection(x, inner, storage)), hidden, storage);
            });
          }};
}

}  // namespace infimum::synth
