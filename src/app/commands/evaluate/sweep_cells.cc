#include "src/app/commands/evaluate/sweep_cells.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "infimum/measurement/verdict.h"
#include "src/app/runners/installation.h"

namespace infimum {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20;

// All of a family's choices, those that are as usual too.
std::map<std::string, std::string> FieldsWithUsual(const PlannedCell& planned) {
  const auto list = FieldsOf(planned.cell);
  std::map<std::string, std::string> fields(list.begin(), list.end());
  if (!planned.labels.empty()) {
    std::erase_if(fields,
                  [](const auto& field) { return field.first == "contract" || field.first.starts_with("dims."); });
    fields.insert(planned.labels.begin(), planned.labels.end());
    return fields;
  }
  if (planned.family != nullptr) {
    for (const synth::Parameter& parameter : planned.family->parameters)
      fields["model.choices." + std::string(parameter.name)] =
          synth::TextOf(parameter, planned.point.at(parameter.name));
  } else {
    fields["model"] = planned.name;
  }
  return fields;
}

// One set of conditions for all, so that what one cell leaves at its usual value is a value beside others'. Of a floor
// only the contract is one.
void FillFields(std::vector<SweepCell>& cells) {
  std::set<std::string> conditions;
  std::vector<bool> is_floor;
  for (SweepCell& cell : cells) {
    const auto quantity = cell.fields.extract("quantity");
    is_floor.push_back(!quantity.empty() && quantity.mapped() == Name(CellQuantity::kFloor));
    std::erase_if(cell.fields, [&](const auto& field) {
      const bool is_of_run =
          field.first == "input" || field.first.starts_with("framework.") || field.first.starts_with("method.");
      return field.first == "model.sha256" || (is_floor.back() && is_of_run);
    });
    for (const auto& [field, value] : cell.fields)
      if (field == "contract" || field.starts_with("framework.")) conditions.insert(field);
    cell.fields["device"] = cell.device;
  }
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (const std::string& field : conditions)
      if (const bool is_contract = field == "contract"; is_contract || !is_floor[i])
        if (std::string& value = cells[i].fields[field]; value.empty()) value = is_contract ? "own" : "none";
}

}  // namespace

Result<EvaluationFile> ReadEvaluationFile(const std::filesystem::path& path) {
  EvaluationFile file;
  std::ifstream stream(path, std::ios::binary);
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  if (!stream || failed) return Error{path.string() + ": cannot be read"};
  if (size > kMostBytes) return Error{path.string() + ": larger than 64 MiB, which no evaluation is"};
  file.text = std::string(std::istreambuf_iterator<char>(stream), {});
  Result<Evaluation> evaluation = ParseEvaluation(file.text);
  if (!evaluation.ok()) return Within(path.string(), evaluation.error());
  file.evaluation = *std::move(evaluation);
  if (file.evaluation.name.empty()) file.evaluation.name = path.stem().string();
  Result<std::vector<PlannedCell>> cells = CellsOf(file.evaluation, path.parent_path(), kMostCells);
  if (!cells.ok()) return Within(path.string(), cells.error());
  file.cells = *std::move(cells);
  file.hash = HashOf(file.cells);
  return file;
}

StoredEvaluation ToStored(const EvaluationFile& file) {
  StoredEvaluation stored{file.hash, file.evaluation.name, file.text, {}};
  for (const PlannedCell& planned : file.cells)
    stored.cells.push_back({planned.hash, planned.name, CanonicalText(planned.cell)});
  return stored;
}

const CellAttempt* NewestResult(std::span<const CellAttempt> attempts, const std::string& cell,
                                const std::string& device) {
  const CellAttempt* newest = nullptr;
  for (const CellAttempt& attempt : attempts)
    if (attempt.cell == cell && attempt.device == device && attempt.result && !attempt.result->verifies)
      newest = &attempt;
  return newest;
}

std::vector<SweepCell> SweepCellsOf(std::span<const PlannedCell> cells, std::span<const CellAttempt> attempts,
                                    const Device& device) {
  const std::string key = device.Key().text;
  std::map<std::string_view, const CellAttempt*> newest;  // by the cell
  for (const CellAttempt& attempt : attempts)
    if (attempt.device == key && attempt.result && !attempt.result->verifies) newest[attempt.cell] = &attempt;
  std::vector<SweepCell> sweep;
  sweep.reserve(cells.size());
  for (const PlannedCell& planned : cells) {
    SweepCell cell{.hash = planned.hash,
                   .name = planned.name,
                   .conditions = ConditionsOf(planned.cell),
                   .device = planned.cell.device.empty() ? device.name : planned.cell.device,
                   .kind = device.kind,
                   .fields = FieldsWithUsual(planned),
                   .state = {},
                   .reason = {},
                   .facts = {},
                   .time = {},
                   .between = {},
                   .measured_at = {},
                   .framework_version = {}};
    if (const auto found = newest.find(planned.hash); found != newest.end()) {
      const CellResult& result = *found->second->result;
      cell.state = result.state;
      cell.reason = result.reason;
      cell.facts = result.facts;
      cell.measured_at = result.measured_at;
      cell.framework_version = result.framework_version;
      if (!result.repetitions.empty()) {
        cell.time = PointValue(result.repetitions);
        const std::optional<Interval> typical = TypicalInterval(result.repetitions);
        cell.between = typical.value_or(Interval{*cell.time, *cell.time});
      }
    }
    sweep.push_back(std::move(cell));
  }
  return sweep;
}

Status FinishReport(SweepReport& report) {
  report.infimum_version = std::string(InfimumVersion());
  for (const SweepCell& cell : report.cells) report.data_as_of = std::max(report.data_as_of, cell.measured_at);
  FillFields(report.cells);
  return Analyze(report);
}

}  // namespace infimum
