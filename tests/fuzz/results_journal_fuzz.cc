// Journals of results: each record can be written, and is read back.
#include "infimum/results/results_journal.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream text = fuzz::TextOf(data, size);
  const Status read = ReadJournal(text, fuzz::kOrigin, [](ResultsRecord record) -> Status {
    const std::string line = FormatRecord(record);
    fuzz::Require(line.find('\n') == std::string::npos, "a record takes several lines");
    // A row alone has no header: it is read back behind an empty one.
    if (!std::holds_alternative<ResultsHeader>(record)) return {};
    std::istringstream again(line + "\n");
    const Status second = ReadJournal(again, fuzz::kOrigin, [&](ResultsRecord other) -> Status {
      fuzz::Require(FormatRecord(other) == line, "a record changes when it is written and read");
      return {};
    });
    fuzz::RequireOk(second, "a record that was written is read");
    return {};
  });
  if (!read.ok()) fuzz::CheckRefusal(read.error());
  return 0;
}
