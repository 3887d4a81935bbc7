// What calls of a library throw, as errors.
//
//   INFIMUM_RETURN_IF_ERROR(Caught([&] { graph.Choose("eng62"); }));                            // Status
//   INFIMUM_ASSIGN_OR_RETURN(const Plans plans, Caught([&] { return graph.Heuristic(); }));     // Result<Plans>
#pragma once

#include <stdexcept>
#include <type_traits>

#include "infimum/base/result.h"

namespace infimum::cuda {

template <class Call, class Value = std::invoke_result_t<Call>>
auto Caught(const Call& call) -> std::conditional_t<std::is_void_v<Value>, Status, Result<Value>> {
  try {
    if constexpr (std::is_void_v<Value>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (const std::runtime_error& error) {
    return Error{error.what()};
  }
}

}  // namespace infimum::cuda
