// Into and out of stores: files and models in, selections out, one store into another.
//
//   ImportFileOf("resnet50.onnx", {.dims = {{"batch", 1}}}, store, log);    // its layers, so that queries know them
//   ImportFileOf("campaign.jsonl", {}, store, log);
//   ExportRows(store, {.device = "Tesla V100-SXM2-16GB"}, "v100.jsonl");     // imports again to the same rows
//   MergeStores(laptop, team, log);
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "infimum/db/store.h"
#include "src/app/processes/progress_log.h"

namespace infimum {

// An ONNX model (told by its extension, .onnx) or a file of results or of a run (told by its content). All of it or,
// on an error, nothing. Long ones show how many rows they have come to.
Result<ImportCount> ImportFileOf(const std::filesystem::path& path, const std::map<std::string, std::int64_t>& dims,
                                 Store& store, ProgressLog& log);

struct ExportCount {
  std::int64_t rows = 0;
  std::int64_t peaks = 0;
};

// As a results journal, or where `path` ends with ".json" as Google Benchmark JSON; "-" is standard output. A file is
// there as a whole or not at all; one that is there already is replaced. Nothing selected is an error.
Result<ExportCount> ExportRows(Store& store, const RowSelection& selection, const std::string& path);

// Rows with their campaigns, peaks, runs and models of `from` into `to`, in one transaction; then the results of its
// evaluations, each in one.
Result<ImportCount> MergeStores(Store& from, Store& to, ProgressLog& log);

}  // namespace infimum
