// The cells of a language model's table: each batch, context and type of weights as a prefill of the whole context and
// as a step of decoding behind it, as an evaluation has them.
//
//   LlmOptions options{.decode = "model.onnx", .contexts = {1024, 8192}, .devices = {"h100-sxm"}};
//   Result<EvaluationFile> file = MakeLlmEvaluation(options);     // to be written, measured, verified
//   Result<SweepReport> report = MakeLlmReport(options, log);    // least times, and what the store has
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "src/app/commands/evaluate/sweep_cells.h"
#include "src/app/commands/report_sweep/sweep_filling.h"

namespace infimum {

struct LlmOptions {
  std::filesystem::path decode;   // a model with caches, or without (a prefill alone)
  std::filesystem::path prefill;  // where it is a file of its own; empty: `decode`
  std::map<std::string, std::int64_t> dims;
  std::vector<std::int64_t> batches{1, 8, 32}, contexts{1024, 8192};
  std::vector<std::string> weights{"own"};  // "own", "f16", "s8", "s4", ...
  SweepOptions sweep;                       // of it devices, database, what-ifs
};

// What a user calls a type of weights as an evaluation's contract: "own/s4" of int4, "f16" of fp16, "f16/s4" of that
// with other values in f16. An error lists them.
Result<std::string> ContractOfWeights(const std::string& weights);

// `hashes_weights`: as CellsOf() has it. `remarks`: gets what was asked for and the files cannot take.
Result<EvaluationFile> MakeLlmEvaluation(const LlmOptions& options, bool hashes_weights = true,
                                         std::vector<std::string>* remarks = nullptr);
Result<SweepReport> MakeLlmReport(const LlmOptions& options, ProgressLog& log);

}  // namespace infimum
