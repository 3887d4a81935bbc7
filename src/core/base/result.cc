#include "infimum/base/result.h"

namespace infimum {

Error Within(std::string where, Error error) {
  where += ": ";
  where += error.message;
  return Error{std::move(where)};
}

}  // namespace infimum
