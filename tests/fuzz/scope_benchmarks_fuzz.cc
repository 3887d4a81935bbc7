// Google Benchmark JSON of other programs: scope of 2019, programs that infimum emitted, labels with workloads.
#include "src/readers/benchmarks/scope_benchmarks.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  const Status read = ReadScopeBenchmarks(text, fuzz::kOrigin, fuzz::CheckingTaker());
  if (!read.ok()) fuzz::CheckRefusal(read.error());
  return 0;
}
