// A source as it would be if convolutions, poolings and resamplings came in one layout only.
//
//   OneLayoutSource source(store, "channels-last");
//   ComputeBracket(graph, source, selection)       what the model could take if every image lay channels last
//
// A candidate stays where every tensor of three dimensions and more that it names, and every other that holds the
// elements of the image that it makes, lies in that order, or in any. A
// workload that has no such candidate keeps all: libraries convert around it.
#pragma once

#include <string>

#include "infimum/measurement/measurement_source.h"

namespace infimum {

class OneLayoutSource : public MeasurementSource {
 public:
  // `source` lives longer. `layout` as IsLayout takes it, or empty: everything stays.
  OneLayoutSource(MeasurementSource& source, std::string layout) : source_(source), layout_(std::move(layout)) {}

  // "channels-last", "row-major", or letters of at least three dimensions ("acdb", "aBcd16b").
  static bool IsLayout(std::string_view text);

  Result<std::vector<Measurement>> Find(std::span<const WorkloadKey> workloads, const Selection& selection) override;
  Result<DevicePeaks> Peaks(const DeviceKey& device) override { return source_.Peaks(device); }

 private:
  MeasurementSource& source_;
  std::string layout_;
};

}  // namespace infimum
