// Colours of ratios: seven steps faster and seven slower, as wide in logarithms as what they are to tell apart asks
// for, so that neither generations of devices nor two versions of a library all get one colour.
//
//   ratios between 0.6 and 1.8   -> steps of a quarter of an octave: 1.2, 1.4, 1.7, 2, 2.4, 2.8
//   ratios between 0.15 and 1.2  -> of half an octave: 1.4, 2, 2.8, 4, 5.7, 8
#pragma once

#include <string>
#include <vector>

namespace infimum {

class HeatScale {
 public:
  static constexpr int kSteps = 7;

  // For ratios above 0; what only the outermost tenth of them reaches may share the last step.
  explicit HeatScale(std::vector<double> ratios);

  // 1 to kSteps, alike for a ratio and its inverse.
  int StepOf(double ratio) const;
  // From how many times on a step counts: "2.8"; of the first "1".
  std::string BeginOf(int step) const;

 private:
  double octaves_;  // of one step
};

}  // namespace infimum
