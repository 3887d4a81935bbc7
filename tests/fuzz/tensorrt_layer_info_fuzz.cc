// Layer information of a TensorRT engine.
#include "src/readers/profiles/tensorrt/tensorrt_engine.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  TensorRtStreams streams;
  streams.layer_info = {&text, std::string(fuzz::kOrigin)};
  const Result<RunProfile> run = ReadTensorRtEngine(streams);
  if (run.ok()) {
    fuzz::CheckRun(*run);
  } else {
    fuzz::CheckRefusal(run.error());
  }
  return 0;
}
