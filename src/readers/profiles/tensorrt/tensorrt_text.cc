#include "src/readers/profiles/tensorrt/tensorrt_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "src/readers/files/gzip_stream.h"

namespace infimum::ingest {
namespace {

// It must be in memory as a whole. A layer takes about a kilobyte, and engines have thousands of them.
constexpr std::size_t kMaxTensorRtText = std::size_t{256} << 20;

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

Result<std::string> ReadAll(std::istream& input, std::string_view origin) {
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (input.read(block.data(), static_cast<std::streamsize>(block.size())) || input.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(input.gcount()));
    if (text.size() > kMaxTensorRtText) {
      return Error{fmt::format("{}: larger than {} MiB, which no engine's file is", origin, kMaxTensorRtText >> 20)};
    }
  }
  return text;
}

// The word at `begin`, outside of texts, becomes a text of the same length if it is a number that is none.
void HideNonNumber(std::string& text, std::size_t begin, std::size_t end) {
  std::string word = text.substr(begin, end - begin);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word != "nan" && word != "inf" && word != "infinity") return;
  if (begin > 0 && text[begin - 1] == '-') --begin;
  text[begin] = '"';
  text[end - 1] = '"';
}

void Repair(std::string& text) {
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_text) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        in_text = false;
      } else if (IsControl(text[i])) {
        text[i] = kNameSeparator;
      }
    } else if (text[i] == '"') {
      in_text = true;
    } else if (IsLetter(text[i])) {
      std::size_t end = i;
      while (end < text.size() && IsLetter(text[end])) ++end;
      HideNonNumber(text, i, end);
      i = end - 1;
    }
  }
}

}  // namespace

Result<Json> ParseTensorRtText(std::istream& input, std::string_view origin) {
  std::string text;
  if (IsGzip(input)) {
    GzipStream unpacked(input);
    unpacked.LimitTo(kMaxTensorRtText);
    Result<std::string> read = ReadAll(unpacked, origin);
    if (unpacked.error()) return Within(std::string(origin), *unpacked.error());
    INFIMUM_ASSIGN_OR_RETURN(text, std::move(read));
  } else {
    INFIMUM_ASSIGN_OR_RETURN(text, ReadAll(input, origin));
  }
  Repair(text);
  std::istringstream repaired(std::move(text));
  return ParseJson(repaired, origin);
}

std::string WithSeparators(std::string text) {
  std::ranges::replace_if(text, IsControl, kNameSeparator);
  return text;
}

}  // namespace infimum::ingest
