// What the runs of a comparison are called, and a comparison without the names that somebody gave.
//
//   runs/before.json, runs/after.json        ->  "before.json", "after.json"
//   old/run.json, new/run.json               ->  as they were named: their last parts are the same
//   any, where no name of a file may be said ->  "run-1", "run-2"
#pragma once

#include <vector>

#include "src/app/commands/compare/run_comparison.h"
#include "src/app/models/anonymizer.h"

namespace infimum {

// By ComparedRun::source: fills ComparedRun::name.
void NameRuns(bool anonymize, std::vector<ComparedRun>& runs);

// By their files' sums: fills ComparedRun::file.
void NumberFiles(std::vector<ComparedRun>& runs);

// Of graphs, brackets and runs, before any text is made of them; what takes the true names, as the alignment does, was
// done before. A device stays as it is known, the number of warnings too.
void RemoveNames(Anonymizer& anonymizer, RunComparison& comparison);

}  // namespace infimum
