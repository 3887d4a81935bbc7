#include <algorithm>
#include <cmath>
#include <map>

#include "microbench/reference/index_map.h"
#include "microbench/reference/reference.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {
namespace {

// The element of the data that an index of a gather or scatter means for element `moved`.
std::int64_t Target(const MovementConfig& config, const IndexedForm& form, const Shape& data, const Shape& moved,
                    std::int64_t element, const Source& indices) {
  // Those below 0 count from the end.
  const auto from_front = [](double index, std::int64_t length) {
    return static_cast<std::int64_t>(index) + (index < 0 ? length : 0);
  };
  switch (form.kind) {
    case IndexedForm::Kind::kAxis: {
      const std::int64_t inner = element % form.inner;
      const std::int64_t place = element / form.inner % form.picked;
      const std::int64_t outer = element / form.inner / form.picked;
      return (outer * form.axis_length + from_front(indices[place], form.axis_length)) * form.inner + inner;
    }
    case IndexedForm::Kind::kElements: {
      std::vector<std::int64_t> position = Unravel(element, moved);
      const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, config.axis));
      position[axis] = from_front(indices[element], data.dims[axis]);
      return Ravel(position, data);
    }
    default:
      return from_front(indices[element / form.inner], ElementCount(data) / form.inner) * form.inner +
             element % form.inner;
  }
}

std::unique_ptr<Reference> ScatterReference(const MovementConfig& config) {
  const Shape data = config.inputs[0], updates = config.inputs.size() > 1 ? config.inputs[1] : Shape{};
  const IndexedForm form = FormOf(config, data, updates);
  const std::size_t indices_at = config.inputs.size();
  auto written = std::make_shared<std::map<std::int64_t, std::int64_t>>();
  return MakeReferenceOf(1, [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    if (written->empty()) {
      for (std::int64_t i = 0; i < ElementCount(updates); ++i) {
        (*written)[Target(config, form, data, updates, i, *operands[indices_at])] = i;
      }
    }
    const auto found = written->find(element);
    return found == written->end() ? operands[0]->At(element) : operands[1]->At(found->second);
  });
}

}  // namespace

std::unique_ptr<Reference> MakeFamilyReference(const MovementConfig& config, const LayerValues& values) {
  if (config.kind == MovementKind::kScatter) return ScatterReference(config);
  return MakeReferenceOf(8, [=](std::size_t number, std::int64_t element, const Sources& operands) -> Expected {
    const Shape& output = config.outputs[number];
    const auto axis =
        static_cast<std::size_t>(config.axis < 0 ? static_cast<std::int64_t>(output.rank()) - 1 : config.axis);
    std::vector<std::int64_t> position = Unravel(element, output);
    const auto from_first = [&](const std::vector<std::int64_t>& at) {
      return operands[0]->At(Ravel(at, config.inputs[0]));
    };
    switch (config.kind) {
      case MovementKind::kFill:
        return {0, 0};
      case MovementKind::kCopy:
        return operands[0]->At(element);
      case MovementKind::kTranspose: {
        std::vector<std::int64_t> from(position.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
          from[static_cast<std::size_t>(config.permutation[i])] = position[i];
        }
        return from_first(from);
      }
      case MovementKind::kConcat: {
        std::size_t input = 0;
        while (position[axis] >= config.inputs[input].dims[axis]) position[axis] -= config.inputs[input++].dims[axis];
        return operands[input]->At(Ravel(position, config.inputs[input]));
      }
      case MovementKind::kSplit:
        for (std::size_t i = 0; i < number; ++i) position[axis] += config.outputs[i].dims[axis];
        return from_first(position);
      case MovementKind::kSlice:
      case MovementKind::kPad:
      case MovementKind::kTile:
        for (std::size_t i = 0; i < position.size(); ++i) {
          position[i] = InputPosition(config, values, i, position[i]);
          if (position[i] < 0 || position[i] >= config.inputs[0].dims[i]) return {0, 0};
        }
        return from_first(position);
      case MovementKind::kGather: {
        const IndexedForm form = FormOf(config, config.inputs[0], output);
        return operands[0]->At(
            Target(config, form, config.inputs[0], output, element, *operands[config.inputs.size()]));
      }
      case MovementKind::kExpand:
        return operands[0]->At(BroadcastElement(element, output, config.inputs[0]));
      case MovementKind::kDepthToSpace: {
        const std::int64_t block = DepthBlock(config);
        if (block == 0) return operands[0]->At(element);
        const std::int64_t n = position[0], c = position[1], y = position[2], x = position[3];
        if (block > 0) {
          const std::int64_t below = output.dims[1];
          return from_first({n, (y % block * block + x % block) * below + c, y / block, x / block});
        }
        const std::int64_t b = -block, above = config.inputs[0].dims[1];
        return from_first({n, c % above, y * b + c / above / b, x * b + c / above % b});
      }
      case MovementKind::kReverse:
        if (position.empty()) return operands[0]->At(element);
        position[axis] = output.dims[axis] - 1 - position[axis];
        return from_first(position);
      case MovementKind::kOneHot: {
        const std::int64_t depth = ElementCount(output) / ElementCount(config.inputs[0]);
        const double value = (*operands[0])[element / depth] == static_cast<double>(element % depth) ? 1 : 0;
        return {value, value};
      }
      case MovementKind::kTriangle: {
        const std::size_t last = position.size() - 1;
        if (position.size() < 2) return operands[0]->At(element);
        if (position[last] > position[last - 1]) return {0, 0};
        return from_first(position);
      }
      default:
        return {NAN, 0};
    }
  });
}

std::unique_ptr<Reference> MakeFamilyReference(const ResampleConfig& config, const LayerValues& values) {
  const bool has_grid = config.types.weights != DataType::kNone;
  if ((config.kind == ResampleKind::kGridSample && !has_grid) || config.kind == ResampleKind::kRoiAlign) return nullptr;
  const ScalarValues own = values;
  return MakeReferenceOf(64, [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    const std::vector<std::int64_t> position = Unravel(element, config.output);
    std::vector<ResampleTaps> taps(position.size());
    std::int64_t point = position[0];
    for (std::size_t d = 2; d < position.size() && has_grid; ++d) point = point * config.output.dims[d] + position[d];
    for (std::size_t d = 0; d < position.size(); ++d) {
      const std::int64_t in = config.input.dims[d], out = config.output.dims[d];
      taps[d].position[0] = position[d];
      // A point's numbers are of the innermost dimension first.
      const auto spatial = static_cast<std::int64_t>(position.size()) - 2,
                 last = static_cast<std::int64_t>(position.size()) - 1;
      if (has_grid && d >= 2)
        taps[d] = GridTapsOf(in, (*operands[1])[point * spatial + last - static_cast<std::int64_t>(d)], own);
      if (!has_grid && in != out) taps[d] = TapsOf(config.kind, in, out, position[d], own);
    }
    std::vector<int> chosen(position.size(), 0);
    double value = 0, magnitude = 0;
    for (;;) {
      std::int64_t at = 0;
      double weight = 1;
      for (std::size_t d = 0; d < position.size(); ++d) {
        at = at * config.input.dims[d] + taps[d].position[chosen[d]];
        weight *= taps[d].weight[chosen[d]];
      }
      const double product = weight * (*operands[0])[at];
      value += product;
      magnitude += std::fabs(product);
      std::size_t d = position.size();
      while (d > 0 && ++chosen[d - 1] == taps[d - 1].count) chosen[--d] = 0;
      if (d == 0) break;
    }
    return {StoreAs(config.types.output, value), magnitude};
  });
}

std::unique_ptr<Reference> MakeFamilyReference(const ReorderConfig& config) {
  const DataType type = config.types.output;
  return MakeReferenceOf(1, [=](std::size_t, std::int64_t element, const Sources& operands) -> Expected {
    const Expected x = operands[0]->At(element);
    return {StoreAs(type, x.value), x.magnitude};
  });
}

}  // namespace infimum::cpu
