// Compressed files: what comes out does not depend on how it is read, and is bounded.
#include <iterator>
#include <string>

#include "src/readers/files/input_file.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace infimum;
  std::istringstream file = fuzz::TextOf(data, size);
  if (!ingest::IsGzip(file)) return 0;
  ingest::GzipStream text(file);
  const std::string whole(std::istreambuf_iterator<char>(text), {});
  fuzz::Require(whole.size() <= ingest::kMinBomb + ingest::kMaxExpansion * size, "a bomb was unpacked");
  const bool is_damaged = text.error().has_value();
  text.clear();
  text.seekg(0);
  std::string again(whole.size() + 1, '\0');
  text.read(again.data(), static_cast<std::streamsize>(again.size()));
  again.resize(static_cast<std::size_t>(text.gcount()));
  fuzz::Require(again == whole, "the second reading differs from the first");
  fuzz::Require(text.error().has_value() == is_damaged, "damage was seen in one reading alone");
  return 0;
}
