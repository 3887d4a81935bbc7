#include "microbench/libraries/onednn/program/onednn_types.h"

#include <algorithm>
#include <iterator>

namespace infimum::cpu {

using dnnl::memory;

namespace {

struct TypePair {
  DataType type;
  memory::data_type library;
};
constexpr TypePair kTypes[] = {
    {DataType::kF64, memory::data_type::f64}, {DataType::kF32, memory::data_type::f32},
    {DataType::kF16, memory::data_type::f16}, {DataType::kBF16, memory::data_type::bf16},
    {DataType::kS32, memory::data_type::s32}, {DataType::kS8, memory::data_type::s8},
    {DataType::kU8, memory::data_type::u8},   {DataType::kBool, memory::data_type::u8},
};

}  // namespace

memory::data_type LibraryType(DataType type) {
  const auto* const found = std::ranges::find(kTypes, type, &TypePair::type);
  return found == std::end(kTypes) ? memory::data_type::undef : found->library;
}

DataType TypeOf(const memory::desc& desc) {
  const auto* const found = std::ranges::find(kTypes, desc.get_data_type(), &TypePair::library);
  return found == std::end(kTypes) ? DataType::kF32 : found->type;
}

}  // namespace infimum::cpu
