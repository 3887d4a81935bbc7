#include "src/synth/decoder.h"
#include "src/synth/family_table.h"

namespace infimum::synth {
namespace {

// For each token the weights of its experts are gathered, so that nothing is computed by others: the form without
// operators of a runtime's own that keeps the work of a decoding step. Each gathered weight is written and read again.
NetValue ChosenExperts(Net& net, NetValue x, const Point& point) {
  const std::vector<std::int64_t> dims = net.shape(x).dims;  // batch, tokens, hidden
  const std::int64_t rows = dims[0] * dims[1], hidden = dims[2], inner = FeedForwardWidth(point);
  const std::int64_t experts = point.at("experts"), chosen = point.at("top-k");
  const NetValue flat = net.Reshape(x, {rows, hidden});
  // Chosen in f32, as implementations do.
  const NetValue logits = net.Cast(net.Projection(flat, experts, Storage::kAsType), DataType::kF32);
  const auto [likely, places] = net.TopK(net.Softmax(logits), chosen);
  const NetValue sum = net.Reduce("ReduceSum", ReductionKind::kSum, likely, 1, true);
  const NetValue shares = net.Cast(net.Binary("Div", PointwiseKind::kDivide, likely, sum), net.floats());
  const auto multiplied = [&, at = places](NetValue y, std::int64_t in, std::int64_t out) {
    return net.MatMul(y, net.Gather(net.Weight({experts, in, out}, in), at, 0));
  };
  const NetValue row = net.Reshape(flat, {rows, 1, 1, hidden});
  const NetValue gate = net.Swish(multiplied(row, hidden, inner));
  const NetValue results = multiplied(net.Multiply(gate, multiplied(row, hidden, inner)), inner, hidden);
  const NetValue mixed =
      net.MatMul(net.Reshape(shares, {rows, 1, chosen}), net.Reshape(results, {rows, chosen, hidden}));
  return net.Reshape(mixed, dims);
}

}  // namespace

// As Mixtral has it (arXiv 2401.04088), smaller.
Family MixtureOfExperts() {
  std::vector<Parameter> parameters = DecoderParameters({8, 1024, 16, 8});
  parameters.push_back({.name = "experts", .what = "networks of a block", .usual = 8, .most = 1 << 12});
  parameters.push_back({.name = "top-k",
                        .what = "experts of a token; their weights are copied for each: for few tokens",
                        .usual = 2,
                        .most = 1 << 12});
  return {"moe", "decoder with a mixture of experts in place of each feed-forward network", std::move(parameters),
          [](const Point& point, Net& net) {
            if (point.at("top-k") > point.at("experts"))
              return net.Refuse("top-k " + std::to_string(point.at("top-k")) + " is more than the " +
                                std::to_string(point.at("experts")) + " experts");
            BuildDecoder(point, net, Storage::kAsType, [&](NetValue x) { return ChosenExperts(net, x, point); });
          }};
}

}  // namespace infimum::synth
