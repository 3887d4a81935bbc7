#include "src/app/commands/llm/llm.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "infimum/base/text.h"
#include "src/app/commands/llm/language_model.h"

namespace infimum {
namespace {

struct WeightsName {
  std::string_view name, contract;
};
constexpr WeightsName kWeights[] = {
    {"own", "own"},   {"f32", "strict-f32"}, {"f16", "f16"},        {"bf16", "bf16"}, {"f8", "own/f8e4m3"},
    {"s8", "own/s8"}, {"int8", "own/s8"},    {"u8", "own/s8"},      {"s4", "own/s4"}, {"int4", "own/s4"},
    {"u4", "own/s4"}, {"fp16", "f16"},       {"fp8", "own/f8e4m3"},
};

// A file's part of the table: all batches, contexts and weights of a phase.
class CellsOfPhase {
 public:
  CellsOfPhase(const LlmOptions& options, EvaluationFile& file) : options_(options), file_(file) {}

  Status Add(const std::filesystem::path& path, bool is_prefill) {
    Result<LanguageModel> model = ReadLanguageModel(path, options_.dims);
    if (!model.ok()) return model.error();
    fixed_.clear();
    for (const auto& [role, number] : model->fixed)
      fixed_ += fmt::format("{}{} {}", fixed_.empty() ? "" : ", ", kRoles[static_cast<std::size_t>(role)], number);
    for (const std::int64_t batch : options_.batches)
      for (const std::int64_t context : options_.contexts) {
        const TokensAt at{batch, is_prefill ? context : 1, is_prefill ? 0 : context};
        if (!model->Has(at)) continue;
        EvaluatedModel entry;
        entry.file = std::filesystem::absolute(path).string();
        for (const auto& [name, extent] : model->DimsAt(at)) entry.dims[name] = std::to_string(extent);
        file_.evaluation.models.push_back(std::move(entry));
        labels_.push_back({{"phase", is_prefill ? "prefill" : "decode"},
                           {"batch", std::to_string(batch)},
                           {"context", std::to_string(context)}});
      }
    return {};
  }

  // For each entry of the evaluation what it is in the table.
  const std::vector<std::map<std::string, std::string>>& labels() const { return labels_; }

  // What the files fix: "batch 1, tokens 1".
  const std::string& fixed() const { return fixed_; }

 private:
  static constexpr std::string_view kRoles[] = {"batch", "tokens", "positions in caches", "positions in all"};

  const LlmOptions& options_;
  EvaluationFile& file_;
  std::string fixed_;
  std::vector<std::map<std::string, std::string>> labels_;
};

// Types of weights that change nothing, since the model's are stored so, or in fewer bits.
void RemarkOfWeights(SweepReport& report) {
  const auto field = [](const SweepCell& cell, const char* name) {
    const auto found = cell.fields.find(name);
    return found == cell.fields.end() ? std::string() : found->second;
  };
  std::map<std::vector<std::string>, std::int64_t> own;  // bytes, by where else the cell is
  const auto place = [&](const SweepCell& cell) {
    return std::vector{cell.device, field(cell, "phase"), field(cell, "batch"), field(cell, "context")};
  };
  for (const SweepCell& cell : report.cells)
    if (field(cell, "weights") == "own" && cell.facts.weights) own[place(cell)] = cell.facts.weights->value;
  std::set<std::string> same;
  for (const SweepCell& cell : report.cells)
    if (const auto found = own.find(place(cell)); found != own.end() && field(cell, "weights") != "own" &&
                                                  cell.facts.weights && cell.facts.weights->value == found->second)
      same.insert(field(cell, "weights"));
  if (same.empty()) return;
  report.remarks.push_back(
      fmt::format("weights {}: the model's own stay, which are stored so, or in fewer bits, already",
                  Join(std::vector<std::string>(same.begin(), same.end()), ", ")));
}

}  // namespace

Result<std::string> ContractOfWeights(const std::string& weights) {
  std::string names;
  for (const WeightsName& known : kWeights) {
    if (known.name == weights) return std::string(known.contract);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  }
  return Error{fmt::format("--weights {}: types of weights are {}", Quoted(weights), names)};
}

Result<EvaluationFile> MakeLlmEvaluation(const LlmOptions& options) {
  EvaluationFile file;
  Evaluation& evaluation = file.evaluation;
  evaluation.name = ModelName(options.decode) + ", tokens";
  evaluation.devices = options.sweep.devices;
  evaluation.frameworks = {{.name = "onnxruntime"}};
  evaluation.contracts.clear();
  std::map<std::string, std::string> weights;  // by contract
  for (const std::string& name : options.weights) {
    INFIMUM_ASSIGN_OR_RETURN(const std::string contract, ContractOfWeights(name));
    if (weights.emplace(contract == "own" ? "" : contract, name).second) evaluation.contracts.push_back(contract);
  }
  CellsOfPhase cells(options, file);
  const bool is_pair = !options.prefill.empty();
  INFIMUM_RETURN_IF_ERROR(cells.Add(is_pair ? options.prefill : options.decode, true));
  INFIMUM_RETURN_IF_ERROR(cells.Add(options.decode, false));
  if (evaluation.models.empty())
    return Error{
        fmt::format("{}: its dimensions are fixed ({}), and fit none of these batches and contexts: give --batch and "
                    "--context that it has, or export it with open dimensions",
                    options.decode.string(), cells.fixed())};
  INFIMUM_ASSIGN_OR_RETURN(file.cells, CellsOf(evaluation, "", kMostCells));
  // Entries are in order, and a cell of one that is like another's is left out: the dimensions tell which it is.
  std::map<std::pair<std::string, std::map<std::string, std::string>>, std::size_t> entries;
  for (std::size_t i = 0; i < evaluation.models.size(); ++i)
    entries.try_emplace({evaluation.models[i].file, evaluation.models[i].dims}, i);
  for (PlannedCell& planned : file.cells) {
    std::map<std::string, std::string> dims;
    for (const auto& [name, extent] : planned.cell.dims) dims[name] = std::to_string(extent);
    planned.labels = cells.labels()[entries.at({planned.file.string(), dims})];
    planned.labels["weights"] = weights.at(planned.cell.contract);
  }
  file.hash = HashOf(file.cells);
  file.text = FormatEvaluation(evaluation);
  return file;
}

Result<SweepReport> MakeLlmReport(const LlmOptions& options, Talk& talk) {
  INFIMUM_ASSIGN_OR_RETURN(const EvaluationFile file, MakeLlmEvaluation(options));
  INFIMUM_ASSIGN_OR_RETURN(SweepReport report, MakeSweepReport(options.sweep, file, talk));
  RemarkOfWeights(report);
  return report;
}

}  // namespace infimum
