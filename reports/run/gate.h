// What became of a gate that was asked for, of one run, and how it is shown.
//
//   baseline: DID NOT HOLD: now.json: slower: 3.42 ms end to end against 3.10 ms (+10.3 %, between +9.1 % and +11.5 %),
//     where 5 % matter
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "reports/text/json_values.h"

namespace infimum {

enum class GateOutcome {
  kHeld,       // "held"
  kNotHeld,    // "DID NOT HOLD"
  kNotJudged,  // "NOT JUDGED": what would decide it is not known, or what stands against each other is not alike
};
std::string_view Name(GateOutcome outcome);

struct Gate {
  std::string name;     // "max-gap", "baseline"
  std::string run;      // whose
  std::string verdict;  // "same", "faster", "slower", "undecided"; of a gap "within", "above"; "not-judged"
  std::string text;     // what was compared, in a sentence, or why it was not judged
  GateOutcome outcome = GateOutcome::kHeld;
};

Gate NotJudged(std::string name, std::string run, std::string why);

// The one that decides: not held before not judged before held.
GateOutcome Worst(std::span<const Gate> gates);

// On one line, printable whatever the run is called: "max-gap: held: now.json: takes ...".
std::string GateText(const Gate& gate);
// A paragraph each. `width` 0: as wide as needed.
std::string GatesText(std::span<const Gate> gates, std::size_t width);

// {"gate","run","verdict","held","text"}, `held` null of one that was not judged.
void to_json(OrderedJson& json, const Gate& gate);

}  // namespace infimum
