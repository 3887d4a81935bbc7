// Whether an operand is known before the first inference: only a constant may be prepacked or folded.
#pragma once

namespace infimum {

enum class Constness {
  kConstant,  // "const"
  kVariable,  // "variable"
};

}  // namespace infimum
