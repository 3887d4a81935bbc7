// Products with weights that are read as they are stored, in 4 or 8 bits with a scale for each block of rows: bound by
// how fast they can be read and made numbers, so they are packed in the order of reading (StoredMatrix).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "microbench/kernels/cpu/vector/isa.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

constexpr int kVectors = 4;  // of columns at a time
constexpr int kParts = static_cast<int>(kPackedColumns) / (kVectors * kFloats);
constexpr std::int64_t kRowBytes = kPackedColumns * 4;  // 8 rows of 4 bits, 4 of 8

typedef std::int32_t UnalignedIntegers __attribute__((vector_size(INFIMUM_VECTOR_BYTES), aligned(4), may_alias));
typedef std::uint8_t Bytes16 __attribute__((vector_size(kFloats), aligned(1), may_alias));

inline Floats LoadFloats(const void* from) { return *static_cast<const UnalignedFloats*>(from); }
inline Integers LoadIntegers(const void* from) { return *static_cast<const UnalignedIntegers*>(from); }
inline void Store(float* to, Floats value) { *reinterpret_cast<UnalignedFloats*>(to) = value; }
// Zero points, a byte each.
inline Floats LoadBytes(const char* from) {
  return __builtin_convertvector(*reinterpret_cast<const Bytes16*>(from), Floats);
}

// Of each lane's 32 bits the element of row kRow, less `zero`.
template <int kBits, int kRow>
inline Floats Element(Integers lanes, Floats zero) {
  constexpr int kShift = kBits == 8 ? 8 * kRow : 8 * (kRow % 4) + 4 * (kRow / 4);
  const Integers shifted = (Integers)((Words)lanes, lanes >> kShift);
  return __builtin_convertvector(shifted & (kBits == 8 ? 255 : 15), Floats) - zero;
}

}  // namespace
}  // namespace infimum::cpu::INFIMUM_ISA
