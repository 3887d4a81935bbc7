// What the first 100 bytes of a SQLite file say without SQLite.
#pragma once

#include <string_view>

namespace infimum::ingest {

inline constexpr std::size_t kSqliteHeaderBytes = 100;

inline bool IsSqlite(std::string_view start) { return start.starts_with(std::string_view("SQLite format 3\0", 16)); }

// Made by infimum: at byte 68 stands whose file it is.
inline bool IsStoreOfOurs(std::string_view start) { return start.size() >= 72 && start.substr(68, 4) == "infm"; }

// Written through a write-ahead log: byte 19 is the version that a reader must understand.
inline bool HasWriteAheadLog(std::string_view start) { return start.size() > 19 && start[19] == 2; }

}  // namespace infimum::ingest
