// Nsight Systems' exports: SQLite files, whose pages are as hostile as what is in them.
#include "src/readers/profiles/nsys/nsys_export.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  const std::filesystem::path file = fuzz::FileOf(data, size);
  const Result<Timeline> timeline = ReadNsysExport(file);
  if (timeline.ok()) {
    fuzz::CheckTimeline(*timeline);
  } else {
    fuzz::CheckRefusal(timeline.error(), file.string());
  }
  return 0;
}
