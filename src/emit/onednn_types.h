// oneDNN's words for the vocabulary's types, and for operands filled with random numbers.
//
//   TypeText(DataType::kF32)                      "type::f32"
//   Desc("Plain", "kBias", DataType::kF32)        "Plain(kBias, type::f32)"
//   InputText("DNNL_ARG_SRC", RangeOf(kU8))       "Input(DNNL_ARG_SRC, 0, 255)"
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "infimum/base/result.h"
#include "infimum/layer/data_type.h"
#include "infimum/layer/shape.h"
#include "src/emit/value_range.h"

namespace infimum::emit {

// Whether oneDNN has all of them (64-bit integers it has not; bool is u8). The error names the first that is missing.
Status CheckTypes(std::initializer_list<DataType> types);

std::string TypeText(DataType type);

std::string Desc(std::string_view layout, std::string_view dims, DataType type);

std::string InputText(std::string_view argument, const Range& range);
std::string ConstantText(std::string_view argument, const Range& range);
std::string OutputText(std::string_view argument);

// "abcd" of rank 4; "-" of none.
std::string PlainLayout(const Shape& shape);

}  // namespace infimum::emit
