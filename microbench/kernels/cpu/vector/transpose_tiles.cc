// Transposes of small tiles: 16 x 16 bytes, 8 x 8 elements of two and four bytes and 4 x 4 of eight in registers, where
// the instruction set has the shuffles, and three rows at a time, as the colors of an image are; loops elsewhere.

#include <utility>

#include "microbench/kernels/cpu/vector/isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace infimum::cpu::INFIMUM_ISA {
namespace {

template <class T>
void Loop(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride, std::int64_t rows,
          std::int64_t columns) {
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

#if defined(__AVX2__)
void Eight(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
  // Halves of rows r and r + 4 come together first: two of the three rounds of shuffles are left.
  __m256 r[8];
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * from_stride)),
                                _mm_loadu_ps(from + (i + 4) * from_stride), 1);
    r[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * from_stride + 4)),
                                    _mm_loadu_ps(from + (i + 4) * from_stride + 4), 1);
  }
  for (int half = 0; half < 2; ++half) {
    const __m256 a = _mm256_unpacklo_ps(r[half * 4], r[half * 4 + 1]);
    const __m256 b = _mm256_unpackhi_ps(r[half * 4], r[half * 4 + 1]);
    const __m256 c = _mm256_unpacklo_ps(r[half * 4 + 2], r[half * 4 + 3]);
    const __m256 d = _mm256_unpackhi_ps(r[half * 4 + 2], r[half * 4 + 3]);
    float* out = to + half * 4 * to_stride;
    _mm256_storeu_ps(out, _mm256_shuffle_ps(a, c, 0x44));
    _mm256_storeu_ps(out + to_stride, _mm256_shuffle_ps(a, c, 0xee));
    _mm256_storeu_ps(out + 2 * to_stride, _mm256_shuffle_ps(b, d, 0x44));
    _mm256_storeu_ps(out + 3 * to_stride, _mm256_shuffle_ps(b, d, 0xee));
  }
}

void Four(const double* from, std::int64_t from_stride, double* to, std::int64_t to_stride) {
  const __m256d r0 = _mm256_loadu_pd(from), r1 = _mm256_loadu_pd(from + from_stride);
  const __m256d r2 = _mm256_loadu_pd(from + 2 * from_stride), r3 = _mm256_loadu_pd(from + 3 * from_stride);
  const __m256d a = _mm256_unpacklo_pd(r0, r1), b = _mm256_unpackhi_pd(r0, r1);
  const __m256d c = _mm256_unpacklo_pd(r2, r3), d = _mm256_unpackhi_pd(r2, r3);
  _mm256_storeu_pd(to, _mm256_permute2f128_pd(a, c, 0x20));
  _mm256_storeu_pd(to + to_stride, _mm256_permute2f128_pd(b, d, 0x20));
  _mm256_storeu_pd(to + 2 * to_stride, _mm256_permute2f128_pd(a, c, 0x31));
  _mm256_storeu_pd(to + 3 * to_stride, _mm256_permute2f128_pd(b, d, 0x31));
}
#endif

// 8 x 8 elements of two bytes, with instructions that every x86-64 has.
typedef std::int16_t Shorts __attribute__((vector_size(16), aligned(2), may_alias));
void EightShorts(const std::int16_t* from, std::int64_t from_stride, std::int16_t* to, std::int64_t to_stride) {
  typedef std::int16_t V __attribute__((vector_size(16)));
  typedef std::int32_t W __attribute__((vector_size(16)));
  typedef std::int64_t D __attribute__((vector_size(16)));
  V r[8];
  for (int i = 0; i < 8; ++i) r[i] = *reinterpret_cast<const Shorts*>(from + i * from_stride);
  W a[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = (W)__builtin_shuffle(r[2 * i], r[2 * i + 1], V{0, 8, 1, 9, 2, 10, 3, 11});
    a[2 * i + 1] = (W)__builtin_shuffle(r[2 * i], r[2 * i + 1], V{4, 12, 5, 13, 6, 14, 7, 15});
  }
  D b[8];
  for (int i = 0; i < 2; ++i) {
    b[4 * i] = (D)__builtin_shuffle(a[4 * i], a[4 * i + 2], W{0, 4, 1, 5});
    b[4 * i + 1] = (D)__builtin_shuffle(a[4 * i], a[4 * i + 2], W{2, 6, 3, 7});
    b[4 * i + 2] = (D)__builtin_shuffle(a[4 * i + 1], a[4 * i + 3], W{0, 4, 1, 5});
    b[4 * i + 3] = (D)__builtin_shuffle(a[4 * i + 1], a[4 * i + 3], W{2, 6, 3, 7});
  }
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<Shorts*>(to + 2 * i * to_stride) = (V)__builtin_shuffle(b[i], b[i + 4], D{0, 2});
    *reinterpret_cast<Shorts*>(to + (2 * i + 1) * to_stride) = (V)__builtin_shuffle(b[i], b[i + 4], D{1, 3});
  }
}

// 16 x 16 bytes: four rounds in each of which row i comes beside row i + 8, byte by byte.
typedef std::uint8_t Bytes __attribute__((vector_size(16), aligned(1), may_alias));
void SixteenBytes(const std::uint8_t* from, std::int64_t from_stride, std::uint8_t* to, std::int64_t to_stride) {
  typedef std::uint8_t V __attribute__((vector_size(16)));
  V r[16], beside[16];
  for (int i = 0; i < 16; ++i) r[i] = *reinterpret_cast<const Bytes*>(from + i * from_stride);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      beside[2 * i] = __builtin_shuffle(r[i], r[i + 8], V{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
      beside[2 * i + 1] =
          __builtin_shuffle(r[i], r[i + 8], V{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
    }
    for (int i = 0; i < 16; ++i) r[i] = beside[i];
  }
  for (int i = 0; i < 16; ++i) *reinterpret_cast<Bytes*>(to + i * to_stride) = r[i];
}

// Three rows of kLanes elements, element by element: element p of the result is column p / 3 of row p % 3.
template <class T, int kLanes>
struct Three {
  typedef T V __attribute__((vector_size(kLanes * sizeof(T))));
  typedef T Memory __attribute__((vector_size(kLanes * sizeof(T)), aligned(sizeof(T)), may_alias));

  template <int kPart, int... k>
  static void Part(V a, V b, V c, T* to, std::integer_sequence<int, k...>) {
    constexpr int kFirst = kPart * kLanes;
    const V two = __builtin_shufflevector(a, b, ((kFirst + k) % 3 == 1 ? kLanes : 0) + (kFirst + k) / 3 ...);
    const V all = __builtin_shufflevector(two, c, (kFirst + k) % 3 == 2 ? kLanes + (kFirst + k) / 3 : k...);
    *reinterpret_cast<Memory*>(to + kFirst) = all;
  }
  static void Run(const T* from, std::int64_t from_stride, T* to, std::int64_t columns) {
    const std::int64_t whole = columns / kLanes * kLanes;
    for (std::int64_t column = 0; column < whole; column += kLanes) {
      const auto row = [&](int r) -> V { return *reinterpret_cast<const Memory*>(from + r * from_stride + column); };
      const auto lanes = std::make_integer_sequence<int, kLanes>();
      Part<0>(row(0), row(1), row(2), to + 3 * column, lanes);
      Part<1>(row(0), row(1), row(2), to + 3 * column, lanes);
      Part<2>(row(0), row(1), row(2), to + 3 * column, lanes);
    }
    Loop(from + whole, from_stride, to + 3 * whole, 3, 3, columns - whole);
  }
};

template <class T, int edge, class Tile>
void Tiled(const void* source, std::int64_t from_stride, void* target, std::int64_t to_stride, std::int64_t rows,
           std::int64_t columns, Tile tile) {
  const T* from = static_cast<const T*>(source);
  T* to = static_cast<T*>(target);
  const std::int64_t whole_rows = rows / edge * edge, whole_columns = columns / edge * edge;
  // Column by column of tiles: the stores, which are dearer, stay in a few lines.
  for (std::int64_t c = 0; c < whole_columns; c += edge) {
    for (std::int64_t r = 0; r < whole_rows; r += edge) {
      tile(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    }
  }
  Loop(from + whole_columns, from_stride, to + whole_columns * to_stride, to_stride, rows, columns - whole_columns);
  Loop(from + whole_rows * from_stride, from_stride, to + whole_rows, to_stride, rows - whole_rows, whole_columns);
}

}  // namespace

void TransposeTile(const void* from, std::int64_t from_stride, void* to, std::int64_t to_stride, std::int64_t rows,
                   std::int64_t columns, int bytes) {
  const auto three = [&]<class T>(T* target) {
    Three<T, 16 / sizeof(T)>::Run(static_cast<const T*>(from), from_stride, target, columns);
  };
  const bool are_colors = rows == 3 && to_stride == 3;
  if (are_colors && bytes == 1) return three(static_cast<std::uint8_t*>(to));
  if (are_colors && bytes == 2) return three(static_cast<std::int16_t*>(to));
  if (are_colors && bytes == 4) return three(static_cast<float*>(to));
  switch (bytes) {
    case 1:
      return Tiled<std::uint8_t, 16>(from, from_stride, to, to_stride, rows, columns, SixteenBytes);
    case 2:
      return Tiled<std::int16_t, 8>(from, from_stride, to, to_stride, rows, columns, EightShorts);
#if defined(__AVX2__)
    case 4:
      return Tiled<float, 8>(from, from_stride, to, to_stride, rows, columns, Eight);
    default:
      return Tiled<double, 4>(from, from_stride, to, to_stride, rows, columns, Four);
#else
    case 4:
      return Loop(static_cast<const float*>(from), from_stride, static_cast<float*>(to), to_stride, rows, columns);
    default:
      return Loop(static_cast<const double*>(from), from_stride, static_cast<double*>(to), to_stride, rows, columns);
#endif
  }
}

}  // namespace infimum::cpu::INFIMUM_ISA
