#include "db/store/row_stage.h"

#include <fmt/format.h>

#include "db/connection/storable_text.h"
#include "db/store/run_details.h"

namespace infimum {
namespace {

// A row takes the place of another only if it says more: a measured one beats every other outcome, more repetitions
// beat fewer, and what was tried (failed, unsupported) beats what was skipped.
std::int64_t WeightOf(const Measurement& row) {
  switch (row.outcome) {
    case Outcome::kMeasured:
      return 10 + static_cast<std::int64_t>(row.repetitions.size());
    case Outcome::kFailed:
    case Outcome::kUnsupported:
      return 2;
    case Outcome::kSkipped:
      return 1;
  }
  return 0;
}

std::string FamilyOf(std::string_view workload) { return std::string(workload.substr(0, workload.find(' '))); }

// Temporary tables of this connection, made once.
std::string StagingTables(Dialect dialect) {
  const bool sqlite = dialect == Dialect::kSqlite;
  const char* const text = sqlite ? "TEXT" : "TEXT COLLATE \"C\"";
  const char* const blob = sqlite ? "BLOB" : "BYTEA";
  const char* const id = sqlite ? "INTEGER PRIMARY KEY" : "BIGINT";
  return fmt::format(
      "CREATE TEMP TABLE IF NOT EXISTS incoming_rows (place {id}, origin BIGINT, workload {text}, family {text}, "
      "library {text}, algorithm {text}, input_layout {text}, output_layout {text}, contract {text}, cache {text}, "
      "measured_at {text}, outcome {text}, reason {text}, library_choice SMALLINT, numeric_error DOUBLE PRECISION, "
      "flags {text}, repetition_count BIGINT, best_us DOUBLE PRECISION, low_us DOUBLE PRECISION, "
      "high_us DOUBLE PRECISION, weight BIGINT);"
      "CREATE TEMP TABLE IF NOT EXISTS incoming_repetitions (place BIGINT, position BIGINT, count BIGINT, "
      "minimum_us DOUBLE PRECISION, median_us DOUBLE PRECISION, p95_us DOUBLE PRECISION, samples_us {blob}, "
      "clock_low_mhz DOUBLE PRECISION, clock_high_mhz DOUBLE PRECISION{key});"
      "CREATE TEMP TABLE IF NOT EXISTS incoming_origins (origin {id}, device_id BIGINT, environment_id BIGINT, "
      "evidence_id BIGINT, campaign_id BIGINT);"
      "CREATE TEMP TABLE IF NOT EXISTS incoming_accepted (place {id}, id BIGINT, origin BIGINT, workload_id BIGINT, "
      "candidate_id BIGINT)",
      fmt::arg("text", text), fmt::arg("blob", blob), fmt::arg("id", id),
      fmt::arg("key", sqlite ? ", PRIMARY KEY (place, position)" : ""));
}

}  // namespace

Status RowStage::Clear() {
  size_ = 0;
  if (connection_.dialect() == Dialect::kSqlite) {
    // The file of deleted rows stays as large as it was, and takes the room that sorting needs. Another place for
    // temporary tables (0: the usual one, 1: a file, which is the same) ends the old one, file and all. What was
    // gathered must be removable where that disk is full, so nothing is written for it.
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t place, connection_.AskInteger("PRAGMA temp_store"));
    INFIMUM_RETURN_IF_ERROR(connection_.Execute(
        fmt::format("PRAGMA temp_store = {}; PRAGMA temp.journal_mode = MEMORY", place == 1 ? 0 : 1)));
    return connection_.Execute(StagingTables(Dialect::kSqlite));
  }
  // Nobody vacuums temporary tables: deleted rows of theirs would take room and time until the connection ends.
  constexpr char kTables[] = "incoming_rows, incoming_repetitions, incoming_origins, incoming_accepted";
  if (connection_.Execute(fmt::format("TRUNCATE {}", kTables)).ok()) return {};
  // It makes new files before it removes the old ones, and what filled the disk may be those.
  INFIMUM_RETURN_IF_ERROR(connection_.Execute(fmt::format("DROP TABLE IF EXISTS {}", kTables)));
  return connection_.Execute(StagingTables(Dialect::kPostgreSql));
}

Status RowStage::Add(std::int64_t origin, std::span<const Measurement> rows) {
  INFIMUM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection_, Connection::Purpose::kStaging));
  INFIMUM_RETURN_IF_ERROR(AddRows(origin, rows));
  INFIMUM_RETURN_IF_ERROR(AddRepetitions(rows));
  INFIMUM_RETURN_IF_ERROR(transaction.Commit());
  size_ += static_cast<std::int64_t>(rows.size());
  return {};
}

Status RowStage::AddRows(std::int64_t origin, std::span<const Measurement> rows) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto insert,
      connection_.StartBulkInsert(
          "incoming_rows",
          {"place",        "origin",         "workload",      "family", "library",          "algorithm",
           "input_layout", "output_layout",  "contract",      "cache",  "measured_at",      "outcome",
           "reason",       "library_choice", "numeric_error", "flags",  "repetition_count", "best_us",
           "low_us",       "high_us",        "weight"}));
  std::int64_t place = size_;
  for (const Measurement& row : rows) {
    const StorableText workload(row.workload.text), library(row.candidate.library), algorithm(row.candidate.algorithm),
        input(row.candidate.input_layout), output(row.candidate.output_layout), at(row.measured_at), reason(row.reason);
    const std::string family = FamilyOf(workload.text()), flags = FormatList(row.flags);
    std::optional<double> best, low, high;
    if (row.outcome == Outcome::kMeasured && !row.repetitions.empty()) {
      const Interval interval = PointInterval(row.repetitions);
      best = PointValue(row.repetitions).count();
      low = interval.low.count();
      high = interval.high.count();
    }
    const SqlValue values[] = {place++,
                               origin,
                               workload.text(),
                               std::string_view(family),
                               library.text(),
                               algorithm.text(),
                               input.text(),
                               output.text(),
                               Name(row.contract),
                               Name(row.cache),
                               at.text(),
                               Name(row.outcome),
                               reason.text(),
                               std::int64_t{row.candidate.library_choice ? 1 : 0},
                               OrNull(row.numeric_error),
                               std::string_view(flags),
                               static_cast<std::int64_t>(row.repetitions.size()),
                               OrNull(best),
                               OrNull(low),
                               OrNull(high),
                               WeightOf(row)};
    INFIMUM_RETURN_IF_ERROR(insert->Add(values));
  }
  return insert->Finish();
}

Status RowStage::AddRepetitions(std::span<const Measurement> rows) {
  INFIMUM_ASSIGN_OR_RETURN(
      const auto insert,
      connection_.StartBulkInsert("incoming_repetitions", {"place", "position", "count", "minimum_us", "median_us",
                                                           "p95_us", "samples_us", "clock_low_mhz", "clock_high_mhz"}));
  std::vector<double> samples;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t position = 0; position < rows[i].repetitions.size(); ++position) {
      const Repetition& repetition = rows[i].repetitions[position];
      samples.clear();
      for (const Latency sample : repetition.samples) samples.push_back(sample.count());
      std::optional<double> low_clock, high_clock;
      if (repetition.clocks) {
        low_clock = repetition.clocks->low_mhz;
        high_clock = repetition.clocks->high_mhz;
      }
      const SqlValue values[] = {size_ + static_cast<std::int64_t>(i),
                                 static_cast<std::int64_t>(position),
                                 repetition.count,
                                 repetition.minimum.count(),
                                 repetition.median.count(),
                                 repetition.p95.count(),
                                 Blob(std::as_bytes(std::span(samples))),
                                 OrNull(low_clock),
                                 OrNull(high_clock)};
      INFIMUM_RETURN_IF_ERROR(insert->Add(values));
    }
  }
  return insert->Finish();
}

}  // namespace infimum
