// From the vocabulary's types and shapes to oneDNN's, and its layouts' names.
//
//   PlainDesc({{1, 64, 56, 56}}, kF32)      row-major
//   LayoutName(desc)                        "abcd", "acdb", "aBcd8b"
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace infimum::cpu {

// The process's one CPU engine.
const dnnl::engine& CpuEngine();

// undef where the library has no such type (64-bit integers; bool is u8).
dnnl::memory::data_type LibraryType(DataType type);

// Row-major, channels-last (dimension 1 last) and undecided layouts of a shape.
dnnl::memory::desc PlainDesc(const Shape& shape, DataType type);
dnnl::memory::desc ChannelsLastDesc(const Shape& shape, DataType type);
dnnl::memory::desc AnyDesc(const Shape& shape, DataType type);

// oneDNN's own letters for a layout: a is the outermost logical dimension, a capital is blocked.
std::string LayoutName(const dnnl::memory::desc& desc);

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
