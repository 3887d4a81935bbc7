#include "tests/db/store_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace infimum::testing {
namespace {

// What tells a measurement from all others.
constexpr const char* kMeasurement =
    "w.text, c.library, c.algorithm, c.input_layout, c.output_layout, m.contract, m.cache, d.key AS device, e.key AS "
    "environment, v.text AS evidence, g.key AS campaign, m.weight";
constexpr const char* kJoined =
    "measurements m JOIN workloads w ON w.id = m.workload_id JOIN candidates c ON c.id = m.candidate_id "
    "JOIN devices d ON d.id = m.device_id JOIN environments e ON e.id = m.environment_id "
    "JOIN evidence v ON v.id = m.evidence_id JOIN campaigns g ON g.id = m.campaign_id";

std::vector<std::string> Questions(Dialect dialect) {
  const char* const samples = dialect == Dialect::kSqlite ? "hex(r.samples_us)" : "upper(encode(r.samples_us, 'hex'))";
  return {
      "SELECT 'device', d.key, d.kind, d.name, d.vendor, g.name, g.year, d.identity, d.cores, "
      "d.last_level_cache_bytes, "
      "d.memory_bytes FROM devices d LEFT JOIN generations g ON g.id = d.generation_id",
      "SELECT 'environment', key, libraries, threads FROM environments",
      "SELECT 'evidence', text, facts FROM evidence",
      "SELECT 'library', e.key, l.library, l.version FROM environment_libraries l "
      "JOIN environments e ON e.id = l.environment_id",
      "SELECT 'workload', text, family FROM workloads",
      "SELECT 'candidate', library, algorithm, input_layout, output_layout FROM candidates",
      "SELECT 'campaign', key, source FROM campaigns",
      fmt::format("SELECT 'measurement', {}, m.measured_at, m.outcome, m.reason, m.library_choice, m.numeric_error, "
                  "m.flags, m.repetition_count, m.best_us, m.low_us, m.high_us, m.constant_bytes FROM {}",
                  kMeasurement, kJoined),
      fmt::format("SELECT 'repetition', {}, r.position, r.count, r.minimum_us, r.median_us, r.p95_us, "
                  "r.clock_low_mhz, r.clock_high_mhz, r.beat_arithmetic_us, r.beat_memory_us, {} "
                  "FROM {} JOIN repetitions r ON r.measurement_id = m.id",
                  kMeasurement, samples, kJoined),
      "SELECT 'peak', d.key, p.kind, p.working_set_bytes, p.dtype, p.threads, p.source, p.per_second "
      "FROM peak_rates p JOIN devices d ON d.id = p.device_id",
      "SELECT 'run', framework, framework_version, model_name, model_sha256, device_key, dims, threads, contract, "
      "details, best_us, low_us, high_us FROM runs",
      "SELECT 'model', m.key, m.name, m.sha256, m.dims, l.position, l.name, l.op, l.status, l.reason, w.text, "
      "l.contract, "
      "l.executions, l.bytes, l.flops FROM models m JOIN model_layers l ON l.model_id = m.id "
      "LEFT JOIN workloads w ON w.id = l.workload_id",
  };
}

std::string Cell(const Statement& row, int column) {
  switch (row.TypeOf(column)) {
    case CellType::kNull:
      return "NULL";
    case CellType::kInteger:
      return std::to_string(row.Integer(column));
    case CellType::kNumber:
      return fmt::format("{:a}", row.Number(column));
    case CellType::kText:
      return row.Text(column);
  }
  return "?";
}

}  // namespace

Result<std::vector<std::string>> Ask(Connection& connection, const std::string& sql) {
  std::vector<std::string> lines;
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Statement> row, connection.PrepareReadOnly(sql));
  while (true) {
    INFIMUM_ASSIGN_OR_RETURN(const bool there_is_one, row->Step());
    if (!there_is_one) return lines;
    std::string line;
    for (int column = 0; column < row->Columns(); ++column) {
      if (column > 0) line += '\t';
      line += Cell(*row, column);
    }
    lines.push_back(std::move(line));
  }
}

Result<std::vector<std::string>> DumpStore(Connection& connection) {
  std::vector<std::string> lines;
  for (const std::string& question : Questions(connection.dialect())) {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<std::string> rows, Ask(connection, question));
    lines.insert(lines.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  }
  std::ranges::sort(lines);
  return lines;
}

}  // namespace infimum::testing
