#include "microbench/reference/index_map.h"

#include <algorithm>
#include <cmath>

#include "src/core/layer/formulas.h"

namespace infimum::cpu {

std::vector<std::int64_t> PackedSteps(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> steps(dims.size());
  std::int64_t step = 1;
  for (std::size_t d = dims.size(); d-- > 0; step *= dims[d]) steps[d] = step;
  return steps;
}

AxisLines LinesOf(const Shape& shape, std::int64_t axis) {
  AxisLines lines;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    (at < axis ? lines.outer : at == axis ? lines.length : lines.inner) *= shape.dims[i];
  }
  return lines;
}

IndexedForm FormOf(const MovementConfig& config, const Shape& data, const Shape& moved) {
  IndexedForm form;
  const std::int64_t elements = ElementCount(moved);
  const std::int64_t indices = std::max<std::int64_t>(1, config.indices);
  const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, config.axis));
  if (axis < data.rank()) {
    const AxisLines lines = LinesOf(data, static_cast<std::int64_t>(axis));
    form = {IndexedForm::Kind::kAxis, lines.outer, lines.length, indices, lines.inner};
    // Where only one outer block and one element a run are there, both readings are the same.
    if (form.outer * indices * form.inner == elements) return form;
  }
  if (indices == elements && axis < moved.rank() && moved.rank() == data.rank()) {
    bool inside = true;
    for (std::size_t i = 0; i < data.rank(); ++i) inside = inside && (i == axis || moved.dims[i] <= data.dims[i]);
    if (inside) {
      form.kind = IndexedForm::Kind::kElements;
      form.picked = moved.dims[axis];
      return form;
    }
  }
  form.kind = IndexedForm::Kind::kRuns;
  form.outer = 1;
  form.inner = std::max<std::int64_t>(1, elements / indices);
  form.picked = elements / form.inner;
  form.axis_length = std::max<std::int64_t>(1, ElementCount(data) / form.inner);
  return form;
}

std::int64_t DepthBlock(const MovementConfig& config) {
  const Shape& in = config.inputs[0];
  const Shape& out = config.outputs[0];
  if (in.rank() != 4 || out.rank() != 4 || in.dims[0] != out.dims[0]) return 0;
  const auto block_of = [](const Shape& deep, const Shape& wide) -> std::int64_t {
    const std::int64_t block = wide.dims[3] / deep.dims[3];
    const bool fits = deep.dims[3] * block == wide.dims[3] && deep.dims[2] * block == wide.dims[2] &&
                      deep.dims[1] == wide.dims[1] * block * block;
    return fits ? block : 0;
  };
  return out.dims[3] >= in.dims[3] ? block_of(in, out) : -block_of(out, in);
}

std::int64_t InputPosition(const MovementConfig& config, const LayerValues& values, std::size_t d, std::int64_t at) {
  const std::int64_t in = config.inputs[0].dims[d];
  switch (config.kind) {
    case MovementKind::kSlice:
      return at * (values.steps.empty() ? 1 : values.steps[d]) + (values.starts.empty() ? 0 : values.starts[d]);
    case MovementKind::kPad:
      return at + (values.starts.empty() ? -((config.outputs[0].dims[d] - in) / 2) : values.starts[d]);
    case MovementKind::kTile:
      return at % in;
    default:
      return at;
  }
}

ResampleTaps TapsOf(ResampleKind kind, std::int64_t in, std::int64_t out, std::int64_t at, const ScalarValues& values) {
  ResampleTaps taps;
  taps.count = TapsPerDimension(kind);
  if (taps.count == 1) {
    // In integers: an exact (2 at + 1) in / (2 out), rounded down.
    taps.position[0] = (2 * at + static_cast<std::int64_t>(2 * values.nearest_shift)) * in / (2 * out);
    return taps;
  }
  const bool aligned = values.aligned_corners != 0;
  const double x = aligned
                       ? static_cast<double>(at * (in - 1)) / static_cast<double>(std::max<std::int64_t>(out - 1, 1))
                       : (static_cast<double>(at) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5;
  const double base = std::floor(x), t = x - base;
  if (taps.count == 2) {
    taps.weight[0] = 1 - t;
    taps.weight[1] = t;
  } else {
    formulas::CubicWeights(t, kUsualValues.cubic_coefficient, taps.weight);
  }
  const std::int64_t first = static_cast<std::int64_t>(base) - (taps.count == 4 ? 1 : 0);
  for (int tap = 0; tap < taps.count; ++tap) taps.position[tap] = std::clamp<std::int64_t>(first + tap, 0, in - 1);
  return taps;
}

ResampleTaps GridTapsOf(std::int64_t in, double number, const ScalarValues& values) {
  const auto last = static_cast<double>(in - 1);
  double x = formulas::GridPosition(number, static_cast<double>(in), values.aligned_corners != 0);
  if (values.border != 0) x = std::clamp(x, 0.0, last);
  ResampleTaps taps;
  taps.count = 2;
  const double base = std::floor(x);
  for (int tap = 0; tap < 2; ++tap) {
    const double place = base + tap;
    const bool is_inside = place >= 0 && place <= last;  // not of what is no number
    taps.position[tap] = is_inside ? static_cast<std::int64_t>(place) : 0;
    taps.weight[tap] = is_inside ? (tap == 0 ? 1 - (x - base) : x - base) : 0;
  }
  return taps;
}

std::int64_t WindowAxis::Taps(std::int64_t at, bool with_padding) const {
  std::int64_t count = 0;
  for (std::int64_t tap = 0; tap < kernel; ++tap) {
    const std::int64_t x = Position(at, tap);
    count += with_padding ? (x < in + end ? 1 : 0) : (x >= 0 && x < in ? 1 : 0);
  }
  return count;
}

std::vector<WindowAxis> AxesOf(const PoolingConfig& config) {
  std::vector<WindowAxis> axes;
  const std::size_t rank = config.kernel.rank();
  for (std::size_t i = 0; i < rank; ++i) {
    axes.push_back({config.input.dims[2 + i], config.output.dims[2 + i], config.kernel.dims[i], config.stride.dims[i],
                    config.dilation.dims[i], config.padding[i], config.padding[rank + i]});
  }
  return axes;
}

}  // namespace infimum::cpu
