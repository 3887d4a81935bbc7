#include "db/postgresql_connection.h"

#include <fmt/format.h>

#include <pqxx/pqxx>
#include <utility>

#include "infimum/base/text.h"

namespace infimum {

struct PostgreSqlConnection::Server {
  explicit Server(const std::string& address) : connection(address), quiet(connection) {
    // A connection that came back by itself would have lost its temporary tables and settings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
  }

  pqxx::connection connection;
  pqxx::quiet_errorhandler quiet;  // the server's notices are no business of the user's terminal
  std::unique_ptr<pqxx::transaction_base> transaction;
};

namespace {

// Any number: one writer at a time in a database; others are "infimum"'s by its first letters.
constexpr std::int64_t kWriterLock = 0x696e6669;

// The first line of what PostgreSQL says, which comes with the statement and a caret below it.
std::string FirstLine(std::string_view message) {
  std::string_view line = TrimSpace(message.substr(0, message.find('\n')));
  for (const std::string_view lead : {"ERROR:", "FATAL:"})
    if (line.starts_with(lead)) line = TrimSpace(line.substr(lead.size()));
  return std::string(line);
}

// What the user can do about it. libpqxx has classes for some errors, and the server's code (SQLSTATE) for the others.
const char* AdviceFor(const pqxx::sql_error& problem) {
  const std::string state = problem.sqlstate();
  if (dynamic_cast<const pqxx::insufficient_privilege*>(&problem) != nullptr)
    return "; this role may not do that: ask the database's owner for it";
  if (dynamic_cast<const pqxx::insufficient_resources*>(&problem) != nullptr)
    return "; free some of it on the server, what was saved before is safe";
  if (state == "25006") return "; it was opened for reading only";
  if (state.starts_with("57P")) return "; the server is stopping: try again when it is back";
  return "";
}

// Before a connection stands, the reason is only in the words.
const char* AdviceForConnecting(std::string_view message) {
  if (message.find("password") != std::string_view::npos || message.find("authentication") != std::string_view::npos)
    return "; give the password in PGPASSWORD or ~/.pgpass, or name another user";
  if (message.find("does not exist") != std::string_view::npos) return "; make it with createdb, or name another one";
  return "; is the server running, and are host, port and user right? what was saved before is safe";
}

Error ErrorFrom(const std::string& name, const std::exception& problem) {
  if (const auto* sql = dynamic_cast<const pqxx::sql_error*>(&problem))
    return Error{fmt::format("{}: {}{}", name, FirstLine(problem.what()), AdviceFor(*sql))};
  if (dynamic_cast<const pqxx::in_doubt_error*>(&problem) != nullptr)
    return Error{
        fmt::format("{}: the connection was lost while the transaction was being saved, so it is not known "
                    "whether it was; import again, what is there already is not added twice",
                    name)};
  if (dynamic_cast<const pqxx::broken_connection*>(&problem) != nullptr)
    return Error{fmt::format("{}: {}{}", name, FirstLine(problem.what()), AdviceForConnecting(problem.what()))};
  return Error{fmt::format("{}: {}", name, FirstLine(problem.what()))};
}

template <class Function>
auto Guarded(const std::string& name, Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& problem) {
    return ErrorFrom(name, problem);
  }
}

// PostgreSQL's texts hold no NUL and only valid UTF-8; the store has seen to both.
struct ToText {
  std::optional<std::string> operator()(std::nullptr_t) const { return std::nullopt; }
  std::optional<std::string> operator()(std::int64_t value) const { return std::to_string(value); }
  // The shortest text that reads back as the same double.
  std::optional<std::string> operator()(double value) const { return fmt::format("{}", value); }
  std::optional<std::string> operator()(std::string_view text) const { return std::string(text); }
  std::optional<std::string> operator()(Blob bytes) const {
    std::string text = "\\x";
    text.reserve(2 + 2 * bytes.size());
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const std::byte byte : bytes) {
      text += kDigits[std::to_integer<unsigned>(byte) >> 4];
      text += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    return text;
  }
};

// A row for COPY. pqxx writes any type that it can separate into fields; for this one it finds the function below.
struct CopyRow {
  std::span<const SqlValue> values;
};

std::string separated_list(const std::string& separator, const CopyRow& row,
                           const pqxx::internal::TypedCopyEscaper& escape) {
  std::string line;
  for (const SqlValue& value : row.values) {
    if (&value != row.values.data()) line += separator;
    const std::optional<std::string> text = std::visit(ToText{}, value);
    const bool number = std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
    line += !text ? "\\N" : number ? *text : escape(&*text);
  }
  return line;
}

class PostgreSqlBulkInsert : public BulkInsert {
 public:
  PostgreSqlBulkInsert(const std::string& name, pqxx::transaction_base& transaction, const std::string& table,
                       const std::vector<std::string>& columns)
      : name_(name), stream_(transaction, table, columns) {}

  Status Add(std::span<const SqlValue> row) override {
    return Guarded(name_, [&]() -> Status {
      stream_ << CopyRow{row};
      return {};
    });
  }
  Status Finish() override {
    return Guarded(name_, [&]() -> Status {
      stream_.complete();
      return {};
    });
  }

 private:
  const std::string& name_;
  pqxx::stream_to stream_;
};

}  // namespace

class PostgreSqlStatement : public Statement {
 public:
  PostgreSqlStatement(PostgreSqlConnection& connection, std::string_view sql) : connection_(connection), sql_(sql) {}

  void Bind(int position, const SqlValue& value) override {
    const auto index = static_cast<std::size_t>(position) - 1;
    if (values_.size() <= index) values_.resize(index + 1);
    values_[index] = std::visit(ToText{}, value);
  }

  Result<bool> Step() override {
    if (!ran_) {
      INFIMUM_RETURN_IF_ERROR(Ask());
      ran_ = true;
    } else {
      ++row_;
    }
    return row_ < result_.size();
  }

  void Reset() override {
    ran_ = false;
    row_ = 0;
    values_.clear();
    result_ = {};
  }

  int Columns() const override { return static_cast<int>(result_.columns()); }
  std::string ColumnName(int column) const override { return result_.column_name(column); }
  bool IsNull(int column) const override { return Field(column).is_null(); }
  std::int64_t Integer(int column) const override { return ParseInteger(Text(column)).value_or(0); }
  double Number(int column) const override { return Field(column).as<double>(0); }
  std::string Text(int column) const override {
    const pqxx::field field = Field(column);
    return std::string(field.c_str(), field.size());
  }
  std::vector<std::byte> Bytes(int column) const override {
    if (IsNull(column)) return {};
    const pqxx::binarystring bytes(Field(column));
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
    return {data, data + bytes.size()};
  }

 private:
  pqxx::field Field(int column) const { return result_[row_][column]; }

  Status Ask() {
    return Guarded(connection_.name(), [&]() -> Status {
      std::vector<const char*> values;
      for (const std::optional<std::string>& value : values_) values.push_back(value ? value->c_str() : nullptr);
      const auto ask = [&](pqxx::transaction_base& transaction) {
        result_ = transaction.exec_params(sql_, pqxx::prepare::make_dynamic_params(values));
        connection_.changes_ = static_cast<std::int64_t>(result_.affected_rows());
      };
      if (connection_.server_->transaction) {
        ask(*connection_.server_->transaction);
      } else {
        pqxx::nontransaction alone(connection_.server_->connection);
        ask(alone);
      }
      return {};
    });
  }

  PostgreSqlConnection& connection_;
  std::string sql_;
  std::vector<std::optional<std::string>> values_;
  pqxx::result result_;
  pqxx::result::size_type row_ = 0;
  bool ran_ = false;
};

bool IsPostgreSqlAddress(std::string_view address) {
  return address.starts_with("postgresql://") || address.starts_with("postgres://");
}

std::string WithoutPassword(std::string_view address) {
  const std::size_t begin = address.find("://") + 3;
  const std::size_t end = address.find('/', begin);
  const std::string_view authority = address.substr(begin, end == std::string_view::npos ? end : end - begin);
  const std::size_t at = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  std::string shown(address);
  if (at != std::string_view::npos && colon < at) shown.erase(begin + colon, at - colon);
  // Also as a parameter: ?password=...
  for (std::size_t found = shown.find("password="); found != std::string::npos;
       found = shown.find("password=", found + 1)) {
    const std::size_t value = found + std::string_view("password=").size();
    shown.replace(value, std::min(shown.find('&', value), shown.size()) - value, "...");
  }
  return shown;
}

PostgreSqlConnection::PostgreSqlConnection(std::string name, std::unique_ptr<Server> server)
    : name_(std::move(name)), server_(std::move(server)) {}

PostgreSqlConnection::~PostgreSqlConnection() { Rollback(); }

Result<std::unique_ptr<PostgreSqlConnection>> PostgreSqlConnection::Open(const std::string& address, bool read_only) {
  const std::string name = WithoutPassword(address);
  return Guarded(name, [&]() -> Result<std::unique_ptr<PostgreSqlConnection>> {
    std::unique_ptr<PostgreSqlConnection> connection(new PostgreSqlConnection(name, std::make_unique<Server>(address)));
    INFIMUM_RETURN_IF_ERROR(
        connection->Execute(fmt::format("SET search_path TO {}; SET client_encoding TO 'UTF8'; SET TimeZone TO 'UTC'; "
                                        "SET extra_float_digits TO 1; SET client_min_messages TO warning; "
                                        "SET default_transaction_read_only TO {}",
                                        kPostgreSqlSchema, read_only ? "on" : "off")));
    return connection;
  });
}

Result<std::unique_ptr<Statement>> PostgreSqlConnection::Prepare(std::string_view sql) {
  return std::unique_ptr<Statement>(std::make_unique<PostgreSqlStatement>(*this, sql));
}

Status PostgreSqlConnection::Execute(const std::string& script) {
  return Guarded(name_, [&]() -> Status {
    if (server_->transaction) {
      server_->transaction->exec(script);
    } else {
      pqxx::nontransaction(server_->connection).exec(script);
    }
    return {};
  });
}

Result<std::unique_ptr<BulkInsert>> PostgreSqlConnection::StartBulkInsert(const std::string& table,
                                                                          const std::vector<std::string>& columns) {
  return Guarded(name_, [&]() -> Result<std::unique_ptr<BulkInsert>> {
    return std::unique_ptr<BulkInsert>(
        std::make_unique<PostgreSqlBulkInsert>(name_, *server_->transaction, table, columns));
  });
}

Status PostgreSqlConnection::Begin(Purpose purpose) {
  return Guarded(name_, [&]() -> Status {
    server_->transaction = std::make_unique<pqxx::work>(server_->connection);
    if (purpose == Purpose::kWriting)
      server_->transaction->exec(fmt::format("SELECT pg_advisory_xact_lock({})", kWriterLock));
    return {};
  });
}

Status PostgreSqlConnection::Commit() {
  return Guarded(name_, [&]() -> Status {
    server_->transaction->commit();
    server_->transaction.reset();
    return {};
  });
}

void PostgreSqlConnection::Rollback() {
  // Destroyed uncommitted, a transaction is rolled back; where the connection is gone, the server does so by itself.
  if (server_) server_->transaction.reset();
}

}  // namespace infimum
