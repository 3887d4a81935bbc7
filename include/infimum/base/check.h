// Aborts with the broken invariant in words. For bugs of ours only: nothing that a file, a library
// or the hardware can cause may reach a check; those are Results (result.h).
//
//   INFIMUM_CHECK(index < size, "layer index out of range");
#pragma once

namespace infimum {

[[noreturn]] void CheckFailed(const char* file, int line, const char* expression, const char* invariant);

}  // namespace infimum

#define INFIMUM_CHECK(expression, invariant)            \
  (static_cast<bool>(expression) ? static_cast<void>(0) \
                                 : ::infimum::CheckFailed(__FILE__, __LINE__, #expression, invariant))
