// Layer times of a TensorRT engine, joined with layer information that is sound.
#include "src/readers/profiles/tensorrt/tensorrt_engine.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream layers(R"({"Layers": [{"Name": "a"}, {"Name": "b"}, {"Name": "a"}], "Bindings": []})");
  std::istringstream text = fuzz::TextOf(data, size);
  TensorRtStreams streams;
  streams.layer_info = {&layers, "layers.json"};
  streams.profile = {&text, std::string(fuzz::kOrigin)};
  const Result<RunProfile> run = ReadTensorRtEngine(streams);
  if (run.ok()) {
    fuzz::CheckRun(*run);
  } else {
    fuzz::CheckRefusal(run.error());
  }
  return 0;
}
