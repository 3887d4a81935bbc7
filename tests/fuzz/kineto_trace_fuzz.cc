// Chrome traces of PyTorch's profiler.
#include "src/readers/profiles/kineto/kineto_trace.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  const Result<Timeline> timeline = ReadKinetoTrace(text, fuzz::kOrigin);
  if (timeline.ok()) {
    fuzz::CheckTimeline(*timeline);
  } else {
    fuzz::CheckRefusal(timeline.error());
  }
  return 0;
}
