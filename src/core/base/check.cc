#include "infimum/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace infimum {

void CheckFailed(const char* file, int line, const char* expression, const char* invariant) {
  std::fprintf(stderr, "infimum: a bug in infimum: %s (%s:%d: %s)\n", invariant, file, line, expression);
  std::abort();
}

}  // namespace infimum
