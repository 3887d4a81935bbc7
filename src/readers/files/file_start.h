// What a file begins and ends with, by which its format is known: the first 64 KiB behind blanks and a byte order mark.
//
//   FileStart start(stream);
//   start.text().starts_with('{') && start.Has("\"traceEvents\"")
//
// The stream is left anywhere. One that cannot seek to its end is read to it for End(), and so is a document for
// LateEvents().
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace infimum::ingest {

class FileStart {
 public:
  explicit FileStart(std::istream& input);

  std::string_view text() const { return text_; }
  std::string_view first_line() const { return text().substr(0, text().find('\n')); }
  bool Has(std::string_view part) const { return text().find(part) != std::string_view::npos; }
  // The last 64 KiB.
  const std::string& End();
  // The list of a trace's events and what follows it, where it is behind 64 KiB of other fields; empty: there is none.
  const std::string& LateEvents();

 private:
  std::istream& input_;
  std::string text_;
  std::optional<std::string> end_, late_events_;
};

// What follows `token`, without space on both sides; nullopt where the text begins with something else.
std::optional<std::string_view> Behind(std::string_view text, std::string_view token);

inline constexpr std::size_t kSqliteHeaderBytes = 100;
inline bool IsSqlite(std::string_view start) { return start.starts_with(std::string_view("SQLite format 3\0", 16)); }
// Made by infimum: the application's number, at byte 68.
inline bool IsStoreOfOurs(std::string_view start) { return start.size() >= 72 && start.substr(68, 4) == "infm"; }
// Byte 19 is the version that a reader must understand.
inline bool HasWriteAheadLog(std::string_view start) { return start.size() > 19 && start[19] == 2; }

}  // namespace infimum::ingest
