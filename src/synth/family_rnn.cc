#include "src/synth/family_table.h"

namespace infimum::synth {

Family Recurrent() {
  return {"rnn",
          "recurrent: layers of RNN, LSTM or GRU over a sequence",
          {{.name = "cell",
            .what = "what is computed in a step",
            .usual = 1,
            .least = 0,
            .most = 2,
            .words = {"rnn", "lstm", "gru"}},
           {.name = "layers", .what = "one upon the other", .usual = 2, .most = 1 << 12},
           {.name = "hidden", .what = "elements of a state", .usual = 512},
           {.name = "inputs", .what = "elements of a step's input", .usual = 512},
           {.name = "steps", .what = "of the sequence", .usual = 64}},
          [](const Point& point, Net& net) {
            struct Cell {
              std::string_view op;
              RecurrentKind kind;
            };
            constexpr Cell kCells[] = {
                {"RNN", RecurrentKind::kRnnTanh}, {"LSTM", RecurrentKind::kLstm}, {"GRU", RecurrentKind::kGru}};
            const Cell& cell = kCells[point.at("cell")];
            const auto layer = [&](NetValue x) { return net.Recurrent(cell.op, cell.kind, x, point.at("hidden")); };
            NetValue x = net.Input("input", {point.at("steps"), point.at("batch"), point.at("inputs")}, net.floats());
            net.Output("output", net.Repeat(point.at("layers") - 1, layer(x), layer));
          }};
}

}  // namespace infimum::synth
