#include "src/readers/files/file_start.h"

#include <algorithm>

#include "infimum/base/text.h"
#include "src/readers/files/trace_frame_scanner.h"

namespace infimum::ingest {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 16;

std::string NextPart(std::istream& input) {
  std::string part(kPart, '\0');
  input.read(part.data(), static_cast<std::streamsize>(part.size()));
  part.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, input.gcount())));
  return part;
}

void SkipBlanks(std::istream& input) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  for (const char byte : kByteOrderMark) {
    if (input.peek() != std::char_traits<char>::to_int_type(byte)) break;
    input.get();
  }
  input >> std::ws;
  input.clear();
}

// The last bytes of a stream whose first `start` were just read.
std::string EndOf(std::istream& input, const std::string& start) {
  std::string end(start.size(), '\0');
  input.clear();
  const auto here = input.tellg();
  input.seekg(0, std::ios::end);
  if (input) {
    const std::streamoff size = input.tellg();
    input.seekg(std::max<std::streamoff>(0, size - static_cast<std::streamoff>(end.size())));
    input.read(end.data(), static_cast<std::streamsize>(end.size()));
    end.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, input.gcount())));
    return end;
  }
  // It cannot jump, as what is being decompressed cannot.
  input.clear();
  input.seekg(here);
  end = start;
  for (std::string part = NextPart(input); !part.empty(); part = NextPart(input)) {
    end += part;
    if (end.size() > kPart) end.erase(0, end.size() - kPart);
  }
  return end;
}

std::string LateEventsOf(std::istream& input) {
  input.clear();
  input.seekg(0);
  TraceFrameScanner scanner({"traceEvents"}, false);
  for (std::string part = NextPart(input); !part.empty(); part = NextPart(input)) {
    const Result<std::optional<std::size_t>> opened = scanner.Feed(part);
    if (!opened.ok() || scanner.complete()) break;
    if (*opened) return part.substr(**opened) + NextPart(input);
  }
  return {};
}

}  // namespace

FileStart::FileStart(std::istream& input) : input_(input) {
  SkipBlanks(input);
  text_ = NextPart(input);
}

const std::string& FileStart::End() {
  if (!end_) end_ = EndOf(input_, text_);
  return *end_;
}

const std::string& FileStart::LateEvents() {
  if (!late_events_) late_events_ = text_.starts_with('{') ? LateEventsOf(input_) : std::string();
  return *late_events_;
}

std::optional<std::string_view> Behind(std::string_view text, std::string_view token) {
  text = TrimSpace(text);
  if (!text.starts_with(token)) return std::nullopt;
  return TrimSpace(text.substr(token.size()));
}

}  // namespace infimum::ingest
