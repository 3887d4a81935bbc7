#include <algorithm>
#include <cmath>

#include "microbench/reference/reference.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {
namespace {

// The result of a sum of products: scaled where the operands are 8-bit integers, and stored. An integer
// bias is in the accumulator's scale.
Expected Finish(const OperandTypes& types, const ProductValues& values, std::int64_t channel, double sum,
                double magnitude, double bias) {
  if (!values.scaled || IsInteger(types.output)) {
    sum += bias;
    magnitude += std::fabs(bias);
  }
  if (!values.scaled) return {StoreAs(types.output, sum), magnitude};
  const double scale = values.input_scale * values.WeightScale(channel) / values.output_scale;
  sum = sum * scale + static_cast<double>(values.output_zero);
  magnitude *= scale;
  if (!IsInteger(types.output)) {
    sum += bias;
    magnitude += std::fabs(bias);
  }
  return {StoreAs(types.output, sum), magnitude};
}

}  // namespace

std::unique_ptr<Reference> MakeFamilyReference(const ConvolutionConfig& config, const LayerValues& own) {
  const Shape output = OutputShape(config);
  const Shape weights = WeightShape(config);
  const std::int64_t group_inputs = config.input.dims[1] / config.groups;
  const std::int64_t group_outputs = config.output_channels / config.groups;
  const std::int64_t taps = ElementCount(config.kernel);
  const ProductValues values = ProductValuesOf(config.types, group_inputs * taps, own);
  const auto at = [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    const std::vector<std::int64_t> position = Unravel(element, output);
    const std::int64_t channel = position[1], group = channel / group_outputs;
    const std::size_t rank = config.kernel.rank();
    double sum = 0, magnitude = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::vector<std::int64_t> offset = Unravel(tap, config.kernel);
      std::vector<std::int64_t> from{position[0], 0};
      bool inside = true;
      for (std::size_t i = 0; i < rank; ++i) {
        std::int64_t at_input;
        if (config.transposed) {
          const std::int64_t scaled = position[2 + i] + config.padding[i] - offset[i] * config.dilation.dims[i];
          inside = inside && scaled % config.stride.dims[i] == 0;
          at_input = scaled / config.stride.dims[i];
          inside = inside && scaled >= 0;
        } else {
          at_input = position[2 + i] * config.stride.dims[i] - config.padding[i] + offset[i] * config.dilation.dims[i];
        }
        inside = inside && at_input >= 0 && at_input < config.input.dims[2 + i];
        from.push_back(at_input);
      }
      if (!inside) continue;
      for (std::int64_t i = 0; i < group_inputs; ++i) {
        from[1] = group * group_inputs + i;
        const std::int64_t row = config.transposed ? from[1] : channel;
        const std::int64_t column = config.transposed ? channel % group_outputs : i;
        const double x = (*operands[0])[Ravel(from, config.input)] - static_cast<double>(values.input_zero);
        const double w = (*operands[1])[(row * weights.dims[1] + column) * taps + tap] - values.WeightZero(channel);
        sum += x * w;
        magnitude += std::fabs(x * w);
      }
    }
    return Finish(config.types, values, channel, sum, magnitude, config.bias ? (*operands[2])[channel] : 0);
  };
  return MakeReferenceOf(static_cast<double>(group_inputs * taps) * 4, at);
}

std::unique_ptr<Reference> MakeFamilyReference(const MatMulConfig& config, const LayerValues& own) {
  const Shape output = OutputShape(config);
  const std::size_t rank = output.rank();
  const std::int64_t depth = config.a.dims.back();
  const ProductValues values = ProductValuesOf(config.types, depth, own);
  const BlockScales& blocks = config.scales;
  const std::size_t scales = config.bias == MatMulBias::kNone ? 2 : 3;
  const Shape scale_shape = blocks.any() ? ScaleShape(config.b, blocks) : Shape();
  const BlockScales& a_blocks = config.a_scales;
  const std::size_t a_scales = scales + (blocks.zero_points != DataType::kNone ? 2 : 1);
  const Shape a_scale_shape = a_blocks.any() ? ScaleShape(config.a, a_blocks) : Shape();
  const auto at = [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    const std::vector<std::int64_t> position = Unravel(element, output);
    std::vector<std::int64_t> from_a = position, from_b = position;
    for (std::size_t i = 0; i + 2 < rank; ++i) {
      if (config.a.dims[i] == 1) from_a[i] = 0;
      if (config.b.dims[i] == 1) from_b[i] = 0;
    }
    double sum = 0, magnitude = 0;
    for (std::int64_t k = 0; k < depth; ++k) {
      from_a[rank - 1] = k;
      from_b[rank - 2] = k;
      double a = (*operands[0])[Ravel(from_a, config.a)] - static_cast<double>(values.input_zero);
      double b = (*operands[1])[Ravel(from_b, config.b)] - values.WeightZero(position.back());
      if (blocks.any()) {
        std::vector<std::int64_t> of_block = from_b;
        of_block[rank - 2] /= blocks.rows;
        of_block[rank - 1] /= blocks.columns;
        const std::int64_t block = Ravel(of_block, scale_shape);
        if (blocks.zero_points != DataType::kNone) b -= (*operands[scales + 1])[block];
        b *= (*operands[scales])[block];
      }
      if (a_blocks.any()) {
        std::vector<std::int64_t> of_block = from_a;
        of_block[rank - 1] /= a_blocks.columns;
        a *= (*operands[a_scales])[Ravel(of_block, a_scale_shape)];
      }
      sum += a * b;
      magnitude += std::fabs(a * b);
    }
    double bias = 0;
    if (config.bias == MatMulBias::kColumn) bias = (*operands[2])[position.back()];
    if (config.bias == MatMulBias::kFull) bias = (*operands[2])[element];
    return Finish(config.types, values, position.back(), sum, magnitude, bias);
  };
  return MakeReferenceOf(static_cast<double>(depth) * 4, at);
}

std::unique_ptr<Reference> MakeFamilyReference(const AttentionConfig& config, const LayerValues& values) {
  const double scale = values.scale.value_or(1 / std::sqrt(static_cast<double>(config.head)));
  const std::int64_t key_step = values.keys_transposed ? config.kv : 1;
  const std::int64_t value_head = config.value_head == 0 ? config.head : config.value_head;
  const std::vector<Shape> masks = MaskShapes(config);
  const auto at = [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    // q: n x heads x q x head; k and v: n x kv_heads x kv x head; masks: MaskShapes; output as q.
    const std::int64_t column = element % value_head;
    const std::int64_t row = element / value_head % config.q;
    const std::int64_t head = element / value_head / config.q % config.heads;
    const std::int64_t batch = element / value_head / config.q / config.heads;
    const std::int64_t kv_head = head / (config.heads / config.kv_heads);
    const std::int64_t q_row = (batch * config.heads + head) * config.q + row;
    const std::int64_t kv_row = (batch * config.kv_heads + kv_head) * config.kv;
    std::vector<double> scores(static_cast<std::size_t>(config.kv));
    double largest = -INFINITY;
    const Positions seen = SeenBy(config, row);
    for (std::int64_t j = 0; j < config.kv; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < config.head; ++i) {
        const std::int64_t key = values.keys_transposed ? j : j * config.head;
        sum += (*operands[0])[q_row * config.head + i] * (*operands[1])[kv_row * config.head + key + i * key_step];
      }
      sum *= scale;
      for (std::size_t i = 0; i < masks.size(); ++i)
        sum += values.mask_scale * (*operands[3 + i])[MaskRow(masks[i], batch, head, row) * config.kv + j];
      if (j < seen.begin || j >= seen.end) sum = -INFINITY;
      scores[static_cast<std::size_t>(j)] = sum;
      largest = std::max(largest, sum);
    }
    double total = 0, result = 0, magnitude = 0;
    for (std::int64_t j = 0; j < config.kv; ++j) {
      const double weight = std::exp(scores[static_cast<std::size_t>(j)] - largest);
      const double product = weight * (*operands[2])[(kv_row + j) * value_head + column];
      total += weight;
      result += product;
      magnitude += std::fabs(product);
    }
    return {StoreAs(config.types.output, result / total), magnitude / total};
  };
  return MakeReferenceOf(static_cast<double>(config.kv * (config.head + 4)) * 2, at);
}

std::unique_ptr<Reference> MakeFamilyReference(const RecurrentConfig& config) {
  const std::int64_t gates = GateCount(config.kind), hidden = config.hidden;
  const double steps = static_cast<double>(config.directions * config.sequence * config.batch);
  const double work = steps * static_cast<double>(gates * hidden) * static_cast<double>(config.input + hidden);
  // Each element needs all steps before it, so all are computed at once; too much for a very large one.
  if (work > 2e9) return nullptr;
  struct State {
    std::vector<double> outputs;
  };
  auto state = std::make_shared<State>();
  const auto compute = [=](const Sources& operands) {
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    state->outputs.assign(static_cast<std::size_t>(config.sequence * config.directions * config.batch * hidden), 0);
    for (std::int64_t direction = 0; direction < config.directions; ++direction) {
      std::vector<double> w, r;
      for (std::int64_t i = 0; i < gates * hidden * config.input; ++i) {
        w.push_back((*operands[1])[direction * gates * hidden * config.input + i]);
      }
      for (std::int64_t i = 0; i < gates * hidden * hidden; ++i) {
        r.push_back((*operands[2])[direction * gates * hidden * hidden + i]);
      }
      const auto bias = [&](std::int64_t which, std::int64_t row) {
        return config.bias ? (*operands[3])[(direction * 2 + which) * gates * hidden + row] : 0.0;
      };
      for (std::int64_t batch = 0; batch < config.batch; ++batch) {
        std::vector<double> h(static_cast<std::size_t>(hidden), 0), c = h;
        for (std::int64_t step = 0; step < config.sequence; ++step) {
          const std::int64_t time = direction == 0 ? step : config.sequence - 1 - step;
          std::vector<double> from_input(static_cast<std::size_t>(gates * hidden)), from_state = from_input;
          for (std::int64_t row = 0; row < gates * hidden; ++row) {
            double x = bias(0, row), y = bias(1, row);
            for (std::int64_t i = 0; i < config.input; ++i) {
              x += w[static_cast<std::size_t>(row * config.input + i)] *
                   (*operands[0])[(time * config.batch + batch) * config.input + i];
            }
            for (std::int64_t i = 0; i < hidden; ++i) {
              y += r[static_cast<std::size_t>(row * hidden + i)] * h[static_cast<std::size_t>(i)];
            }
            from_input[static_cast<std::size_t>(row)] = x;
            from_state[static_cast<std::size_t>(row)] = y;
          }
          std::vector<double> next = h;
          const auto gate = [&](std::int64_t number, std::int64_t unit) {
            const auto row = static_cast<std::size_t>(number * hidden + unit);
            return from_input[row] + from_state[row];
          };
          for (std::int64_t unit = 0; unit < hidden; ++unit) {
            const auto u = static_cast<std::size_t>(unit);
            switch (config.kind) {
              case RecurrentKind::kLstm:  // gates i, o, f, c
                c[u] = sigmoid(gate(2, unit)) * c[u] + sigmoid(gate(0, unit)) * std::tanh(gate(3, unit));
                next[u] = sigmoid(gate(1, unit)) * std::tanh(c[u]);
                break;
              case RecurrentKind::kGru: {  // gates z, r, h; the reset before the product
                const double z = sigmoid(gate(0, unit));
                double sum = from_input[static_cast<std::size_t>(2 * hidden + unit)] + bias(1, 2 * hidden + unit);
                for (std::int64_t i = 0; i < hidden; ++i) {
                  const double reset = sigmoid(gate(1, i));
                  sum += r[static_cast<std::size_t>((2 * hidden + unit) * hidden + i)] * reset *
                         h[static_cast<std::size_t>(i)];
                }
                next[u] = (1 - z) * std::tanh(sum) + z * h[u];
                break;
              }
              case RecurrentKind::kGruLinearBeforeReset: {
                const double z = sigmoid(gate(0, unit)), reset = sigmoid(gate(1, unit));
                const auto row = static_cast<std::size_t>(2 * hidden + unit);
                next[u] = (1 - z) * std::tanh(from_input[row] + reset * from_state[row]) + z * h[u];
                break;
              }
              case RecurrentKind::kRnnTanh:
                next[u] = std::tanh(gate(0, unit));
                break;
              case RecurrentKind::kRnnRelu:
                next[u] = std::max(0.0, gate(0, unit));
                break;
            }
          }
          h = next;
          for (std::int64_t unit = 0; unit < hidden; ++unit) {
            state->outputs[static_cast<std::size_t>(
                ((time * config.directions + direction) * config.batch + batch) * hidden + unit)] =
                h[static_cast<std::size_t>(unit)];
          }
        }
      }
    }
  };
  const auto at = [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    if (state->outputs.empty()) compute(operands);
    const double value = state->outputs[static_cast<std::size_t>(element)];
    return {value, std::fabs(value)};
  };
  return MakeReferenceOf(1, at);
}

}  // namespace infimum::cpu
