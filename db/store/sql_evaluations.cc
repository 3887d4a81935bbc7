#include <fmt/format.h>

#include "db/store/sql_store.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"
#include "src/core/results/evaluation_json.h"
#include "src/core/results/record_json.h"

namespace infimum {
namespace {

// The part of a result that is kept as one text.
struct ResultDetails {
  CellFacts facts;
  std::map<std::string, std::string> evidence;
  std::vector<Repetition> repetitions;
};

}  // namespace

static void VisitFields(auto& visit, Like<ResultDetails> auto& details) {
  visit.Lenient("facts", details.facts);
  visit.Sparse("evidence", details.evidence);
  visit.Sparse("repetitions", details.repetitions);
}

namespace {

Result<std::optional<std::int64_t>> IdByHash(Connection& connection, const char* table, const std::string& hash) {
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection.Prepare(fmt::format("SELECT id FROM {} WHERE hash = $1", table)));
  find->Bind(1, hash);
  INFIMUM_ASSIGN_OR_RETURN(const bool found, find->Step());
  if (!found) return std::optional<std::int64_t>();
  return std::optional(find->Integer(0));
}

// The id of what is there by its hash; else it is added with the next one.
Result<std::pair<std::int64_t, bool>> SaveText(Connection& connection, const char* table, const std::string& hash,
                                               const std::string& name, const std::string& text) {
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<std::int64_t> known, IdByHash(connection, table, hash));
  if (known) return std::pair(*known, false);
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, NextId(connection, table));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto add,
      connection.Prepare(fmt::format("INSERT INTO {} (id, hash, name, text) VALUES ($1, $2, $3, $4)", table)));
  INFIMUM_RETURN_IF_ERROR(add->RunWith(id, hash, name, text));
  return std::pair(id, true);
}

Result<std::int64_t> SaveCell(Connection& connection, const StoredCell& cell) {
  INFIMUM_ASSIGN_OR_RETURN(const auto saved, SaveText(connection, "cells", cell.hash, cell.name, cell.text));
  if (!saved.second) return saved.first;
  INFIMUM_ASSIGN_OR_RETURN(const EvaluationCell parsed, ParseCell(cell.text));
  INFIMUM_ASSIGN_OR_RETURN(const auto add,
                           connection.Prepare("INSERT INTO cell_fields (cell_id, name, value) VALUES ($1, $2, $3)"));
  for (const auto& [name, value] : FieldsOf(parsed)) {
    INFIMUM_RETURN_IF_ERROR(add->RunWith(saved.first, name, value));
  }
  return saved.first;
}

constexpr const char* kAttemptColumns =
    "a.id, c.hash, a.device_key, a.worker, a.begun_at, a.until, r.state, r.reason, r.measured_at, r.framework_version, "
    "r.details, r.verifies FROM cell_attempts a JOIN cells c ON c.id = a.cell_id LEFT JOIN cell_results r ON "
    "r.attempt_id = a.id";

Result<CellAttempt> AttemptFrom(const Statement& row) {
  CellAttempt attempt{row.Integer(0), row.Text(1), row.Text(2), row.Text(3), row.Text(4), row.Text(5)};
  if (row.IsNull(6)) return attempt;
  CellResult& result = attempt.result.emplace();
  INFIMUM_RETURN_IF_ERROR(FromJson(Json(row.Text(6)), "state", result.state));
  result.reason = row.Text(7);
  result.measured_at = row.Text(8);
  result.framework_version = row.Text(9);
  result.verifies = row.Integer(11) != 0;
  ResultDetails details;
  const auto read = [&]() -> Status {
    INFIMUM_ASSIGN_OR_RETURN(const Json json, ParseJson(row.Text(10)));
    return FromJson(json, "", details);
  };
  if (const Status status = read(); !status.ok())
    return Error{fmt::format("the store holds a cell's result that cannot be read: {}", status.error().message)};
  result.facts = std::move(details.facts);
  result.evidence = std::move(details.evidence);
  result.repetitions = std::move(details.repetitions);
  return attempt;
}

Result<std::vector<CellAttempt>> ReadAttempts(Statement& find) {
  std::vector<CellAttempt> attempts;
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) return attempts;
    INFIMUM_ASSIGN_OR_RETURN(CellAttempt attempt, AttemptFrom(find));
    attempts.push_back(std::move(attempt));
  }
}

SqlValue CountOrNull(const std::optional<std::int64_t>& count) { return count ? SqlValue(*count) : SqlValue(nullptr); }

template <class T>
std::optional<std::int64_t> ValueOf(const std::optional<T>& quantity) {
  return quantity ? std::optional<std::int64_t>(quantity->value) : std::nullopt;
}

}  // namespace

Status SqlStore::SaveEvaluation(const StoredEvaluation& evaluation) {
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*connection_));
  INFIMUM_ASSIGN_OR_RETURN(const auto saved,
                           SaveText(*connection_, "evaluations", evaluation.hash, evaluation.name, evaluation.text));
  if (!saved.second) return transaction.Commit();
  INFIMUM_ASSIGN_OR_RETURN(
      const auto add,
      connection_->Prepare("INSERT INTO evaluation_cells (evaluation_id, position, cell_id) VALUES ($1, $2, $3)"));
  std::int64_t position = 0;
  for (const StoredCell& cell : evaluation.cells) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t cell_id, SaveCell(*connection_, cell));
    INFIMUM_RETURN_IF_ERROR(add->RunWith(saved.first, position++, cell_id));
  }
  return transaction.Commit();
}

Status SqlStore::VisitEvaluations(const std::function<Status(const StoredEvaluation&)>& take) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto next,
      connection_->Prepare("SELECT id, hash, name, text FROM evaluations WHERE id > $1 ORDER BY id LIMIT 1"));
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection_->Prepare("SELECT c.hash, c.name, c.text FROM evaluation_cells e JOIN cells c ON "
                                                "c.id = e.cell_id WHERE e.evaluation_id = $1 ORDER BY e.position"));
  std::int64_t id = 0;
  while (true) {
    next->Bind(1, id);
    INFIMUM_ASSIGN_OR_RETURN(const bool more, next->Step());
    if (!more) return {};
    id = next->Integer(0);
    StoredEvaluation evaluation{next->Text(1), next->Text(2), next->Text(3), {}};
    next->Reset();
    find->Bind(1, id);
    while (true) {
      INFIMUM_ASSIGN_OR_RETURN(const bool row, find->Step());
      if (!row) break;
      evaluation.cells.push_back({find->Text(0), find->Text(1), find->Text(2)});
    }
    find->Reset();
    INFIMUM_RETURN_IF_ERROR(take(evaluation));
  }
}

Result<std::vector<CellAttempt>> SqlStore::Attempts(const std::string& evaluation) {
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection_->Prepare(fmt::format(
                               "SELECT {} WHERE $1 = '' OR a.cell_id IN (SELECT k.cell_id FROM evaluation_cells "
                               "k JOIN evaluations e ON e.id = k.evaluation_id WHERE e.hash = $1) ORDER BY a.id",
                               kAttemptColumns)));
  find->Bind(1, evaluation);
  return ReadAttempts(*find);
}

Result<std::optional<std::int64_t>> SqlStore::BeginCell(
    const CellAttempt& attempt, const std::function<bool(std::span<const CellAttempt>)>& may_begin) {
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*connection_));
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<std::int64_t> cell, IdByHash(*connection_, "cells", attempt.cell));
  if (!cell) return Error{"the store has no cell " + Quoted(attempt.cell)};
  INFIMUM_ASSIGN_OR_RETURN(const auto find,
                           connection_->Prepare(fmt::format("SELECT {} WHERE a.cell_id = $1 AND a.device_key = $2 "
                                                            "ORDER BY a.id",
                                                            kAttemptColumns)));
  find->BindAll(*cell, attempt.device);
  INFIMUM_ASSIGN_OR_RETURN(const std::vector<CellAttempt> before, ReadAttempts(*find));
  if (!may_begin(before)) return std::optional<std::int64_t>();
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, NextId(*connection_, "cell_attempts"));
  INFIMUM_ASSIGN_OR_RETURN(const auto add,
                           connection_->Prepare("INSERT INTO cell_attempts (id, cell_id, device_key, worker, begun_at, "
                                                "until) VALUES ($1, $2, $3, $4, $5, $6)"));
  INFIMUM_RETURN_IF_ERROR(add->RunWith(id, *cell, attempt.device, attempt.worker, attempt.begun_at, attempt.until));
  INFIMUM_RETURN_IF_ERROR(transaction.Commit());
  return std::optional(id);
}

Status SqlStore::EndCell(std::int64_t attempt, const CellResult& result) {
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*connection_));
  INFIMUM_ASSIGN_OR_RETURN(
      const auto add,
      connection_->Prepare(
          "INSERT INTO cell_results (attempt_id, state, reason, measured_at, best_us, low_us, high_us, "
          "parameters, flops, bytes, weight_bytes, memory_bytes, floor_us, framework_version, details, verifies) "
          "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"));
  const CellFacts& facts = result.facts;
  const bool has_time = !result.repetitions.empty();
  const Interval interval = has_time ? BestSeenInterval(result.repetitions) : Interval{};
  const std::string details = DumpJson(ToJson<Json>(ResultDetails{facts, result.evidence, result.repetitions}));
  INFIMUM_RETURN_IF_ERROR(add->RunWith(
      attempt, Name(result.state), result.reason, result.measured_at,
      has_time ? SqlValue(BestSeen(result.repetitions).count()) : SqlValue(nullptr),
      has_time ? SqlValue(interval.low.count()) : SqlValue(nullptr),
      has_time ? SqlValue(interval.high.count()) : SqlValue(nullptr), CountOrNull(facts.parameters),
      CountOrNull(ValueOf(facts.flops)), CountOrNull(ValueOf(facts.bytes)), CountOrNull(ValueOf(facts.weights)),
      CountOrNull(ValueOf(facts.memory)), facts.floor ? SqlValue(facts.floor->count()) : SqlValue(nullptr),
      result.framework_version, details, std::int64_t{result.verifies}));
  return transaction.Commit();
}

}  // namespace infimum
