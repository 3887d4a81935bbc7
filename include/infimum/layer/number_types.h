// The C++ type of a type's elements: WithNumber(DataType::kS8, use, otherwise) is use(std::int8_t{}). A bool is a byte.
// Types without one, f16 and smaller, and those below a byte, get otherwise().
#pragma once

#include <cstdint>

#include "infimum/layer/data_type.h"

namespace infimum {

template <class Use, class Otherwise>
auto WithNumber(DataType type, const Use& use, const Otherwise& otherwise) -> decltype(use(double{})) {
  switch (type) {
    case DataType::kF64:
      return use(double{});
    case DataType::kF32:
      return use(float{});
    case DataType::kS64:
      return use(std::int64_t{});
    case DataType::kS32:
      return use(std::int32_t{});
    case DataType::kS16:
      return use(std::int16_t{});
    case DataType::kS8:
      return use(std::int8_t{});
    case DataType::kU64:
      return use(std::uint64_t{});
    case DataType::kU32:
      return use(std::uint32_t{});
    case DataType::kU16:
      return use(std::uint16_t{});
    case DataType::kU8:
    case DataType::kBool:
      return use(std::uint8_t{});
    default:
      return otherwise();
  }
}

}  // namespace infimum
