// Chakra's traces as JSON: executions and workloads.
#include "src/readers/profiles/chakra/chakra_trace.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  const Result<std::variant<RunProfile, Timeline>> trace = ReadChakraTrace(text, fuzz::kOrigin);
  if (!trace.ok()) {
    fuzz::CheckRefusal(trace.error());
  } else if (const auto* run = std::get_if<RunProfile>(&*trace)) {
    fuzz::CheckRun(*run);
  } else {
    fuzz::CheckTimeline(std::get<Timeline>(*trace));
  }
  return 0;
}
