// What is made in two steps, because the second may fail: return Prepared<Program>(std::make_unique<Lstm>(), problem).
#pragma once

#include <memory>
#include <utility>

#include "infimum/base/result.h"

namespace infimum {

template <class Base, class Made>
Result<std::unique_ptr<Base>> Prepared(std::unique_ptr<Made> made, auto&&... arguments) {
  INFIMUM_RETURN_IF_ERROR(made->Prepare(std::forward<decltype(arguments)>(arguments)...));
  return std::unique_ptr<Base>(std::move(made));
}

}  // namespace infimum
