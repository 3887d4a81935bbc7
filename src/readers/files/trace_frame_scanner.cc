#include "src/readers/files/trace_frame_scanner.h"

#include <algorithm>

namespace infimum::ingest {

Result<std::optional<std::size_t>> TraceFrameScanner::Feed(std::string_view text) {
  std::size_t i = 0;
  const auto taken = [&] { frame_.append(text.substr(0, i)); };
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_text_ = false;
        continue;
      }
      if (depth_ == 1 && last_text_.size() < 64) last_text_ += c;
      continue;
    }
    switch (c) {
      case '"':
        in_text_ = true;
        if (depth_ == 1) last_text_.clear();
        break;
      case ':':
        if (depth_ == 1) key_ = last_text_;
        break;
      case '[':
        if (!found_ && (started_ ? depth_ == 1 && IsWanted() : may_be_bare_)) {
          if (started_) list_ = key_;
          started_ = found_ = true;
          ++depth_;
          ++i;
          taken();
          return std::optional(i);
        }
        [[fallthrough]];
      case '{':
        started_ = true;
        ++depth_;
        break;
      case ']':
      case '}':
        --depth_;
        break;
      default:
        break;
    }
  }
  taken();
  if (frame_.size() > kMostFrame) return Error{"more than 64 MiB outside the list of events: not a trace"};
  return std::optional<std::size_t>();
}

bool TraceFrameScanner::IsWanted() const { return std::find(keys_.begin(), keys_.end(), key_) != keys_.end(); }

void TraceFrameScanner::EventsEnd() {
  frame_ += ']';
  --depth_;
}

}  // namespace infimum::ingest
