#include "infimum/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace infimum {

Error Within(std::string where, Error error) {
  where += ": ";
  where += error.message;
  return Error{std::move(where)};
}

Status Within(std::string where, Status status) {
  return status.ok() ? status : Status(Within(std::move(where), status.error()));
}

void CheckFailed(const char* file, int line, const char* expression, const char* invariant) {
  std::fprintf(stderr, "infimum: a bug in infimum: %s (%s:%d: %s)\n", invariant, file, line, expression);
  std::abort();
}

}  // namespace infimum
