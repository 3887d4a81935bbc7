#include "src/app/commands/llm/llm.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "reports/text/fact_text.h"
#include "src/app/commands/llm/language_model.h"
#include "src/core/graph/run_time_quantities.h"
#include "src/readers/onnx/read_model.h"

namespace infimum {
namespace {

// What weights are stored as, or all values and, behind a slash, weights: "f16/s4".
struct TypeName {
  std::string_view name, contract;
};
constexpr TypeName kValues[] = {
    {"own", "own"}, {"f32", "strict-f32"}, {"f16", "f16"}, {"fp16", "f16"}, {"bf16", "bf16"}};
constexpr TypeName kWeights[] = {{"f8", "f8e4m3"}, {"fp8", "f8e4m3"}, {"s8", "s8"},   {"int8", "s8"},
                                 {"u8", "s8"},     {"s4", "s4"},      {"int4", "s4"}, {"u4", "s4"}};

const TypeName* Find(std::span<const TypeName> types, std::string_view name) {
  const auto found = std::ranges::find(types, name, &TypeName::name);
  return found == types.end() ? nullptr : &*found;
}

// Of the experts that the user states those that can be read in this cell: few tokens do not choose many.
void LimitExperts(const std::filesystem::path& path, std::map<std::string, std::int64_t>& dims) {
  ReadOptions options;
  options.dims = dims;
  std::erase_if(options.dims, [](const auto& dim) { return KindOfQuantity(dim.first) == kMoeExperts; });
  if (options.dims.size() == dims.size()) return;
  const Result<ModelGraph> graph = ReadModel(path, options);
  if (!graph.ok()) return;
  VisitQuantities(*graph, [&](const RunTimeQuantity& quantity) {
    auto stated = dims.find(fmt::format("{}@{}", kMoeExperts, quantity.layer));
    if (stated == dims.end()) stated = dims.find(std::string(kMoeExperts));
    if (quantity.name == kMoeExperts && stated != dims.end() && quantity.least <= quantity.most)
      stated->second = std::clamp(stated->second, quantity.least, quantity.most);
  });
}

// A file's part of the table: all batches, contexts and weights of a phase.
class CellsOfPhase {
 public:
  CellsOfPhase(const LlmOptions& options, EvaluationFile& file) : options_(options), file_(file) {}

  Status Add(const std::filesystem::path& path, bool is_prefill) {
    const std::int64_t most_past = is_prefill ? 0 : *std::ranges::max_element(options_.contexts) - 1;
    Result<LanguageModel> model = ReadLanguageModel(path, options_.dims, most_past);
    if (!model.ok()) return model.error();
    fixed_.clear();
    for (const auto& [role, number] : model->fixed)
      fixed_ += fmt::format("{}{} {}", fixed_.empty() ? "" : ", ", kRoles[static_cast<std::size_t>(role)], number);
    if (const auto past = model->fixed.find(TokenRole::kPast); past != model->fixed.end() && !model->in_buffers)
      fixed_ += fmt::format("; --context {}", past->second + 1);
    const std::string phase = is_prefill ? "prefill" : "decode";
    std::size_t left_out = 0;
    std::vector<std::int64_t> contexts = options_.contexts;
    // A step reads the whole of a buffer of which a mask alone says what is valid, whatever the context.
    const bool is_whole =
        !is_prefill && model->in_buffers && !model->states_positions && model->fixed.contains(TokenRole::kPast);
    if (is_whole) {
      contexts = {model->fixed.at(TokenRole::kPast)};
      remarks_.push_back(
          fmt::format("caches of {} are buffers of {} positions, and its mask alone says which are valid: a step "
                      "stands at all of them",
                      path.string(), contexts.front()));
    }
    if (!is_prefill && model->has_few_bits) {
      std::vector<std::string> types;
      for (const std::string& name : options_.weights)
        if (const Result<std::string> contract = ContractOfWeights(name);
            contract.ok() && *contract != "own" && contract->find('/') == std::string::npos)
          types.push_back(name);
      if (!types.empty())
        remarks_.push_back(fmt::format("weights {}: matrices that {} stores in 8 bits and fewer stay as they are",
                                       Join(types, ", "), path.string()));
    }
    if (!is_prefill && !model->windows.empty()) remarks_.push_back(WindowsRemark(*model, path));
    if (!model->asked.empty()) remarks_.push_back(fmt::format("{}: {}", path.string(), model->asked));
    std::map<std::string, std::map<std::int64_t, std::size_t>> limited;  // what is stated, what can be, in how many
    for (const std::int64_t batch : options_.batches)
      for (const std::int64_t context : contexts) {
        const TokensAt at{batch, is_prefill ? context : 1, is_prefill ? 0 : context - 1};
        if (!model->Has(at)) {
          ++left_out;
          continue;
        }
        EvaluatedModel entry;
        entry.file = std::filesystem::absolute(path).string();
        std::map<std::string, std::int64_t> dims = model->DimsAt(at);
        LimitExperts(path, dims);
        for (const auto& [name, extent] : dims) {
          entry.dims[name] = std::to_string(extent);
          if (const auto stated = options_.dims.find(name);
              KindOfQuantity(name) == kMoeExperts && stated != options_.dims.end() && stated->second != extent)
            ++limited[fmt::format("{}={}", name, stated->second)][extent];
        }
        file_.evaluation.models.push_back(std::move(entry));
        labels_.push_back({{"phase", phase}, {"batch", std::to_string(batch)}, {"context", std::to_string(context)}});
      }
    for (const auto& [stated, counts] : limited) {
      std::vector<std::string> parts;
      for (const auto& [extent, cells] : counts)
        parts.push_back(fmt::format("{} in {}", extent, CountText(cells, phase + " cell")));
      remarks_.push_back(
          fmt::format("--assume {}: where that cannot be, the nearest number that can: {}", stated, Join(parts, ", ")));
    }
    if (left_out == 0) return {};
    const auto tokens = model->fixed.find(TokenRole::kTokens);
    if (!is_prefill && model->caches.empty())
      remarks_.push_back(fmt::format("{} has no caches among its inputs: no tokens behind the first", path.string()));
    else if (is_prefill && tokens != model->fixed.end() && tokens->second == 1 && !model->caches.empty())
      remarks_.push_back(
          fmt::format("{} takes one token at a time: --prefill MODEL adds the time to the first, by the "
                      "file that takes a prompt",
                      path.string()));
    else
      remarks_.push_back(fmt::format("left out: {} of {} of {}, whose dimensions are fixed ({})", left_out,
                                     CountText(options_.batches.size() * contexts.size(), phase + " cell"),
                                     path.string(), fixed_));
    return {};
  }

  // For each entry of the evaluation what it is in the table.
  const std::vector<std::map<std::string, std::string>>& labels() const { return labels_; }

  // What the files cannot take, and why.
  const std::vector<std::string>& remarks() const { return remarks_; }

  // What the files fix: "batch 1, tokens 1".
  const std::string& fixed() const { return fixed_; }

 private:
  static std::string WindowsRemark(const LanguageModel& model, const std::filesystem::path& path) {
    std::map<std::int64_t, std::size_t> caches;  // by the most positions
    for (const auto& [symbol, most] : model.windows) ++caches[most];
    std::vector<std::string> parts;
    for (const auto& [most, count] : caches) parts.push_back(fmt::format("{} of at most {} positions", count, most));
    return fmt::format("caches of {} for layers that look back over a window: {}", path.string(), Join(parts, ", "));
  }

  static constexpr std::string_view kRoles[] = {"batch", "tokens", "positions in caches", "positions in all"};

  const LlmOptions& options_;
  EvaluationFile& file_;
  std::string fixed_;
  std::vector<std::string> remarks_;
  std::vector<std::map<std::string, std::string>> labels_;
};

std::string FieldOf(const SweepCell& cell, const char* name) {
  const auto found = cell.fields.find(name);
  return found == cell.fields.end() ? std::string() : found->second;
}

// What a type of weights makes of the stored bytes: only of products' constant weights, and nothing where the model's
// are stored so, or in fewer bits.
void RemarkOfWeights(SweepReport& report) {
  std::optional<Bytes> own;
  std::set<std::string> known, same;
  std::vector<std::string> fewer;
  for (const SweepCell& cell : report.cells)
    if (!own && FieldOf(cell, "weights") == "own") own = cell.facts.weights;
  for (const SweepCell& cell : report.cells) {
    const std::string weights = FieldOf(cell, "weights");
    const Result<std::string> contract = ContractOfWeights(weights);
    if (!own || weights == "own" || !cell.facts.weights || !contract.ok() || !known.insert(weights).second) continue;
    if (cell.facts.weights->value == own->value)
      same.insert(weights);
    else if (contract->find('/') != std::string::npos)
      fewer.push_back(fmt::format("{} with weights {}", BytesText(*cell.facts.weights), weights));
  }
  if (!same.empty())
    report.remarks.push_back(
        fmt::format("weights {}: the model's own stay, which are stored so, or in fewer bits, already",
                    Join(std::vector<std::string>(same.begin(), same.end()), ", ")));
  if (!fewer.empty())
    report.remarks.push_back(fmt::format(
        "{} of weights become {}: those of MatMul, Gemm and MoE; tables of embeddings, convolutions and experts that a "
        "Gather picks stay",
        BytesText(*own), Join(fewer, ", ")));
}

// Caches that the floor of a step cannot count, as where a Where chooses between them and what is new.
void RemarkOfCaches(SweepReport& report) {
  const auto lacks_caches = [](const SweepCell& cell) {
    return FieldOf(cell, "phase") == "decode" && !cell.state && cell.reason.empty() && cell.facts.inputs &&
           cell.facts.inputs->value < ParseInteger(FieldOf(cell, "context")).value_or(0);
  };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(report.cells, lacks_caches));
  if (count > 0)
    report.remarks.push_back(
        fmt::format("caches of {} count less than a byte a position: the graph does not show that more of them is read",
                    CountText(count, "cell")));
}

// A pair of files of which one is likely of another model.
void RemarkOfPair(const LlmOptions& options, SweepReport& report) {
  constexpr double kAlike = 1.5;
  std::map<std::string, Bytes> weights;  // by phase
  for (const SweepCell& cell : report.cells)
    if (cell.facts.weights) weights.try_emplace(FieldOf(cell, "phase"), *cell.facts.weights);
  if (options.prefill.empty() || weights.size() < 2) return;
  const auto [less, more] = std::minmax(weights["prefill"].value, weights["decode"].value);
  if (static_cast<double>(more) > kAlike * static_cast<double>(less))
    report.remarks.push_back(fmt::format("{} has {} of weights, {} {}: they may be of two models",
                                         options.prefill.string(), BytesText(weights["prefill"]),
                                         options.decode.string(), BytesText(weights["decode"])));
}

// GPUs that a data sheet alone knows.
void RemarkOfLaunches(SweepReport& report) {
  std::set<std::string> unknown;
  for (const SweepCell& cell : report.cells)
    if (cell.kind == DeviceKind::kGpu && cell.roofline && !cell.launches) unknown.insert(cell.device);
  if (!unknown.empty())
    report.remarks.push_back(
        fmt::format("starts of kernels are in no time of {}: no data sheet has them, `infimum-microbench-cuda` on the "
                    "device measures them",
                    Join(std::vector<std::string>(unknown.begin(), unknown.end()), ", ")));
}

// Where the type that the model computes in decides on a device that has faster ones.
void RemarkOfArithmetic(SweepReport& report) {
  std::set<std::string> slow;
  for (const SweepCell& cell : report.cells)
    if (cell.kind == DeviceKind::kGpu && cell.facts.decided_by == "arithmetic f32" &&
        !FieldOf(cell, "weights").starts_with("f32"))
      slow.insert(FieldOf(cell, "weights"));
  if (!slow.empty())
    report.remarks.push_back(
        fmt::format("weights {}: what is stored as f32 is computed in f32, which decides on GPUs; --weights f16, or "
                    "f16/s4 and the like, has it in f16",
                    Join(std::vector<std::string>(slow.begin(), slow.end()), ", ")));
}

}  // namespace

Result<std::string> ContractOfWeights(const std::string& weights) {
  const std::size_t slash = weights.find('/');
  const TypeName* const values = Find(kValues, weights.substr(0, slash));
  const TypeName* const stored = Find(kWeights, slash == std::string::npos ? weights : weights.substr(slash + 1));
  if (slash == std::string::npos && values != nullptr) return std::string(values->contract);
  if (slash == std::string::npos && stored != nullptr) return fmt::format("own/{}", stored->contract);
  if (values != nullptr && stored != nullptr) return fmt::format("{}/{}", values->contract, stored->contract);
  std::vector<std::string> names;
  for (const std::span<const TypeName> types :
       {std::span<const TypeName>(kValues), std::span<const TypeName>(kWeights)})
    for (const TypeName& type : types) names.emplace_back(type.name);
  return Error{fmt::format("--weights {}: types of weights are {}; f16/s4 has other values in f16", Quoted(weights),
                           Join(names, ", "))};
}

Result<EvaluationFile> MakeLlmEvaluation(const LlmOptions& options, bool hashes_weights,
                                         std::vector<std::string>* remarks) {
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
  if (remarks != nullptr) *remarks = cells.remarks();
  INFIMUM_ASSIGN_OR_RETURN(file.cells, CellsOf(evaluation, "", kMostCells, hashes_weights));
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

Result<SweepReport> MakeLlmReport(const LlmOptions& options, ProgressLog& log) {
  std::vector<std::string> remarks;
  // Weights of many GB are hashed only where the store may have results of them.
  bool has_results = false;
  if (StoreExists(options.sweep.database)) {
    INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                             OpenStore(options.sweep.database, OpenMode::kReadOnly));
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<CellAttempt> attempts, store->Attempts(""));
    has_results = !attempts.empty();
  }
  INFIMUM_ASSIGN_OR_RETURN(const EvaluationFile file, MakeLlmEvaluation(options, has_results, &remarks));
  INFIMUM_ASSIGN_OR_RETURN(SweepReport report, MakeSweepReport(options.sweep, file, log));
  if (!has_results)
    for (SweepCell& cell : report.cells) cell.hash.clear();
  report.remarks.insert(report.remarks.end(), remarks.begin(), remarks.end());
  RemarkOfWeights(report);
  RemarkOfArithmetic(report);
  RemarkOfLaunches(report);
  RemarkOfCaches(report);
  RemarkOfPair(options, report);
  return report;
}

}  // namespace infimum
