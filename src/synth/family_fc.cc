#include "src/synth/family_table.h"

namespace infimum::synth {

// As ParaDnn has it (arXiv 1907.10701): layers of as many nodes, each with a bias and a ReLU, and a layer of outputs.
Family FullyConnected() {
  return {"fc",
          "fully connected: layers of as many nodes with ReLU, and an output layer",
          {{.name = "layers", .what = "hidden layers", .usual = 4, .most = 1 << 16},
           {.name = "nodes", .what = "of each hidden layer", .usual = 1024},
           {.name = "inputs", .what = "elements of an input", .usual = 2000},
           {.name = "outputs", .what = "elements of an output", .usual = 1000}},
          [](const Point& point, Net& net) {
            const std::int64_t nodes = point.at("nodes");
            const auto layer = [&](NetValue x) { return net.Relu(net.Gemm(x, nodes)); };
            NetValue x = net.Input("input", {point.at("batch"), point.at("inputs")}, net.floats());
            x = net.Repeat(point.at("layers") - 1, layer(x), layer);
            net.Output("output", net.Gemm(x, point.at("outputs")));
          }};
}

}  // namespace infimum::synth
