#include "src/planner/value_tensors.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace infimum {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Positions of scale and zero point among the inputs.
struct Place {
  std::size_t scale;
  std::size_t zero;
};

struct Form {
  std::string_view op;
  std::vector<Place> operands;
  Place output;
};

const std::vector<Form>& Forms() {
  static const std::vector<Form> forms = {
      {"QLinearConv", {{1, 2}, {4, 5}}, {6, 7}},
      {"QLinearMatMul", {{1, 2}, {4, 5}}, {6, 7}},
      {"com.microsoft.QLinearConv", {{1, 2}, {4, 5}}, {6, 7}},
      {"com.microsoft.QGemm", {{1, 2}, {4, 5}}, {7, 8}},
      {"com.microsoft.QLinearAdd", {{1, 2}, {4, 5}}, {6, 7}},
      {"com.microsoft.QLinearMul", {{1, 2}, {4, 5}}, {6, 7}},
      {"com.microsoft.MatMulIntegerToFloat", {{2, 4}, {3, 5}}, {kNone, kNone}},
      {"ConvInteger", {{kNone, 2}, {kNone, 3}}, {kNone, kNone}},
      {"MatMulInteger", {{kNone, 2}, {kNone, 3}}, {kNone, kNone}},
      {"com.microsoft.QLinearAveragePool", {{1, 2}}, {3, 4}},
      {"com.microsoft.QLinearGlobalAveragePool", {{1, 2}}, {3, 4}},
      {"com.microsoft.QLinearReduceMean", {{1, 2}}, {3, 4}},
      {"com.microsoft.QLinearLeakyRelu", {{1, 2}}, {3, 4}},
      {"com.microsoft.QLinearSigmoid", {{1, 2}}, {3, 4}},
      {"com.microsoft.QLinearSoftmax", {{1, 2}}, {3, 4}},
      {"QuantizeLinear", {}, {1, 2}},
      {"com.microsoft.QuantizeLinear", {}, {1, 2}},
      {"DequantizeLinear", {{1, 2}}, {kNone, kNone}},
      {"com.microsoft.DequantizeLinear", {{1, 2}}, {kNone, kNone}},
  };
  return forms;
}

bool IsGiven(const Layer& layer, std::size_t position) {
  return position < layer.inputs.size() && layer.inputs[position].has_value();
}

void Add(const Layer& layer, const std::string& name, const Place& place, ValueTensors& found) {
  if (IsGiven(layer, place.scale)) found.tensors[name + "_scale"] = *layer.inputs[place.scale];
  if (IsGiven(layer, place.zero)) {
    found.tensors[name + "_zero"] = *layer.inputs[place.zero];
  } else if (place.zero != kNone) {
    found.numbers[name + "_zero"] = {0};
  }
}

}  // namespace

std::optional<ValueTensors> ValueTensorsOf(const Layer& layer) {
  ValueTensors found;
  if (layer.op == "com.microsoft.QLinearConcat") {
    // y's two, then each part with its own behind it.
    Add(layer, "out", {0, 1}, found);
    for (std::size_t i = 0; i < layer.operand_inputs.size(); ++i) {
      const std::size_t part = layer.operand_inputs[i];
      Add(layer, "in" + std::to_string(i), {part + 1, part + 2}, found);
    }
    return found;
  }
  if (layer.op == "LSTM" || layer.op == "GRU" || layer.op == "RNN") {
    if (IsGiven(layer, 5)) found.tensors["initial_h"] = *layer.inputs[5];
    if (IsGiven(layer, 6)) found.tensors["initial_c"] = *layer.inputs[6];
    return found;
  }
  const auto form = std::ranges::find_if(Forms(), [&](const Form& f) { return f.op == layer.op; });
  if (form == Forms().end()) return std::nullopt;
  for (std::size_t i = 0; i < form->operands.size(); ++i)
    Add(layer, "in" + std::to_string(i), form->operands[i], found);
  // A Gemm's or MatMul's result without a scale is floating point.
  if (IsGiven(layer, form->output.scale)) Add(layer, "out", form->output, found);
  return found;
}

}  // namespace infimum
