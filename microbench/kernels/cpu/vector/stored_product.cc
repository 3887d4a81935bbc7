// Products with weights that are read as they are stored, in 4 or 8 bits with a scale for each block of rows: bound by
// how fast they can be read and made numbers, so they are packed in the order of reading (StoredMatrix).
#include <cmath>
#include <cstring>
#include <utility>

#include "microbench/kernels/cpu/vector/isa.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

constexpr int kVectors = 4;  // of columns at a time
constexpr int kAtATime = kVectors * kFloats;
constexpr std::int64_t kStepBytes = kPackedColumns * 4;  // 8 rows of 4 bits, 4 of 8

typedef std::int32_t UnalignedIntegers __attribute__((vector_size(INFIMUM_VECTOR_BYTES), aligned(4), may_alias));

inline Floats LoadFloats(const void* from) { return *static_cast<const UnalignedFloats*>(from); }
inline Integers LoadIntegers(const void* from) { return *static_cast<const UnalignedIntegers*>(from); }
inline void Store(float* to, Floats value) { *reinterpret_cast<UnalignedFloats*>(to) = value; }
inline void Store(std::int32_t* to, Integers value) { *reinterpret_cast<UnalignedIntegers*>(to) = value; }

// Zero points, a byte each. The compiler would convert them one by one.
inline Floats LoadZeros(const char* from) {
#if defined(__AVX512F__)
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif defined(__AVX2__)
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  return Floats{
      static_cast<float>(static_cast<std::uint8_t>(from[0])), static_cast<float>(static_cast<std::uint8_t>(from[1])),
      static_cast<float>(static_cast<std::uint8_t>(from[2])), static_cast<float>(static_cast<std::uint8_t>(from[3]))};
#endif
}

// How elements become numbers: those of 4 bits through a table where a vector holds it.
template <int kBits>
class Numbers {
 public:
  explicit Numbers(float zero) : zero_(Floats{} + zero) {
    for (int i = 0; i < kFloats; ++i) table_[i] = static_cast<float>(i) - zero;
  }

  // Of each lane the element of row kRow of the step, less the zero.
  template <int kRow>
  Floats Element(Integers lanes) const {
    constexpr int kShift = kBits == 8 ? 8 * kRow : 8 * (kRow % 4) + 4 * (kRow / 4);
    const Integers shifted = (Integers)((Lanes)lanes >> kShift);
    if constexpr (kBits == 4 && kFloats == 16) return __builtin_shuffle(table_, shifted);
    return __builtin_convertvector(shifted & (kBits == 8 ? 255 : 15), Floats) - zero_;
  }

 private:
  typedef std::uint32_t Lanes __attribute__((vector_size(INFIMUM_VECTOR_BYTES)));
  Floats zero_, table_;
};

// One row times a group of columns. Each block is summed by itself and then scaled.
template <int kBits>
void Row(const StoredMatrix& matrix, const char* group, const float* a, const float* sums, float* y) {
  constexpr int kRows = 32 / kBits;  // of a step
  const Numbers<kBits> numbers(matrix.zero_points ? 0 : static_cast<float>(matrix.zero));
  for (std::int64_t column = 0; column < kPackedColumns; column += kAtATime) {
    Floats total[kVectors] = {};
    const char* at = group;
    const float* x = a;
    for (std::int64_t block = 0; block < matrix.blocks; ++block) {
      const char* const scales = at + column * 4;
      at += kStepBytes;
      Floats even[kVectors] = {}, odd[kVectors] = {};
      if (matrix.zero_points) {
        for (int v = 0; v < kVectors; ++v) even[v] = LoadZeros(at + column + v * kFloats) * -sums[block];
        at += kPackedColumns;
      }
      for (std::int64_t row = 0; row < matrix.block; row += kRows, x += kRows, at += kStepBytes) {
        const auto add = [&]<int... kRow>(std::integer_sequence<int, kRow...>) {
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) {
            const Integers lanes = LoadIntegers(at + (column + v * kFloats) * 4);
            (((kRow % 2 == 0 ? even : odd)[v] += numbers.template Element<kRow>(lanes) * x[kRow]), ...);
          }
        };
        add(std::make_integer_sequence<int, kRows>());
      }
      for (int v = 0; v < kVectors; ++v) total[v] += (even[v] + odd[v]) * LoadFloats(scales + v * kFloats * 4);
    }
    for (int v = 0; v < kVectors; ++v) Store(y + column + v * kFloats, total[v]);
  }
}

// Blocks [begin, end) of a group as f32, row by row.
template <int kBits>
void Panel(const StoredMatrix& matrix, const char* group, std::int64_t begin, std::int64_t end, float* panel) {
  constexpr int kRows = 32 / kBits;
  const Numbers<kBits> numbers(matrix.zero_points ? 0 : static_cast<float>(matrix.zero));
  for (std::int64_t block = begin; block < end; ++block) {
    const char* const head = group + block * matrix.block_bytes();
    const char* const elements = head + kStepBytes + (matrix.zero_points ? kPackedColumns : 0);
    float* const to = panel + (block - begin) * matrix.block * kPackedColumns;
    for (std::int64_t column = 0; column < kPackedColumns; column += kFloats) {
      const Floats scale = LoadFloats(head + column * 4);
      const Floats shift = matrix.zero_points ? LoadZeros(head + kStepBytes + column) * -scale : Floats{};
      for (std::int64_t row = 0; row < matrix.block; row += kRows) {
        const Integers lanes = LoadIntegers(elements + row / kRows * kStepBytes + column * 4);
        const auto store = [&]<int... kRow>(std::integer_sequence<int, kRow...>) {
          (Store(to + (row + kRow) * kPackedColumns + column, numbers.template Element<kRow>(lanes) * scale + shift),
           ...);
        };
        store(std::make_integer_sequence<int, kRows>());
      }
    }
  }
}

constexpr int kWidest = kFloats == 16 ? 4 : 2;

constexpr std::int64_t kLine = 16;  // floats of a cache line

// What a panel is made of: numbers, pairs of 16 bits or fours of 8 whose products are added.
struct FloatLanes {
  using Number = float;
  using Vector = Floats;
  static Vector Load(const float* from) { return LoadFloats(from); }
  static Vector Repeat(float value) { return value - Vector{}; }  // adding to zero would be an instruction
  static Vector Add(Vector sum, Vector x, Vector factor) { return sum + x * factor; }
};
struct PairLanes {
  using Number = std::int32_t;
  using Vector = Integers;
  static Vector Load(const std::int32_t* from) { return LoadIntegers(from); }
  static Vector Repeat(std::int32_t value) { return value - Vector{}; }
  static Vector Add(Vector sum, Vector x, Vector factor) {
#if defined(__AVX512F__)
    return sum + (Integers)_mm512_madd_epi16((__m512i)x, (__m512i)factor);
#elif defined(__AVX2__)
    return sum + (Integers)_mm256_madd_epi16((__m256i)x, (__m256i)factor);
#else
    return sum + (Integers)_mm_madd_epi16((__m128i)x, (__m128i)factor);
#endif
  }
};
#if defined(__AVX2__)
struct FourLanes : PairLanes {
  // By name, so that the set need not allow what it does not always have.
  static Vector Add(Vector sum, Vector s8, Vector u8) {
#if defined(__AVX512F__)
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u8), "v"(s8));
#else
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(u8), "x"(s8));
#endif
    return sum;
  }
};
#endif

// kRows rows of a times kWide vectors of a panel's columns. With each of the panel's first `fetches` rows a line of
// `next` comes near.
template <int kRows, int kWide, class Of, class Number = typename Of::Number>
[[gnu::noinline]] void Block(const Number* panel, std::int64_t columns, std::int64_t depth, const Number* a,
                             std::int64_t a_step, Number* y, std::int64_t y_step, bool is_first, const Number* next,
                             std::int64_t fetches) {
  using Sum = typename Of::Vector;
  Sum sums[kRows][kWide];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kWide; ++v) sums[r][v] = is_first ? Sum{} : Of::Load(y + r * y_step + v * kFloats);
  // Rows in threes: an address is a pointer and once or twice the step in bytes. Opaque, so that no row gets a pointer
  // of its own: there are too few registers for six.
  std::int64_t step = a_step * 4;
  const char *first = reinterpret_cast<const char*>(a), *fourth = first + (kRows > 3 ? 3 * step : 0);
  const auto add_row = [&] {
    asm("" : "+r"(first), "+r"(fourth), "+r"(step));
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Sum factor = Of::Repeat(*reinterpret_cast<const Number*>((r < 3 ? first : fourth) + r % 3 * step));
#pragma GCC unroll 4
      for (int v = 0; v < kWide; ++v) sums[r][v] = Of::Add(sums[r][v], Of::Load(panel + v * kFloats), factor);
    }
    panel += columns, first += 4, fourth += 4;
  };
  const Number *const fetched = panel + fetches * columns, *const end = panel + depth * columns;
  for (; panel != fetched; next += kLine) {
    __builtin_prefetch(next, 0, 2);
    add_row();
  }
  while (panel != end) add_row();
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kWide; ++v) Store(y + r * y_step + v * kFloats, sums[r][v]);
}

// The lines of a panel that come near, so many with each block.
template <class Number>
struct Fetch {
  const Number* next;
  std::int64_t left, share;

  std::int64_t Take() {
    const std::int64_t count = share < left ? share : left;
    left -= count, next += count * kLine;
    return count;
  }
};

// kRows rows of a times a panel, added to y where it is not the first.
template <int kRows, class Of, class Number = typename Of::Number>
void Tile(const Number* panel, std::int64_t columns, std::int64_t depth, const Number* a, std::int64_t a_step,
          Number* y, std::int64_t y_step, bool is_first, Fetch<Number>& fetch) {
  std::int64_t column = 0;
  const auto run = [&]<int kWide>(std::integral_constant<int, kWide>) {
    for (; column + kWide * kFloats <= columns; column += kWide * kFloats) {
      const Number* const next = fetch.next;
      Block<kRows, kWide, Of>(panel + column, columns, depth, a, a_step, y + column, y_step, is_first, next,
                              fetch.Take());
    }
  };
  run(std::integral_constant<int, kWidest>());
  if constexpr (kWidest > 2) run(std::integral_constant<int, 2>());
  run(std::integral_constant<int, 1>());
}

template <class Of, class Number = typename Of::Number>
void AllRows(const Number* panel, std::int64_t columns, std::int64_t depth, const Number* a, std::int64_t a_step,
             std::int64_t rows, Number* y, std::int64_t y_step, bool is_first, const Number* next) {
  // All groups of rows and blocks of columns fetch alike: memory hands out lines slower than one group asks for them.
  const std::int64_t lines = next == panel ? 0 : depth * columns / kLine;
  const std::int64_t blocks = (rows + 5) / 6 * ((columns + kWidest * kFloats - 1) / (kWidest * kFloats));
  const std::int64_t share = (lines + blocks - 1) / blocks;
  Fetch<Number> fetch{next, lines, share < depth ? share : depth};
  const auto run = [&]<int kRows>(std::integral_constant<int, kRows>) {
    for (; rows >= kRows; rows -= kRows, a += kRows * a_step, y += kRows * y_step)
      Tile<kRows, Of>(panel, columns, depth, a, a_step, y, y_step, is_first, fetch);
  };
  run(std::integral_constant<int, 6>());
  run(std::integral_constant<int, 4>());
  run(std::integral_constant<int, 2>());
  run(std::integral_constant<int, 1>());
}

#if defined(__AVX2__)
#if defined(__AVX512F__)
using Vector = __m512i;
inline Vector LoadVector(const void* from) { return _mm512_loadu_si512(from); }
inline Vector Repeat(std::int32_t value) { return _mm512_set1_epi32(value); }
inline Vector LowNibbles(Vector x) { return _mm512_and_si512(x, _mm512_set1_epi8(15)); }
inline Vector HighNibbles(Vector x) { return LowNibbles(_mm512_srli_epi16(x, 4)); }
inline Vector DotWords(Vector sum, Vector u8, Vector s8) {
  const Vector pairs = _mm512_maddubs_epi16(u8, s8);
  return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}
#else
using Vector = __m256i;
inline Vector LoadVector(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
inline Vector Repeat(std::int32_t value) { return _mm256_set1_epi32(value); }
inline Vector LowNibbles(Vector x) { return _mm256_and_si256(x, _mm256_set1_epi8(15)); }
inline Vector HighNibbles(Vector x) { return LowNibbles(_mm256_srli_epi16(x, 4)); }
inline Vector DotWords(Vector sum, Vector u8, Vector s8) {
  const Vector pairs = _mm256_maddubs_epi16(u8, s8);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#endif

#if defined(__AVX512F__)
// By name, so that the set need not allow what it does not always have.
inline Vector DotVnni(Vector sum, Vector u8, Vector s8) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u8), "v"(s8));
  return sum;
}
#endif

inline std::int32_t FourOf(const std::int8_t* from) {
  std::int32_t four;
  std::memcpy(&four, from, 4);
  return four;
}

// kRows rows of a in 8 bits times kWide vectors of columns of a group. The sums of a block are scaled by what the block
// of the row and of the column is.
template <int kBits, int kRows, int kWide, Vector (*kDot)(Vector, Vector, Vector)>
void Dots(const StoredMatrix& matrix, const char* group, const QuantizedRows& a, float* y, std::int64_t y_step) {
  constexpr int kDepth = 32 / kBits;
  for (std::int64_t column = 0; column < kPackedColumns; column += kWide * kFloats) {
    Floats total[kRows][kWide] = {};
    const char* at = group;
    const std::int8_t* x = a.elements;
    for (std::int64_t block = 0; block < matrix.blocks; ++block) {
      const char* const scales = at + column * 4;
      const char* const zeros = at + kStepBytes + column;
      at += kStepBytes + (matrix.zero_points ? kPackedColumns : 0);
      Vector sums[kRows][kWide];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Vector start = Repeat(-matrix.zero * a.sums[r * a.blocks + block]);
#pragma GCC unroll 4
        for (int v = 0; v < kWide; ++v) sums[r][v] = start;
      }
      for (std::int64_t row = 0; row < matrix.block; row += kDepth, x += kDepth, at += kStepBytes) {
#pragma GCC unroll 4
        for (int v = 0; v < kWide; ++v) {
          const Vector packed = LoadVector(at + (column + v * kFloats) * 4);
          const Vector low = kBits == 4 ? LowNibbles(packed) : packed;
#pragma GCC unroll 8
          for (int r = 0; r < kRows; ++r) sums[r][v] = kDot(sums[r][v], low, Repeat(FourOf(x + r * a.step)));
          if (kBits == 8) continue;
          const Vector high = HighNibbles(packed);
#pragma GCC unroll 8
          for (int r = 0; r < kRows; ++r) sums[r][v] = kDot(sums[r][v], high, Repeat(FourOf(x + r * a.step + 4)));
        }
      }
#pragma GCC unroll 4
      for (int v = 0; v < kWide; ++v) {
        const Floats scale = LoadFloats(scales + v * kFloats * 4);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          Floats sum = __builtin_convertvector((Integers)sums[r][v], Floats);
          if (matrix.zero_points)
            sum -= LoadZeros(zeros + v * kFloats) * static_cast<float>(a.sums[r * a.blocks + block]);
          total[r][v] += sum * a.scales[r * a.blocks + block] * scale;
        }
      }
    }
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kWide; ++v) Store(y + r * y_step + column + v * kFloats, total[r][v]);
  }
}
#endif

}  // namespace

void StoredRow(const StoredMatrix& matrix, std::int64_t group, const float* a, const float* sums, float* y) {
  const char* const from = matrix.packed + group * matrix.group_bytes();
  matrix.bits == 4 ? Row<4>(matrix, from, a, sums, y) : Row<8>(matrix, from, a, sums, y);
}

void StoredPanel(const StoredMatrix& matrix, std::int64_t group, std::int64_t begin, std::int64_t end, float* panel) {
  const char* const from = matrix.packed + group * matrix.group_bytes();
  matrix.bits == 4 ? Panel<4>(matrix, from, begin, end, panel) : Panel<8>(matrix, from, begin, end, panel);
}

void PanelTile(const float* panel, std::int64_t columns, std::int64_t depth, const float* a, std::int64_t a_step,
               std::int64_t rows, float* y, std::int64_t y_step, bool is_first, const float* next) {
  AllRows<FloatLanes>(panel, columns, depth, a, a_step, rows, y, y_step, is_first, next);
}

void PairTile(const std::int32_t* panel, std::int64_t columns, std::int64_t depth, const std::int32_t* a,
              std::int64_t a_step, std::int64_t rows, std::int32_t* y, std::int64_t y_step, bool is_first,
              const std::int32_t* next) {
  AllRows<PairLanes>(panel, columns, depth, a, a_step, rows, y, y_step, is_first, next);
}

IntegerTile FindFourTile(bool has_avx512_vnni, bool has_avx_vnni) {
#if defined(__AVX512F__)
  if (has_avx512_vnni) return AllRows<FourLanes>;
#elif defined(__AVX2__)
  if (has_avx_vnni) return AllRows<FourLanes>;
#endif
  (void)has_avx512_vnni, (void)has_avx_vnni;
  return nullptr;
}

void QuantizeBlocks(const float* a, std::int64_t blocks, std::int64_t block, std::int8_t* elements, float* scales,
                    std::int32_t* sums) {
  for (std::int64_t b = 0; b < blocks; ++b, a += block, elements += block) {
    float largest = 0;
    for (std::int64_t i = 0; i < block; ++i) largest = std::fabs(a[i]) > largest ? std::fabs(a[i]) : largest;
    const float inverse = largest > 0 ? 127 / largest : 0;
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < block; ++i) {
      // Adding and taking off 1.5 x 2^23 rounds to the nearest whole number.
      const float rounded = (a[i] * inverse + 12582912.0F) - 12582912.0F;
      const auto element = static_cast<std::int32_t>(rounded);
      elements[i] = static_cast<std::int8_t>(element);
      sum += element;
    }
    scales[b] = largest / 127;
    sums[b] = sum;
  }
}

StoredDots FindStoredDots(int bits, std::int64_t rows, bool has_vnni) {
#if defined(__AVX512F__)
  if (has_vnni && rows == 1) return bits == 4 ? Dots<4, 1, 4, DotVnni> : Dots<8, 1, 4, DotVnni>;
  if (has_vnni && rows == kDotRows) return bits == 4 ? Dots<4, kDotRows, 4, DotVnni> : Dots<8, kDotRows, 4, DotVnni>;
#endif
#if defined(__AVX2__)
  // Sums of pairs of products of 8 by 8 bits do not fit 16.
  if (bits == 4 && rows == 1) return Dots<4, 1, 4, DotWords>;
  if (bits == 4 && rows == kDotRows) return Dots<4, kDotRows, 2, DotWords>;
#endif
  (void)bits, (void)rows, (void)has_vnni;
  return nullptr;
}

}  // namespace infimum::cpu::INFIMUM_ISA
