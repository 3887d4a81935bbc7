#include <immintrin.h>

#include "microbench/kernels/cpu/vector/isa.h"

namespace infimum::cpu::INFIMUM_ISA {
namespace {

// Enough independent sums to hide the latency of a multiply-add on two ports, few enough for registers.
constexpr int kSums = INFIMUM_VECTOR_BYTES == 64 ? 24 : 12;

template <class Vector, class Scalar>
double MultiplyAdd(std::int64_t rounds, Scalar* sink) {
  Vector sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = Vector{} + static_cast<Scalar>(i);
  Vector factor = Vector{} + static_cast<Scalar>(0.999);
  Vector addend = Vector{} + static_cast<Scalar>(0.001);
  // Opaque, so that nothing is known at compile time; in registers, so that nothing is loaded.
  __asm__ volatile("" : "+x"(factor), "+x"(addend));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * factor + addend;
  }
  Vector total{};
  for (int i = 0; i < kSums; ++i) total += sums[i];
  *sink = total[0];
  constexpr double kLanes = static_cast<double>(sizeof(Vector)) / sizeof(Scalar);
  return static_cast<double>(rounds) * kSums * kLanes * 2;
}

constexpr int kUnroll = 8;
constexpr std::int64_t kPrefetchAhead = 1024;

// `kStreams` equal parts side by side. Past the caches: lines are asked for as ones that are not used again.
template <int kStreams, bool past>
double ReadLoop(const void* from, std::int64_t bytes) {
  constexpr int kEach = kUnroll / kStreams;
  const auto* data = static_cast<const AliasingWords*>(from);
  Words sums[kUnroll] = {};
  const std::int64_t count = bytes / kBytes / kStreams;
  for (std::int64_t i = 0; i < count; i += kEach) {
    if (past) {
      const char* ahead = reinterpret_cast<const char*>(data + i) + kPrefetchAhead;
      for (int line = 0; line < kUnroll * kBytes; line += 64) __builtin_prefetch(ahead + line, 0, 0);
    }
#pragma GCC unroll 8
    for (int j = 0; j < kUnroll; ++j) sums[j] ^= data[j / kEach * count + i + j % kEach];
  }
  Words total{};
  for (int j = 0; j < kUnroll; ++j) total ^= sums[j];
  return static_cast<double>(total[0]);
}

template <bool streaming>
void WriteLoop(void* to, std::int64_t bytes) {
  auto* data = static_cast<AliasingWords*>(to);
  Words value = Words{} + 0x3f80000040000000;
  const std::int64_t count = bytes / kBytes;
  for (std::int64_t i = 0; i < count; i += kUnroll) {
    __asm__ volatile("" : "+x"(value));  // a loop, never a call of memset
#pragma GCC unroll 8
    for (int j = 0; j < kUnroll; ++j) {
      if (streaming) {
        StreamWords(data + i + j, value);
      } else {
        data[i + j] = value;
      }
    }
  }
  if (streaming) _mm_sfence();
}

template <bool streaming>
void CopyLoop(const void* from, void* to, std::int64_t bytes) {
  const auto* source = static_cast<const AliasingWords*>(from);
  auto* target = static_cast<AliasingWords*>(to);
  const std::int64_t count = bytes / kBytes;
  for (std::int64_t i = 0; i < count; i += kUnroll) {
    Words values[kUnroll];
#pragma GCC unroll 8
    for (int j = 0; j < kUnroll; ++j) values[j] = source[i + j];
#pragma GCC unroll 8
    for (int j = 0; j < kUnroll; ++j) {
      if (streaming) {
        StreamWords(target + i + j, values[j]);
      } else {
        target[i + j] = values[j];
      }
    }
    __asm__ volatile("" ::: "memory");
  }
  if (streaming) _mm_sfence();
}

}  // namespace

double MultiplyAddF32(std::int64_t rounds, float* sink) { return MultiplyAdd<Floats>(rounds, sink); }
double MultiplyAddF64(std::int64_t rounds, double* sink) { return MultiplyAdd<Doubles>(rounds, sink); }

// Products of bytes in pairs to 16 bits and again to 32: what 8-bit products cost without VNNI.
double MultiplyAddS8(std::int64_t rounds, std::int32_t* sink) {
  constexpr int kIntegerSums = 6;
#if defined(__AVX512BW__)
  __m512i sums[kIntegerSums] = {};
  __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(2), ones = _mm512_set1_epi16(1);
#define INFIMUM_STEP(s) _mm512_add_epi32(s, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), ones))
#elif defined(__AVX2__)
  __m256i sums[kIntegerSums] = {};
  __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(2), ones = _mm256_set1_epi16(1);
#define INFIMUM_STEP(s) _mm256_add_epi32(s, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones))
#else
  __m128i sums[kIntegerSums] = {};
  __m128i a = _mm_set1_epi16(3), b = _mm_set1_epi16(2);
#define INFIMUM_STEP(s) _mm_add_epi32(s, _mm_madd_epi16(a, b))
#endif
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 6
    for (int i = 0; i < kIntegerSums; ++i) {
      __asm__ volatile("" : "+x"(a), "+x"(b));
      sums[i] = INFIMUM_STEP(sums[i]);
    }
  }
#undef INFIMUM_STEP
  Integers total{};
  for (int i = 0; i < kIntegerSums; ++i) total += (Integers)sums[i];
  *sink = total[0];
  // SSE2 alone has no product of bytes: 16-bit ones count.
  const double products = kBytes == 16 ? 8 : kBytes;
  return static_cast<double>(rounds) * kIntegerSums * products * 2;
}

double Read(const void* from, std::int64_t bytes) { return ReadLoop<1, false>(from, bytes); }
double ReadStreams(const void* from, std::int64_t bytes) { return ReadLoop<4, false>(from, bytes); }
double ReadPast(const void* from, std::int64_t bytes) { return ReadLoop<1, true>(from, bytes); }
void Write(void* to, std::int64_t bytes) { WriteLoop<false>(to, bytes); }
void WriteStreaming(void* to, std::int64_t bytes) { WriteLoop<true>(to, bytes); }
void Copy(const void* from, void* to, std::int64_t bytes) { CopyLoop<false>(from, to, bytes); }
void CopyStreaming(const void* from, void* to, std::int64_t bytes) { CopyLoop<true>(from, to, bytes); }

void CopyRowsStreaming(const void* from, std::int64_t from_step, void* to, std::int64_t to_step, std::int64_t bytes,
                       std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto* source = reinterpret_cast<const AliasingWords*>(static_cast<const char*>(from) + row * from_step);
    auto* target = reinterpret_cast<AliasingWords*>(static_cast<char*>(to) + row * to_step);
    for (std::int64_t i = 0; i < bytes / kBytes; ++i) StreamWords(target + i, source[i]);
  }
  _mm_sfence();
}

}  // namespace infimum::cpu::INFIMUM_ISA
