// What a layer must do at least and what it does by definition: the input of every roofline.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "infimum/base/units.h"

namespace infimum {

struct Operand;

// One row of the table of names that each enumeration of a family has, in the family's source: NamesOf(Enum()).
template <class Enum>
struct NamedValue {
  Enum value;
  std::string_view name;
};

// Whether an operand is known before the first inference: only a constant may be prepacked or folded.
enum class Constness {
  kConstant,  // "const"
  kVariable,  // "variable"
};
std::span<const NamedValue<Constness>> NamesOf(Constness);

// Multiply-adds count as two FLOPs. Bytes are compulsory: each distinct element once, whatever an
// implementation does; an operand of which only a part must be read (a Gather's table, a strided
// slice's input) counts that part.
struct Work {
  Flops direct;                      // by the textbook definition, all taps: what the literature counts
  Flops conventional;                // only what contributes: valid taps, unmasked positions (the textbook floor's)
  std::vector<Bytes> operand_reads;  // one for each operand, in the configuration's operand order
  Bytes written;                     // all outputs

  Bytes read() const {
    Bytes sum;
    for (Bytes bytes : operand_reads) sum += bytes;
    return sum;
  }
  friend bool operator==(const Work&, const Work&) = default;
};

}  // namespace infimum
