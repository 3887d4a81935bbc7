// Google Benchmark JSON that was made of a journal of results.
#include "infimum/results/results_journal.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  const Status read = ReadGoogleBenchmark(text, fuzz::kOrigin, [](ResultsRecord) -> Status { return {}; });
  if (!read.ok()) fuzz::CheckRefusal(read.error());
  return 0;
}
