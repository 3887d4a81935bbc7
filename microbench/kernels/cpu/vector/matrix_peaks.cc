#include "microbench/kernels/cpu/vector/matrix_peaks.h"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace infimum::cpu {
namespace {

constexpr int kSums = 16;

// One palette for all eight tiles: 16 rows of 64 bytes.
struct alignas(64) TileSettings {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// GCC's _tile_loadconfig says of the settings only that their first 8 bytes are read: without this the compiler
// may leave out the stores of the others.
void Settle(const TileSettings& settings) { __asm__ volatile("" : : "r"(&settings) : "memory"); }

TileSettings AllTiles() {
  TileSettings settings;
  for (int i = 0; i < 8; ++i) {
    settings.row_bytes[i] = 64;
    settings.rows[i] = 16;
  }
  return settings;
}

}  // namespace

__attribute__((target("avx512f,avx512vnni"))) double DotS8Avx512Vnni(std::int64_t rounds, std::int32_t* sink) {
  __m512i sums[kSums];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  __m512i a = _mm512_set1_epi32(0x03030303), b = _mm512_set1_epi32(0x02020202);
  __asm__ volatile("" : "+v"(a), "+v"(b));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_dpbusd_epi32(sums[i], a, b);
  }
  __m512i total = sums[0];
  for (int i = 1; i < kSums; ++i) total = _mm512_add_epi32(total, sums[i]);
  *sink = _mm_cvtsi128_si32(_mm512_castsi512_si128(total));
  return static_cast<double>(rounds) * kSums * 128;
}

__attribute__((target("avx2,avxvnni"))) double DotS8AvxVnni(std::int64_t rounds, std::int32_t* sink) {
  constexpr int kFewer = 12;
  __m256i sums[kFewer];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  __m256i a = _mm256_set1_epi32(0x03030303), b = _mm256_set1_epi32(0x02020202);
  __asm__ volatile("" : "+x"(a), "+x"(b));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kFewer; ++i) sums[i] = _mm256_dpbusd_avx_epi32(sums[i], a, b);
  }
  __m256i total = sums[0];
  for (int i = 1; i < kFewer; ++i) total = _mm256_add_epi32(total, sums[i]);
  *sink = _mm_cvtsi128_si32(_mm256_castsi256_si128(total));
  return static_cast<double>(rounds) * kFewer * 64;
}

__attribute__((target("avx512f,avx512bf16"))) double DotBf16Avx512(std::int64_t rounds, float* sink) {
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512i bits = _mm512_set1_epi32(0x3f003f00);
  __asm__ volatile("" : "+v"(bits));
  __m512bh a, b;
  std::memcpy(&a, &bits, sizeof(a));
  std::memcpy(&b, &bits, sizeof(b));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], a, b);
  }
  __m512 total = sums[0];
  for (int i = 1; i < kSums; ++i) total = _mm512_add_ps(total, sums[i]);
  *sink = _mm512_cvtss_f32(total);
  return static_cast<double>(rounds) * kSums * 64;
}

__attribute__((target("avx512f,avx512vl,avx512bw,avx512fp16"))) double MultiplyAddF16Avx512(std::int64_t rounds,
                                                                                            float* sink) {
  __m512h sums[kSums];
  __m512i half = _mm512_set1_epi16(0x3800), tenth = _mm512_set1_epi16(0x2e66);
  __asm__ volatile("" : "+v"(half), "+v"(tenth));
  for (__m512h& sum : sums) sum = _mm512_castsi512_ph(tenth);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_fmadd_ph(sums[i], _mm512_castsi512_ph(half), _mm512_castsi512_ph(tenth));
    }
  }
  __m512h total = sums[0];
  for (int i = 1; i < kSums; ++i) total = _mm512_add_ph(total, sums[i]);
  *sink = static_cast<float>(_mm_cvtsi128_si32(_mm512_castsi512_si128(_mm512_castph_si512(total))));
  return static_cast<double>(rounds) * kSums * 64;
}

bool AllowTiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Four sums, two left and two right tiles: no product waits for the one before. The tiles' numbers are part of the
// instructions. `depth`: products of one element.
#define INFIMUM_TILES(Name, instructions, product, depth)                  \
  __attribute__((target(instructions))) double Name(std::int64_t rounds) { \
    const TileSettings settings = AllTiles();                              \
    Settle(settings);                                                      \
    _tile_loadconfig(&settings);                                           \
    _tile_zero(0);                                                         \
    _tile_zero(1);                                                         \
    _tile_zero(2);                                                         \
    _tile_zero(3);                                                         \
    _tile_zero(4);                                                         \
    _tile_zero(5);                                                         \
    _tile_zero(6);                                                         \
    _tile_zero(7);                                                         \
    for (std::int64_t round = 0; round < rounds; ++round) {                \
      product(0, 4, 6);                                                    \
      product(1, 4, 7);                                                    \
      product(2, 5, 6);                                                    \
      product(3, 5, 7);                                                    \
    }                                                                      \
    _tile_release();                                                       \
    return static_cast<double>(rounds) * 4 * 16 * 16 * depth * 2;          \
  }
INFIMUM_TILES(TilesBf16, "amx-tile,amx-bf16", _tile_dpbf16ps, 32)
INFIMUM_TILES(TilesS8, "amx-tile,amx-int8", _tile_dpbssd, 64)
#undef INFIMUM_TILES

}  // namespace infimum::cpu
