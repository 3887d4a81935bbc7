// A cell measured again: whether its numbers and its time are the same, and what is otherwise than before.
//
//   Verification verified = Verify(now, before, 0.05);
//   verified.numbers     kSame
//   verified.verdict     kSlower: between 1.13 and 1.17 times
//   verified.causes      {"onnxruntime 1.30.0 -> 1.31.1", "system Linux 6.1.0 -> 6.12.9"}
//
// Numbers come first: of a run that computes something else the time says nothing.
#pragma once

#include <optional>
#include <string>
#include <utility>
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

// Both of one cell. The metronome's pace counts: where the verdict would be another with both times held to one pace,
// by any share of its two loops, it is undecided.
Verification Verify(const CellResult& now, const CellResult& before, double threshold);

// Fields of two cells that differ, as "threads 1 -> 2".
std::vector<std::string> DifferencesOf(const EvaluationCell& before, const EvaluationCell& now);

}  // namespace infimum
