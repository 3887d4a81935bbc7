// Published sweeps of ParaDnn.
#include <cmath>

#include "src/readers/benchmarks/paradnn_points.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  const Result<std::vector<ParaDnnPoint>> points = ReadParaDnn(text, fuzz::kOrigin, "TPU v2");
  if (!points.ok()) {
    fuzz::CheckRefusal(points.error());
    return 0;
  }
  for (const ParaDnnPoint& point : *points) {
    fuzz::Require(point.parameters.size() == 5, "a point has all parameters of its family");
    fuzz::Require(!point.step || (std::isfinite(point.step->count()) && *point.step > Latency(0)), "a step takes time");
    fuzz::Require(!point.step || point.state == ParaDnnPoint::State::kMeasured, "what did not run has no time");
    for (const std::optional<double>& one : {point.weights, point.flops, point.intensity, point.share_of_peak})
      fuzz::Require(!one || (std::isfinite(*one) && *one >= 0), "a quantity is finite and not negative");
  }
  return 0;
}
