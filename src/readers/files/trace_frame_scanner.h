// Finds the list of events in the text of a trace, and keeps the text around it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infimum/base/result.h"

namespace infimum::ingest {

class TraceFrameScanner {
 public:
  static constexpr std::size_t kMostFrame = std::size_t{64} << 20;

  // The list is that of the first of `keys` whose value is a list, or the document itself.
  TraceFrameScanner(std::vector<std::string> keys, bool may_be_bare)
      : keys_(std::move(keys)), may_be_bare_(may_be_bare) {}

  // Goes on with the document. The number of bytes up to and with the '[' that opens the events, where it is among
  // them; else nullopt, and all was taken. An error: more around the events than a trace has.
  Result<std::optional<std::size_t>> Feed(std::string_view text);
  // The list of events was closed.
  void EventsEnd();
  // Nothing is open any more.
  bool complete() const { return started_ && depth_ == 0 && !in_text_; }
  bool is_open() const { return started_ && !complete(); }
  // The key of the list, empty of a bare one.
  const std::string& list() const { return list_; }
  const std::string& frame() const { return frame_; }

 private:
  bool IsWanted() const;

  std::vector<std::string> keys_;
  bool may_be_bare_;
  std::string frame_, list_;
  std::string last_text_;  // of depth 1: the key, when a colon follows
  std::string key_;
  std::int64_t depth_ = 0;
  bool started_ = false;
  bool found_ = false;
  bool in_text_ = false;
  bool escaped_ = false;
};

}  // namespace infimum::ingest
