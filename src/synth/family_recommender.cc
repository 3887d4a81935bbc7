#include "src/synth/family_table.h"

namespace infimum::synth {
namespace {

NetValue Perceptron(Net& net, NetValue x, std::int64_t layers, std::int64_t nodes) {
  return net.Repeat(layers - 1, net.Relu(net.Gemm(x, nodes)), [&](NetValue y) { return net.Relu(net.Gemm(y, nodes)); });
}

// The product of each two of [batch, vectors, width], once.
NetValue Interactions(Net& net, NetValue vectors) {
  const std::int64_t batch = net.shape(vectors).dims[0], count = net.shape(vectors).dims[1];
  const NetValue products = net.MatMul(vectors, net.Transpose(vectors, {0, 2, 1}));
  std::vector<std::int64_t> below;  // the diagonal
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < i; ++j) below.push_back(i * count + j);
  return net.Gather(net.Reshape(products, {batch, count * count}), net.Indices(std::move(below)), 1);
}

}  // namespace

// As DLRM has it (arXiv 1906.00091); 13 dense features and 26 tables are those of Criteo's data.
Family Recommender() {
  return {"recommender",
          "recommendation: dense features and sums of rows of embedding tables, their products in pairs, a score",
          {{.name = "dense", .what = "features that are numbers", .usual = 13},
           {.name = "tables", .what = "features that are looked up", .usual = 26, .most = 1 << 10},
           {.name = "rows", .what = "of a table", .usual = 100'000},
           {.name = "width", .what = "elements of a row", .usual = 64},
           {.name = "lookups", .what = "rows of a table that are summed", .usual = 1},
           {.name = "bottom-layers", .what = "hidden layers for the dense features", .usual = 2, .most = 1 << 12},
           {.name = "top-layers", .what = "hidden layers behind the products", .usual = 2, .most = 1 << 12},
           {.name = "nodes", .what = "of each hidden layer", .usual = 512}},
          [](const Point& point, Net& net) {
            const std::int64_t batch = point.at("batch"), width = point.at("width"), nodes = point.at("nodes");
            const NetValue features = net.Input("dense", {batch, point.at("dense")}, net.floats());
            const NetValue dense =
                net.Relu(net.Gemm(Perceptron(net, features, point.at("bottom-layers"), nodes), width));
            std::vector<NetValue> vectors{net.Reshape(dense, {batch, 1, width})};
            for (std::int64_t table = 0; table < point.at("tables"); ++table) {
              const NetValue indices =
                  net.Input("indices." + std::to_string(table), {batch, point.at("lookups")}, DataType::kS64);
              const NetValue rows = net.Embedding(indices, point.at("rows"), width);
              vectors.push_back(net.Reduce("ReduceSum", ReductionKind::kSum, rows, 1, true));
            }
            if (!net.status().ok()) return;
            const NetValue pairs = Interactions(net, net.Concat(vectors, 1));
            const NetValue hidden = Perceptron(net, net.Concat({dense, pairs}, 1), point.at("top-layers"), nodes);
            net.Output("score", net.Unary("Sigmoid", PointwiseKind::kSigmoid, net.Gemm(hidden, 1)));
          }};
}

}  // namespace infimum::synth
