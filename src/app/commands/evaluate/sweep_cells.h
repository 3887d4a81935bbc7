// The cells of an evaluation file with what the store has of them.
//
//   INFIMUM_ASSIGN_OR_RETURN(const EvaluationFile file, ReadEvaluationFile("fc.json"));
//   INFIMUM_ASSIGN_OR_RETURN(const std::vector<CellAttempt> attempts, store.Attempts(file.hash));
//   SweepCellsOf(file.cells, attempts, device)   // with one device's results; of several devices one list after the
//   other
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "analyzer/sweep/sweep.h"
#include "infimum/db/store.h"
#include "reports/sweep/sweep_report.h"
#include "src/evaluation/evaluation.h"

namespace infimum {

// More cells than this are a mistake of whoever wrote the ranges.
inline constexpr std::size_t kMostCells = 1'000'000;

struct EvaluationFile {
  Evaluation evaluation;
  std::string text;
  std::vector<PlannedCell> cells;
  std::string hash;
};
// Errors name the file.
Result<EvaluationFile> ReadEvaluationFile(const std::filesystem::path& path);

StoredEvaluation ToStored(const EvaluationFile& file);

// The newest result of a cell on a device that is no verification; null where there is none.
const CellAttempt* NewestResult(std::span<const CellAttempt> attempts, const std::string& cell,
                                const std::string& device);

// In the evaluation's order, with the newest results on the device, whose name they get.
std::vector<SweepCell> SweepCellsOf(std::span<const PlannedCell> cells, std::span<const CellAttempt> attempts,
                                    const Device& device);

// What follows from a report's cells: their fields, of which day they are, and what Analyze() finds. Its error.
Status FinishReport(SweepReport& report);

}  // namespace infimum
