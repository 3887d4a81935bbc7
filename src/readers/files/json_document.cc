#include "src/readers/files/json_document.h"

#include <fmt/format.h>

#include <cstdint>

#include "infimum/base/text.h"

namespace infimum::ingest {

Result<std::string> ReadWhole(std::istream& input, std::string_view origin) {
  constexpr std::size_t kMost = std::size_t{256} << 20;
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (input.read(block.data(), static_cast<std::streamsize>(block.size())) || input.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(input.gcount()));
    if (text.size() > kMost)
      return Error{
          fmt::format("{}: larger than {} MiB, the limit for a file that is read as a whole", origin, kMost >> 20)};
  }
  return text;
}

Result<Json> ParseDocument(std::string_view text, std::string_view origin) {
  Result<Json> document = ParseJson(text);
  if (document.ok()) return document;
  const std::string& message = document.error().message;
  const bool is_cut = ParseInteger(message.substr(0, message.find(':'))) == static_cast<std::int64_t>(text.size()) + 1;
  return Error{fmt::format("{}: byte {}{}", origin, message, is_cut ? "; is the file cut off?" : "")};
}

}  // namespace infimum::ingest
