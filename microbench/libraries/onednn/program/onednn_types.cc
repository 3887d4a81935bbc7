#include "microbench/libraries/onednn/program/onednn_types.h"

namespace infimum::cpu {

using dnnl::memory;

memory::data_type LibraryType(DataType type) {
  switch (type) {
    case DataType::kF64:
      return memory::data_type::f64;
    case DataType::kF32:
      return memory::data_type::f32;
    case DataType::kF16:
      return memory::data_type::f16;
    case DataType::kBF16:
      return memory::data_type::bf16;
    case DataType::kS32:
      return memory::data_type::s32;
    case DataType::kS8:
      return memory::data_type::s8;
    case DataType::kU8:
    case DataType::kBool:
      return memory::data_type::u8;
    default:
      return memory::data_type::undef;
  }
}

}  // namespace infimum::cpu
