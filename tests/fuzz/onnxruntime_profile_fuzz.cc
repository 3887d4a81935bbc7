// Profiles of ONNX Runtime.
#include "src/readers/profiles/onnxruntime/onnxruntime_profile.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  const Result<RunProfile> run = ReadOnnxRuntimeProfile(text, fuzz::kOrigin);
  if (run.ok()) {
    fuzz::CheckRun(*run);
  } else {
    fuzz::CheckRefusal(run.error());
  }
  return 0;
}
