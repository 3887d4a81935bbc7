#include "infimum/results/evaluation_cell.h"

#include <fmt/format.h>

#include <span>

#include "infimum/base/enum_names.h"
#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "src/core/graph/framework_names.h"
#include "src/core/results/evaluation_json.h"

namespace infimum {
namespace {

constexpr EnumNames<CellState::kSkipped> kStates = {"ok", "oom", "timeout", "failed", "unsupported", "skipped"};

void AddFields(const Json& json, const std::string& name, std::vector<std::pair<std::string, std::string>>& fields) {
  if (!json.is_object()) {
    fields.emplace_back(name, json.is_string() ? json.get<std::string>() : DumpJson(json));
    return;
  }
  for (const auto& [key, value] : json.items()) AddFields(value, name.empty() ? key : name + "." + key, fields);
}

}  // namespace

std::string_view Name(CellQuantity quantity) { return quantity == CellQuantity::kLatency ? "latency" : "floor"; }

std::string_view Name(CellState state) { return kStates[state]; }

// Json keeps members by name: one text, in whatever order they were set.
std::string CanonicalText(const EvaluationCell& cell) {
  return DumpJson(WithoutUsual(ToJson<Json>(cell), ToJson<Json>(EvaluationCell())));
}

Result<EvaluationCell> ParseCell(std::string_view text) {
  INFIMUM_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  EvaluationCell cell;
  INFIMUM_RETURN_IF_ERROR(FromJson(json, "", cell));
  return cell;
}

std::string HashOf(const EvaluationCell& cell) {
  const std::string text = CanonicalText(cell);
  return Sha256(std::as_bytes(std::span(text)));
}

std::vector<std::pair<std::string, std::string>> FieldsOf(const EvaluationCell& cell) {
  std::vector<std::pair<std::string, std::string>> fields;
  AddFields(ToJson<Json>(cell), "", fields);
  return fields;
}

std::string ConditionsOf(const EvaluationCell& cell) {
  std::vector<std::string> words;
  const auto add = [&words](const std::string& text) {
    if (!text.empty()) words.push_back(text);
  };
  add(cell.device);
  if (cell.quantity == CellQuantity::kLatency) {
    std::string framework = cell.framework.name;
    for (const std::string& more : {cell.framework.version, cell.framework.mode})
      if (!more.empty()) framework += " " + more;
    for (const auto& [name, value] : cell.framework.options) framework += " " + name + "=" + value;
    add(framework);
    if (!NeedsGpu(cell.framework.name)) add(cell.threads == 1 ? "1 thread" : fmt::format("{} threads", cell.threads));
    add(cell.cores.empty() ? "" : "cores " + cell.cores);
  }
  add(cell.contract);
  for (const auto& [name, extent] : cell.dims) words.push_back(fmt::format("{}={}", name, extent));
  return Join(words, ", ");
}

}  // namespace infimum
