// The fields of a framework's run as JSON, which run files (infimum.run/1) and the store share.
#pragma once

#include "infimum/graph/run_profile.h"
#include "src/core/results/json_struct.h"

namespace infimum {

void VisitFields(auto& visit, Like<ProfiledTensor> auto& tensor) {
  constexpr double kLargestExtent = std::int64_t{1} << 40;
  visit.Lenient("dtype", tensor.dtype);
  visit.Lenient("dims", tensor.dims, {0, kLargestExtent});
  visit.Lenient("layout", tensor.layout);
}

// The last four are written where an engine reports them.
void VisitFields(auto& visit, Like<ProfiledLayer> auto& layer) {
  visit.Lenient("name", layer.name);
  visit.Lenient("op", layer.op);
  visit.Lenient("provider", layer.provider);
  visit.Lenient("nodes", layer.nodes);
  visit.Lenient("inputs", layer.inputs);
  visit.Lenient("outputs", layer.outputs);
  visit.Lenient("samples_us", layer.samples);
  visit.Sparse("input_tensors", layer.input_tensors);
  visit.Sparse("output_tensors", layer.output_tensors);
  visit.Sparse("algorithm", layer.algorithm);
  visit.Sparse("serves", layer.serves);
}

void VisitFields(auto& visit, Like<RunRepetition> auto& repetition) {
  visit.Lenient("samples_us", repetition.samples);
  visit("beat_us", repetition.beat);
}

}  // namespace infimum
