#include "src/readers/profiles/nsys/nsys_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infimum/base/utf8.h"

namespace infimum::ingest {
namespace {

constexpr std::size_t kDense = std::size_t{1} << 22;
constexpr std::size_t kLongestName = std::size_t{1} << 20;

}  // namespace

std::string_view WithoutCudaVersion(std::string_view call) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t last = call.find_last_not_of(kDigits);
  if (last == std::string_view::npos || last == 0 || call.size() - last - 1 < 4) return call;
  return call.substr(last - 1, 2) == "_v" ? call.substr(0, last - 1) : call;
}

NameId NsysNames::Find(Known& known, NsysTable& rows, std::size_t column) {
  const std::int64_t number = rows.Integer(column);
  if (!rows.status()) return kNoName;
  if (number < 0 || static_cast<std::uint64_t>(number) >= kDense) {
    const auto found = known.rest.find(number);
    if (found != known.rest.end()) return found->second;
    return known.rest[number] = LookUp(known, number, rows, column);
  }
  const auto place = static_cast<std::size_t>(number);
  if (place >= known.dense.size()) known.dense.resize(std::max(place + 1, known.dense.size() * 2), kNoName);
  NameId& name = known.dense[place];
  if (name == kNoName) name = LookUp(known, number, rows, column);
  return name;
}

NameId NsysNames::LookUp(const Known& known, std::int64_t number, NsysTable& rows, std::size_t column) {
  if (!look_up_) {
    if (!database_.HasTable("StringIds")) {
      rows.FailAt(column, fmt::format("refers to a table StringIds, which the file lacks; export all of the report: {}",
                                      kNsysExportCommand));
      return kNoName;
    }
    Result<SqliteStatement> prepared = database_.Prepare("SELECT value FROM \"StringIds\" WHERE id = ?1");
    if (!prepared) {
      rows.FailWith(prepared.error());
      return kNoName;
    }
    look_up_ = std::move(prepared).value();
  }
  sqlite3_reset(look_up_.get());
  sqlite3_bind_int64(look_up_.get(), 1, number);
  const int code = sqlite3_step(look_up_.get());
  if (code == SQLITE_DONE) {
    rows.FailAt(column, fmt::format("is {}, a text that StringIds does not have", number));
    return kNoName;
  }
  if (code != SQLITE_ROW) {
    rows.FailWith(database_.LastError("StringIds"));
    return kNoName;
  }
  const bool is_text = sqlite3_column_type(look_up_.get(), 0) == SQLITE_TEXT;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(look_up_.get(), 0));
  if (!is_text || text == nullptr) {
    rows.FailAt(column, fmt::format("is {}, which is no text in StringIds", number));
    return kNoName;
  }
  const std::string_view whole(text, static_cast<std::size_t>(sqlite3_column_bytes(look_up_.get(), 0)));
  return Keep(&known == &calls_ ? WithoutCudaVersion(whole) : whole, rows, column);
}

NameId NsysNames::TextOf(NsysTable& rows, std::size_t column) {
  const std::string_view text = rows.Text(column);
  return rows.status() ? Keep(text, rows, column) : kNoName;
}

NameId NsysNames::Keep(std::string_view text, NsysTable& rows, std::size_t column) {
  if (text.size() > kLongestName) {
    rows.FailAt(column, fmt::format("is a text of {} bytes; a name has at most {}", text.size(), kLongestName));
    return kNoName;
  }
  const std::size_t before = names_.size();
  const NameId name = names_.Intern(ValidUtf8(text));
  if (names_.size() == before) return name;
  kept_bytes_ += text.size();
  // A text in UTF-16 may grow by half.
  if (kept_bytes_ > 2 * database_.bytes())
    rows.FailAt(column, "and the names before it take more than the whole file: it is damaged");
  return name;
}

}  // namespace infimum::ingest
