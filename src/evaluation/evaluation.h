// An evaluation: one file that states what is to be measured, and the cells that it means.
//
//   {"schema": "infimum.evaluation/1",
//    "name": "fully connected nets on a CPU",
//    "models": [{"family": "fc", "choices": {"layers": [4, 16], "nodes": "256..4096*2"}},
//               {"file": "resnet50.onnx", "dims": {"batch": "1..8*2"}, "threads": [1]}],
//    "frameworks": [{"name": "onnxruntime"}],
//    "threads": [1, 2]}
//
//   Result<Evaluation> evaluation = ParseEvaluation(text);
//   Result<std::vector<PlannedCell>> cells = CellsOf(*evaluation, "folder/of/the/file", 1'000'000);   // 24 of them
//
// Every model by every device, framework, contract and number of threads; a model may have its own of each. A cell that
// two entries mean is there once. The schema is in evaluation.schema.json, its words in README.md.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/layer/data_type.h"
#include "infimum/measurement/contract.h"
#include "infimum/results/evaluation_cell.h"
#include "src/synth/families.h"

namespace infimum {

// One value, some, or a range, as text: "4", "4,6,8", "4..64*2".
using ValueTexts = std::map<std::string, std::string>;

struct EvaluatedModel {
  std::string file = {};  // relative to the evaluation's folder
  std::string family = {};
  ValueTexts choices = {};  // of a family
  ValueTexts dims = {};     // of a file
  std::optional<std::int64_t> weights = {};
  // In place of the evaluation's.
  std::vector<std::string> devices = {};
  std::vector<CellFramework> frameworks = {};
  std::vector<std::string> contracts = {};
  std::vector<std::int64_t> threads = {};
};

struct Evaluation {
  std::string name = {};
  std::string description = {};
  std::vector<EvaluatedModel> models = {};
  std::vector<std::string> devices = {
      "here"};  // "here": where it is run, measured; others: what is least, by their data
  std::vector<CellFramework> frameworks = {};    // onnxruntime where none is named
  std::vector<std::string> contracts = {"own"};  // "own": what a model's types ask for
  std::vector<std::int64_t> threads = {1};
  std::string cores = {};
  std::int64_t input = 1;
  CellMethod method;
};

// An unknown member is an error that says which it may be, a newer schema one that asks for a newer infimum.
Result<Evaluation> ParseEvaluation(std::string_view text);
std::string FormatEvaluation(const Evaluation& evaluation);

struct PlannedCell {
  EvaluationCell cell;
  std::string hash;
  std::string name;                       // of its model: the file's, or the family's with what varies
  std::filesystem::path file = {};        // of a file
  std::string module = {};                // of PyTorch, where it is; the cell has its content's hash
  const synth::Family* family = nullptr;  // of a family, with its point
  synth::Point point = {};
  std::map<std::string, std::string> labels = {};  // what a table calls its values, in place of its fields
};

// What a cell's contract says: "f16", "f16/s4" (the weights of products in s4), "own/f8e4m3"; empty: the model's own.
struct CellStorage {
  std::optional<NumericContract> contract;
  std::optional<DataType> weights;
};
// nullopt of what is no contract.
std::optional<CellStorage> StorageOfCell(std::string_view contract);

// In the order of the file: models, their values, devices, frameworks, contracts, threads. Files are read, to be
// hashed: of models, of weights beside them, of modules. Without `hashes_weights`, which takes a second for each 2 GB
// of them, a file's cells have hashes that no result has.
Result<std::vector<PlannedCell>> CellsOf(const Evaluation& evaluation, const std::filesystem::path& folder,
                                         std::size_t most, bool hashes_weights = true);

// SHA-256 of the cells' hashes in ascending order: the same for what means the same cells.
std::string HashOf(const std::vector<PlannedCell>& cells);

// What two evaluations differ in: of which cells' fields one has values that the other lacks.
struct FieldDifference {
  std::string field;  // "threads", "model.choices.layers"
  std::vector<std::string> only_here, only_there;
};
std::vector<FieldDifference> DifferencesOf(const std::vector<PlannedCell>& here, const std::vector<PlannedCell>& there);

}  // namespace infimum
