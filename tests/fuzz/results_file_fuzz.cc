// Any file of measurements, also compressed with gzip: its kind is told by what is in it.
#include "src/readers/read_results.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream file = fuzz::TextOf(data, size);
  const Status read = ReadResults(file, fuzz::kOrigin, fuzz::CheckingTaker());
  if (!read.ok()) fuzz::CheckRefusal(read.error());
  return 0;
}
