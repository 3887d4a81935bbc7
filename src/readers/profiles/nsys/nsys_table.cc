#include "src/readers/profiles/nsys/nsys_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infimum/base/text.h"

namespace infimum::ingest {

Result<NsysTable> NsysTable::Open(const NsysDatabase& database, std::string_view table,
                                  const std::vector<NsysColumn>& columns) {
  NsysTable opened(database, table);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<std::string> there, database.ColumnsOf(table));
  std::string selected;
  for (const NsysColumn& column : columns) {
    const bool present = std::find(there.begin(), there.end(), column.name) != there.end();
    if (!present && column.required) {
      return Error{fmt::format("{}: {} has no column '{}' ({}); export the report with a newer Nsight Systems: {}",
                               database.name(), table, column.name, database.Schema(), kNsysExportCommand)};
    }
    opened.columns_.emplace_back(column.name);
    opened.present_.push_back(present);
    selected += (selected.empty() ? "" : ", ") + (present ? QuotedSqlName(column.name) : std::string("NULL"));
  }
  // An index of the file's own may have other rows than the table.
  INFIMUM_ASSIGN_OR_RETURN(opened.statement_, database.Prepare(fmt::format("SELECT {} FROM {} NOT INDEXED", selected,
                                                                           QuotedSqlName(table))));
  return opened;
}

bool NsysTable::Next() {
  if (!status_) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    ++row_;
    return true;
  }
  if (code != SQLITE_DONE) status_ = database_->LastError(fmt::format("{} after row {}", table_, row_));
  return false;
}

std::int64_t NsysTable::Integer(std::size_t column) {
  switch (sqlite3_column_type(statement_.get(), Place(column))) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement_.get(), Place(column));
    case SQLITE_NULL:
      FailAt(column, "is empty");
      return 0;
    case SQLITE_FLOAT:
      FailAt(column, "is a number with a fraction, not an integer");
      return 0;
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), Place(column)));
      FailAt(column, fmt::format("is {}, not an integer", Quoted(text == nullptr ? "" : text)));
      return 0;
    }
  }
}

std::optional<std::int64_t> NsysTable::OptionalInteger(std::size_t column) {
  if (IsEmpty(column)) return std::nullopt;
  return Integer(column);
}

std::string_view NsysTable::Text(std::size_t column) {
  if (sqlite3_column_type(statement_.get(), Place(column)) != SQLITE_TEXT) {
    FailAt(column, "is not a text");
    return {};
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), Place(column)));
  if (text == nullptr) {
    FailAt(column, "does not fit into memory");
    return {};
  }
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), Place(column)))};
}

std::int64_t NsysTable::Time(std::size_t column) {
  const std::int64_t time = Integer(column);
  if (time > -kTimeLimit && time < kTimeLimit) return time;
  FailAt(column, fmt::format("is {}, which is no time in nanoseconds", time));
  return 0;
}

NsysSpan NsysTable::Span(std::size_t start, std::size_t end) {
  const std::int64_t first = Time(start), last = Time(end);
  if (last < first) Fail(fmt::format("'{}' is before '{}'", columns_[end], columns_[start]));
  return {first, std::max<std::int64_t>(0, last - first)};
}

void NsysTable::Fail(std::string_view what) {
  if (status_) status_ = Error{fmt::format("{}: {} row {}: {}", database_->name(), table_, row_, what)};
}

void NsysTable::FailAt(std::size_t column, std::string_view what) {
  Fail(fmt::format("'{}' {}", columns_[column], what));
}

void NsysTable::FailWith(Error error) {
  if (status_) status_ = std::move(error);
}

}  // namespace infimum::ingest
