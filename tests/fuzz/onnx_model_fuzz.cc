// ONNX files.
#include "src/readers/onnx/read_model.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  const std::filesystem::path file = fuzz::FileOf(data, size);
  ReadOptions options;
  options.dims["batch"] = 2;
  const Result<ModelGraph> graph = ReadModel(file, options);
  if (!graph.ok()) fuzz::CheckRefusal(graph.error(), "");
  return 0;
}
