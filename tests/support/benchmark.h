// One program for all benchmarks: `benchmarks` lists them, `benchmarks kineto --generate 500` runs one. They want a
// machine of their own; where a benchmark has a limit, it ends with 1 beyond it. With 2 it asks for its usage.
//
//   INFIMUM_BENCHMARK(kineto, "TRACE | --generate MEGABYTES") {
//     if (argc != 2) return 2;
//     ...
//   }
#pragma once

namespace infimum::testing {

class Benchmark {
 public:
  using Run = int (*)(int argc, char** argv);
  Benchmark(const char* name, const char* usage, Run run);

  const char* name;
  const char* usage;
  Run run;
};

}  // namespace infimum::testing

#define INFIMUM_BENCHMARK(name, usage)                                                         \
  static int Benchmark_##name(int argc, char** argv);                                          \
  static const infimum::testing::Benchmark kBenchmark_##name(#name, usage, &Benchmark_##name); \
  static int Benchmark_##name([[maybe_unused]] int argc, [[maybe_unused]] char** argv)
