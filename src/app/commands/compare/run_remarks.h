// What is said beside a run that is held against its bound: what was assumed, what it differs in, and what is missing,
// with the command that would add it.
#pragma once

#include "src/app/commands/compare/run_comparison.h"

namespace infimum {

// The bound's device, threads and contract are known by now, what the run took is not yet: fills
// ComparedRun::differences.
void TellDifferences(ComparedRun& compared);

// What the bound lacks: fills ComparedRun::lacking.
void TellWhatIsMissing(const RunComparisonOptions& options, const ComparedModel& model, ComparedRun& compared);

// After it was aligned and accounted for.
void TellNarrowerTypes(ComparedRun& compared);
void TellPoorAlignment(const ComparedModel& model, ComparedRun& compared);
void TellScatter(ComparedRun& compared);

}  // namespace infimum
