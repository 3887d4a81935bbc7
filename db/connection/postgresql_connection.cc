#include "db/connection/postgresql_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <pqxx/pqxx>
#include <utility>

#include "infimum/base/text.h"

// Of libpqxx 6 (Debian 12) and 7 (Debian 13, Ubuntu 24.04), each of which warns of what the other one needs.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace infimum {

struct PostgreSqlConnection::Server {
  explicit Server(const std::string& address) : connection(address), quiet(connection) {
#if PQXX_VERSION_MAJOR < 7
    // A connection that came back by itself would have lost its temporary tables and settings.
    connection.inhibit_reactivation(true);
#endif
  }

  pqxx::connection connection;
  pqxx::quiet_errorhandler quiet;  // the server's notices are no business of the user's terminal
  std::unique_ptr<pqxx::transaction_base> transaction;
};

namespace {

// Any number: one writer at a time in a database; others are "infimum"'s by its first letters.
constexpr std::int64_t kWriterLock = 0x696e6669;

// The first line of PostgreSQL's message, without the statement and the caret below it.
std::string FirstLine(std::string_view message) {
  std::string_view line = TrimSpace(message.substr(0, message.find('\n')));
  for (const std::string_view lead : {"ERROR:", "FATAL:"})
    if (line.starts_with(lead)) line = TrimSpace(line.substr(lead.size()));
  return OneLine(line);
}

bool Holds(std::string_view message, std::string_view words) { return message.find(words) != std::string_view::npos; }

// Without the text between the first and the last quote.
std::string WithoutQuotes(const std::string& message) {
  const std::size_t first = message.find('"'), last = message.rfind('"');
  if (first == std::string::npos) return message;
  return message.substr(0, first) + "..." + message.substr(std::max(last, first) + 1);
}

// What the user can do about it. libpqxx has classes for some errors, and the server's code (SQLSTATE) for the others.
const char* AdviceFor(const pqxx::sql_error& problem) {
  const std::string state = problem.sqlstate();
  if (dynamic_cast<const pqxx::insufficient_privilege*>(&problem) != nullptr)
    return "; this role lacks the permission: ask the database's owner to grant it";
  // A file that may not grow is a full disk under another name, and has no state of its own.
  if (state == "53100" || Holds(problem.what(), "could not extend file"))
    return "; the server's disk is full: free some space there; what was saved before is safe";
  if (dynamic_cast<const pqxx::insufficient_resources*>(&problem) != nullptr)
    return "; free some of it on the server; what was saved before is safe";
  if (state == "57014") return ": raise --timeout, or ask for fewer rows (LIMIT)";
  if (state == "54000") return "; one of its texts is too long for the database's indexes";
  if (state == "25006") return "; the connection is read-only";
  if (state.starts_with("57P")) return "; the server is stopping: try again when it is back";
  return "";
}

constexpr char kAddressAdvice[] =
    "; an address has the form postgresql://user@host:port/name?sslmode=..., with special characters in a name or "
    "password as %XX";

// Before a connection exists, there is no error code: the cause is only in the message.
const char* AdviceForConnecting(std::string_view message) {
  if (Holds(message, "pg_hba.conf")) return "; the server does not accept this user from here: ask its administrator";
  if (Holds(message, "certificate") || Holds(message, "does not support SSL"))
    return "; the address (sslmode, sslrootcert) or PGSSLMODE and PGSSLROOTCERT choose the TLS settings";
  if (Holds(message, "password") || Holds(message, "authentication"))
    return "; give the password in PGPASSWORD or ~/.pgpass, or name another user";
  if (Holds(message, "role \"") && Holds(message, "does not exist"))
    return "; have that role created, or name another user";
  if (Holds(message, "does not exist")) return "; create it with createdb, or name another one";
  if (Holds(message, "starting up") || Holds(message, "shutting down") || Holds(message, "in recovery mode"))
    return "; the server is stopping or starting: try again in a moment; what was saved before is safe";
  if (Holds(message, "too many clients") || Holds(message, "too many connections") ||
      Holds(message, "slots are reserved"))
    return "; try again when other connections have closed";
  if (Holds(message, "invalid ") || Holds(message, "unexpected ") || Holds(message, "missing ")) return kAddressAdvice;
  return "; check that the server runs, and host, port and user; what was saved before is safe";
}

Error ErrorFrom(const std::string& name, const std::exception& problem) {
  if (dynamic_cast<const pqxx::in_doubt_error*>(&problem) != nullptr)
    return Error{fmt::format(
        "{}: the connection was lost during the commit, so it is unknown whether the data was saved; import "
        "again: rows that are already there are not added twice",
        name)};
  std::string message = FirstLine(problem.what());
  if (const auto* const sql = dynamic_cast<const pqxx::sql_error*>(&problem)) {
    const std::string_view advice = AdviceFor(*sql);
    if (!advice.empty() || !sql->sqlstate().empty()) return Error{fmt::format("{}: {}{}", name, message, advice)};
  }
  // Not the server speaks but libpq, and then mostly of a connection that is gone.
  const bool gone = dynamic_cast<const pqxx::broken_connection*>(&problem) != nullptr || Holds(message, "connect");
  // libpqxx's own message does not help the user.
  if (Holds(message, "not connected")) message = "the connection to the server was lost";
  return Error{fmt::format("{}: {}{}", name, message, gone ? AdviceForConnecting(message) : "")};
}

template <class Function>
auto Guarded(const std::string& name, Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& problem) {
    return ErrorFrom(name, problem);
  }
}

struct ToText {
  std::optional<std::string> operator()(std::nullptr_t) const { return std::nullopt; }
  std::optional<std::string> operator()(std::int64_t value) const { return std::to_string(value); }
  // The shortest text that reads back as the same double.
  std::optional<std::string> operator()(double value) const { return fmt::format("{}", value); }
  std::optional<std::string> operator()(std::string_view text) const { return std::string(StorableText(text).text()); }
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

// Ask() runs one statement with the values that are bound to it: PostgreSQL takes no second one there.
#if PQXX_VERSION_MAJOR < 7
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

pqxx::stream_to StreamTo(pqxx::transaction_base& transaction, const std::string& table,
                         const std::vector<std::string>& columns) {
  return pqxx::stream_to(transaction, table, columns);
}
void Write(std::span<const SqlValue> row, pqxx::stream_to& stream) { stream << CopyRow{row}; }

pqxx::result Ask(pqxx::transaction_base& transaction, const std::string& sql,
                 const std::vector<std::optional<std::string>>& texts) {
  std::vector<const char*> values;
  for (const std::optional<std::string>& text : texts) values.push_back(text ? text->c_str() : nullptr);
  return transaction.exec_params(sql, pqxx::prepare::make_dynamic_params(values));
}
#else
pqxx::stream_to StreamTo(pqxx::transaction_base& transaction, const std::string& table,
                         const std::vector<std::string>& columns) {
  const pqxx::connection& connection = transaction.conn();
  return pqxx::stream_to::raw_table(transaction, connection.quote_name(table), connection.quote_columns(columns));
}
void Write(std::span<const SqlValue> row, pqxx::stream_to& stream) {
  std::vector<std::optional<std::string>> texts;
  for (const SqlValue& value : row) texts.push_back(std::visit(ToText{}, value));
  stream.write_row(texts);
}

pqxx::result Ask(pqxx::transaction_base& transaction, const std::string& sql,
                 const std::vector<std::optional<std::string>>& texts) {
  pqxx::params values;
  for (const std::optional<std::string>& text : texts) values.append(text);
  return transaction.exec_params(sql, values);
}
#endif

class PostgreSqlBulkInsert : public BulkInsert {
 public:
  PostgreSqlBulkInsert(const std::string& name, pqxx::transaction_base& transaction, const std::string& table,
                       const std::vector<std::string>& columns)
      : name_(name), stream_(StreamTo(transaction, table, columns)) {}

  Status Add(std::span<const SqlValue> row) override {
    return Guarded(name_, [&]() -> Status {
      Write(row, stream_);
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

// Values to send and rows that came.
class PostgreSqlRows : public Statement {
 public:
  void Bind(int position, const SqlValue& value) override {
    const auto index = static_cast<std::size_t>(position) - 1;
    if (values_.size() <= index) values_.resize(index + 1);
    values_[index] = std::visit(ToText{}, value);
  }
  int Columns() const override { return static_cast<int>(result_.columns()); }
  std::string ColumnName(int column) const override { return result_.column_name(column); }
  CellType TypeOf(int column) const override {
    if (Field(column).is_null()) return CellType::kNull;
    switch (result_.column_type(column)) {
      case 20:  // int8, int4, int2
      case 23:
      case 21:
        return CellType::kInteger;
      case 700:  // float4, float8, numeric
      case 701:
      case 1700:
        return CellType::kNumber;
      default:
        return CellType::kText;
    }
  }
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

 protected:
  std::vector<std::optional<std::string>> values_;
  pqxx::result result_;
  pqxx::result::size_type row_ = 0;

 private:
  pqxx::field Field(int column) const { return result_[row_][column]; }
};

class PostgreSqlStatement : public PostgreSqlRows {
 public:
  PostgreSqlStatement(PostgreSqlConnection& connection, std::string_view sql) : connection_(connection), sql_(sql) {}

  Result<bool> Step() override {
    if (!ran_) {
      INFIMUM_RETURN_IF_ERROR(AskServer());
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

 private:
  Status AskServer() {
    return Guarded(connection_.name(), [&]() -> Status {
      if (connection_.server_->transaction) {
        result_ = Ask(*connection_.server_->transaction, sql_, values_);
      } else {
        pqxx::nontransaction alone(connection_.server_->connection);
        result_ = Ask(alone, sql_, values_);
      }
      connection_.changes_ = static_cast<std::int64_t>(result_.affected_rows());
      return {};
    });
  }

  PostgreSqlConnection& connection_;
  std::string sql_;
  bool ran_ = false;
};

constexpr std::size_t kSmallAnswer = std::size_t{1} << 20;

// A cursor takes nothing but a SELECT, in a transaction that the server holds to reading.
class PostgreSqlCursor : public PostgreSqlRows {
 public:
  PostgreSqlCursor(PostgreSqlConnection& connection, std::string_view sql, const SqlLimits* limits)
      : connection_(connection), sql_(sql), limits_(limits), rows_at_once_(limits != nullptr ? 1 : 1000) {}
  ~PostgreSqlCursor() override { Reset(); }

  Result<bool> Step() override {
    const Status status = Guarded(connection_.name(), [&]() -> Status {
      if (!transaction_) {
        transaction_ = std::make_unique<pqxx::read_transaction>(connection_.server_->connection);
        if (limits_ != nullptr) INFIMUM_RETURN_IF_ERROR(Confine());
        Ask(*transaction_, "DECLARE infimum_query NO SCROLL CURSOR FOR " + sql_, values_);
        Fetch();
      } else if (++row_ == result_.size()) {
        Fetch();
      }
      return {};
    });
    if (!status.ok()) return status.error();
    return row_ < result_.size();
  }

  void Reset() override {
    result_ = {};
    row_ = 0;
    transaction_.reset();
  }

 private:
  void Fetch() {
    result_ = transaction_->exec(fmt::format("FETCH {} FROM infimum_query", rows_at_once_));
    row_ = 0;
    // As many rows as make some MiB: the length of their values is not known in advance.
    std::size_t bytes = 0;
    for (const pqxx::row row : result_)
      for (const pqxx::field field : row) bytes += field.size();
    rows_at_once_ = bytes < kSmallAnswer ? std::min<std::size_t>(2 * rows_at_once_, 1000)
                                         : std::max<std::size_t>(rows_at_once_ / 4, 1);
  }

  // Until the transaction ends: rights to read our tables alone, and so much time for each part of the answer.
  Status Confine() {
    const pqxx::result user = transaction_->exec(
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles s WHERE s.rolsuper AND (pg_has_role(current_user, s.oid, "
        "'MEMBER') "
        "OR pg_has_role(session_user, s.oid, 'MEMBER'))), r.oid IS NOT NULL AND pg_has_role(current_user, r.oid, "
        "'MEMBER') FROM "
        "pg_catalog.pg_roles u LEFT JOIN pg_catalog.pg_roles r ON r.rolname = 'infimum_reader' "
        "WHERE u.rolname = current_user");
    const bool is_superuser = user[0][0].as<bool>(), may_be_reader = user[0][1].as<bool>();
    if (is_superuser && !limits_->as_superuser)
      return Error{connection_.name() +
                   ": this user is, or may become, a superuser, whose SELECT can read the server's files and end its "
                   "sessions: connect as a user with the role infimum_reader (`infimum db roles` creates it), or give "
                   "--as-superuser"};
    transaction_->exec(fmt::format("SET LOCAL statement_timeout = {}", limits_->time.count()));
    if (may_be_reader && !is_superuser) transaction_->exec("SET LOCAL ROLE infimum_reader");
    return {};
  }

  PostgreSqlConnection& connection_;
  std::string sql_;
  const SqlLimits* limits_;
  std::size_t rows_at_once_;
  std::unique_ptr<pqxx::read_transaction> transaction_;
};

bool IsPostgreSqlAddress(std::string_view address) {
  return address.starts_with("postgresql://") || address.starts_with("postgres://");
}

std::string WithoutPassword(std::string_view address) {
  const std::size_t begin = address.find("://") + 3;
  // The last @ before the parameters: a password may hold one itself, or a slash, or a question mark.
  const std::size_t first = address.find_first_of("@/", begin);
  const bool has_user = first != std::string_view::npos && address[first] == '@';
  const std::size_t question = std::min(address.find('?', has_user ? first : begin), address.size());
  const std::size_t at = address.substr(0, question).rfind('@');
  const std::size_t colon = address.find(':', begin);
  std::string shown(address.substr(0, question));
  if (at != std::string_view::npos && colon < at) {
    shown.erase(colon, at - colon);
  } else if (at == std::string_view::npos && shown.find('[') == std::string::npos) {
    // A slash before a question mark in a password looks like the end of host and port; what is no port is not shown.
    const std::size_t end = std::min(shown.find_first_not_of("0123456789", colon + 1), shown.size());
    if (colon < end && end < shown.size() && shown[end] != '/' && shown[end] != ',') shown.erase(colon);
  }
  // Parameters are shown where they are known to be harmless: a name may be written in other ways than "password".
  std::string parameters;
  for (const std::string_view parameter : Split(address.substr(std::min(question + 1, address.size())), '&')) {
    constexpr std::string_view kShown[] = {"host", "port", "user", "dbname", "sslmode", "application_name"};
    const std::string_view name = parameter.substr(0, parameter.find('='));
    if (std::ranges::find(kShown, name) == std::end(kShown)) continue;
    parameters += (parameters.empty() ? "?" : "&") + std::string(parameter);
  }
  return OneLine(shown + parameters);
}

PostgreSqlConnection::PostgreSqlConnection(std::string name, std::unique_ptr<Server> server)
    : name_(std::move(name)), server_(std::move(server)) {}

PostgreSqlConnection::~PostgreSqlConnection() { Rollback(); }

Result<std::unique_ptr<PostgreSqlConnection>> PostgreSqlConnection::Open(const std::string& address, bool read_only) {
  const std::string name = WithoutPassword(address);
  return Guarded(name, [&]() -> Result<std::unique_ptr<PostgreSqlConnection>> {
    std::unique_ptr<Server> server;
    try {
      server = std::make_unique<Server>(address);
    } catch (const pqxx::failure& problem) {
      // libpq quotes what it did not understand, which may be a part of a password.
      const std::string message = FirstLine(problem.what());
      if (name == address || message.starts_with("connection to server "))
        return Error{fmt::format("{}: {}{}", name, message, AdviceForConnecting(message))};
      return Error{fmt::format("{}: {}{}", name, WithoutQuotes(message),
                               Holds(message, "host name") ? AdviceForConnecting(message) : kAddressAdvice)};
    }
    std::unique_ptr<PostgreSqlConnection> connection(new PostgreSqlConnection(name, std::move(server)));
    INFIMUM_RETURN_IF_ERROR(
        connection->Execute(fmt::format("SET search_path TO {}; SET client_encoding TO 'UTF8'; SET TimeZone TO 'UTC'; "
                                        "SET extra_float_digits TO 1; SET client_min_messages TO warning; "
                                        // A writer must see what was saved while it waited for its turn.
                                        "SET default_transaction_isolation TO 'read committed'; "
                                        "SET jit TO off; SET work_mem TO '64MB'; "
                                        "SET default_transaction_read_only TO {}",
                                        kPostgreSqlSchema, read_only ? "on" : "off")));
    return connection;
  });
}

Result<std::unique_ptr<Statement>> PostgreSqlConnection::Prepare(std::string_view sql) {
  return std::unique_ptr<Statement>(std::make_unique<PostgreSqlStatement>(*this, sql));
}

Result<std::unique_ptr<Statement>> PostgreSqlConnection::PrepareReadOnly(std::string_view sql,
                                                                         const SqlLimits* limits) {
  // libpq would end the statement there.
  if (sql.find('\0') != std::string_view::npos) return Error{name_ + ": the query contains a NUL character"};
  // A semicolon at the end is as good as none.
  sql = TrimSpace(sql);
  while (sql.ends_with(';')) sql = TrimSpace(sql.substr(0, sql.size() - 1));
  return std::unique_ptr<Statement>(std::make_unique<PostgreSqlCursor>(*this, sql, limits));
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

Result<std::string> PostgreSqlConnection::BackUp(const std::string& label) {
  std::string base = fmt::format("{}_{}", kPostgreSqlSchema, label);
  std::ranges::replace(base, '-', '_');
  std::string name = base;
  for (int number = 2;; ++number) {
    INFIMUM_ASSIGN_OR_RETURN(
        const std::int64_t there,
        AskInteger(fmt::format("SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = '{}'", name)));
    if (there == 0) break;
    name = fmt::format("{}_{}", base, number);
  }
  INFIMUM_RETURN_IF_ERROR(Execute(fmt::format(
      "CREATE SCHEMA {0}; DO $$ DECLARE name TEXT; BEGIN FOR name IN SELECT tablename FROM pg_catalog.pg_tables WHERE "
      "schemaname = '{1}' ORDER BY tablename LOOP EXECUTE format('CREATE TABLE {0}.%I AS TABLE {1}.%I', name, name); "
      "END LOOP; END $$",
      name, kPostgreSqlSchema)));
  return fmt::format("the schema {} of the database", name);
}

}  // namespace infimum
#pragma GCC diagnostic pop
