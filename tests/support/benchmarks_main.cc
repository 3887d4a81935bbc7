#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "tests/support/benchmark.h"

namespace infimum::testing {
namespace {

std::vector<Benchmark>& Benchmarks() {
  static std::vector<Benchmark> all;
  return all;
}

}  // namespace

Benchmark::Benchmark(const char* its_name, const char* its_usage, Run its_run)
    : name(its_name), usage(its_usage), run(its_run) {
  Benchmarks().push_back(*this);
}

int RunBenchmark(int argc, char** argv) {
  std::vector<Benchmark>& all = Benchmarks();
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  const auto found = std::ranges::find_if(all, [&](const Benchmark& one) { return wanted == one.name; });
  if (found == all.end()) {
    std::ranges::sort(all, {}, [](const Benchmark& one) { return std::string_view(one.name); });
    for (const Benchmark& one : all) std::printf("benchmarks %s %s\n", one.name, one.usage);
    return argc > 1 ? 2 : 0;
  }
  const int code = found->run(argc - 1, argv + 1);
  if (code == 2) std::fprintf(stderr, "usage: benchmarks %s %s\n", found->name, found->usage);
  return code;
}

}  // namespace infimum::testing

int main(int argc, char** argv) { return infimum::testing::RunBenchmark(argc, argv); }
