#include "reports/page/heat_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace infimum {
namespace {

constexpr double kLeast = 0.25, kMost = 2, kGrain = 0.125;  // octaves that a step may be wide
constexpr double kTold = 0.9;                               // so many of the ratios stand before the last step's end

double OctavesOf(double ratio) { return ratio > 0 ? std::abs(std::log2(ratio)) : 0; }

}  // namespace

HeatScale::HeatScale(std::vector<double> ratios) : octaves_(kLeast) {
  std::erase_if(ratios, [](double ratio) { return !(ratio > 0) || !std::isfinite(ratio); });
  if (ratios.empty()) return;
  for (double& ratio : ratios) ratio = OctavesOf(ratio);
  const auto place = static_cast<std::ptrdiff_t>(std::ceil(kTold * static_cast<double>(ratios.size() - 1)));
  std::nth_element(ratios.begin(), ratios.begin() + place, ratios.end());
  const double farthest = ratios[static_cast<std::size_t>(place)];
  octaves_ = std::clamp(std::ceil(farthest / kSteps / kGrain) * kGrain, kLeast, kMost);
}

int HeatScale::StepOf(double ratio) const {
  // Before it is an int: a ratio may be as large as a double.
  return 1 + static_cast<int>(std::min<double>(kSteps - 1, std::floor(OctavesOf(ratio) / octaves_)));
}

std::string HeatScale::BeginOf(int step) const {
  const double times = std::exp2(octaves_ * (step - 1));
  return times < 10 ? fmt::format("{:.2g}", times) : fmt::format("{:.0f}", times);
}

}  // namespace infimum
