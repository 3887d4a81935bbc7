// A cell measured again: whether its numbers and its time are the same, and what is otherwise than before.
//
//   Verification verified = Verify(now, before, 0.05);
//   verified.numbers     kSame
//   verified.verdict     kSlower: between 1.13 and 1.17 times
//   verified.causes      {"onnxruntime 1.30.0 -> 1.31.1", "system Linux 6.1.0 -> 6.12.9"}
//
// Numbers come first: of a run that computes something else the time says nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infimum/measurement/verdict.h"
#include "infimum/results/evaluation_cell.h"

namespace infimum {

enum class Numbers : std::uint8_t { kSame, kDiffer, kUnknown };

struct Verification {
  Numbers numbers = Numbers::kUnknown;
  std::string numbers_text = {};  // "output logits: 0.31 of its norm apart"
  Verdict verdict = Verdict::kUndecided;
  std::optional<RatioInterval> ratio = {};  // of now over before
  std::string undecided = {};               // why, where it is
  std::vector<std::string> causes = {};     // what of the evidence is otherwise
  std::string not_comparable = {};          // why there is no verdict at all; empty: there is one
};

// Both of one cell. The metronome's pace counts: where a loop may explain the difference, or hide one (both times held
// to one pace, by any share of its loops, would make the other verdict), the verdict is undecided. The last-level
// cache's loop counts where the model moves more than a quarter of that cache (0: of unknown size): sets of an eighth
// and a quarter kept their time while the loop's changed by a fifth. `confidence` is of the ratio's interval.
Verification Verify(const CellResult& now, const CellResult& before, double threshold,
                    Bytes last_level_cache = Bytes{0}, double confidence = kUsualConfidence);

// A first result is measured on, with twice and four times the cell's processes, until it is firm, and an undecided
// verdict likewise. More looks find no more differences that are not there: a verdict is wrong only where the ratio
// lies beyond one certain end of a look's interval, with a chance of 0.75, 0.75 and 1.5 %, which add up to 3 % whatever
// the looks share; what was firm because its processes happened to be near makes less than 5 % of it by simulation
// (verification_test; Bonferroni's inequality; an interval as two one-sided tests: Schuirmann, J. Pharmacokinet.
// Biopharm. 15, 1987; strict looks before a lenient last one: O'Brien and Fleming, Biometrics 35, 1979). How far apart
// the processes before were is in each.
struct Look {
  std::int64_t times = 1;  // the cell's processes
  double confidence = kUsualConfidence;
};
inline constexpr Look kLooks[] = {{1, 0.985}, {2, 0.985}, {4, 0.97}};

// Whether the time is known to within `threshold` from end to end (95 %), which leaves a verification as much again,
// and room for a difference.
bool IsFirm(const CellResult& result, double threshold);

// Adds processes to a result. Why it did not; empty: it did.
using MeasureMore = std::function<Result<std::string>(std::int64_t processes, CellResult& result)>;

// A first result, of `processes` to begin with, until it is firm or all looks are taken.
Status MeasureUntilFirm(CellResult& result, double threshold, std::int64_t processes, const MeasureMore& measure_more);

// Look by look: `now` is of `processes` to begin with.
Result<Verification> VerifyMeasuringOn(CellResult& now, const CellResult& before, double threshold,
                                       Bytes last_level_cache, std::int64_t processes, const MeasureMore& measure_more);

// Fields of two cells that differ, as "threads 1 -> 2".
std::vector<std::string> DifferencesOf(const EvaluationCell& before, const EvaluationCell& now);

}  // namespace infimum
