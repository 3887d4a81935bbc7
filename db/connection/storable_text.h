// A text as every database can keep it: PostgreSQL refuses bytes that are no UTF-8, and NUL. Both become U+FFFD, in
// SQLite too, so that the same rows are the same in both.
#pragma once

#include <string>
#include <string_view>

namespace infimum {

class StorableText {
 public:
  // Copies only what must be changed: `text` must outlive this.
  explicit StorableText(std::string_view text);
  StorableText(const StorableText&) = delete;
  StorableText& operator=(const StorableText&) = delete;

  std::string_view text() const { return text_; }

 private:
  std::string changed_;
  std::string_view text_;
};

// A text as a message may show it: one line, no control characters, cut after 300 characters.
std::string OneLine(std::string_view text);

}  // namespace infimum
