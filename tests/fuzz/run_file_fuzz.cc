// Runs of a framework (infimum.run/1): what was read can be written, and is read back.
#include "src/readers/profiles/run_file.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  const Result<RunProfile> run = ReadRun(text, fuzz::kOrigin);
  if (!run.ok()) {
    fuzz::CheckRefusal(run.error());
    return 0;
  }
  fuzz::CheckRun(*run);
  const std::string written = FormatRun(*run);
  std::istringstream again(written);
  const Result<RunProfile> second = ReadRun(again, fuzz::kOrigin);
  fuzz::RequireOk(second, "a run that was written is read");
  fuzz::Require(FormatRun(*second) == written, "a run changes when it is written and read");
  return 0;
}
