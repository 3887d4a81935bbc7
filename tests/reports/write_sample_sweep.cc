// write_sample_sweep FILE [NODES]: the page of a small sweep, or of so many numbers of nodes: 12 cells each.
#include <cstdlib>
#include <fstream>

#include "tests/reports/sample_sweep.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ofstream out(argv[1], std::ios::binary);
  out << infimum::SweepPage(infimum::SampleSweep(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 3));
  return out.good() ? 0 : 1;
}
