// What reading a file cost, for benchmarks of readers: processor time, memory at its highest, and the time of a plain
// pass over the same bytes to compare with, so that what a benchmark asks for depends on no machine's speed.
//
//   const double begin = ProcessorSeconds();
//   ReadOnnxRuntimeProfile(file, path);
//   const double reading = ProcessorSeconds() - begin;
//   const double peak = PeakMegabytes();                // before the plain pass, which takes the whole text
//   reading / SecondsOfPlainPass(path);                 // 1.6
#pragma once

#include <string>

namespace infimum {

// Of this process, on all its threads.
double ProcessorSeconds();

// Of resident memory, above what the program itself took at its start.
double PeakMegabytes();

// simdjson reads the file, finds the structure of all of it and goes through it once, and nothing is made of it. 0 of a
// file that it does not take: damaged, or longer than its 4 GiB.
double SecondsOfPlainPass(const std::string& path);

}  // namespace infimum
