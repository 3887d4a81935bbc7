// From the vocabulary's types and shapes to oneDNN's, and its layouts' names.
//
//   PlainDesc({{1, 64, 56, 56}}, kF32)      row-major
//   LayoutName(desc)                        "abcd", "acdb", "aBcd8b"
#pragma once

#include <string>

#include "infimum/base/result.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "microbench/libraries/onednn/primitives/layouts.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace infimum::cpu {

using onednn::LayoutName;

// The process's one CPU engine.
inline const dnnl::engine& CpuEngine() { return onednn::Cpu(); }

// undef where the library has no such type (64-bit integers; bool is u8).
dnnl::memory::data_type LibraryType(DataType type);
// The vocabulary's type for the library's: u8, not bool; f32 where there is none.
DataType TypeOf(const dnnl::memory::desc& desc);

// Row-major and channels-last (dimension 1 last) layouts of a shape.
inline dnnl::memory::desc PlainDesc(const Shape& shape, DataType type) {
  return onednn::Plain(shape.dims, LibraryType(type));
}
inline dnnl::memory::desc ChannelsLastDesc(const Shape& shape, DataType type) {
  return onednn::ChannelsLast(shape.dims, LibraryType(type));
}

// Calls the library, turning its exceptions into errors; "unsupported: " where it has no implementation.
template <class Function>
auto Guarded(Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented || error.status == dnnl_invalid_arguments) {
      return Error{std::string("unsupported: oneDNN has no implementation: ") + error.what()};
    }
    return Error{std::string("oneDNN: ") + error.what()};
  } catch (const std::bad_alloc&) {
    return Error{"oneDNN: out of memory"};
  }
}

}  // namespace infimum::cpu
