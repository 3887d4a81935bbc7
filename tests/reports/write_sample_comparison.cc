// write_sample_comparison FILE [LAYERS [SIDES]]: the page of a small comparison, or of one with so many layers and
// sides more.
#include <cstdlib>
#include <fstream>

#include "tests/reports/sample_comparison.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::size_t layers = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0;
  const std::size_t sides = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 0;
  std::ofstream out(argv[1], std::ios::binary);
  out << infimum::ComparisonPage(infimum::SampleComparison(infimum::ComparisonAxis::kDevice, layers, sides));
  return out.good() ? 0 : 1;
}
