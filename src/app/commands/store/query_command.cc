// infimum query NAME: named questions to the store, and the user's own.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "reports/text/csv.h"
#include "reports/text/section.h"
#include "src/app/command.h"
#include "src/app/options.h"
#include "src/app/processes/interrupt.h"

namespace infimum::cli {
namespace {

struct QueryOptions {
  std::string name;
  std::vector<std::string> parameters;
  std::string sql;
  SqlLimits limits;
  bool datasette = false;
  std::string database = "infimum.db";
  OutputFormat format = OutputFormat::kTable;
};

// What there is to ask, where nothing is asked.
QueryTable ListOfQueries() {
  QueryTable table{{"query", "parameters", "tells"}, {}};
  for (const NamedQuery& query : NamedQueries()) {
    std::string parameters;
    for (const QueryParameter& parameter : query.parameters) {
      parameters += parameters.empty() ? "" : " ";
      parameters +=
          parameter.otherwise ? fmt::format("[{}={}]", parameter.name, *parameter.otherwise) : parameter.name + "=...";
    }
    table.rows.push_back({query.name, parameters, query.what});
  }
  return table;
}

struct CellText {
  bool rounded;
  std::string operator()(std::nullptr_t) const { return ""; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    if (!rounded) return fmt::format("{}", value);
    return std::abs(value) < 1000 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
  }
  std::string operator()(const std::string& text) const { return text; }
};

// Numbers stand to the right; in a table for people they are rounded.
Section TableOf(const QueryTable& answer, bool rounded) {
  Section table;
  for (std::size_t column = 0; column < answer.columns.size(); ++column) {
    const bool numbers = !answer.rows.empty() && !std::holds_alternative<std::string>(answer.rows.front()[column]);
    table.columns.push_back({answer.columns[column], numbers ? Align::kRight : Align::kLeft, !numbers});
  }
  for (const std::vector<QueryCell>& row : answer.rows) {
    TableRow& cells = table.rows.emplace_back();
    for (const QueryCell& cell : row) cells.emplace_back(std::visit(CellText{rounded}, cell));
  }
  return table;
}

std::string JsonOf(const std::string& name, const QueryTable& answer) {
  nlohmann::ordered_json document = {{"schema", "infimum.query/1"}, {"query", name}, {"columns", answer.columns}};
  nlohmann::ordered_json& rows = document["rows"] = nlohmann::ordered_json::array();
  for (const std::vector<QueryCell>& row : answer.rows) {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const QueryCell& cell : row)
      std::visit([&](const auto& value) { cells.push_back(nlohmann::ordered_json(value)); }, cell);
    rows.push_back(std::move(cells));
  }
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Whether it says what an empty value means, and is another where none is given.
bool TakesAny(const QueryParameter& parameter) {
  return !parameter.otherwise.value_or("").empty() && parameter.what.find("empty:") != std::string::npos;
}

// The query's SQL with parameters by name. Datasette gives each as a text, an empty one where nothing was typed, and
// has no values of its own for those: an empty value that is meant is the word `any`.
std::string SqlWithNames(const NamedQuery& query) {
  std::string sql = query.sql;
  for (std::size_t i = query.parameters.size(); i > 0; --i) {  // $10 before $1
    const QueryParameter& parameter = query.parameters[i - 1];
    const std::string place = fmt::format("${}", i);
    std::string name = parameter.otherwise
                           ? fmt::format("coalesce(nullif(:{},''),'{}')", parameter.name, *parameter.otherwise)
                           : ":" + parameter.name;
    if (TakesAny(parameter)) name = fmt::format("CASE :{} WHEN 'any' THEN '' ELSE {} END", parameter.name, name);
    for (std::size_t at = 0; (at = sql.find(place, at)) != std::string::npos; at += name.size())
      sql.replace(at, place.size(), name);
  }
  return sql;
}

// Metadata of Datasette that makes each named question a page of the database's.
std::string DatasetteMetadata(const std::string& database) {
  nlohmann::ordered_json queries = nlohmann::ordered_json::object();
  for (const NamedQuery& query : NamedQueries()) {
    std::string description = query.what;
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const QueryParameter& parameter : query.parameters) {
      const bool has_value = parameter.otherwise && !parameter.otherwise->empty();
      std::string what = parameter.what;
      if (TakesAny(parameter)) what.replace(what.find("empty:"), 6, "any:");
      description +=
          fmt::format(" {}{}: {}.", parameter.name, has_value ? " [" + *parameter.otherwise + "]" : "", what);
      names.push_back(parameter.name);
    }
    queries[query.name] = {{"description", description}, {"params", names}, {"sql", SqlWithNames(query)}};
  }
  nlohmann::ordered_json document;
  document["databases"][std::filesystem::path(database).stem().string()]["queries"] = queries;
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// A function that computes for long within one row answers no limit of the database's: then the process ends, which
// holds nothing.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::milliseconds limit)
      : thread_([limit](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any().wait_for(lock, stop, limit + kGrace, [] { return false; });
          if (stop.stop_requested()) return;
          Complain(fmt::format("--sql: the query was stopped after {:.3g} s: --timeout gives it more",
                               std::chrono::duration<double>(limit).count()));
          _exit(kFailed);
        }) {}

 private:
  static constexpr auto kGrace = std::chrono::seconds(1);  // for the database to say so itself
  std::jthread thread_;
};

Result<QueryTable> Ask(const QueryOptions& options) {
  if (options.name.empty() && options.sql.empty()) return ListOfQueries();
  const NamedQuery* const query = FindQuery(options.name);
  if (options.sql.empty() && query == nullptr) {
    std::vector<std::string_view> names;
    for (const NamedQuery& known : NamedQueries()) names.push_back(known.name);
    return Error{fmt::format("there is no query {}{}; `infimum query` lists them", Quoted(options.name),
                             DidYouMean(options.name, names))};
  }
  INFIMUM_ASSIGN_OR_RETURN(const auto given, ParsePairs(options.parameters, "query"));
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(options.database, OpenMode::kReadOnly));
  if (options.sql.empty()) return store->Ask(*query, given);
  const Watchdog watchdog(options.limits.time);
  return store->AskSql(options.sql, options.limits);
}

Result<int> RunQuery(const QueryOptions& options) {
  if (options.datasette) {
    if (options.database.find("://") != std::string::npos)
      return Error{"--db " + Quoted(ShownAddress(options.database)) + ": Datasette reads SQLite files alone"};
    INFIMUM_RETURN_IF_ERROR(OpenStore(options.database, OpenMode::kReadOnly));
    INFIMUM_RETURN_IF_ERROR(WriteOutput("-", DatasetteMetadata(options.database)));
    return kDone;
  }
  INFIMUM_ASSIGN_OR_RETURN(const QueryTable answer, Ask(options));
  INFIMUM_RETURN_IF_ERROR(WriteAnswer(options.format, "-",
                                      {.table = [&] { return SectionTable(TableOf(answer, true), TerminalWidth()); },
                                       .json = [&] { return JsonOf(options.name, answer); },
                                       .csv = [&] { return SectionCsv(TableOf(answer, false)); }}));
  return kDone;
}

}  // namespace

void AddQueryCommand(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command =
      NewCommand(app, "query", "ask the store a named question, or one of your own in SQL",
                 "Without NAME, lists the questions and their parameters. --sql takes "
                 "one SELECT of your own: SQLite\n"
                 "is asked for each thing that it would do and does no more than read; PostgreSQL runs "
                 "it in a read-only transaction,\n"
                 "as infimum_reader where the user may. The tables are described in db/schema/README.md.",
                 "infimum query library-upgrade library=cudnn from=7.5.0 to=7.6.4 --db team.db");
  CLI::Option* const name = command->add_option("NAME", options->name, "name of the question");
  command->add_option("PARAMETER", options->parameters, "the question's parameters, as NAME=VALUE");
  CLI::Option* const sql =
      command->add_option("--sql", options->sql, "one SELECT in place of a named question")->excludes(name);
  command
      ->add_option_function<double>(
          "--timeout",
          [options](double seconds) {
            if (!std::isfinite(seconds)) throw CLI::ValidationError("--timeout", "no number of seconds");
            options->limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
          },
          "how long it may run, in seconds")
      ->type_name("SECONDS")
      ->default_str("60")
      ->check(CLI::Range(0.001, 1e6))
      ->needs(sql);
  command
      ->add_flag("--as-superuser", options->limits.as_superuser,
                 "allow a PostgreSQL superuser, who can read the server's files through a query")
      ->needs(sql);
  command
      ->add_flag("--datasette", options->datasette,
                 "metadata that makes the questions pages of Datasette over the file of --db")
      ->excludes(name)
      ->excludes(sql);
  options->limits.interrupted = Interrupted;
  AddDatabase(command, options->database);
  AddFormat(command, options->format);
  invocation.Bind(command, [options] { return RunQuery(*options); });
}

}  // namespace infimum::cli
