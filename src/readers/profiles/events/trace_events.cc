#include "src/readers/profiles/events/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "infimum/base/text.h"
#include "infimum/base/utf8.h"
#include "src/readers/files/json_document.h"
#include "src/readers/files/trace_frame_scanner.h"

namespace infimum::ingest {
namespace {

// Fits the second-level cache together with simdjson's index of it (four bytes for each of its own).
constexpr std::size_t kWindow = std::size_t{512} << 10;
constexpr std::size_t kMostEvent = std::size_t{64} << 20;
// Attempts to end a window outside of a text, where line ends do not help.
constexpr int kMostEventCuts = 16;

Error Broken(simdjson::error_code code) { return Error{fmt::format("not JSON: {}", simdjson::error_message(code))}; }

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

class TraceEventReader {
 public:
  TraceEventReader(std::istream& input, std::string_view origin, const EventList& list, Oddities& oddities,
                   const ReadEvent& read, const TakeEvent& take)
      : input_(input),
        origin_(origin),
        list_(list),
        oddities_(oddities),
        read_(read),
        take_(take),
        scanner_(list.keys, list.may_be_bare) {}

  Result<TraceFrame> Read() {
    INFIMUM_RETURN_IF_ERROR(FindEvents());
    while (!ended_) {
      INFIMUM_ASSIGN_OR_RETURN(const bool some, BeginWindow());
      if (some) INFIMUM_RETURN_IF_ERROR(ReadWindow());
    }
    scanner_.EventsEnd();
    for (bool more = true; more; more = Fill(kWindow)) {
      INFIMUM_ASSIGN_OR_RETURN(const auto second, scanner_.Feed(Rest()));
      INFIMUM_CHECK(!second, "a second list of events is part of the frame");
      begin_ = end_;
    }
    if (!scanner_.complete()) return CutOff();
    INFIMUM_ASSIGN_OR_RETURN(frame_.top, ParseDocument(scanner_.frame(), origin_));
    frame_.list = scanner_.list();
    frame_.bytes = offset_ + static_cast<std::int64_t>(end_);
    return std::move(frame_);
  }

 private:
  std::string_view Rest() const { return std::string_view(buffer_.data() + begin_, end_ - begin_); }

  Error CutOff() const {
    return Error{fmt::format("{}: the file ends at byte {}, within the trace: it was cut off", origin_,
                             offset_ + static_cast<std::int64_t>(end_))};
  }

  // Up to `count` bytes more behind what is left; false at the end of the file.
  bool Fill(std::size_t count) {
    if (at_end_) return false;
    // One byte before the rest stays free for the bracket that makes a window a document.
    if (begin_ > 1) {
      std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin() + 1);
      offset_ += static_cast<std::int64_t>(begin_) - 1;
      end_ -= begin_ - 1;
      begin_ = 1;
    }
    if (buffer_.size() < end_ + count + 1 + simdjson::SIMDJSON_PADDING)
      buffer_.resize(end_ + count + 1 + simdjson::SIMDJSON_PADDING);
    input_.read(buffer_.data() + end_, static_cast<std::streamsize>(count));
    const auto got = static_cast<std::size_t>(std::max<std::streamsize>(0, input_.gcount()));
    end_ += got;
    at_end_ = got < count;
    return got > 0;
  }

  Status FindEvents() {
    begin_ = end_ = 1;
    offset_ = -1;
    while (Fill(kWindow)) {
      Result<std::optional<std::size_t>> opened = scanner_.Feed(Rest());
      if (!opened.ok()) return Within(std::string(origin_), opened.error());
      begin_ = *opened ? begin_ + **opened : end_;
      if (*opened) return {};
    }
    if (scanner_.is_open()) return CutOff();
    return Error{fmt::format("{}: not {}: no list \"{}\"", origin_, list_.document, Join(list_.keys, "\" or \""))};
  }

  // Whether there is an event to read next; sees the end of the list.
  Result<bool> BeginWindow() {
    for (;;) {
      while (begin_ < end_ && IsSpace(buffer_[begin_])) ++begin_;
      if (begin_ == end_) {
        if (Fill(kWindow)) continue;
        if (!is_bare() || frame_.events == 0) return CutOff();
        oddities_.list_is_open = ended_ = true;
        return false;
      }
      const char c = buffer_[begin_];
      if (c == ']' && !need_comma_ && frame_.events > 0 && !is_bare())
        return At(frame_.events, begin_, "nothing after a comma");
      if (c == ']') {
        ++begin_;
        ended_ = true;
        return false;
      }
      if (!need_comma_) return true;
      if (c != ',') return At(frame_.events, begin_, "no comma before it");
      ++begin_;
      need_comma_ = false;
    }
  }

  // In Chrome's format a bare list may end with a comma, or without its bracket.
  bool is_bare() const { return scanner_.list().empty(); }

  std::string PlaceOf(std::int64_t number, std::size_t position) const {
    const std::string of = list_.keys.size() > 1 ? fmt::format(" of '{}'", scanner_.list()) : std::string();
    return fmt::format("{} {}{} (byte {})", list_.event, number + list_.first_number, of,
                       offset_ + static_cast<std::int64_t>(position));
  }

  Error At(std::int64_t number, std::size_t position, const std::string& what) const {
    return Error{fmt::format("{}: {}: {}", origin_, PlaceOf(number, position), what)};
  }

  // Reads the events that are whole in the buffer; where not one is, more of the file is read for the next call.
  Status ReadWindow() {
    if (end_ - begin_ < window_) Fill(window_ - (end_ - begin_));
    std::size_t cut = end_;
    simdjson::error_code code = simdjson::SUCCESS;
    for (int i = 0; i < kMostEventCuts; ++i) {
      cut = at_end_ && i == 0 ? end_ : CutBefore(cut);
      if (cut <= begin_) break;
      code = Index(cut);
      if (code != simdjson::UNCLOSED_STRING) break;
    }
    std::optional<Error> wrong;
    const std::int64_t before = frame_.events;
    if (code == simdjson::SUCCESS && cut > begin_) {
      wrong = ReadEvents(cut);
    } else {
      wrong = Broken(code == simdjson::SUCCESS ? simdjson::INCOMPLETE_ARRAY_OR_OBJECT : code);
    }
    if (ended_ || frame_.events > before) {
      window_ = kWindow;
      return {};
    }
    // Not one: it is longer than the window, or it is wrong.
    if (begin_ == end_ || !wrong) return {};
    TraceFrameScanner rest = scanner_;
    if (const auto fed = rest.Feed(Rest()); at_end_ && fed.ok() && !rest.complete()) return CutOff();
    if (window_ >= kMostEvent && !EventEnds())
      return At(frame_.events, begin_,
                fmt::format("no end within {} MiB, longer than any profiler writes: a closing quote or brace may be "
                            "missing",
                            kMostEvent >> 20));
    if (at_end_ || window_ >= kMostEvent) return At(frame_.events, begin_, wrong->message);
    window_ *= 2;
    return {};
  }

  // Whether what the buffer begins with ends in it.
  bool EventEnds() const {
    std::int64_t depth = 0;
    bool in_text = false;
    for (std::size_t i = begin_; i < end_; ++i) {
      const char c = buffer_[i];
      if (in_text && c == '\\') {
        ++i;
      } else if (c == '"') {
        in_text = !in_text;
      } else if (!in_text && (c == '{' || c == '[')) {
        ++depth;
      } else if (!in_text && (c == '}' || c == ']') && --depth <= 0) {
        return true;
      }
    }
    return false;
  }

  // Where a window may end before `limit`: behind a line, since no text has a raw newline in it; in files of few lines
  // behind an object, which may be a brace in a text.
  std::size_t CutBefore(std::size_t limit) const {
    constexpr std::size_t kLongLine = std::size_t{64} << 10;
    const std::size_t least = std::max(begin_, limit > kLongLine ? limit - kLongLine : 0);
    for (std::size_t i = limit; i-- > least;)
      if (buffer_[i] == '\n' && i + 1 < limit) return i + 1;
    for (std::size_t i = limit; i-- > begin_;)
      if (buffer_[i] == '}' && i + 1 < limit) return i + 1;
    return begin_;
  }

  // The window as a document of its own: brackets around it, and behind them a byte that is no JSON. simdjson looks at
  // that byte: where it is a bracket (of what follows, or of a window before), it refuses a document that ends before
  // all is closed, as a window may; and a brace would close an event that the window cuts.
  simdjson::error_code Index(std::size_t cut) {
    buffer_[begin_ - 1] = '[';
    kept_ = {std::exchange(buffer_[cut], ']'), std::exchange(buffer_[cut + 1], '\0')};
    simdjson::error_code code = Iterate(cut);
    if (code == simdjson::UNESCAPED_CHARS) {
      oddities_.control_characters += BlankControlCharacters(cut);
      code = Iterate(cut);
    }
    if (code == simdjson::UTF8_ERROR) {
      oddities_.invalid_bytes += BlankInvalidBytes(cut);
      code = Iterate(cut);
      if (code == simdjson::UNESCAPED_CHARS) {
        oddities_.control_characters += BlankControlCharacters(cut);
        code = Iterate(cut);
      }
    }
    if (code != simdjson::SUCCESS) Restore(cut);
    return code;
  }

  void Restore(std::size_t cut) {
    std::copy(kept_.begin(), kept_.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(cut));
  }

  simdjson::error_code Iterate(std::size_t cut) {
    return parser_
        .iterate(simdjson::padded_string_view(buffer_.data() + begin_ - 1, cut + 1 - (begin_ - 1),
                                              buffer_.size() - (begin_ - 1)))
        .get(document_);
  }

  // Outside of texts a space is equivalent, so the places of texts need not be known.
  std::int64_t BlankControlCharacters(std::size_t cut) {
    std::int64_t count = 0;
    for (std::size_t i = begin_; i < cut; ++i) {
      if (static_cast<unsigned char>(buffer_[i]) >= 0x20) continue;
      count += IsSpace(buffer_[i]) ? 0 : 1;
      buffer_[i] = ' ';
    }
    return std::max<std::int64_t>(count, 1);
  }

  std::int64_t BlankInvalidBytes(std::size_t cut) {
    std::int64_t count = 0;
    for (std::size_t i = begin_; i < cut;) {
      const CodePoint point = FirstCodePoint(std::string_view(buffer_.data() + i, cut - i));
      if (!point.valid) {
        buffer_[i] = '?';
        ++count;
      }
      i += point.valid ? point.bytes : 1;
    }
    return count;
  }

  // Where an element ends, once all of it was gone through: what follows it.
  simdjson::error_code ReadElement(simdjson::ondemand::value& value, bool is_event, const char*& next) {
    if (is_event) {
      simdjson::ondemand::object object;
      if (const auto code = value.get_object().get(object); code != simdjson::SUCCESS) return code;
      TraceEvent event{object, scanner_.list()};
      if (const auto code = read_(event); code != simdjson::SUCCESS) return code;
      return document_.current_location().get(next);
    }
    std::string_view text = value.raw_json_token();
    if (text.find_first_of("\"[-0123456789tfn") != 0) return simdjson::TAPE_ERROR;
    if (text.front() == '[') {
      simdjson::ondemand::array list;
      if (const auto code = value.get_array().get(list); code != simdjson::SUCCESS) return code;
      if (const auto code = list.raw_json().get(text); code != simdjson::SUCCESS) return code;
    }
    next = text.data() + text.size();
    return simdjson::SUCCESS;
  }

  // Moves begin_ behind what was read. The error of the first event that could not be, which may only be cut off.
  std::optional<Error> ReadEvents(std::size_t cut) {
    const auto position = [this](const char* at) { return static_cast<std::size_t>(at - buffer_.data()); };
    std::optional<Error> wrong;
    std::size_t read = begin_;  // up to here
    simdjson::ondemand::array list;
    if (const auto failed = document_.get_array().get(list); failed != simdjson::SUCCESS) {
      wrong = Broken(failed);
    } else {
      for (auto element : list) {
        simdjson::ondemand::value value;
        if (const auto code = element.get(value); code != simdjson::SUCCESS) {
          wrong = Broken(code);
          break;
        }
        const char* const start = value.raw_json_token().data();
        read = position(start);
        need_comma_ = false;
        if (read >= cut || *start == ']') break;  // the comma was the window's last, or the list's
        const bool is_event = *start == '{';
        const char* next = nullptr;
        if (const auto code = ReadElement(value, is_event, next); code != simdjson::SUCCESS) {
          wrong = Broken(code);
          break;
        }
        if (const Status taken = is_event ? take_() : Status(Error{"not an object"}); !taken.ok())
          oddities_.Skip(taken.error());
        if (oddities_.awaits_place()) oddities_.Place(PlaceOf(frame_.events, read));
        ++frame_.events;
        read = position(next);
        need_comma_ = true;
        if (read >= cut) break;
        if (*next == ']') {
          ++read;
          ended_ = true;
          break;
        }
      }
    }
    Restore(cut);
    begin_ = read;
    return wrong;
  }

  std::istream& input_;
  std::string_view origin_;
  const EventList& list_;
  Oddities& oddities_;
  const ReadEvent& read_;
  const TakeEvent& take_;
  TraceFrameScanner scanner_;
  TraceFrame frame_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what of the buffer is not read yet
  std::int64_t offset_ = 0;          // of buffer_[0] in the text
  std::size_t window_ = kWindow;
  std::array<char, 2> kept_{};  // the bytes replaced by the window's bracket and the byte behind it
  bool at_end_ = false;
  bool need_comma_ = false;
  bool ended_ = false;
};

}  // namespace

Result<TraceFrame> ReadTraceEvents(std::istream& input, std::string_view origin, const EventList& list,
                                   Oddities& oddities, const ReadEvent& read, const TakeEvent& take) {
  return TraceEventReader(input, origin, list, oddities, read, take).Read();
}

}  // namespace infimum::ingest
