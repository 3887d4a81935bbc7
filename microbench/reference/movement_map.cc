#include "microbench/reference/movement_map.h"

#include <algorithm>

namespace infimum::cpu {

IndexedForm FormOf(const MovementConfig& config, const Shape& data, const Shape& moved) {
  IndexedForm form;
  const std::int64_t elements = ElementCount(moved);
  const std::int64_t indices = std::max<std::int64_t>(1, config.indices);
  const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, config.axis));
  if (axis < data.rank()) {
    for (std::size_t i = 0; i < axis; ++i) form.outer *= data.dims[i];
    for (std::size_t i = axis + 1; i < data.rank(); ++i) form.inner *= data.dims[i];
    form.axis_length = data.dims[axis];
    form.picked = indices;
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

}  // namespace infimum::cpu
